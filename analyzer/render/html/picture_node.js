// SPDX-License-Identifier: Apache-2.0
// picture_node.js: one drawing, three ways to bring it out: into the page, into an SVG file, onto a canvas.
//
// A node is {tag, attrs, text}: rect, line, path, circle or text, with the names of SVG's attributes. Names of ranks, hosts and
// operations come from outside: they are text everywhere, never markup.
(function () {
	const NAMESPACE = 'http://www.w3.org/2000/svg';

	function node(tag, attrs, text) {
		return { tag, attrs, text };
	}

	// A line of text. `anchor`: start, middle, end. `more`: further attributes.
	function label(x, y, text, look, anchor, more) {
		return node('text', Object.assign({ x, y, 'text-anchor': anchor || 'start', 'font-size': 12, fill: look.soft }, more), text);
	}

	// A label of an axis or a ramp: told apart from other text for whoever reads the page by program.
	function tick(x, y, text, look, anchor, more) {
		return label(x, y, text, look, anchor, { 'data-tick': '', ...more });
	}

	function line(x1, y1, x2, y2, stroke, more) {
		return node('line', Object.assign({ x1, y1, x2, y2, stroke }, more));
	}

	function toDom(one) {
		const element = document.createElementNS(NAMESPACE, one.tag);
		for (const [name, value] of Object.entries(one.attrs))
			element.setAttribute(name, value);
		if (one.text !== undefined)
			element.textContent = one.text;
		return element;
	}

	// Text for XML 1.0: what it cannot hold at all (control characters, lone halves of pairs) becomes U+FFFD.
	function escape(text) {
		return String(text)
			.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g, '\ufffd')
			.replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (s) => (s.length === 2 ? s : '\ufffd'))
			.replace(/[&<>"']/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[c]);
	}

	function toText(one) {
		const attrs = Object.entries(one.attrs).map(([name, value]) => ' ' + name + '="' + escape(value) + '"').join('');
		return one.text === undefined ? '<' + one.tag + attrs + '/>' :
			'<' + one.tag + attrs + '>' + escape(one.text) + '</' + one.tag + '>';
	}

	function pathOf(one) {
		const a = one.attrs;
		const path = new Path2D(one.tag === 'path' ? a.d : undefined);
		if (one.tag === 'rect')
			path.roundRect(a.x, a.y, a.width, a.height, a.rx || 0);
		else if (one.tag === 'circle')
			path.arc(a.cx, a.cy, a.r, 0, 2 * Math.PI);
		else if (one.tag === 'line') {
			path.moveTo(a.x1, a.y1);
			path.lineTo(a.x2, a.y2);
		}
		return path;
	}

	function toCanvas(one, context) {
		const a = one.attrs;
		context.save();
		context.globalAlpha = a.opacity === undefined ? 1 : a.opacity;
		if (one.tag === 'text') {
			context.font = (a['font-weight'] ? a['font-weight'] + ' ' : '') + a['font-size'] + 'px ' + ct.axis.font;
			context.textAlign = { start: 'left', middle: 'center', end: 'right' }[a['text-anchor']];
			context.fillStyle = a.fill;
			context.direction = 'ltr';
			context.fillText(one.text, a.x, a.y);
			context.restore();
			return;
		}
		const path = pathOf(one);
		if (a.fill !== 'none' && one.tag !== 'line') {
			context.fillStyle = a.fill || '#000000';
			context.fill(path);
		}
		if (a.stroke) {
			context.strokeStyle = a.stroke;
			context.lineWidth = a['stroke-width'] || 1;
			context.setLineDash((a['stroke-dasharray'] || '').split(' ').filter(Boolean).map(Number));
			context.stroke(path);
		}
		context.restore();
	}

	ct.node = { NAMESPACE, node, label, tick, line, escape, toDom, toText, toCanvas };
})();
