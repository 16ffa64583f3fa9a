// SPDX-License-Identifier: Apache-2.0
// chart_look.js: the colours of pictures that are no scale. Literal, since a canvas knows no style sheet;
// text has a contrast of at least 4.5 to the ground, lines and marks of at least 3 (tests/html/charts.mjs).
(function () {
	const light = {
		dark: false,
		ground: '#ffffff', // as the page's; printed pictures are always light
		nothing: '#f3f4f6', // a cell in which there was nothing
		unknown: '#d5d9de',
		hatch: '#8b939d',
		ink: '#1c2127',
		soft: '#4f5862',
		grid: '#dde1e6',
		axis: '#868e98',
		blue: '#2274b6',
		orange: '#c2560a',
		span: '#d3dbe4',
		cursor: '#000000',
		cursorEdge: '#ffffff',
		severity: { critical: '#b3261e', warning: '#a85b00', info: '#3b6ea5' },
	};
	const dark = {
		dark: true,
		ground: '#16191f',
		nothing: '#1f232b',
		unknown: '#343a42',
		hatch: '#6f7883',
		ink: '#e8ebef',
		soft: '#a9b2bd',
		grid: '#2b3038',
		axis: '#6f7883',
		blue: '#5fa6e0',
		orange: '#f39a4a',
		span: '#39434f',
		cursor: '#ffffff',
		cursorEdge: '#000000',
		severity: { critical: '#ff8a80', warning: '#f2b45c', info: '#7fb4ea' },
	};

	ct.look = (isDark) => (isDark ? dark : light);
})();
