// SPDX-License-Identifier: Apache-2.0
// quality.js: how good the run was, and how good what is known of it: scorecard, clocks, what tracing cost.
ct.section('scorecard', (body, report) => {
	const s = report.scorecard;

	if (!s.parts.length) {
		ct.empty(body, 'There is no score: ' + (s.why || 'no part of it could be computed') + '.');
		return;
	}
	ct.add(body, [ct.factsOf('scorecard', s, {
		total: [ct.value('scorecard.total', s.total, 'whole', s.why), s.total === null ? null : ' of 100'],
		grade: ct.value('scorecard.grade', s.grade, 'text', s.why),
	}), s.why === null ? null : ct.el('p', { class: 'note' }, ct.value('scorecard.why', s.why, 'text'))]);
	ct.table(body, { path: 'scorecard.parts', label: 'Scorecard', rows: s.parts });
});

ct.section('clocks', (body, report) => {
	if (!report.clocks.length) {
		ct.empty(body, report.run.hosts.length > 1 ? 'Nothing relates the clocks of the hosts.' :
			'All ranks ran on one host and share its clock.');
		return;
	}
	ct.table(body, { path: 'clocks', label: 'Clocks', rows: report.clocks });
});

ct.section('cost', (body, report) => {
	if (!report.cost.length) {
		ct.empty(body, 'No process told what recording it cost.');
		return;
	}
	ct.table(body, { path: 'cost', label: 'Cost of tracing', rows: report.cost });
});
