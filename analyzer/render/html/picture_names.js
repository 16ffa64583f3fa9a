// SPDX-License-Identifier: Apache-2.0
// picture_names.js: what pictures call ranks, hosts and communicators, and which of their rows the page is about.
(function () {
	const DECADES = 4; // of a logarithmic ramp

	const rank = (r) => {
		const host = ct.hostOf(r);

		return 'rank ' + r + (host === null ? '' : ' (' + host + ')');
	};

	// The first eight digits, as the text report writes it; with what it is called or there for, where that is known.
	function comm(key) {
		const row = key === null ? null : ct.commOf(key);

		return key === null ? ct.format.text(null) : key.slice(0, 8) + (row && (row.name || row.role) ? ' ' + (row.name || row.role) : '');
	}

	// What stands in the report at a dotted path.
	const at = (path) => path.split('.').reduce((value, key) => (value === null || value === undefined ? null : value[key]), ct.report);

	// A value of the report as a figure to be read: { text, path, err }; with its error, where `err` is the path of one.
	function told(path, write, err) {
		const isSure = !err || at(path) === null || at(err) === null || at(err) === undefined;

		return { text: write(at(path)) + (isSure ? '' : ' \u00b1 ' + write(at(err))), path, err: isSure ? null : err };
	}

	// Of `things` ({ rank } or { host }): 1 for those that the page is about; null: for all of them.
	function on(things) {
		return ct.state.isAny() ? Uint8Array.from(things, (thing) => (ct.state.relates(thing) ? 1 : 0)) : null;
	}

	// The index of the largest of `values`, -1 if all are null or there are none. To choose which one to name, not to compute.
	function largest(values) {
		let best = -1;

		for (let i = 0; i < values.length; i++)
			if (values[i] !== null && (best < 0 || values[i] > values[best]))
				best = i;
		return best;
	}

	// The `most` largest of `values` as indexes, the largest first.
	function top(values, most) {
		return Array.from(values.keys()).filter((i) => values[i] !== null && values[i] !== undefined)
			.sort((a, b) => values[b] - values[a] || a - b).slice(0, most);
	}

	// Rows of a matrix one after the other, with their places.
	function* cells(matrix) {
		for (let row = 0; row < matrix.length; row++)
			for (let column = 0; column < matrix[row].length; column++)
				yield { row, column, value: matrix[row][column] };
	}

	// The `most` cells of a matrix with the largest values above 0, the largest first.
	function topCells(matrix, most) {
		let kept = [], least = 0;

		for (const cell of cells(matrix)) {
			if (cell.value === null || !(cell.value > least))
				continue;
			kept.push(cell);
			if (kept.length >= 8 * most) {
				kept = kept.sort((a, b) => b.value - a.value).slice(0, most);
				least = kept[most - 1].value;
			}
		}
		return kept.sort((a, b) => b.value - a.value || a.row - b.row || a.column - b.column).slice(0, most);
	}

	// Places of a matrix's values on a scale, row after row in this order.
	function places(matrix, order, columns, scale) {
		const place = new Float32Array(matrix.length * columns);

		order.forEach((from, r) => {
			for (let c = 0; c < columns; c++)
				place[r * columns + c] = scale(matrix[from][c]);
		});
		return place;
	}

	// A logarithmic scale for the values above 0 and up to `high`, and its ticks: { scale, ticks }. It spans at least one power of ten,
	// so that where all are the same they are the strongest, and at most DECADES below the largest: what is less looks alike.
	function logScale(values, high, write) {
		if (!(high > 0))
			return { scale: ct.scale.linear(0, 1), ticks: [] };
		let least = high;

		for (const v of values)
			least = v !== null && v > 0 && v < least ? v : least;
		const cut = 10 ** (Math.ceil(Math.log10(high) - 1e-9) - DECADES);
		const low = Math.max(Math.min(10 ** Math.floor(Math.log10(least)), high / 10), cut);
		const scale = ct.scale.log(low, high);
		const ticks = ct.axis.powers(low, high, DECADES + 1).filter((v) => v < high * 0.999).map((v) => ({
			place: scale(v), text: (v === cut && least < cut ? '\u2264' : '') + ct.axis.short(write(v)),
		}));

		return { scale, ticks: [...ticks, { place: 1, text: write(high) }] };
	}

	ct.names = { rank, comm, told, on, largest, top, topCells, places, logScale };
})();
