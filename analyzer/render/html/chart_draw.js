// SPDX-License-Identifier: Apache-2.0
// chart_draw.js: a view of a chart, drawn at a width. What is drawn, its order, positions, colors and texts were made by charts.c;
// here they get their position in pixels.
//
// A drawing has { width, height, nodes, plot, grid, table, hits, first, move, at, box }: what to draw, where its plot is, the cells of a heatmap
// and their colors (else null), links to findings, and how a figure gets from a point or a key to a cell { row, column }.
(function () {
	const ROW_TEXT = 14, SPARSE_ROW_TEXT = 22, MOST_HEIGHT = 512, MOST_SQUARE = 720, MOST_CELL = 56, MOST_ROW = 34;
	const PLOT_HEIGHT = 260, PARTS = 10000; // charts.c writes positions so
	const LEVELS = 252;

	function rgb(hex) {
		const n = parseInt(hex.slice(1), 16);

		return [n >> 16, (n >> 8) & 255, n & 255];
	}

	// `count` colors along a ramp.
	function colours(name, look, count) {
		const ramp = ct.charts.ramps[name][look.dark ? 'dark' : 'light'].map(rgb);

		return Array.from({ length: count }, (_, i) => {
			const at = i * (ramp.length - 1) / (count - 1), low = Math.min(Math.floor(at), ramp.length - 2);

			return ramp[low].map((v, k) => Math.round(v + (ramp[low + 1][k] - v) * (at - low)));
		});
	}

	// Black or white, whichever is read better on [r, g, b]: by relative luminance (WCAG 2.1), then the contrast is at least 4.5.
	function inkOn(channels) {
		const [r, g, b] = channels.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));

		return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000000' : '#ffffff';
	}

	// Labels [[position, text]...] below a plot, those that have room.
	function columnTicks(ticks, title, plot, look) {
		const y = plot.y + plot.height;
		const labels = ticks.map(([at, text]) => ({ at: at * plot.width / PARTS, size: ct.axis.width(text, 12), text }))
			.filter((l) => plot.x + l.at - l.size / 2 >= 0 && plot.x + l.at + l.size / 2 <= plot.right);

		return [...ct.axis.thin(labels, 6).flatMap((l) => [
			ct.node.line(plot.x + l.at, y, plot.x + l.at, y + 4, look.axis), ct.node.tick(plot.x + l.at, y + 17, l.text, look, 'middle'),
		]), ct.node.label(plot.x + plot.width / 2, y + 34, title, look, 'middle', { fill: look.ink })];
	}

	// ---- heatmaps ----

	function gridOf(view) {
		const rows = view.rows.names.length, columns = view.columns.names.length;

		if (!view.shade) {
			const levels = ct.cells.shades(view.levels);

			view.shade = view.cells ? new Uint8Array(rows * columns) : levels;
			if (view.cells)
				view.cells.forEach((cell, i) => { if (cell >= 0) view.shade[cell] = levels[i]; });
		}
		return { rows, columns, shade: view.shade, on: ct.isOn(view) };
	}

	function namesOf(axis, apart, most) {
		const step = ct.axis.every(apart, apart < ROW_TEXT ? SPARSE_ROW_TEXT : ROW_TEXT);

		return axis.names.map((name, i) => ({ i, text: ct.axis.middle(name, Math.max(6, Math.floor(most / 6.6))) })).filter(({ i }) => i % step === 0);
	}

	// Names of columns as ticks in their middle, so that all have the same distance.
	function namedTicks(axis, width) {
		const apart = width / axis.names.length, texts = axis.names.map((name) => ct.axis.middle(name, 12));
		const step = ct.axis.every(apart, Math.max(14, ct.axis.width(texts[texts.length - 1], 12) + 6));

		return texts.map((text, c) => [(c + 0.5) * PARTS / texts.length, text]).filter((_, c) => c % step === 0);
	}

	// What is written into cells: dark on pale ones and the other way round.
	function cellTexts(view, grid, table, plot, look) {
		const wide = plot.width / grid.columns, tall = plot.height / grid.rows;

		return !view.written || tall < 16 ? [] : view.cells.flatMap((cell, i) => {
			const text = ct.figureOf(view.tips[0], { i }).text;

			if (cell < 0 || grid.shade[cell] < ct.cells.FIRST || ct.axis.width(text, 11) + 6 > wide)
				return [];
			return [ct.node.label(plot.x + (cell % grid.columns + 0.5) * wide, plot.y + (Math.floor(cell / grid.columns) + 0.5) * tall + 4,
				text, look, 'middle', { 'font-size': 11, fill: inkOn(table[grid.shade[cell] - ct.cells.FIRST]) })];
		});
	}

	function sizeOf(view, grid, room) {
		const width = view.square ? Math.floor(Math.min(room, grid.columns * MOST_CELL, MOST_SQUARE * Math.min(1, grid.columns / grid.rows))) : room;

		return { width, height: Math.round(view.square ? width * grid.rows / grid.columns : Math.min(grid.rows * MOST_ROW, MOST_HEIGHT)) };
	}

	function heatmap(view, width, look) {
		const grid = gridOf(view), each = LEVELS / view.ramps.length;
		const tables = view.ramps.map((ramp) => colours(ramp.ramp, look, each)), table = tables.flat();
		const legend = ct.legend([
			...view.ramps.map((ramp, i) => ({ title: ramp.title + ', ' + ramp.scale, table: tables[i], marks: ramp.marks })),
			...(view.nothing ? [{ text: view.nothing, look: 'box', fill: look.nothing }] : []),
			...(view.unknown ? [{ text: 'not known', look: 'hatch' }] : []),
		], width, look);
		const most = Math.min(150, width * 0.26);
		const names = namesOf(view.rows, sizeOf(view, grid, width - most).height / grid.rows, most);
		const x = Math.ceil(Math.max(0, ...names.map((l) => ct.axis.width(l.text, 12)))) + 10, top = legend.height + 26;
		const size = sizeOf(view, grid, width - x - 8), strip = ct.marks(view.spans, x, top, size.width, look);
		const plot = { x, y: top + strip.height, ...size, right: width };
		const wide = plot.width / grid.columns, tall = plot.height / grid.rows;
		const rowLabels = names.flatMap((l) => {
			const y = plot.y + (l.i + 0.5) * tall;

			return [ct.node.line(x - 4, y, x, y, look.axis), ct.node.tick(x - 7, y + 4, l.text, look, 'end')];
		});

		return {
			width, height: plot.y + plot.height + 42, plot, grid, table, hits: strip.hits,
			nodes: [
				...legend.nodes, ct.node.label(0, legend.height + 18, view.rows.title, look, 'start', { fill: look.ink }), ...strip.nodes, ...rowLabels,
				...columnTicks(view.columns.ticks.length ? view.columns.ticks : namedTicks(view.columns, plot.width), view.columns.title, plot, look),
				...cellTexts(view, grid, table, plot, look),
				ct.node.node('rect', { x, y: plot.y, width: plot.width, height: plot.height, fill: 'none', stroke: look.axis, 'stroke-width': 0.5 }),
			],
			first: { row: 0, column: 0 },
			at: (px, py) => ct.cells.cellAt(grid, px - x, py - plot.y, plot.width, plot.height),
			move: (cell, key, isFar) => ct.cells.move(grid, cell, key, isFar),
			box: (cell) => ({ x: x + cell.column * wide, y: plot.y + cell.row * tall, width: wide, height: tall }),
		};
	}

	// ---- plots ----

	// Where bars are narrower than a pixel, each pixel has one of them: that with the largest first value of the last bars.
	function chosen(view, plot) {
		const best = new Map(), main = view.series.filter((one) => one.look === 'bar').pop();

		if (!main || view.wide * plot.width >= 1)
			return view.at.map((_, i) => i);
		view.at.forEach((at, i) => {
			const px = Math.floor(at * plot.width / PARTS), old = best.get(px);

			if (old === undefined || main.y[i] > main.y[old])
				best.set(px, i);
		});
		return [...best.values()];
	}

	function seriesNodes(one, view, plot, shown, look) {
		const base = plot.y + plot.height, fill = look[one.colour];
		const bar = Math.max(view.wide * plot.width - (view.wide * plot.width >= 5 ? 1 : 0), 1);
		const points = shown.filter((i) => one.y[i] !== null).map((i) => ({
			x: plot.x + view.at[i] * plot.width / PARTS, y: base - one.y[i] * plot.height / PARTS,
		}));
		const bars = points.map(({ x, y }) => 'M' + x + ' ' + base + 'V' + y + 'h' + bar + 'V' + base + 'z').join('');
		const path = (d, more) => ct.node.node('path', { d, ...more });

		if (!points.length)
			return [];
		return {
			bar: () => [path(bars, { fill })],
			hatch: () => [path(bars, { fill: look.unknown }), path(points.map(({ x, y }) => {
				let lines = '';

				for (let at = base; at > y; at -= 8)
					lines += 'M' + x + ' ' + at + 'l' + bar + ' ' + -Math.min(bar, 8, at - y);
				return lines;
			}).join(''), { fill: 'none', stroke: look.hatch })],
			edge: () => [path(points.map(({ x, y }) => 'M' + x + ' ' + (y - 1) + 'h' + bar + 'v2h' + -bar + 'z').join(''), { fill })],
			line: () => [path(points.map(({ x, y }, i) => (i ? 'L' : 'M') + x + ' ' + y).join(''), { fill: 'none', stroke: fill, 'stroke-width': 2 })],
			dash: () => [ct.node.line(plot.x, points[0].y, plot.x + plot.width, points[0].y, fill, { 'stroke-dasharray': '2 4' })],
			dot: () => points.map(({ x, y }) => ct.node.node('circle', { cx: x, cy: y, r: 4.5, fill, stroke: look.ground })),
		}[one.look]();
	}

	function plotOf(view, width, look) {
		const isDrawn = (one) => !['line', 'edge'].includes(one.look) || one.y.filter((y) => y !== null).length > (one.look === 'line' ? 1 : 0);
		const legend = ct.legend(view.series.filter(isDrawn).map((one) => ({ text: one.text, look: one.look, fill: look[one.colour] })), width, look);
		const left = Math.ceil(Math.max(24, ...view.y.ticks.map(([, text]) => ct.axis.width(text, 12)))) + 10, top = legend.height + 32;
		const strip = ct.marks(view.spans, left, top, width - left - 12, look);
		const plot = { x: left, y: top + strip.height, width: width - left - 12, height: PLOT_HEIGHT, right: width };
		const shown = chosen(view, plot), values = view.series.filter((one) => one.look === 'bar' || one.look === 'dot').pop();
		let free = Infinity;
		const levels = view.y.ticks.flatMap(([at, text]) => {
			const y = plot.y + plot.height * (1 - at / PARTS), line = ct.node.line(plot.x, y, plot.x + plot.width, y, look.grid);

			if (free - y < ROW_TEXT)
				return [line];
			free = y;
			return [line, ct.node.tick(plot.x - 7, y + 4, text, look, 'end')];
		});
		const xOf = (i) => plot.x + view.at[i] * plot.width / PARTS;
		const box = (i) => (view.wide ? { x: xOf(i), y: plot.y, width: view.wide * plot.width, height: plot.height } :
			{ x: xOf(i) - 8, y: plot.y + plot.height * (1 - values.y[i] / PARTS) - 8, width: 16, height: 16 });
		const nearest = (px) => shown.reduce((best, i) => (Math.abs(xOf(i) + view.wide * plot.width / 2 - px) <
			Math.abs(xOf(best) + view.wide * plot.width / 2 - px) ? i : best), shown[0]);

		return {
			width, height: plot.y + plot.height + 42, plot, grid: null, hits: strip.hits, first: { row: 0, column: 0 },
			nodes: [
				...legend.nodes, ct.node.label(0, top - 13, view.y.title, look, 'start', { fill: look.ink }), ...levels, ...strip.nodes,
				...columnTicks(view.x.ticks, view.x.title, plot, look),
				ct.node.line(plot.x, plot.y + plot.height, plot.x + plot.width, plot.y + plot.height, look.axis),
				...view.series.flatMap((one) => seriesNodes(one, view, plot, shown, look)),
			],
			at: (px) => ({ row: 0, column: nearest(px) }),
			move: (cell, key) => ct.cells.move({ rows: 1, columns: view.at.length }, cell, key, false),
			box: (cell) => box(cell.column),
		};
	}

	ct.draw = (view, width, look) => (view.rows ? heatmap : plotOf)(view, width, look);
	ct.rgb = rgb;
})();
