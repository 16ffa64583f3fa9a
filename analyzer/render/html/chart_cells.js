// SPDX-License-Identifier: Apache-2.0
// chart_cells.js: the cells of a heatmap as pixels.
//
// A grid is { rows, columns, shade, on }. shade is a Uint8Array, row after row: NOTHING, UNKNOWN, or FIRST and up, the larger the
// stronger. on(row, column): cells for which it is false are faded; null: none is.
// Where several cells share a pixel, the strongest is shown, so that a single one is never lost between pixels.
(function () {
	const NOTHING = 0, UNKNOWN = 1, FIRST = 2;
	const HATCH_PIXELS = 3;
	const BLANK_LEVEL = 253; // charts.c: 252 is not known

	// Levels as charts.c writes them.
	function shades(base64) {
		const text = atob(base64);

		return Uint8Array.from(text, (c) => (c.charCodeAt(0) >= BLANK_LEVEL ? NOTHING : c.charCodeAt(0) === BLANK_LEVEL - 1 ? UNKNOWN : c.charCodeAt(0) + FIRST));
	}

	// Which cells are seen at a pixel: [first, behind the last].
	function span(p, size, cells) {
		const first = Math.min(Math.floor(size >= 1 ? (p + 0.5) / size : p / size), cells - 1);

		return [first, size >= 1 ? first + 1 : Math.min(Math.max(Math.ceil((p + 1) / size), first + 1), cells)];
	}

	// The same for all of `pixels` pixels, and where gaps between cells are.
	function cuts(pixels, cells, gap) {
		const size = pixels / cells;

		return Array.from({ length: pixels }, (_, p) => {
			const [from, to] = span(p, size, cells);

			return { from, to, isGap: size >= 6 * gap && p + gap < pixels && Math.floor((p + gap + 0.5) / size) > from };
		});
	}

	// The index in `grid.shade` of the strongest of a block of cells.
	function strongest(grid, row, rowTo, column, columnTo) {
		let best = row * grid.columns + column;

		for (let r = row; r < rowTo; r++)
			for (let i = r * grid.columns + column; i < r * grid.columns + columnTo; i++)
				if (grid.shade[i] > grid.shade[best])
					best = i;
		return best;
	}

	function packed([r, g, b]) {
		return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
	}

	// Fills `pixels` (width * height, bytes r g b a) with the grid. table: [r, g, b] of each shade from FIRST on; look: { ground,
	// nothing, unknown, hatch } likewise; gap: pixels between cells, where they are large enough to have any.
	function paint(pixels, width, height, grid, table, look, gap) {
		const xs = cuts(width, grid.columns, gap), ys = cuts(height, grid.rows, gap);
		const faded = (c) => packed(c.map((v, i) => Math.round(look.ground[i] + (v - look.ground[i]) * 0.22)));
		const inks = { on: Uint32Array.from(table, packed), off: Uint32Array.from(table, faded) };
		const ground = packed(look.ground), nothing = packed(look.nothing), hatch = [packed(look.unknown), packed(look.hatch)];

		ys.forEach((y, py) => {
			for (let px = 0; px < width; px++) {
				const x = xs[px], i = strongest(grid, y.from, y.to, x.from, x.to), shade = grid.shade[i];
				const ink = shade < FIRST ? null : !grid.on || grid.on(y.from, x.from) ? inks.on : inks.off;

				pixels[py * width + px] = x.isGap || y.isGap ? ground : shade === NOTHING ? nothing :
					ink ? ink[shade - FIRST] : hatch[(px + py) % (4 * HATCH_PIXELS) < HATCH_PIXELS ? 1 : 0];
			}
		});
	}

	// The cell under a point of a drawing `width` x `height`: of those that are seen in its pixel the strongest.
	function cellAt(grid, px, py, width, height) {
		const inside = (p, size) => Math.min(Math.max(Math.floor(p), 0), Math.ceil(size) - 1);
		const i = strongest(grid, ...span(inside(py, height), height / grid.rows, grid.rows), ...span(inside(px, width), width / grid.columns, grid.columns));

		return { row: Math.floor(i / grid.columns), column: i % grid.columns };
	}

	const KEYS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], PageUp: [-10, 0], PageDown: [10, 0] };

	// The cell that a key leads to, or null if it is not one that moves; `isFar`: to the next cell that has a value.
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

		for (let r = cell.row + down, c = cell.column + right; isFar && grid.shade; r += down, c += right) {
			if (!inside(r, c))
				return cell;
			if (grid.shade[r * grid.columns + c] >= FIRST)
				return { row: r, column: c };
		}
		return {
			row: Math.min(Math.max(cell.row + down, 0), last.row),
			column: Math.min(Math.max(cell.column + right, 0), last.column),
		};
	}

	ct.cells = { NOTHING, UNKNOWN, FIRST, shades, paint, cellAt, move };
})();
