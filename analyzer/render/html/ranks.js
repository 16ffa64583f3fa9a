// SPDX-License-Identifier: Apache-2.0
// ranks.js: each rank: what it did, for whom it waited, for how long others waited.
ct.section('ranks', (body, report) => {
	if (!report.ranks.length) {
		ct.empty(body, 'No rank is on record.');
		return;
	}
	if (report.run.ranks_missing.length)
		ct.add(body, [ct.el('p', { class: 'note' }, 'No trace of ', ct.chip.ranks(report.run.ranks_missing, 'run.ranks_missing'))]);
	ct.table(body, { path: 'ranks', label: 'Ranks', rows: report.ranks });
});
