// SPDX-License-Identifier: Apache-2.0
// quality.js: how good the run was, and how good what is known of it: scorecard, clocks, what tracing cost.
ct.section('scorecard', (body, report) => {
	const s = report.scorecard;

	if (!s.parts.length) {
		ct.empty(body, 'There is no score: ' + (s.why || 'no part of it could be computed') + '.');
		return;
	}
	ct.add(body, [ct.facts([
		['total', ct.value('scorecard.total', s.total, 'whole', s.why), s.total === null ? null : ' of 100'],
		['grade', ct.value('scorecard.grade', s.grade, 'text', s.why)],
	]), s.why === null ? null : ct.el('p', { class: 'note' }, ct.value('scorecard.why', s.why, 'text'))]);
	ct.table(body, { path: 'scorecard.parts', label: 'Scorecard', rows: s.parts, columns: [
		{ key: 'name', title: 'part', unit: 'text' },
		{ key: 'score', title: 'score', unit: 'whole' },
		{ key: 'weight_pct', title: 'weight', unit: 'pct' },
		{ key: 'from', title: 'from', unit: 'text' },
	] });
});

ct.section('clocks', (body, report) => {
	if (!report.clocks.length) {
		ct.empty(body, report.run.hosts.length > 1 ? 'Nothing relates the clocks of the hosts.' :
			'All ranks ran on one host and share its clock.');
		return;
	}
	ct.table(body, { path: 'clocks', label: 'Clocks', rows: report.clocks, columns: [
		{ key: 'host', title: 'host', unit: 'host' },
		{ key: 'ref_host', title: 'against', unit: 'host' },
		{ key: 'quality', title: 'quality', unit: 'text' },
		{ key: 'err_ns', title: 'error', unit: 'ns', help: 'the largest of the run' },
		{ key: 'offset_ns', title: 'offset', unit: 'ns', help: 'to add to its time, in the middle of the run' },
		{ key: 'drift_ppb', title: 'drift, ppb', unit: 'whole', help: 'by how much the offset grows, in billionths' },
		{ key: 'selftest_ns', title: 'self-test', unit: 'ns', help: 'how far ends of an operation on this host are apart' },
	] });
});

ct.section('cost', (body, report) => {
	if (!report.cost.length) {
		ct.empty(body, 'No process told what recording it cost.');
		return;
	}
	ct.table(body, { path: 'cost', label: 'Cost of tracing', rows: report.cost, columns: [
		{ key: 'rank', title: 'rank', unit: 'rank' },
		{ key: 'wrapper_pct', title: 'in calls', unit: 'pct', help: 'of the run: the time that its calls took longer, an estimate' },
		{ key: 'wrapper_ns', title: 'in calls', unit: 'ns', help: 'the same as a time' },
		{ key: 'threads_pct', title: 'threads', unit: 'pct', help: 'of one core: threads of the recorder' },
		{ key: 'poll_cpu_ns', title: 'polling', unit: 'ns' },
		{ key: 'write_cpu_ns', title: 'writing', unit: 'ns' },
		{ key: 'beat_cpu_ns', title: 'heartbeat', unit: 'ns' },
		{ key: 'calls', title: 'calls', unit: 'count' },
		{ key: 'events', title: 'events', unit: 'count' },
		{ key: 'bytes_written', title: 'written', unit: 'bytes' },
		{ key: 'timing', title: 'timing', unit: 'text' },
		{ key: 'sample_ratio', title: 'sampled', unit: 'number', help: 'share of the instances that were to be timed, as set' },
		{ key: 'budget_ratio', title: 'budget', unit: 'number', help: 'of wall time, as set' },
		{ key: 'budget_backoffs', title: 'backed off', unit: 'count', help: 'how often the budget made it time less' },
		{ key: 'level', title: 'level', unit: 'whole', help: 'the budget halved what is timed so often, in the end' },
		{ key: 'coarsest', title: 'coarsest', unit: 'whole', help: 'the same, at most' },
	] });
});
