// SPDX-License-Identifier: Apache-2.0
// overlap.js: communication against computing: what was exposed, why streams stood idle, the stages of pipelines.
ct.section('exposed', (body, report) => {
	const e = report.exposed;

	if (!report.overlap.length) {
		ct.empty(body, 'Nothing is known of it: no rank showed for which communication its computing waited.');
		return;
	}
	ct.add(body, [ct.facts([
		['measured over', ct.value('exposed.of', e.of, 'text')],
		['median rank', ct.valueOf('exposed', e, 'share_pct', 'pct', 'err_pct')],
		['until the others had come', ct.value('exposed.wait_pct', e.wait_pct, 'pct')],
		['the rank with most', ct.value('exposed.most_pct', e.most_pct, 'pct')],
		['data moved', ct.value('exposed.transferring_pct', e.transferring_pct, 'pct')],
		['that time is, of the run', ct.value('exposed.run_pct', e.run_pct, 'pct')],
	])]);
	ct.table(body, { path: 'overlap', label: 'Exposed communication', rows: report.overlap, columns: [
		{ key: 'rank', title: 'rank', unit: 'rank' },
		{ key: 'comm', title: 'communicator', unit: 'comm' },
		{ key: 'exposed_ns', title: 'exposed', unit: 'ns', err: 'err_ns' },
		{ key: 'hidden_ns', title: 'hidden', unit: 'ns', help: 'behind computing' },
		{ key: 'comm_ns', title: 'in all', unit: 'ns' },
		{ key: 'overlap_ratio', title: 'overlap', unit: 'number', help: 'hidden, of all' },
		{ key: 'launches', title: 'launches', unit: 'count' },
		{ key: 'measured', title: 'measured', unit: 'count', help: 'launches of which is known how long they were waited for' },
		{ key: 'method', title: 'known by', unit: 'text' },
	] });
});

ct.section('gaps', (body, report) => {
	if (!report.gaps.length) {
		ct.empty(body, 'Nothing is known of them: that takes cycles, and operations timed on streams.');
		return;
	}
	ct.table(body, { path: 'gaps', label: 'Gaps', rows: report.gaps, columns: [
		{ key: 'rank', title: 'rank', unit: 'rank' },
		{ key: 'not_ready_ns', title: 'not ready', unit: 'ns', err: 'gaps_err_ns', help: 'the input of the next operation was not ready' },
		{ key: 'host_late_ns', title: 'host late', unit: 'ns', err: 'gaps_err_ns', help: 'the host called the next operation late' },
		{ key: 'launch_ns', title: 'launch', unit: 'ns', err: 'gaps_err_ns', help: 'no longer than a launch takes' },
		{ key: 'exposed_ns', title: 'exposed', unit: 'ns', err: 'exposed_err_ns', help: 'for which it stood waiting for communication' },
		{ key: 'exposed_wait_ns', title: 'until all came', unit: 'ns', help: 'of the exposed time, until the others had come' },
		{ key: 'exposed_transfer_ns', title: 'after that', unit: 'ns', help: 'of the exposed time, when data moved' },
		{ key: 'cycles', title: 'cycles', unit: 'count' },
		{ key: 'cycles_ns', title: 'their time', unit: 'ns' },
	] });
});

ct.section('stages', (body, report) => {
	if (!report.stages.length) {
		ct.empty(body, 'No pipeline was seen: no ranks hand messages on to each other, stage by stage, in each cycle.');
		return;
	}
	ct.table(body, { path: 'stages', label: 'Stages', rows: report.stages, columns: [
		{ key: 'rank', title: 'rank', unit: 'rank' },
		{ key: 'comm', title: 'pipeline', unit: 'comm' },
		{ key: 'stage', title: 'stage', unit: 'whole' },
		{ key: 'stages', title: 'of', unit: 'whole' },
		{ key: 'bubble_ns', title: 'waited', unit: 'ns', err: 'err_ns', help: 'for late senders' },
		{ key: 'ideal_ns', title: 'unavoidable', unit: 'ns', help: 'by the schedule' },
		{ key: 'at_most', title: 'at most', unit: 'yes', help: 'computing may have hidden a part of it' },
		{ key: 'microbatches', title: 'microbatches', unit: 'number' },
		{ key: 'cycles', title: 'cycles', unit: 'count' },
		{ key: 'cycles_ns', title: 'their time', unit: 'ns' },
	] });
});
