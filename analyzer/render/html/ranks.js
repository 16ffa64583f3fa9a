// SPDX-License-Identifier: Apache-2.0
// ranks.js: each rank: what it did, for whom it waited, for how long others waited.
ct.section('ranks', (body, report) => {
	if (!report.ranks.length) {
		ct.empty(body, 'No rank is on record.');
		return;
	}
	if (report.run.ranks_missing.length)
		ct.add(body, [ct.el('p', { class: 'note' }, 'No trace of ', ct.chip.ranks(report.run.ranks_missing, 'run.ranks_missing'))]);
	ct.table(body, { path: 'ranks', label: 'Ranks', rows: report.ranks, columns: [
		{ key: 'rank', title: 'rank', unit: 'rank' },
		{ key: 'host', title: 'host', unit: 'host' },
		{ key: 'device', title: 'GPU', unit: 'whole' },
		{ key: 'wait_ns', title: 'waited', unit: 'ns', err: 'err_ns', help: 'inside operations, for others to come' },
		{ key: 'lateness_ns', title: 'late', unit: 'ns', err: 'err_ns', help: 'by which it came after the median member, summed' },
		{ key: 'last_count', title: 'last', unit: 'count', help: 'how often it was clearly the last to come' },
		{ key: 'exposed_ns', title: 'exposed', unit: 'ns', err: 'exposed_err_ns', help: 'for which it stood waiting for communication' },
		{ key: 'ops', title: 'operations', unit: 'count' },
		{ key: 'bytes', title: 'bytes', unit: 'bytes' },
		{ key: 'lost_records', title: 'lost records', unit: 'count' },
		{ key: 'timing', title: 'timing', unit: 'text' },
		{ key: 'timed_ratio', title: 'timed', unit: 'number', help: 'share of its launches with an end on record' },
		{ key: 'complete', title: 'whole', unit: 'yes' },
		{ key: 'pid', title: 'pid', unit: 'whole' },
	] });
});
