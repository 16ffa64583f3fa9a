// SPDX-License-Identifier: Apache-2.0
// format.js: numbers as text, three digits and a unit, to the digit as analyzer/base/units.c and the text report spell them
// (tests/html/format_same.sh). null and undefined are "n/a". No number is made here that was not in the report: a value is
// only written in another unit.
(function () {
	const NONE = 'n/a';
	const SPACE = '\u00a0'; // between a number and its unit: no line ends there

	// C's printf("%.*f"): an exact half goes to the even digit, where toFixed() goes up. Only what is next to a half is looked at
	// in full: toFixed(60) has all digits of a double that has so few before the point.
	function fixed(value, digits) {
		const text = value.toFixed(digits);
		const scaled = Math.abs(value) * 10 ** digits;

		if (Math.abs(scaled - Math.floor(scaled) - 0.5) > 1e-6)
			return text;
		const exact = Math.abs(value).toFixed(60);
		const end = exact.indexOf('.') + 1 + digits;

		if (!/^50*$/.test(exact.slice(end)))
			return text;
		const kept = exact.slice(0, end).replace(/\.$/, '');

		return '02468'.includes(kept[kept.length - 1]) ? (value < 0 ? '-' : '') + kept : text;
	}

	function three(value, unit) {
		return fixed(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + unit;
	}

	function scaled(value, units) {
		let unit = 0;

		while (unit + 1 < units.length && value >= 999.5) {
			value /= 1000;
			unit++;
		}
		return unit > 0 ? three(value, units[unit]) : fixed(value, 0) + units[0];
	}

	function known(write) {
		return (value) => value === null || value === undefined ? NONE : write(value);
	}

	// What is below zero has its sign in front, such as the offset of a clock.
	function signed(write) {
		return known((value) => value < 0 ? '-' + write(-value) : write(value));
	}

	// C's printf("%.3g"), but never with an exponent.
	function short(value) {
		if (Number.isInteger(value) || value >= 999.5)
			return fixed(value, 0);
		const exponent = Number(value.toExponential(2).split('e')[1]); // of what three digits round to

		return fixed(value, Math.min(2 - exponent, 100)).replace(/(\.[0-9]*?)0+$/, '$1').replace(/\.$/, '');
	}

	// C's ct_prose_bytes().
	function size(bytes) {
		const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
		let value = bytes, unit = 0;

		for (; value >= 1024; unit++)
			value /= 1024;
		return fixed(value, Number.isInteger(value) ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + SPACE + units[unit];
	}

	const COUNTS = ['', 'k', 'M', 'G', 'T'];
	const scale = (units) => signed((value) => scaled(value, units.map((unit) => SPACE + unit)));
	const format = {
		ns: scale(['ns', 'us', 'ms', 's']),
		bytes: signed(size),
		Bps: scale(['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s', 'PB/s']),
		count: signed((n) => n > 99999 ? scaled(n, COUNTS) : fixed(n, 0)),
		pct: known((p) => p > 0 && p < 0.01 ? '<0.01' + SPACE + '%' : fixed(p, p < 9.995 ? 2 : 1) + SPACE + '%'),
		// Without a unit: ratios, logarithms.
		number: signed((n) => n > 99999 ? scaled(n, COUNTS) : short(n)),
		integer: known((n) => fixed(n, 0)),
		yes: known((is) => is ? 'yes' : 'no'),
		text: known(String),
		// 2023-11-14 22:13:20 UTC
		date: known((ns) => new Date(ns / 1e6).toISOString().replace('T', ' ').replace(/\..*/, ' UTC')),
	};

	format['%'] = format.pct;
	// A unit is one of the above. Another one, such as that of an evidence, stands behind its number: behind().
	format.unit = (value, unit) => (format[unit] || format.number)(value);
	format.behind = (unit) => format[unit] || !unit || unit === 'ratio' ? '' : SPACE + unit;
	// A sentence of the report, whose figures stay in one line.
	format.prose = (text) => text.replace(/(\d) (?=(?:[num]?s|[kMGTP]?B|[KMGTPE]iB|%|\u00b1)(?!\w))/g, '$1' + SPACE).replace(/\u00b1 (?=[<\d])/g, '\u00b1' + SPACE);
	ct.format = format;
})();
