// SPDX-License-Identifier: Apache-2.0
// operations.js: kinds of operations, by communicator and size.
ct.section('ops', (body, report) => {
	if (!report.ops.length) {
		ct.empty(body, 'No operation is on record.');
		return;
	}
	ct.table(body, { path: 'ops', label: 'Operations', rows: report.ops, cells: {
		op: { words: true, value: (row) => row.op || row.group || '?', show: (row, path) =>
			row.op === null ? [ct.value(path + '.group', row.group, 'text'), ct.el('span', { class: 'label' }, 'in one launch')] :
				ct.value(path + '.op', row.op, 'text') },
	} });
});
