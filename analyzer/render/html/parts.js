// SPDX-License-Identifier: Apache-2.0
// parts.js: sections with a table or a few facts each.

// How the run was cut into steps.
(function () {
	function recurring(body, c) {
		if (!c.recurring.length)
			return;
		ct.add(body, [ct.el('h4', null, 'Operations that recur every few steps')]);
		ct.table(body, { path: 'steps.recurring', label: 'Operations that recur', rows: c.recurring });
	}

	ct.section('steps', (body, report) => {
		const c = report.steps;

		ct.add(body, [ct.factsOf('steps', c, c.marker === null ? { marker: null, anchor: [
			ct.value('steps.anchor.op', c.anchor.op, 'text'), ' of ', ct.value('steps.anchor.bytes', c.anchor.bytes, 'bytes'),
			' on ', ct.chip.comm(c.anchor.comm, 'steps.anchor.comm')] } : {
			anchor: null, marker: ['the marker ', ct.value('steps.marker', c.marker, 'text')] }),
		c.note === null ? null : ct.el('p', { class: 'note' }, ct.value('steps.note', c.note, 'text'))]);
		if (report.throughput.samples_per_s !== null)
			ct.add(body, [ct.factsOf('throughput', report.throughput)]);
		ct.table(body, { path: 'steps.items', label: 'Steps', rows: c.items });
		recurring(body, c);
	}, (report) => (report.steps.count === null ? report.steps.why || 'nothing in the run repeats' : null));
})();

// Records that were dropped, and calls that could not be traced.
(function () {
	function part(body, heading, path, rows) {
		if (!rows.length)
			return;
		ct.add(body, [ct.el('h4', null, heading)]);
		ct.table(body, { path, label: heading, rows });
	}

	ct.section('dropped', (body, report) => {
		part(body, 'Dropped', 'dropped', report.dropped);
		part(body, 'Not traced', 'not_traced', report.not_traced);
	}, (report) => (report.dropped.length || report.not_traced.length ? null : ''));
})();

// Processes that did not exit cleanly, and operations in flight when recording ended.
(function () {
	function how(p, path) {
		const at = (key) => ct.value(path + '.' + key, p[key], 'integer');

		return [ct.value(path + '.end', p.end, 'text'),
			p.signal === null ? null : [', signal ', at('signal')],
			p.exit_code === null ? null : [', exit code ', at('exit_code')],
			p.sent_signal === null ? null : [', signal ', at('sent_signal'), ' sent by pid ', at('sent_by_pid')]];
	}

	function ended(body, rows) {
		ct.add(body, [ct.el('h4', null, 'Processes that did not exit cleanly')]);
		ct.table(body, { path: 'ended', label: 'Processes that did not exit cleanly', rows, cells: { end: { words: true, show: how } } });
	}

	function inFlight(body, rows) {
		ct.add(body, [ct.el('h4', null, 'Operations in flight')]);
		ct.table(body, { path: 'in_flight', label: 'Operations in flight', rows, cells: {
			peer: { words: true, show: (row, path) => [
				row.direction === null ? null : [ct.value(path + '.direction', row.direction, 'text'), ' '],
				ct.value(path + '.peer', row.peer, 'integer')] },
		} });
	}

	ct.section('ends', (body, report) => {
		if (report.ended.length)
			ended(body, report.ended);
		if (report.in_flight.length)
			inFlight(body, report.in_flight);
	}, (report) => (report.ended.length || report.in_flight.length ? null : ''));
})();

// Baseline checks, rule by rule.
ct.section('expect', (body, report) => {
	const e = report.expect;

	ct.add(body, [ct.factsOf('expect', e)]);
	const LEVELS = { pass: 'good', fail: 'critical' };
	const show = (key) => (row, path) => ct.value(path + '.' + key, row[key], row.unit);

	ct.table(body, { path: 'expect.results', label: 'Baseline checks', rows: e.results, cells: {
		result: { words: true, show: (row, path) => ct.el('span', { class: LEVELS[row.result] || 'none' },
			ct.mark(LEVELS[row.result]), ct.value(path + '.result', row.result, 'text')) },
		value: { show: (row, path) => [show('value')(row, path), ct.error(path + '.err', row.value, row.err, row.unit)] },
		limit: { show: show('limit') },
	} });
}, (report) => (report.expect ? null : ''));

// What was recorded, where and how.
ct.section('run', (body, report) => {
	const run = report.run;
	const of = (key, unit) => ct.value('run.' + key, run[key], unit);

	ct.add(body, [ct.factsOf('run', run, {
		restart: run.starts > 1 ? [of('restart', 'integer'), ' (from 0) of ', of('starts', 'integer')] : null,
		ranks_seen: [of('ranks_seen', 'count'), ' of ', of('ranks_expected', 'count')],
		ranks_missing: run.ranks_missing.length ? ct.chip.ranks(run.ranks_missing, 'run.ranks_missing') : null,
		hosts: run.hosts.length ? ct.chip.hosts(run.hosts, 'run.hosts') : 'none',
		backends: run.backends.join(', ') || 'none',
		timed_ratio: run.timed_ratio === 1 ? null : of('timed_ratio', 'number'),
	})]);
});
