// SPDX-License-Identifier: Apache-2.0
// cycles.js: how the run was cut into cycles.
(function () {
	function recurring(body, c) {
		if (!c.recurring.length)
			return;
		ct.add(body, [ct.el('h3', null, 'What comes again every so many cycles')]);
		ct.table(body, { path: 'cycles.recurring', label: 'Operations that recur', rows: c.recurring });
	}

	ct.section('cycles', (body, report) => {
		const c = report.cycles;

		if (c.count === null) {
			ct.empty(body, 'The run was not cut into cycles: ' + (c.why || 'nothing in it repeats') + '.');
			return;
		}
		ct.add(body, [ct.factsOf('cycles', c, c.marker === null ? { marker: null, anchor: [
			ct.value('cycles.anchor.op', c.anchor.op, 'text'), ' of ', ct.value('cycles.anchor.bytes', c.anchor.bytes, 'bytes'),
			' on ', ct.chip.comm(c.anchor.comm, 'cycles.anchor.comm')] } : {
			anchor: null, marker: ['the NVTX range ', ct.value('cycles.marker', c.marker, 'text')] }),
		c.note === null ? null : ct.el('p', { class: 'note' }, ct.value('cycles.note', c.note, 'text'))]);
		ct.table(body, { path: 'cycles.items', label: 'Cycles', rows: c.items });
		recurring(body, c);
	});
})();
