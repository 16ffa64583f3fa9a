// SPDX-License-Identifier: Apache-2.0
// picture_cells.js: the cells of a heatmap as pixels.
//
// A grid is { rows, columns, layers: [base, over], rowOn, columnOn, least }. A layer is { place, table }: place is a Float32Array,
// row after row, of where each value stands on its scale (0..1; NaN: not known; below 0: there is nothing there), table 256
// [r, g, b]. `over` stands in a cell from its lower edge, the higher the stronger, or where cells are too small for two instead of a
// weaker base, and instead of any where it is strong: the row of a culprit's host has the waits of the host's other ranks, too. rowOn, columnOn (arrays of 0 and 1, or null): cells of neither an on row nor an on column are faded.
// Where several cells share a pixel, the strongest is shown: a single one is never lost between pixels. With `least`, cells that
// are smaller than so many pixels of the page grow into their neighbours' place where those are weaker.
(function () {
	const NOTHING = -1;
	const SPLIT_PIXELS = 6; // a cell of at least that height shows both layers
	const OVER_SHARE = 0.7; // of its height, which `over` takes at most
	const HATCH_PIXELS = 3;

	const STRONG = reach(0.5); // where there is room, `over` takes half of its own or more

	// Which cells are seen at a pixel: [first, behind the last].
	function span(p, size, cells, least) {
		if (size >= Math.max(least, 1)) {
			const cell = Math.min(Math.floor((p + 0.5) / size), cells - 1);

			return [cell, cell + 1];
		}
		const more = Math.max(least - Math.max(size, 1), 0) / 2;
		const from = Math.max(Math.floor((p - more) / size), 0);

		return [from, Math.min(Math.max(Math.ceil((p + 1 + more) / size), from + 1), cells)];
	}

	// The same for all of `pixels` pixels, and where gaps between cells are.
	function cuts(pixels, cells, gap, least) {
		const size = pixels / cells;
		const has = size >= 6 * gap;
		const from = new Int32Array(pixels);
		const to = new Int32Array(pixels);
		const isGap = new Uint8Array(pixels);

		for (let p = 0; p < pixels; p++) {
			[from[p], to[p]] = span(p, size, cells, least);
			isGap[p] = has && p + gap < pixels && Math.floor((p + gap + 0.5) / size) > from[p] ? 1 : 0;
		}
		return { from, to, isGap, size };
	}

	// The strongest value of a block of cells; NaN if none is known, NOTHING if there is none.
	function strongest(place, columns, rowFrom, rowTo, columnFrom, columnTo) {
		let best = NOTHING, unknown = false;

		for (let r = rowFrom; r < rowTo; r++) {
			for (let i = r * columns + columnFrom; i < r * columns + columnTo; i++) {
				if (place[i] > best)
					best = place[i];
				else if (place[i] !== place[i])
					unknown = true;
			}
		}
		return best < 0 && unknown ? NaN : best;
	}

	function packed(c) {
		return ((255 << 24) | (c[2] << 16) | (c[1] << 8) | c[0]) >>> 0;
	}

	// A layer's colours as pixels, and the same faded into the ground.
	function inks(layer, ground) {
		return {
			on: Uint32Array.from(layer.table, packed),
			off: Uint32Array.from(layer.table, (c) => packed(ct.scale.mix(ground, c, 0.22))),
		};
	}

	// How strong `over` has to be to stand this high, 0..1 of the room that it has. What is weak stands low, so that the many small
	// latenesses that every run has do not hide the waits; what is worth a look soon stands high.
	function reach(height) {
		return height < 1 ? 1 - Math.sqrt(1 - height) : 1;
	}

	// Whether a cell that is too small for both layers shows `over`.
	function covers(over, base) {
		return over > 0 && (over >= STRONG || !(over < base));
	}

	// One row of pixels, at `at`; returns whether a hatch is in it (which depends on where a pixel is).
	function paintRow(pixels, at, py, width, p) {
		const { grid, x, y, ink, overInk, flat, hatch } = p;
		const columns = grid.columns, base = grid.layers[0].place, over = overInk ? grid.layers[1].place : null;
		const row = y.from[py], rowTo = y.to[py];
		const rowOn = !(grid.rowOn || grid.columnOn) || (grid.rowOn && grid.rowOn[row]);
		const below = reach(Math.max((row + 1) * y.size - py - 1, 0) / (OVER_SHARE * y.size));
		let isHatched = false;

		for (let px = 0; px < width; px++) {
			const column = x.from[px], columnTo = x.to[px];
			let value = valueAt(base, columns, row, rowTo, column, columnTo), colours = ink;

			if (x.isGap[px]) {
				pixels[at + px] = flat.ground;
				continue;
			}
			if (over && (below < 1 || !p.splits)) {
				const other = valueAt(over, columns, row, rowTo, column, columnTo);

				if (p.splits ? other > 0 && other > below : covers(other, value)) {
					value = other;
					colours = overInk;
				}
			}
			if (value !== value) {
				isHatched = true;
				pixels[at + px] = hatch[(px + py) % (4 * HATCH_PIXELS) < HATCH_PIXELS ? 1 : 0];
			} else if (value < 0) {
				pixels[at + px] = flat.nothing;
			} else {
				pixels[at + px] = (rowOn || (grid.columnOn && grid.columnOn[column]) ?
					colours.on : colours.off)[Math.min(Math.floor(value * 255.999), 255)];
			}
		}
		return isHatched;
	}

	// Fills `pixels` (width * height, bytes r g b a in order) with the grid. look: { ground, nothing, unknown, hatch } are
	// [r, g, b]; gap: pixels between cells, where they are large enough to have any.
	function paint(pixels, width, height, grid, look, gap) {
		const [base, over] = grid.layers, least = (grid.least || 0) * gap;
		const p = {
			grid, x: cuts(width, grid.columns, gap, least), y: cuts(height, grid.rows, gap, least),
			ink: inks(base, look.ground), overInk: over ? inks(over, look.ground) : null,
			flat: { ground: packed(look.ground), nothing: packed(look.nothing) },
			hatch: [packed(look.unknown), packed(look.hatch)],
		};
		let before = -1;

		p.splits = p.y.size >= SPLIT_PIXELS;
		for (let py = 0; py < height; py++) {
			const at = py * width, row = p.y.from[py];

			if (p.y.isGap[py]) {
				pixels.fill(p.flat.ground, at, at + width);
				before = -1;
			} else if (row === before && !(over && p.splits) && p.y.to[py] === row + 1) {
				pixels.copyWithin(at, at - width, at);
			} else {
				before = paintRow(pixels, at, py, width, p) ? -1 : row;
			}
		}
	}

	function valueAt(place, columns, row, rowTo, column, columnTo) {
		return rowTo - row === 1 && columnTo - column === 1 ? place[row * columns + column] :
			strongest(place, columns, row, rowTo, column, columnTo);
	}

	// The cell under a point of a drawing `width` x `height`: of those that are seen in its pixel the strongest.
	function cellAt(grid, px, py, width, height) {
		const x = Math.min(Math.max(Math.floor(px), 0), Math.ceil(width) - 1), y = Math.min(Math.max(Math.floor(py), 0), Math.ceil(height) - 1);
		const [row, rowTo] = span(y, height / grid.rows, grid.rows, grid.least || 0);
		const [column, columnTo] = span(x, width / grid.columns, grid.columns, grid.least || 0);
		const found = grid.layers.map(() => ({ row, column, value: -Infinity }));

		for (let r = row; r < rowTo; r++) {
			for (let c = column; c < columnTo; c++) {
				grid.layers.forEach((layer, i) => {
					const value = layer.place[r * grid.columns + c];

					if (value > found[i].value)
						found[i] = { row: r, column: c, value };
				});
			}
		}
		const [base, over] = found, best = over && covers(over.value, base.value) ? over : base;

		return { row: best.row, column: best.column };
	}

	ct.cells = { NOTHING, paint, cellAt, strongest };
})();
