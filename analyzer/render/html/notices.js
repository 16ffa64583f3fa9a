// SPDX-License-Identifier: Apache-2.0
// notices.js: limits of the verdict: missing ranks, processes that did not exit cleanly, dropped records; each leads to its section.
(function () {
	const MOST = 1; // of what was not traced; the others are in their section

	function notice(level, section, ...what) {
		return ct.el('li', { class: level }, ct.mark(level), ct.el('a', { href: '#' + section }, what));
	}

	// "3 processes": how many there are is a count of what is shown where it leads.
	function several(rows, one, many) {
		return [ct.el('span', { 'data-count': true }, String(rows.length)), ' ' + (rows.length === 1 ? one : many)];
	}

	ct.notices = (report) => {
		const list = [];

		if (report.run.ranks_missing.length)
			list.push(notice('warning', 'ranks', 'No trace of ', several(report.run.ranks_missing, 'rank', 'ranks')));
		if (report.ended.length)
			list.push(notice('critical', 'ends', several(report.ended, 'process', 'processes'), ' did not exit cleanly'));
		if (report.in_flight.length)
			list.push(notice('warning', 'ends', several(report.in_flight, 'operation', 'operations'), ' in flight at the end'));
		// A rank's count is of records; of what else was dropped, the record is there and lacks details.
		if (report.dropped.some((d) => d.records === null) || report.ranks.some((r) => r.dropped_records))
			list.push(notice('warning', 'dropped', several(report.dropped, 'gap', 'gaps'), ' in the trace'));
		else if (report.dropped.length)
			list.push(notice('info', 'dropped', 'No dropped records; details lost in ', several(report.dropped, 'case', 'cases')));
		for (const [i, seen] of report.not_traced.slice(0, MOST).entries())
			list.push(notice('info', 'dropped', ct.value('not_traced.' + i + '.what', seen.what, 'text'), ': ',
				ct.value('not_traced.' + i + '.why', seen.why, 'text')));
		if (report.steps.skipped)
			list.push(notice('info', 'run', 'first ', ct.value('steps.skipped', report.steps.skipped, 'count'), ' steps skipped'));
		if (report.run.timing_why !== null)
			list.push(notice('info', 'run', 'timing ', ct.value('run.timing', report.run.timing, 'text'), ': ',
				ct.value('run.timing_why', report.run.timing_why, 'text')));
		return list.length ? ct.el('ul', { class: 'notices' }, list) : null;
	};
})();
