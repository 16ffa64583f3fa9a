// SPDX-License-Identifier: Apache-2.0
// chart_axis.js: elements of a drawing, and which of the labels of an axis have room; they never touch each other.
(function () {
	const font = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
	let context = null;

	// The smallest step of 1, 2, 5, 10, 20, ... at which labels `size` pixels wide or high do not touch if their positions are `apart`
	// pixels apart.
	function every(apart, size) {
		for (let power = 1; power < 1e9; power *= 10)
			for (const m of [1, 2, 5])
				if (m * power * apart >= size)
					return m * power;
		return 1e9;
	}

	// Of labels {at, size} in pixels, sorted by `at` and centred there: those that can be shown without touching. The first wins,
	// later ones give way.
	function thin(labels, apart) {
		let free = -Infinity;

		return labels.filter((label) => {
			if (label.at - label.size / 2 < free)
				return false;
			free = label.at + label.size / 2 + apart;
			return true;
		});
	}

	// `text` within `most` characters: names of hosts differ at their ends, so the middle goes.
	function middle(text, most) {
		const letters = Array.from(text);

		if (letters.length <= most)
			return text;
		const tail = Math.floor((most - 1) / 2);

		return letters.slice(0, most - 1 - tail).join('') + '\u2026' + letters.slice(letters.length - tail).join('');
	}

	// Width of a text in pixels.
	function width(text, size) {
		context = context || document.createElement('canvas').getContext('2d');
		context.font = size + 'px ' + font;
		return context.measureText(text).width;
	}

	ct.axis = { font, every, thin, middle, width };
})();

// Elements of a drawing. Names of ranks, hosts and operations come from outside: they are text everywhere, never markup.
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
