// SPDX-License-Identifier: Apache-2.0
// chart_cursor.js: which cell of a chart is described: by pointer, finger or keys; and what picking one does.
//
// A figure `f` has plot (the element that is looked at), svg, drawing, look, live (what a screen reader speaks) and cell, the one
// that is described, or null.
(function () {
	// Some room around what would be too small to see.
	function cursorBox(box) {
		const width = Math.max(box.width, 7), height = Math.max(box.height, 7);

		return { x: box.x + (box.width - width) / 2, y: box.y + (box.height - height) / 2, width, height };
	}

	function show(f) {
		for (const old of f.svg.querySelectorAll('.cursor'))
			old.remove();
		if (!f.cell)
			return;
		const box = cursorBox(f.drawing.box(f.cell));

		for (const [stroke, wide] of [[f.look.cursorEdge, 4], [f.look.cursor, 2]])
			f.svg.append(ct.node.node('rect', { ...box, fill: 'none', stroke, 'stroke-width': wide, class: 'cursor' }));
	}

	function describe(f, x, y) {
		ct.tip.show(f.drawing.describe(f.cell), x, y);
	}

	function forget(f) {
		f.cell = null;
		ct.tip.hide();
		if (f.svg)
			show(f);
	}

	// Where a pointer is: { cell } in the plot, { row } or { column } on the labels of an axis, {} elsewhere.
	function under(f, event) {
		const edge = f.plot.getBoundingClientRect();
		const x = event.clientX - edge.left, y = event.clientY - edge.top;
		const { plot } = f.drawing;
		const isRow = y >= plot.y && y < plot.y + plot.height, isColumn = x >= plot.x && x < plot.x + plot.width;

		if (isRow && isColumn)
			return { cell: f.drawing.at(x, y) };
		if (isRow && x < plot.x && f.drawing.pickRow)
			return { row: f.drawing.at(plot.x, y).row };
		if (isColumn && y >= plot.y + plot.height && y < plot.y + plot.height + 20 && f.drawing.pickColumn)
			return { column: f.drawing.at(x, plot.y).column };
		return {};
	}

	const same = (a, b) => Boolean(a && b && a.row === b.row && a.column === b.column);

	function onMove(f, event) {
		if (!f.drawing || event.pointerType === 'touch')
			return;
		const { cell, row, column } = under(f, event);

		f.plot.style.cursor = cell || row !== undefined || column !== undefined ? 'pointer' : '';
		if (!cell) {
			forget(f);
			return;
		}
		if (!same(cell, f.cell)) {
			f.cell = cell;
			show(f);
		}
		describe(f, event.clientX, event.clientY);
	}

	// A chart that handles a pick itself returns true; it follows the page's selection like every other part.
	function pick(f, cell) {
		if (f.drawing.pick(cell))
			f.changed();
	}

	// A finger has no hover: its first touch shows, the second one picks.
	function onClick(f, event) {
		if (!f.drawing || event.target.closest('a'))
			return;
		const { cell, row, column } = under(f, event);

		if (row !== undefined)
			f.drawing.pickRow(row);
		else if (column !== undefined)
			f.drawing.pickColumn(column);
		else if (cell && event.pointerType === 'touch' && !same(cell, f.cell)) {
			f.cell = cell;
			show(f);
			describe(f, event.clientX, event.clientY);
		} else if (cell) {
			pick(f, cell);
		}
	}

	function onKey(f, event) {
		if (!f.drawing || event.altKey || event.target !== f.plot)
			return;
		if (event.key === 'Escape') {
			forget(f);
			return;
		}
		if (f.cell && (event.key === 'Enter' || event.key === ' ')) {
			event.preventDefault();
			pick(f, f.cell);
			return;
		}
		const cell = f.cell ? f.drawing.move(f.cell, event.key, event.ctrlKey || event.metaKey) :
			f.drawing.move(f.drawing.first, event.key, false) && f.drawing.first;

		if (!cell)
			return;
		event.preventDefault();
		f.cell = cell;
		show(f);
		const edge = f.plot.getBoundingClientRect(), box = f.drawing.box(cell);

		describe(f, edge.left + box.x + box.width, edge.top + box.y + box.height);
		f.live.textContent = f.drawing.describe(cell).map(([name, what]) => name + ': ' + (what.text === undefined ? what : what.text)).join('; ');
	}

	// Listens on the figure's plot. changed: called when picking has changed the picture itself.
	function listen(f, changed) {
		f.changed = changed;
		f.plot.addEventListener('pointermove', (event) => onMove(f, event));
		f.plot.addEventListener('pointerleave', () => forget(f));
		f.plot.addEventListener('click', (event) => onClick(f, event));
		f.plot.addEventListener('keydown', (event) => onKey(f, event));
		f.plot.addEventListener('blur', () => forget(f));
	}

	ct.cursor = { show, listen };
})();
