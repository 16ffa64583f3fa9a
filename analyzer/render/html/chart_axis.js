// SPDX-License-Identifier: Apache-2.0
// chart_axis.js: which of the labels of an axis have room; they never touch each other.
(function () {
	const font = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
	let context = null;

	// The smallest step of 1, 2, 5, 10, 20, ... at which labels `size` pixels wide or high do not touch if their places are `apart`
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
