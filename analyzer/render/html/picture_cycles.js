// SPDX-License-Identifier: Apache-2.0
// picture_cycles.js: how long each rank was outside of communication in each cycle: a rank that computes longer is a line.
(function () {
	const TABLE_ROWS = 200;
	const WORTH_NAMING = 1.1; // a ratio below it accuses nobody: one of many ranks is always above the others by a little
	const LIMIT = 4; // ratios beyond it look the same
	const RATIOS = [0.25, 0.5, 0.9, 1, 1.1, 2, 4];

	const matrices = {
		ratio: { key: 'gap_ratio', text: 'against the others', title: 'of the median rank of the cycle' },
		gap: { key: 'gap_ns', text: 'time', title: 'time between communication' },
	};

	function picture(report) {
		const heat = report.heat.cycles, names = ct.heatRows(heat, report);
		const columns = heat.first_cycle.length;
		const view = { what: 'ratio' };
		const gaps = heat.gap_ns.flat();
		const byTime = ct.names.logScale(gaps, gaps[ct.names.largest(gaps)], ct.format.ns);
		const scales = { ratio: ct.scale.ratio(LIMIT), gap: byTime.scale };
		const told = (key, write, err) => ct.names.told('heat.cycles.' + key, write, err && 'heat.cycles.' + err);
		const gap = (r, c) => told('gap_ns.' + r + '.' + c, ct.format.ns, 'err_ns');
		const ratio = (r, c) => told('gap_ratio.' + r + '.' + c, ct.format.number);
		const first = (c) => told('first_cycle.' + c, String);

		function tell(r, c) {
			return [[names.kind, names.kind === 'rank' ? names.full(r).slice(5) : names.full(r)],
				[heat.cycles_each > 1 ? 'cycles from' : 'cycle', first(c)],
				...(heat.cycles_each > 1 ? [['cycles in it', told('cycles_each', String)]] : []),
				['outside communication', gap(r, c)], ['of the median rank', ratio(r, c)]];
		}

		function ticks() {
			return view.what === 'gap' ? byTime.ticks :
				RATIOS.map((v) => ({ place: scales.ratio(v), text: String(v) }));
		}

		// A finding's first and last cycle, as places among the columns.
		function columnOf(cycle) {
			let c = 0;

			while (c + 1 < columns && heat.first_cycle[c + 1] <= cycle)
				c++;
			return c;
		}

		function marks(wide) {
			return ct.marks.marksOf(report.findings, (f) => [f.cycle_first, f.cycle_last === null ? null : f.cycle_last + 1],
				(cycle) => (columnOf(cycle) + (cycle > heat.first_cycle[columnOf(cycle)] ? 1 : 0)) * wide / columns, wide);
		}

		function draw(width, look) {
			const scheme = look.dark ? 'dark' : 'light';
			const table = ct.scale.table(ct.scale.ramps[view.what === 'ratio' ? 'ratio' : 'amount'][scheme]);
			const place = ct.names.places(heat[matrices[view.what].key], names.order, columns, scales[view.what]);
			const drawing = ct.grid.drawing({
				grid: { rows: heat.ids.length, columns, layers: [{ place, table }], rowOn: names.on(), columnOn: null },
				rowName: (r) => names.short(names.order[r]), rowTitle: names.kind,
				columnName: (c) => String(heat.first_cycle[c]), columnTitle: 'cycle',
				legend: [{ title: matrices[view.what].title, table, ticks: ticks() },
					...(place.some(Number.isNaN) ? [{ text: 'not known', kind: 'unknown' }] : [])],
				rowHeight: 34, marks, tell: (r, c) => tell(names.order[r], c), pick: (r) => names.pick(names.order[r]),
			}, width, look);

			drawing.pickRow = (r) => names.pick(names.order[r]);
			return drawing;
		}

		function summary() {
			const [most] = ct.names.topCells(heat.gap_ratio, 1);

			if (most && most.value < WORTH_NAMING)
				return 'Nowhere is a ' + names.kind + ' known to stand far above the median.';
			return most ? 'Furthest above the others: ' + names.full(most.row) + ' in cycle ' + heat.first_cycle[most.column] + ', ' +
				gap(most.row, most.column).text + ' outside communication, ' + ratio(most.row, most.column).text + ' of the median rank.' :
				'No time outside communication is known.';
		}

		function* rows() {
			yield [names.kind, 'first_cycle', 'cycles_each', 'gap_ns', 'gap_ratio'];
			for (let r = 0; r < heat.ids.length; r++)
				for (let c = 0; c < columns; c++)
					yield [heat.ids[r], heat.first_cycle[c], heat.cycles_each, heat.gap_ns[r][c], heat.gap_ratio[r][c]];
		}

		function table() {
			return {
				head: [names.kind, 'cycle', 'outside communication', 'of the median rank'],
				rows: ct.names.topCells(heat[matrices[view.what].key], TABLE_ROWS)
					.map(({ row, column }) => [names.full(row), first(column), gap(row, column), ratio(row, column)]),
				note: 'The ' + TABLE_ROWS + ' largest at most; the CSV has all.',
			};
		}

		return {
			name: 'cycles', title: 'Time outside communication by rank and cycle', summary, draw, rows, table,
			notes: () => [names.note, heat.why, heat.cycles_each > 1 ? 'Cycles in a column: ' + heat.cycles_each + '.' : null],
			controls: () => [{
				label: 'Show', value: view.what, options: Object.entries(matrices).map(([value, { text }]) => ({ value, text })),
				set: (value) => { view.what = value; },
			}],
		};
	}

	ct.section('pic-cycles', (body, report) => {
		const heat = report.heat && report.heat.cycles;

		if (!heat || !heat.ids || !heat.ids.length || !heat.first_cycle || !heat.first_cycle.length)
			ct.empty(body, 'The time between communication is not known by cycle' + (heat && heat.why ? ': ' + heat.why : '') + '.');
		else
			ct.figure(body, picture(report));
	});
})();
