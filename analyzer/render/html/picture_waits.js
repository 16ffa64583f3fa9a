// SPDX-License-Identifier: Apache-2.0
// picture_waits.js: when which rank stood waiting for others, and for whom: victims' rows and the culprit's in one picture.
(function () {
	const TABLE_ROWS = 200;
	const VIEWS = [
		{ value: 'both', text: 'both' }, { value: 'wait', text: 'waiting' }, { value: 'late', text: 'lateness' },
	];
	// Shares of a column's time that the ramps name.
	const SHARES = [[0, '0'], [0.01, '1%'], [0.1, '10%'], [0.25, '25%'], [0.5, '50%'], [1, '100%']];

	// What rows of a heatmap stand for. `order`: the heatmap's row of each of the picture's, in which hosts stand as their ranks do.
	function rowsOf(heat, report) {
		const isHost = heat.rows === 'hosts';
		const first = new Map();

		for (const row of report.ranks)
			first.set(row.host, Math.min(row.rank, first.has(row.host) ? first.get(row.host) : Infinity));
		const order = heat.ids.map((_, r) => r);

		if (isHost)
			order.sort((a, b) => first.get(heat.ids[a]) - first.get(heat.ids[b]) || a - b);
		return {
			kind: isHost ? 'host' : 'rank', order,
			short: (r) => String(heat.ids[r]),
			full: (r) => (isHost ? String(heat.ids[r]) : ct.names.rank(heat.ids[r])),
			on: () => ct.names.on(order.map((r) => (isHost ? { host: heat.ids[r] } : { rank: heat.ids[r] }))),
			pick: (r) => ct.state.toggle(isHost ? 'host' : 'rank', heat.ids[r]),
			note: isHost ? 'A row is a host: the largest of its ranks.' : null,
		};
	}

	function picture(report) {
		const waits = report.heat.waits, names = rowsOf(waits, report);
		const view = { layers: 'both' };
		const scale = ct.scale.root(waits.column_ns);
		const place = {
			wait: ct.names.places(waits.wait_ns, names.order, waits.columns, scale),
			late: ct.names.places(waits.lateness_ns, names.order, waits.columns, scale),
		};
		const told = (key, err) => ct.names.told('heat.waits.' + key, ct.format.ns, err && 'heat.waits.' + err);
		const begin = (c) => told('column_begin_ns.' + c);
		const wait = (r, c) => told('wait_ns.' + r + '.' + c, 'err_ns');
		const late = (r, c) => told('lateness_ns.' + r + '.' + c, 'lateness_err_ns');

		function tell(r, c) {
			return [[names.kind, names.kind === 'rank' ? names.full(r).slice(5) : names.full(r)], ['begins', begin(c)], ['lasts', told('column_ns')],
				['waited', wait(r, c)], ['others waited for it', late(r, c)]];
		}

		function layers(tables) {
			const one = (name) => ({ place: place[name], table: tables[name] });

			return view.layers === 'both' ? [one('wait'), one('late')] : [one(view.layers)];
		}

		function legend(tables) {
			const ramp = (name, title) => ({ title, table: tables[name], ticks: SHARES.map(([v, text]) => ({ place: Math.sqrt(v), text })) });

			return [
				...(view.layers !== 'late' ? [ramp('wait', 'waited, of a column\u2019s time')] : []),
				...(view.layers !== 'wait' ? [ramp('late', 'others waited for it alone')] : []),
				{ text: 'not known', kind: 'unknown' },
			].filter((item) => item.kind !== 'unknown' || place.wait.some(Number.isNaN));
		}

		const end = waits.begin_ns + waits.columns * waits.column_ns; // where the axis ends

		function draw(width, look) {
			const scheme = look.dark ? 'dark' : 'light';
			const tables = { wait: ct.scale.table(ct.scale.ramps.wait[scheme]), late: ct.scale.table(ct.scale.ramps.late[scheme]) };
			const at = (ns) => (ns - waits.begin_ns) / waits.column_ns;
			const drawing = ct.grid.drawing({
				grid: { rows: waits.ids.length, columns: waits.columns, layers: layers(tables), rowOn: names.on(), columnOn: null },
				rowName: (r) => names.short(names.order[r]), rowTitle: names.kind, columnTitle: 'time since the run began',
				columnTicks: (wide) => ct.axis.round(waits.begin_ns, end, wide / 70).map((ns) => ({ at: at(ns), text: ct.axis.short(ct.format.ns(ns)) })),
				legend: legend(tables), rowHeight: 34,
				marks: (wide) => ct.marks.marksOf(report.findings, (finding) => [finding.begin_ns, finding.end_ns],
					(ns) => at(ns) * wide / waits.columns, wide),
				tell: (r, c) => tell(names.order[r], c), pick: (r) => names.pick(names.order[r]),
			}, width, look);

			drawing.pickRow = (r) => names.pick(names.order[r]);
			return drawing;
		}

		function longest(matrix, write, before) {
			const [cell] = ct.names.topCells(matrix, 1);

			// Where columns are full, many rows share the first place.
			if (cell && cell.value >= waits.column_ns)
				return before + 'a whole column of ' + ct.format.ns(waits.column_ns) + '.';
			return cell ? before + names.full(cell.row) + ', ' + write(cell.row, cell.column).text + ' of ' + ct.format.ns(waits.column_ns) + '.' : null;
		}

		function summary() {
			return [longest(waits.wait_ns, wait, 'Longest wait within a column: '), longest(waits.lateness_ns, late, 'Most waited for alone: ')]
				.filter(Boolean).join(' ') || 'Nobody was found waiting.';
		}

		function* rows() {
			yield [names.kind, 'column', 'begin_ns', 'column_ns', 'wait_ns', 'lateness_ns'];
			for (let r = 0; r < waits.ids.length; r++)
				for (let c = 0; c < waits.columns; c++)
					yield [waits.ids[r], c, waits.column_begin_ns[c], waits.column_ns,
						waits.wait_ns[r][c], waits.lateness_ns[r][c]];
		}

		function table() {
			const matrix = view.layers === 'late' ? waits.lateness_ns : waits.wait_ns;

			return {
				head: [names.kind, 'begins', 'waited', 'others waited for it'],
				rows: ct.names.topCells(matrix, TABLE_ROWS).map(({ row, column }) => [names.full(row), begin(column), wait(row, column), late(row, column)]),
				note: 'The ' + TABLE_ROWS + ' largest at most, in columns of ' + ct.format.ns(waits.column_ns) + '; the CSV has all.',
			};
		}

		return {
			name: 'waits', title: 'Waiting by rank and time', summary, draw, rows, table,
			notes: () => [names.note, waits.why, report.findings.some((f) => f.begin_ns !== null) ? 'Numbered marks are findings.' : null],
			controls: () => [{ label: 'Show', value: view.layers, options: VIEWS, set: (value) => { view.layers = value; } }],
		};
	}

	ct.heatRows = rowsOf;
	ct.section('pic-waits', (body, report) => {
		const waits = report.heat && report.heat.waits;

		if (!waits || !waits.ids || !waits.ids.length || !waits.columns)
			ct.empty(body, 'It is not known who waited when' + (waits && waits.why ? ': ' + waits.why : '') + '.');
		else
			ct.figure(body, picture(report));
	});
})();
