// SPDX-License-Identifier: Apache-2.0
// verdict.js: around the verdict's headline: its confidence, where and why, what to do, and key numbers of the run.
//
//   ct.isVerdict(headline)            the verdict is about what has this headline
//   ct.saidBefore(headline, key, text)   the verdict says this text of it
(function () {
	const LONG = 100; // letters of a sentence that is set smaller
	const report = ct.report, run = report.run;

	function tile(word, what, below) {
		return ct.el('div', { class: 'tile' }, ct.el('dt', null, word), ct.el('dd', null, what),
			below ? ct.el('dd', { class: 'below' }, below) : null);
	}

	function ranks() {
		return tile('ranks', [ct.value('run.ranks_seen', run.ranks_seen, 'count'), ' of ',
			ct.value('run.ranks_expected', run.ranks_expected, 'count')],
			['on ', ct.el('span', { 'data-count': true }, String(run.hosts.length)), run.hosts.length === 1 ? ' host' : ' hosts']);
	}

	function exposed() {
		const e = report.exposed_comm;

		return tile('exposed communication', ct.valueOf('exposed_comm', e, 'median_pct', 'pct', 'err_pct'),
			e.median_pct === null ? 'not measured for enough of the run' :
				'of ' + ct.stepTime() + ', on the median rank');
	}

	function score() {
		const s = report.scorecard;

		return s.total === null ? null : tile('score', [ct.value('scorecard.total', s.total, 'integer', s.why), ' of 100'], s.grade);
	}

	function said(word, path, text) {
		return text === null ? null : ct.el('p', { class: 'why' }, ct.el('b', null, word + ' '), ct.value(path, text, 'text'));
	}

	const OF_FINDING = ['where', 'note']; // what the verdict takes from the finding that it is about

	ct.isVerdict = (headline) => headline === report.verdict.headline;
	ct.saidBefore = (headline, key, text) => ct.isVerdict(headline) && (OF_FINDING.includes(key) || text === report.verdict[key]);
	ct.seeVerdict = () => ct.el('p', { class: 'note' }, 'Cause and advice: ', ct.el('a', { href: '#verdict' }, 'the verdict'), '.');

	function ofFinding(word, key) {
		const i = report.findings.findIndex((finding) => ct.isVerdict(finding.headline));

		return i < 0 || report.findings[i][key] === report.verdict[key] ? null : said(word, 'findings.' + i + '.' + key, report.findings[i][key]);
	}

	ct.fillVerdict = () => {
		const section = document.getElementById('verdict'), v = report.verdict;
		const level = section.dataset.level, code = section.querySelector('.code');

		section.classList.toggle('long', v.headline.length > LONG);
		for (const text of section.querySelectorAll('h1 span'))
			text.textContent = ct.format.prose(text.textContent);
		code.prepend(ct.mark(level));
		ct.add(code, [ct.el('span', { class: 'sure' }, 'confidence ', ct.value('verdict.confidence', v.confidence, 'text'))]);
		ct.add(section.querySelector('.body'), [
			ofFinding('Where', 'where'), said('Cause', 'verdict.cause', v.cause), said('Note', 'verdict.note', v.note), ofFinding('Note', 'note'),
			said('Do', 'verdict.advice', v.advice), v.command === null ? null : ct.command(v.command, 'verdict.command'),
			ct.el('dl', { class: 'tiles' },
				tile('run', ct.value('run.duration_ns', run.duration_ns, 'ns'), run.backends.join(', ') || 'no communication'),
				ranks(), exposed(), score(),
				tile('timing', ct.value('run.timing', run.timing, 'text'), run.complete ? 'no records dropped' : 'the trace is incomplete')),
			ct.notices(report),
		]);
	};
})();
