// SPDX-License-Identifier: Apache-2.0
// value.js: one value of the report on the page. data-key says where in the report it stands: "ranks.3.wait_ns".
(function () {
	// The text of a value. A value that is not known is n/a, with the reason where there is one.
	ct.value = (path, value, unit, why) => ct.el('span', {
		'data-key': path,
		class: value === null || value === undefined ? 'na' : null,
		title: value === null || value === undefined ? why : null,
	}, ct.format.unit(value, unit));

	// The error behind a value, with the sign in front; nothing where the value or its error is not known, or the value is exact.
	ct.error = (path, value, err, unit) =>
		value === null || value === undefined || !err ? null :
			ct.el('span', { class: 'err' }, '\u00a0\u00b1\u00a0',
			      ct.el('span', { 'data-key': path }, ct.format.unit(err, unit)));

	// Of an object in the report, at `path`: its key, with the error that stands in another key of it.
	ct.valueOf = (path, object, key, unit, errKey) => [
		ct.value(path + '.' + key, object[key], unit),
		errKey ? ct.error(path + '.' + errKey, object[key], object[errKey], unit) : null,
	];

	// Pairs of a word and what stands for it, as a list: facts([['duration', element], ...]); null is left out.
	ct.facts = (pairs) => ct.el('dl', { class: 'facts' },
		pairs.filter((pair) => pair).map(([word, ...what]) => ct.el('div', null, ct.el('dt', null, word), ct.el('dd', null, what))));

	// What percentages of time are of.
	ct.stepTime = () => ct.report.run.pct_of === 'steps' ? 'step time' : 'the run';

	// What an evidence is called.
	ct.evidenceName = (name) => name.replace(/_/g, ' ');

	// Those of an object whose columns are in analyzer/render/columns.def under this name, with what is to stand there instead of a
	// value; null: nothing does. What is not known is left out.
	ct.factsOf = (name, object, cells = {}, path = name) => ct.facts(ct.words.columns[name].map((column) =>
		cells[column.key] === null || (object[column.key] ?? null) === null ? null :
			[column.title, cells[column.key] || ct.valueOf(path, object, column.key, column.unit, column.err)]));
})();

// How bad something is, by colour, shape and word at once.
(function () {
	const SHAPES = { critical: '\u25c6', warning: '\u25b2', info: '\u25cf', good: '\u2713', none: '?' };

	ct.mark = (level) => ct.el('span', { class: 'mark', 'aria-hidden': 'true' }, SHAPES[level] || SHAPES.none);
})();
