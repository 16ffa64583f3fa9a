// SPDX-License-Identifier: Apache-2.0
// overlap.js: communication against computing: what was exposed, why streams stood idle, the stages of pipelines.
ct.section('exposed', (body, report) => {
	const e = report.exposed;

	if (!report.overlap.length) {
		ct.empty(body, 'Nothing is known of it: no rank showed for which communication its computing waited.');
		return;
	}
	ct.add(body, [ct.factsOf('exposed', e)]);
	ct.table(body, { path: 'overlap', label: 'Exposed communication', rows: report.overlap });
});

ct.section('gaps', (body, report) => {
	if (!report.gaps.length) {
		ct.empty(body, 'Nothing is known of them: that takes cycles, and operations timed on streams.');
		return;
	}
	ct.table(body, { path: 'gaps', label: 'Gaps', rows: report.gaps });
});

ct.section('stages', (body, report) => {
	if (!report.stages.length) {
		ct.empty(body, 'No pipeline was seen: no ranks hand messages on to each other, stage by stage, in each cycle.');
		return;
	}
	ct.table(body, { path: 'stages', label: 'Stages', rows: report.stages });
});
