// SPDX-License-Identifier: Apache-2.0
// chart_figure.js: what every chart of the page has: a sentence, switches, the drawing, its cursor, a table.
//
// A picture is
//   name, title        for links and for screen readers
//   summary()          a sentence that shows what is to be seen
//   controls()         [{ label, value, options: [{ value, text }], set(value) }, or { text, press() }]; asked again after each change
//   draw(width, look)  a drawing: chart_draw.js says what that has
//   notes()            sentences below the drawing
//   table()            { head, rows, note }: those for reading, bounded; cells as ct.valueElement() takes them
//   follow()           if there is one: the page is about something else
//
// It is drawn when it comes near the window, and again when its width, the scheme or what the page is about changes; for the
// printer light, at the width of paper.
(function () {
	const PRINT_WIDTH = 680;
	const figures = [];
	let watcher = null;

	// The cells of a drawing on a canvas, `ratio` pixels of it to one of the page.
	function cellCanvas(drawing, look, ratio) {
		const width = Math.max(1, Math.round(drawing.plot.width * ratio)), height = Math.max(1, Math.round(drawing.plot.height * ratio));
		const canvas = ct.el('canvas', { width, height }), context = canvas.getContext('2d'), image = context.createImageData(width, height);
		const plain = Object.fromEntries(['ground', 'nothing', 'unknown', 'hatch'].map((key) => [key, ct.rgb(look[key])]));

		ct.cells.paint(new Uint32Array(image.data.buffer), width, height, drawing.grid, drawing.table, plain, Math.max(1, Math.round(ratio)));
		context.putImageData(image, 0, 0);
		return canvas;
	}

	// Draws the picture of figure `f` at this width.
	function paint(f, width, isDark) {
		const look = ct.look(isDark);
		const drawing = f.picture.draw(width, look);
		const ratio = Math.min(Math.max(devicePixelRatio || 1, 1), 3);
		const svg = document.createElementNS(ct.node.NAMESPACE, 'svg');
		const parts = [svg];

		svg.setAttribute('width', width);
		svg.setAttribute('height', drawing.height);
		svg.setAttribute('aria-hidden', 'true');
		svg.setAttribute('font-family', ct.axis.font);
		svg.append(...drawing.nodes);
		if (drawing.grid) {
			const canvas = cellCanvas(drawing, look, ratio);

			Object.assign(canvas.style, {
				left: drawing.plot.x + 'px', top: drawing.plot.y + 'px', width: drawing.plot.width + 'px', height: drawing.plot.height + 'px',
			});
			parts.unshift(canvas);
		}
		f.drawing = drawing;
		f.look = look;
		f.svg = svg;
		f.plot.style.height = drawing.height + 'px';
		f.plot.replaceChildren(...parts, ...markLinks(drawing));
		f.isStale = false;
		ct.cursor.show(f);
	}

	function markLinks(drawing) {
		return (drawing.hits || []).map((hit) => {
			const link = ct.el('a', {
				class: 'finding-mark', href: '#finding-' + hit.finding.id, 'aria-label': 'Finding ' + hit.finding.id + ': ' + hit.finding.kind,
				title: hit.finding.id + ': ' + hit.finding.kind,
			});

			Object.assign(link.style, { left: hit.x + 'px', top: hit.y + 'px', width: hit.width + 'px', height: hit.height + 'px' });
			return link;
		});
	}

	function control(f, one, index) {
		if (one.press)
			return ct.el('button', { type: 'button', onclick: () => { one.press(); change(f); } }, one.text);
		const id = f.picture.name + '-control-' + index;
		const select = ct.el('select', { id, onchange: () => { one.set(select.value); change(f); } },
			one.options.map((o) => ct.el('option', { value: o.value, selected: String(o.value) === String(one.value) }, o.text)));

		return ct.el('span', { class: 'choice' }, ct.el('label', { for: id }, one.label), select);
	}

	function fillTools(f) {
		const had = f.tools.contains(document.activeElement) ? document.activeElement.id : null;

		f.tools.replaceChildren(...f.picture.controls().map((one, i) => control(f, one, i)));
		if (had && document.getElementById(had))
			document.getElementById(had).focus();
	}

	function fillWords(f) {
		f.caption.textContent = f.picture.summary();
		f.notes.replaceChildren(...f.picture.notes().filter(Boolean).map((note) => ct.el('p', {}, note)));
		f.plot.setAttribute('aria-label', f.picture.title + '. ' + f.picture.summary());
	}

	function fillTable(f) {
		const { head, rows, note } = f.picture.table();

		f.table.replaceChildren(
			ct.el('table', {}, ct.el('caption', {}, f.picture.title),
				ct.el('thead', {}, ct.el('tr', {}, head.map((name) => ct.el('th', { scope: 'col' }, name)))),
				ct.el('tbody', {}, rows.map((row) => ct.el('tr', {}, row.map((what, i) => ct.valueElement(i ? 'td' : 'th', what, i ? {} : { scope: 'row' })))))));
		if (note)
			f.table.append(ct.el('p', { class: 'note' }, note));
	}

	// Something about the picture is other than before.
	function change(f) {
		f.cell = null;
		ct.tip.hide();
		fillTools(f);
		fillWords(f);
		if (f.details.open)
			fillTable(f);
		stale(f);
	}

	function stale(f) {
		f.isStale = true;
		if (f.isNear)
			draw(f);
	}

	function draw(f) {
		const width = Math.floor(f.plot.clientWidth);

		if (width > 0) {
			f.width = width;
			paint(f, width, ct.theme.isDark());
		}
	}

	function watch(f) {
		if (!watcher) {
			watcher = new IntersectionObserver((entries) => {
				for (const entry of entries) {
					const one = figures.find((g) => g.plot === entry.target);

					one.isNear = entry.isIntersecting;
					if (one.isNear && one.isStale)
						draw(one);
				}
			}, { rootMargin: '300px 0px' });
		}
		watcher.observe(f.plot);
		new ResizeObserver(() => {
			if (f.drawing && Math.floor(f.plot.clientWidth) !== f.width && !f.isPrinting)
				stale(f);
		}).observe(f.plot);
	}

	// Puts the figure of a picture at the end of `body`.
	function figure(body, picture) {
		const f = { picture, isStale: true, isNear: false, cell: null, drawing: null };
		const how = picture.name + '-how';

		f.caption = ct.el('figcaption', {});
		f.tools = ct.el('div', { class: 'controls' });
		f.plot = ct.el('div', { class: 'plot', tabindex: '0', role: 'application', 'aria-describedby': how });
		f.live = ct.el('p', { class: 'unseen', 'aria-live': 'polite' });
		f.notes = ct.el('div', { class: 'note' });
		f.table = ct.el('div', { class: 'cells' });
		f.details = ct.el('details', { ontoggle: () => f.details.open && fillTable(f) }, ct.el('summary', {}, 'Show as table'), f.table);
		ct.cursor.listen(f, () => change(f));
		figures.push(f);
		ct.add(body, [ct.el('figure', { class: 'chart', 'data-picture': picture.name }, f.caption,
			ct.el('div', { class: 'chart-tools' }, f.tools), f.plot, f.live,
			ct.el('p', { class: 'unseen', id: how }, 'Arrow keys move from cell to cell, with Control to the next one that has a value; ' +
				'Enter shows the page for this one, Escape leaves.'), f.notes, f.details)]);
		f.plot.style.height = '16rem';
		fillTools(f);
		fillWords(f);
		watch(f);
	}

	function everyFigure(act) {
		return () => figures.forEach(act);
	}

	ct.figure = figure;
	ct.state.on(everyFigure((f) => {
		if (f.picture.follow)
			f.picture.follow();
		change(f);
	}));
	ct.theme.on(everyFigure(stale));
	addEventListener('beforeprint', everyFigure((f) => {
		f.isPrinting = true;
		paint(f, PRINT_WIDTH, false);
	}));
	addEventListener('afterprint', everyFigure((f) => {
		f.isPrinting = false;
		stale(f);
		f.isStale = true;
	}));
})();
