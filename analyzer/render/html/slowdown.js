// SPDX-License-Identifier: Apache-2.0
// slowdown.js: how much longer a step takes than in a balanced job, and the part of each rank as a chart.
(function () {
	// A figure of what_if, or n/a and why; and what it means.
	function figure(word, w, key, errKey, means) {
		const why = key === 's' ? 'why' : key + '_why';

		return [word, ct.valueOf('what_if', w, key, 'number', errKey),
			w[key] !== null ? ct.el('p', { class: 'note' }, means) :
				ct.el('p', { class: 'note' }, 'Not known: ', ct.value('what_if.' + why, w[why], 'text'), '.')];
	}

	ct.section('pic-slowdown', (body, report) => {
		const w = report.what_if;

		const figures = ct.facts([
			figure('slowdown (S)', w, 's', 's_err', 'Steps take this many times as long as in a balanced job; 1 is balanced.'),
			figure('by the slowest ranks (M_W)', w, 'm_w', null, 'Share of the excess that goes away if the slowest three percent of the ranks, at least one, compute evenly. ' +
				'Near 1: they are the cause.'),
			figure('by the last stage (M_S)', w, 'm_s', null, 'The same for the last pipeline stage. Above 1: the other stages have less to do than in a balanced job.'),
		]);

		figures.classList.add('even');
		ct.add(body, [figures]);
		ct.chart(body, 'slowdown');
		if (w.s_stage.length) {
			ct.add(body, [ct.el('p', { class: 'note' },
				'S_stage: steps take this many times as long if only this stage computes as recorded and all others evenly.')]);
			ct.table(body, { path: 'what_if.s_stage', label: 'S of the stages', rows: w.s_stage });
		}
	}, (report) => (report.what_if.s === null ? report.what_if.why : null));
})();
