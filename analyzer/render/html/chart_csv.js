// SPDX-License-Identifier: Apache-2.0
// chart_csv.js: the numbers behind a picture, as a table for other programs (RFC 4180).
//
// Numbers are those of the report, whole ones with all their digits; not known is an empty field. Names come from outside: one
// that a spreadsheet would take for a formula has a ' in front of it.
(function () {
	function field(value) {
		if (value === null || value === undefined)
			return '';
		if (typeof value === 'number')
			return Number.isInteger(value) ? BigInt(value).toString() : String(value);
		const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;

		return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
	}

	// Rows of values as text. `rows`: any iterable.
	function csv(rows) {
		let text = '';

		for (const row of rows)
			text += Array.from(row, field).join(',') + '\r\n';
		return text;
	}

	ct.csv = csv;
})();
