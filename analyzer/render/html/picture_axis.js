// SPDX-License-Identifier: Apache-2.0
// picture_axis.js: which values an axis names, and which of its labels have room.
//
// Ticks are round numbers of the axis, or values that stand in the report; labels never touch each other.
(function () {
	const font = 'system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

	// Round numbers within [low, high], about `want` of them: 1, 2 or 5 times a power of ten apart. For whole numbers: apart >= 1.
	function round(low, high, want, whole) {
		if (!(high > low) || want < 1)
			return [low];
		const rough = (high - low) / want;
		const power = Math.floor(Math.log10(rough));
		let step = [1, 2, 5, 10].map((m) => (power < 0 ? m / 10 ** -power : m * 10 ** power)).find((s) => s >= rough * 0.999);
		if (whole)
			step = Math.max(step, 1);
		const ticks = [];
		// By counting: sums of steps would not stay round.
		for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
			ticks.push((power < 0 && step < 1 ? i / Math.round(1 / step) : i * step) + 0); // + 0: there is no -0
		return ticks;
	}

	// Powers of ten within [low, high], at most `want` of them.
	function powers(low, high, want) {
		const first = Math.ceil(Math.log10(low) - 1e-9);
		const last = Math.floor(Math.log10(high) + 1e-9);
		const step = Math.max(1, Math.ceil((last - first + 1) / Math.max(want, 1)));
		const ticks = [];
		for (let p = first; p <= last; p += step)
			ticks.push(10 ** p);
		return ticks;
	}

	// Those of 1, 2 and 5 times powers of ten that hold [low, high] between them, the first below it and the last above; thinned
	// to powers of ten where there are more than `want`.
	function steps(low, high, want) {
		const all = [];

		for (let p = Math.floor(Math.log10(low)) - 1; p <= Math.ceil(Math.log10(high)) + 1; p++)
			for (const m of [1, 2, 5])
				all.push(p < 0 ? m / 10 ** -p : m * 10 ** p);
		const first = all.filter((v) => v <= low).length - 1, last = all.findIndex((v) => v >= high);
		const kept = all.slice(first, last + 1);

		return kept.length <= want ? kept : powers(10 ** Math.floor(Math.log10(low)), 10 ** Math.ceil(Math.log10(high)), want);
	}

	// "1.50MB" is a figure of three digits; the round numbers of an axis go without zeros that say nothing: "1.5MB", "2MB".
	function short(text) {
		return /^0\D*$/.test(text) ? '0' : text.replace(/(\.\d*?)0+(?=\D*$)/, '$1').replace(/\.(?=\D*$)/, '');
	}

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

	// Width of a text in pixels, as the browser sets it; roughly, where there is no browser.
	function width(text, size) {
		if (typeof document === 'undefined')
			return Array.from(text).length * size * 0.6;
		const own = width;
		own.context = own.context || document.createElement('canvas').getContext('2d');
		own.context.font = size + 'px ' + font;
		return own.context.measureText(text).width;
	}

	ct.axis = { font, round, powers, steps, short, every, thin, middle, width };
})();
