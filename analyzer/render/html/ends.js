// SPDX-License-Identifier: Apache-2.0
// ends.js: processes that did not exit cleanly, and operations in flight when recording ended.
(function () {
	function how(p, path) {
		const at = (key) => ct.value(path + '.' + key, p[key], 'whole');

		return [ct.value(path + '.end', p.end, 'text'),
			p.signal === null ? null : [', signal ', at('signal')],
			p.exit_code === null ? null : [', exit code ', at('exit_code')],
			p.sent_signal === null ? null : [', signal ', at('sent_signal'), ' sent by pid ', at('sent_by_pid')]];
	}

	function ended(body, rows) {
		ct.add(body, [ct.el('h4', null, 'Processes that did not exit cleanly')]);
		ct.table(body, { path: 'ended', label: 'Processes that did not exit cleanly', rows, cells: { end: { words: true, show: how } } });
	}

	function inflight(body, rows) {
		ct.add(body, [ct.el('h4', null, 'Operations in flight')]);
		ct.table(body, { path: 'inflight', label: 'Operations in flight', rows, cells: {
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
	}, (report) => (report.ended.length || report.inflight.length ? null : ''));
})();
