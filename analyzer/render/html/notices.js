// SPDX-License-Identifier: Apache-2.0
// notices.js: what a reader of the verdict has to know at once: who is missing, who died, what was lost; each leads to its section.
(function () {
	const MOST = 1; // of what could not be seen; the others are in their section

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
			list.push(notice('warn', 'ranks', 'No trace of ', several(report.run.ranks_missing, 'rank', 'ranks')));
		if (report.ended.length)
			list.push(notice('severe', 'ends', several(report.ended, 'process', 'processes'), ' did not end well'));
		if (report.inflight.length)
			list.push(notice('warn', 'ends', several(report.inflight, 'operation', 'operations'), ' had not ended'));
		if (report.losses.length)
			list.push(notice('warn', 'losses', several(report.losses, 'note', 'notes'), ' on what the trace does not have'));
		for (const [i, seen] of report.invisible.slice(0, MOST).entries())
			list.push(notice('info', 'losses', ct.value('invisible.' + i + '.what', seen.what, 'text'), ': ',
				ct.value('invisible.' + i + '.why', seen.why, 'text')));
		if (report.run.timing_why !== null)
			list.push(notice('info', 'run', 'timing ', ct.value('run.timing', report.run.timing, 'text'), ': ',
				ct.value('run.timing_why', report.run.timing_why, 'text')));
		return list.length ? ct.el('ul', { class: 'notices' }, list) : null;
	};
})();
