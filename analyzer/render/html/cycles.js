// SPDX-License-Identifier: Apache-2.0
// cycles.js: how the run was cut into cycles.
(function () {
	function begins(c) {
		if (c.marker !== null)
			return ['begin with', 'the NVTX range ', ct.value('cycles.marker', c.marker, 'text')];
		return ['begin with', ct.value('cycles.anchor.op', c.anchor.op, 'text'), ' of ',
			ct.value('cycles.anchor.bytes', c.anchor.bytes, 'bytes'), ' on ', ct.chip.comm(c.anchor.comm, 'cycles.anchor.comm')];
	}

	function recurring(body, c) {
		if (!c.recurring.length)
			return;
		ct.add(body, [ct.el('h3', null, 'What comes again every so many cycles')]);
		ct.table(body, { path: 'cycles.recurring', label: 'Operations that recur', rows: c.recurring, columns: [
			{ key: 'op', title: 'operation', unit: 'text' },
			{ key: 'comm', title: 'communicator', unit: 'comm' },
			{ key: 'bytes', title: 'bytes', unit: 'bytes' },
			{ key: 'every', title: 'every', unit: 'count' },
			{ key: 'count', title: 'count', unit: 'count' },
		] });
	}

	ct.section('cycles', (body, report) => {
		const c = report.cycles;

		if (c.count === null) {
			ct.empty(body, 'The run was not cut into cycles: ' + (c.why || 'nothing in it repeats') + '.');
			return;
		}
		ct.add(body, [ct.facts([
			['cycles', ct.value('cycles.count', c.count, 'count')],
			['median', ct.valueOf('cycles', c, 'time_p50_ns', 'ns', 'err_ns')],
			['99th percentile', ct.value('cycles.time_p99_ns', c.time_p99_ns, 'ns')],
			['of the run', ct.value('cycles.covered_pct', c.covered_pct, 'pct')],
			begins(c),
		]), c.note === null ? null : ct.el('p', { class: 'note' }, ct.value('cycles.note', c.note, 'text'))]);
		ct.table(body, { path: 'cycles.items', label: 'Cycles', rows: c.items, columns: [
			{ key: 'index', title: 'cycle', unit: 'whole' },
			{ key: 'begin_ns', title: 'begins', unit: 'ns' },
			{ key: 'time_ns', title: 'takes', unit: 'ns' },
			{ key: 'exposed_ns', title: 'exposed', unit: 'ns', help: 'of the rank that has most' },
			{ key: 'wait_ns', title: 'waited', unit: 'ns', help: 'mean over ranks' },
			{ key: 'last_rank', title: 'for rank', unit: 'rank', help: 'for whom the others waited longest' },
		] });
		recurring(body, c);
	});
})();
