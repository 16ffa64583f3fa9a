// SPDX-License-Identifier: Apache-2.0
// chart_save.js: a chart as a file: SVG, PNG or CSV. Saved charts are light on white and stand alone.
(function () {
	const WIDTH = 960, EDGE = 16, PNG_SCALE = 2, MOST_RECTS = 1024;

	// The cells of a drawing on a canvas of their own, `ratio` pixels of it to one of the page.
	function cellCanvas(drawing, look, ratio) {
		const width = Math.max(1, Math.round(drawing.plot.width * ratio)), height = Math.max(1, Math.round(drawing.plot.height * ratio));
		const canvas = ct.el('canvas', { width, height }), context = canvas.getContext('2d'), image = context.createImageData(width, height);
		const plain = Object.fromEntries(['ground', 'nothing', 'unknown', 'hatch'].map((key) => [key, ct.rgb(look[key])]));

		ct.cells.paint(new Uint32Array(image.data.buffer), width, height, drawing.grid, drawing.table, plain, Math.max(1, Math.round(ratio)));
		context.putImageData(image, 0, 0);
		return canvas;
	}

	// Cells are an image; where they are few, they say their values when pointed at.
	function cellNodes(drawing, look) {
		const { x, y, width, height } = drawing.plot, { rows, columns } = drawing.grid, few = rows * columns <= MOST_RECTS ? rows * columns : 0;

		return [ct.node.node('image', { x, y, width, height, preserveAspectRatio: 'none', href: cellCanvas(drawing, look, PNG_SCALE).toDataURL('image/png') }),
			...Array.from({ length: few }, (_, i) => {
				const cell = { row: Math.floor(i / columns), column: i % columns }, rect = ct.node.node('rect', { ...drawing.box(cell), 'fill-opacity': 0 });

				rect.append(ct.node.node('title', {}, drawing.tell(cell).map(([name, what]) => name + ': ' + (what.text === undefined ? what : what.text)).join('\n')));
				return rect;
			})];
	}

	// picture.draw(width, look), picture.title, picture.summary(): see chart_figure.js.
	function svg(picture) {
		const look = ct.look(false), drawing = picture.draw(WIDTH - 2 * EDGE, look), height = Math.ceil(drawing.height + 2 * EDGE + 22);
		const root = ct.node.node('svg', { width: WIDTH, height, viewBox: '0 0 ' + WIDTH + ' ' + height, 'font-family': ct.axis.font });
		const body = ct.node.node('g', { transform: 'translate(' + EDGE + ' ' + (EDGE + 22) + ')' });

		body.append(...(drawing.grid ? cellNodes(drawing, look) : []), ...drawing.nodes);
		root.append(ct.node.node('title', {}, picture.title), ct.node.node('desc', {}, picture.summary()),
			ct.node.node('rect', { width: '100%', height: '100%', fill: look.ground }),
			ct.node.label(EDGE, EDGE + 12, picture.title, look, 'start', { 'font-size': 15, 'font-weight': '600', fill: look.ink }), body);
		return { text: '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(root) + '\n', height };
	}

	function png(picture, done) {
		const { text, height } = svg(picture), canvas = ct.el('canvas', { width: WIDTH * PNG_SCALE, height: height * PNG_SCALE }), image = new Image();

		image.onload = () => {
			canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
			canvas.toBlob(done, 'image/png');
		};
		image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
	}

	// A file name of the run's job, whatever that is called, and the chart's name.
	function fileName(picture, extension) {
		const job = String(ct.report.run.job || 'run').replace(/[^A-Za-z0-9._-]+/g, '_').replace(/^[._]+/, '').slice(0, 40);

		return 'commtrace-' + (job || 'run') + '-' + picture.name + '.' + extension;
	}

	function download(blob, name) {
		const link = ct.el('a', { href: URL.createObjectURL(blob), download: name });

		link.click();
		// The browser has taken hold of it long before.
		setTimeout(() => URL.revokeObjectURL(link.href), 60000);
	}

	ct.save = {
		cellCanvas,
		asSvg: (picture) => download(new Blob([svg(picture).text], { type: 'image/svg+xml' }), fileName(picture, 'svg')),
		asPng: (picture) => png(picture, (blob) => download(blob, fileName(picture, 'png'))),
		asCsv: (picture) => download(new Blob([ct.csv(picture.rows())], { type: 'text/csv' }), fileName(picture, 'csv')),
	};
})();
