// SPDX-License-Identifier: Apache-2.0
// comms.js: communicators.
ct.section('comms', (body, report) => {
	if (!report.comms.length) {
		ct.empty(body, 'No communicator is on record.');
		return;
	}
	ct.table(body, { path: 'comms', label: 'Communicators', rows: report.comms, cells: {
		role: { words: true, show: (row, path) => [ct.value(path + '.role', row.role, 'text', row.role_evidence),
			row.role === null ? null : ct.el('span', { class: 'label', title: row.role_evidence }, 'confidence ',
				ct.value(path + '.role_confidence', row.role_confidence, 'text'))] },
	} });
});
