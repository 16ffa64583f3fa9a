// SPDX-License-Identifier: Apache-2.0
// comms.js: communicators.
ct.section('comms', (body, report) => {
	if (!report.comms.length) {
		ct.empty(body, 'No communicator is on record.');
		return;
	}
	ct.table(body, { path: 'comms', label: 'Communicators', rows: report.comms, columns: [
		{ key: 'comm', title: 'communicator', unit: 'comm' },
		{ key: 'backend', title: 'backend', unit: 'text' },
		{ key: 'role', title: 'role', words: true, show: (row, path) => [ct.value(path + '.role', row.role, 'text', row.role_evidence),
			row.role === null ? null : ct.el('span', { class: 'label', title: row.role_evidence }, 'confidence ',
				ct.value(path + '.role_confidence', row.role_confidence, 'text'))] },
		{ key: 'name', title: 'name', unit: 'text' },
		{ key: 'nranks', title: 'size', unit: 'count' },
		{ key: 'ranks', title: 'ranks', unit: 'ranks' },
		{ key: 'instances', title: 'operations', unit: 'count' },
		{ key: 'bytes', title: 'bytes', unit: 'bytes' },
		{ key: 'cycles_exposed_ns', title: 'exposed', unit: 'ns', err: 'cycles_exposed_err_ns',
			help: 'its members stood waiting for it, summed over them and the cycles on record' },
		{ key: 'cycles_exposed_wait_ns', title: 'until all came', unit: 'ns', help: 'the part of it until the others had come' },
		{ key: 'first_seq', title: 'first', unit: 'whole', help: 'number of the first collective on record' },
		{ key: 'last_seq', title: 'last', unit: 'whole', help: 'number of the last collective on record' },
		{ key: 'parent', title: 'made from', unit: 'comm' },
	] });
});
