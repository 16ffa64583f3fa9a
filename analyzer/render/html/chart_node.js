// SPDX-License-Identifier: Apache-2.0
// chart_node.js: elements of a drawing. Names of ranks, hosts and operations come from outside: they are text everywhere, never markup.
(function () {
	const NAMESPACE = 'http://www.w3.org/2000/svg';

	// What XML 1.0 cannot hold becomes U+FFFD: a saved drawing is a file of its own.
	function clean(text) {
		return String(text).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffe\uffff]/g, '\ufffd')
			.replace(/[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]/g, (s) => (s.length === 2 ? s : '\ufffd'));
	}

	function node(tag, attrs, text) {
		const element = document.createElementNS(NAMESPACE, tag);

		for (const [name, value] of Object.entries(attrs))
			element.setAttribute(name, value);
		if (text !== undefined)
			element.textContent = clean(text);
		return element;
	}

	// A line of text. `anchor`: start, middle, end. `more`: further attributes.
	function label(x, y, text, look, anchor, more) {
		return node('text', { x, y, 'text-anchor': anchor || 'start', 'font-size': 12, fill: look.soft, ...more }, text);
	}

	// A label of an axis or a ramp: marked, so that programs can distinguish it from other text.
	function tick(x, y, text, look, anchor, more) {
		return label(x, y, text, look, anchor, { 'data-tick': '', ...more });
	}

	function line(x1, y1, x2, y2, stroke, more) {
		return node('line', { x1, y1, x2, y2, stroke, ...more });
	}

	ct.node = { NAMESPACE, clean, node, label, tick, line };
})();
