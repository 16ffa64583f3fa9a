// SPDX-License-Identifier: Apache-2.0
// picture_grid.js: a heatmap with its axes, as a drawing.
//
// What it draws is told by
//   grid           as picture_cells.js has it
//   rowName(r), columnName(c)   full names; rowTitle, columnTitle: what rows and columns are
//   columnTicks(width)          instead of columnName on the axis: [{ at (in columns), text }]
//   legend         items of picture_legend.js
//   marks(width)   of picture_marks.js, or undefined
//   isSquare       rows are as high as columns are wide
//   rowHeight      at most; cellText(r, c): written into cells where it fits
//   tell(r, c)     [[name, text or figure of ct.names.told()], ...], the cell in full
//   pick(r, c)     what a click on it does, or undefined
//
// The drawing has { width, height, nodes, cells, plot, hits, first, move, at, box, tell, pick }: what to draw, where its plot is,
// and how a figure gets from a point or a key to a cell { row, column }.
(function () {
	const ROW_TEXT = 14, SPARSE_ROW_TEXT = 22, MOST_HEIGHT = 640, MOST_SQUARE = 720, LEAST_ROW = 20, MOST_CELL = 56;

	// Rows whose names are shown, and how wide the widest is.
	function rowLabels(desc, rowHeight, most) {
		const step = ct.axis.every(rowHeight, rowHeight < ROW_TEXT ? SPARSE_ROW_TEXT : ROW_TEXT);
		const labels = [];

		for (let r = 0; r < desc.grid.rows; r += step) {
			const letters = Math.max(6, Math.floor(most / 6.6));

			labels.push({ row: r, text: ct.axis.middle(desc.rowName(r), letters) });
		}
		return labels;
	}

	function widest(labels) {
		return Math.max(0, ...labels.map((l) => ct.axis.width(l.text, 12)));
	}

	// Height of the plot for a given width of it.
	function heightFor(desc, width) {
		const { rows, columns } = desc.grid;

		if (desc.isSquare)
			return Math.round(width * rows / columns);
		return Math.round(Math.min(rows * Math.min(desc.rowHeight || LEAST_ROW, 48), Math.max(MOST_HEIGHT * 0.8, 80)));
	}

	// Width of a plot of square cells: as high as it is wide at most, and no cell larger than it has to be to be seen.
	function squareWidth(desc, room) {
		const { rows, columns } = desc.grid;

		return Math.floor(Math.min(room, columns * MOST_CELL, MOST_SQUARE * Math.min(1, columns / rows)));
	}

	function columnNodes(desc, plot, look) {
		const columns = desc.grid.columns;
		const y = plot.y + plot.height;
		const apart = plot.width / columns;
		let ticks;

		if (desc.columnTicks) {
			ticks = desc.columnTicks(plot.width);
		} else {
			const step = ct.axis.every(apart, Math.max(14, ct.axis.width(ct.axis.middle(desc.columnName(columns - 1), 12), 12) + 6));

			ticks = [];
			for (let c = 0; c < columns; c += step)
				ticks.push({ at: c + 0.5, text: ct.axis.middle(desc.columnName(c), 12) });
		}
		const labels = ticks.map((tick) => {
			const size = ct.axis.width(tick.text, 12);

			return { at: Math.min(Math.max(tick.at * apart, 0), plot.width), size, tick };
		});
		const nodes = [];

		for (const l of ct.axis.thin(labels, 6)) {
			const x = plot.x + l.at;

			if (x - l.size / 2 < 0 || x + l.size / 2 > plot.right)
				continue;
			nodes.push(ct.node.line(x, y, x, y + 4, look.axis));
			nodes.push(ct.node.tick(x, y + 17, l.tick.text, look, 'middle'));
		}
		nodes.push(ct.node.label(plot.x + plot.width / 2, y + 34, desc.columnTitle, look, 'middle', { fill: look.ink }));
		return nodes;
	}

	function rowNodes(desc, plot, labels, look) {
		const apart = plot.height / desc.grid.rows;
		const nodes = [];

		for (const l of labels) {
			const y = plot.y + (l.row + 0.5) * apart;

			nodes.push(ct.node.line(plot.x - 4, y, plot.x, y, look.axis));
			nodes.push(ct.node.tick(plot.x - 7, y + 4, l.text, look, 'end'));
		}
		return nodes;
	}

	// What is written into cells: dark on pale ones and the other way round.
	function cellNodes(desc, plot, look) {
		const { rows, columns, layers } = desc.grid;
		const wide = plot.width / columns, tall = plot.height / rows;
		const nodes = [];

		if (!desc.cellText || tall < 16)
			return nodes;
		for (let i = 0; i < rows * columns; i++) {
			const text = desc.cellText(Math.floor(i / columns), i % columns);
			const place = layers[0].place[i];

			if (!text || ct.axis.width(text, 11) + 6 > wide || !(place >= 0))
				continue;
			nodes.push(ct.node.label(plot.x + (i % columns + 0.5) * wide, plot.y + (Math.floor(i / columns) + 0.5) * tall + 4,
				text, look, 'middle',
				{ 'font-size': 11, fill: ct.scale.inkOn(layers[0].table[Math.min(Math.floor(place * 255.999), 255)]) }));
		}
		return nodes;
	}

	const KEYS = {
		ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
		PageUp: [-10, 0], PageDown: [10, 0],
	};

	// The cell that a key leads to, or null if it is not one that moves; with ctrl to the next cell that has a value.
	function move(grid, cell, key, isFar) {
		const last = { row: grid.rows - 1, column: grid.columns - 1 };
		const inside = (r, c) => r >= 0 && c >= 0 && r <= last.row && c <= last.column;

		if (key === 'Home')
			return isFar ? { row: 0, column: 0 } : { row: cell.row, column: 0 };
		if (key === 'End')
			return isFar ? last : { row: cell.row, column: last.column };
		if (!KEYS[key])
			return null;
		const [down, right] = KEYS[key];
		if (isFar) {
			for (let r = cell.row + down, c = cell.column + right; inside(r, c); r += down, c += right)
				if (grid.layers.some((layer) => layer.place[r * grid.columns + c] > 0))
					return { row: r, column: c };
			return cell;
		}
		return {
			row: Math.min(Math.max(cell.row + down, 0), last.row),
			column: Math.min(Math.max(cell.column + right, 0), last.column),
		};
	}

	// Where everything goes at this width.
	function arrange(desc, width, look) {
		const legend = ct.legend(desc.legend, width, look);
		const most = Math.min(150, width * 0.26);
		const guess = heightFor(desc, desc.isSquare ? squareWidth(desc, width - most) : width - most);
		const labels = rowLabels(desc, guess / desc.grid.rows, most);
		const x = Math.ceil(widest(labels)) + 10;
		const room = width - x - 8;
		const plotWidth = desc.isSquare ? squareWidth(desc, room) : room;
		const marks = desc.marks ? desc.marks(plotWidth) : [];
		const top = legend.height + 26;
		const strip = ct.marks.strip(marks, x, top, plotWidth, look);
		const plot = { x, y: top + strip.height, width: plotWidth, height: heightFor(desc, plotWidth), right: width };

		return { legend, labels, strip, plot };
	}

	// `desc` drawn `width` pixels wide with the colours of `look`.
	function drawing(desc, width, look) {
		const { legend, labels, strip, plot } = arrange(desc, width, look);
		const grid = desc.grid;
		const wide = plot.width / grid.columns, tall = plot.height / grid.rows;
		const nodes = [
			...legend.nodes,
			ct.node.label(0, legend.height + 18, desc.rowTitle, look, 'start', { fill: look.ink }),
			...strip.nodes,
			...rowNodes(desc, plot, labels, look),
			...columnNodes(desc, plot, look),
			...cellNodes(desc, plot, look),
			ct.node.node('rect', { x: plot.x, y: plot.y, width: plot.width, height: plot.height, fill: 'none', stroke: look.axis, 'stroke-width': 0.5 }),
		];

		return {
			width, height: plot.y + plot.height + 42, nodes, plot, cells: grid, hits: strip.hits,
			first: { row: 0, column: 0 },
			at: (x, y) => ct.cells.cellAt(grid, x - plot.x, y - plot.y, plot.width, plot.height),
			move: (cell, key, isFar) => move(grid, cell, key, isFar),
			box: (cell) => ({ x: plot.x + cell.column * wide, y: plot.y + cell.row * tall, width: wide, height: tall }),
			tell: (cell) => desc.tell(cell.row, cell.column),
			pick: (cell) => desc.pick && desc.pick(cell.row, cell.column),
		};
	}

	ct.grid = { drawing, move };
})();
