// SPDX-License-Identifier: Apache-2.0
// marks.js: how bad something is, by colour, shape and word at once.
(function () {
	const SHAPES = { critical: '\u25c6', warning: '\u25b2', info: '\u25cf', good: '\u2713', none: '?' };

	ct.mark = (level) => ct.el('span', { class: 'mark', 'aria-hidden': 'true' }, SHAPES[level] || SHAPES.none);
})();
