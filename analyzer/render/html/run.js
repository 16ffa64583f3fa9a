// SPDX-License-Identifier: Apache-2.0
// run.js: what was recorded, where and how.
ct.section('run', (body, report) => {
	const run = report.run;
	const of = (key, unit, why) => ct.value('run.' + key, run[key], unit, why);

	ct.add(body, [ct.factsOf('run', run, {
		restart: [of('restart', 'whole'), ' (from 0) of ', of('starts', 'whole')],
		ranks_seen: [of('ranks_seen', 'count'), ' of ', of('ranks_expected', 'count')],
		ranks_missing: run.ranks_missing.length ? ct.chip.ranks(run.ranks_missing, 'run.ranks_missing') : 'none',
		hosts: run.hosts.length ? ct.chip.hosts(run.hosts, 'run.hosts') : 'none',
		backends: run.backends.join(', ') || 'none',
		timing_why: run.timing_why === null ? 'as requested' : of('timing_why', 'text'),
		timed_ratio: of('timed_ratio', 'number', 'no launch was expected to be timed'),
	})]);
});
