// SPDX-License-Identifier: Apache-2.0
// picture_save.js: a picture as a file: SVG, PNG or CSV. Saved pictures are light on white and stand alone.
(function () {
	const WIDTH = 960, EDGE = 16, PNG_SCALE = 2, MOST_RECTS = 1024;

	function look(colours) {
		return Object.fromEntries(['ground', 'nothing', 'unknown', 'hatch'].map((key) => [key, ct.scale.rgb(colours[key])]));
	}

	// The cells of a drawing on a canvas of their own, `ratio` pixels of it to one of the page.
	function cellCanvas(drawing, colours, ratio) {
		const canvas = document.createElement('canvas');
		const width = Math.max(1, Math.round(drawing.plot.width * ratio));
		const height = Math.max(1, Math.round(drawing.plot.height * ratio));

		canvas.width = width;
		canvas.height = height;
		const context = canvas.getContext('2d');
		const image = context.createImageData(width, height);

		ct.cells.paint(new Uint32Array(image.data.buffer), width, height, drawing.cells, look(colours), Math.max(1, Math.round(ratio)));
		context.putImageData(image, 0, 0);
		return canvas;
	}

	// Few cells become rectangles that tell their figures when pointed at, many an image.
	function cellText(drawing, colours) {
		const { rows, columns } = drawing.cells;
		const { x, y, width, height } = drawing.plot;
		const image = cellCanvas(drawing, colours, PNG_SCALE).toDataURL('image/png');
		let text = '<image x="' + x + '" y="' + y + '" width="' + width + '" height="' + height +
			'" preserveAspectRatio="none" href="' + image + '"/>\n';

		for (let i = 0; rows * columns <= MOST_RECTS && i < rows * columns; i++) {
			const cell = { row: Math.floor(i / columns), column: i % columns };
			const title = drawing.tell(cell).map(([name, what]) => name + ': ' + (what.text === undefined ? what : what.text)).join('\n');

			text += '<rect' + Object.entries(drawing.box(cell)).map(([k, v]) => ' ' + k + '="' + v + '"').join('') +
				' fill-opacity="0"><title>' + ct.node.escape(title) + '</title></rect>\n';
		}
		return text;
	}

	// picture.draw(width, look), picture.title, picture.summary(): see picture_figure.js.
	function svg(picture) {
		const colours = ct.look(false);
		const drawing = picture.draw(WIDTH - 2 * EDGE, colours);
		const height = drawing.height + 2 * EDGE + 22;

		return '<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="' + ct.node.NAMESPACE + '" width="' + WIDTH + '" height="' + height +
			'" viewBox="0 0 ' + WIDTH + ' ' + height + '" font-family="' + ct.node.escape(ct.axis.font) + '">\n<title>' +
			ct.node.escape(picture.title) + '</title>\n<desc>' + ct.node.escape(picture.summary()) + '</desc>\n' +
			'<rect width="100%" height="100%" fill="' + colours.ground + '"/>\n' +
			ct.node.toText(heading(picture, colours)) + '\n<g transform="translate(' + EDGE + ' ' + (EDGE + 22) + ')">\n' +
			(drawing.cells ? cellText(drawing, colours) : '') +
			drawing.nodes.map(ct.node.toText).join('\n') + '\n</g>\n</svg>\n';
	}

	function heading(picture, colours) {
		return ct.node.label(EDGE, EDGE + 12, picture.title, colours, 'start', { 'font-size': 15, 'font-weight': '600', fill: colours.ink });
	}

	function png(picture, done) {
		const colours = ct.look(false);
		const drawing = picture.draw(WIDTH - 2 * EDGE, colours);
		const canvas = document.createElement('canvas');

		canvas.width = WIDTH * PNG_SCALE;
		canvas.height = Math.ceil(drawing.height + 2 * EDGE + 22) * PNG_SCALE;
		const context = canvas.getContext('2d');

		context.scale(PNG_SCALE, PNG_SCALE);
		context.fillStyle = colours.ground;
		context.fillRect(0, 0, canvas.width, canvas.height);
		ct.node.toCanvas(heading(picture, colours), context);
		context.translate(EDGE, EDGE + 22);
		if (drawing.cells)
			context.drawImage(cellCanvas(drawing, colours, PNG_SCALE), drawing.plot.x, drawing.plot.y, drawing.plot.width, drawing.plot.height);
		for (const node of drawing.nodes)
			ct.node.toCanvas(node, context);
		canvas.toBlob(done, 'image/png');
	}

	// A file name of the run's job, whatever that is called, and the picture's name.
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
		cellCanvas, svg, png, fileName,
		asSvg: (picture) => download(new Blob([svg(picture)], { type: 'image/svg+xml' }), fileName(picture, 'svg')),
		asPng: (picture) => png(picture, (blob) => download(blob, fileName(picture, 'png'))),
		asCsv: (picture) => download(new Blob([ct.csv(picture.rows())], { type: 'text/csv' }), fileName(picture, 'csv')),
	};
})();
