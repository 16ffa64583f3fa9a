// SPDX-License-Identifier: Apache-2.0
// steps.js: how the run was cut into steps.
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
			anchor: null, marker: ['the NVTX range ', ct.value('steps.marker', c.marker, 'text')] }),
		c.note === null ? null : ct.el('p', { class: 'note' }, ct.value('steps.note', c.note, 'text'))]);
		ct.table(body, { path: 'steps.items', label: 'Steps', rows: c.items });
		recurring(body, c);
	}, (report) => (report.steps.count === null ? report.steps.why || 'nothing in the run repeats' : null));
})();
