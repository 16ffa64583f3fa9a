// SPDX-License-Identifier: Apache-2.0
// ends.js: processes that did not end well, and operations that did not end at all.
(function () {
	function how(p, path) {
		const at = (key) => ct.value(path + '.' + key, p[key], 'whole');

		return [ct.value(path + '.end', p.end, 'text'),
			p.signal === null ? null : [', signal ', at('signal')],
			p.exit_code === null ? null : [', exit code ', at('exit_code')],
			p.sent_signal === null ? null : [', signal ', at('sent_signal'), ' sent by pid ', at('sent_by_pid')]];
	}

	function ended(body, rows) {
		ct.add(body, [ct.el('h3', null, 'Processes that did not end well')]);
		ct.table(body, { path: 'ended', label: 'Processes that did not end well', rows, cells: { end: { words: true, show: how } } });
	}

	function inflight(body, rows) {
		ct.add(body, [ct.el('h3', null, 'Operations that had not ended')]);
		ct.table(body, { path: 'inflight', label: 'Operations that had not ended', rows, cells: {
			peer: { words: true, show: (row, path) => [
				row.direction === null ? null : [ct.value(path + '.direction', row.direction, 'text'), ' '],
				ct.value(path + '.peer', row.peer, 'whole')] },
		} });
	}

	ct.section('ends', (body, report) => {
		if (report.ended.length)
			ended(body, report.ended);
		if (report.inflight.length)
			inflight(body, report.inflight);
		if (!body.firstChild)
			ct.empty(body, 'All processes on record ended well, or still run, and so did all operations.');
	});
})();
