// SPDX-License-Identifier: Apache-2.0
// chart_views.js: the use of a chart: which of its views is shown, what is looked up in it, what a click selects. The values
// that are shown are those of the report at the paths that charts.c names.
(function () {
	const TABLE_ROWS = 200;

	ct.charts = JSON.parse(document.getElementById('charts').textContent);
	const made = new Map(ct.charts.charts.map((chart) => [chart.name, chart]));

	const at = (path) => path.split('.').reduce((value, key) => (value === null || value === undefined ? null : value[key]), ct.report);
	const filled = (path, ids) => path.replace(/\{(\w)\}/g, (_, key) => ids[key]);

	// A value as a figure to be read: { text, path, err }.
	ct.figureOf = ([, path, unit, err], ids) => {
		const valuePath = filled(path, ids), errPath = err && filled(err, ids), errValue = err ? at(errPath) : null;
		const isSure = at(valuePath) === null || !errValue;

		return { text: ct.format.unit(at(valuePath), unit) + (isSure ? '' : ' \u00b1 ' + ct.format.unit(errValue, unit)), path: valuePath, err: isSure ? null : errPath };
	};

	const thing = (axis, name) => (axis.about === 'rank' ? { rank: Number(name) } : { host: name });
	const full = (axis, name) => {
		const host = axis.about === 'rank' ? ct.hostOf(Number(name)) : null;

		return host === null ? name : name + ' (' + host + ')';
	};

	// Of the cells of a heatmap those that the page is about: of its row or of its column; null: all are.
	ct.isOn = (view) => {
		if (!ct.state.isAny() || !view.rows.about)
			return null;
		const on = (axis) => (axis.about ? axis.names.map((name) => ct.state.relates(thing(axis, name))) : null);
		const rows = on(view.rows), columns = on(view.columns);

		return (r, c) => rows[r] || Boolean(columns && columns[c]);
	};

	// What stands in {r}, {c} and {i} for a cell; null: there is nothing to be looked up.
	function idsOf(view, { row, column }) {
		if (!view.rows)
			return { i: view.items[column] };
		if (!view.cells)
			return { r: row, c: column };
		view.entry = view.entry || new Map(view.cells.map((cell, i) => [cell, i]));
		const i = view.entry.get(row * view.columns.names.length + column);

		return i === undefined ? null : { i };
	}

	function describe(view, cell) {
		const ids = idsOf(view, cell), lines = [];

		if (view.rows)
			lines.push([view.rows.title, full(view.rows, view.rows.names[cell.row])]);
		if (view.rows && view.cells)
			lines.push([view.columns.title, full(view.columns, view.columns.names[cell.column])]);
		return ids ? [...lines, ...view.tips.map((one) => [one[0], ct.figureOf(one, ids)])] : [...lines, ['', view.nothing]];
	}

	// All cells, points or bars that have values.
	function* cellsOf(view) {
		if (!view.rows)
			for (let column = 0; column < view.items.length; column++)
				yield { row: 0, column };
		for (let row = 0; view.rows && row < view.rows.names.length; row++)
			for (let column = 0; column < view.columns.names.length; column++)
				if (idsOf(view, { row, column }))
					yield { row, column };
	}

	// Part of a view between ranks: rows of one host, columns of another.
	function cut(view, fromHost, toHost) {
		const of = (axis, host) => [...axis.names.keys()].filter((i) => ct.hostOf(Number(axis.names[i])) === host);
		const rows = of(view.rows, fromHost), columns = of(view.columns, toHost), wide = view.columns.names.length;
		const rowOf = new Map(rows.map((r, i) => [r, i])), columnOf = new Map(columns.map((c, i) => [c, i]));
		const pick = (axis, kept) => ({ ...axis, names: kept.map((i) => axis.names[i]) });

		return {
			...view, rows: pick(view.rows, rows), columns: pick(view.columns, columns), square: rows.length === columns.length, shade: null, entry: null,
			summary: 'From ' + fromHost + ' to ' + toHost + ', rank by rank.',
			cells: view.cells.map((cell) => {
				const r = rowOf.get(Math.floor(cell / wide)), c = columnOf.get(cell % wide);

				return cell < 0 || r === undefined || c === undefined ? -1 : r * columns.length + c;
			}),
		};
	}

	function picture(chart) {
		const views = chart.views.map((view) => (view.like === undefined ? view : { ...chart.views[view.like], ...view, entry: null }));
		let now = views[0], zoom = null;
		const shown = () => zoom || now;

		// The view with this choice, and as many of the others as there are.
		function choose(key, value) {
			const score = (view) => Object.entries(now.choice).filter(([k, v]) => k !== key && view.choice[k] === v).length;

			now = views.filter((view) => view.choice[key] === value).reduce((best, view) => (score(view) > score(best) ? view : best));
			zoom = null;
		}

		// Every switch offers what there is under those before it.
		function controls() {
			const keys = Object.keys(now.choice);
			const list = keys.map((label, k) => ({
				label, value: now.choice[label], set: (value) => choose(label, value),
				options: [...new Set(views.filter((view) => keys.slice(0, k).every((key) => view.choice[key] === now.choice[key]))
					.map((view) => view.choice[label]))].map((value) => ({ value, text: value })),
			})).filter((one) => one.options.length > 1);

			return zoom ? [{ text: 'Back to all hosts', press: () => { zoom = null; } }] : list;
		}

		// A pair of hosts opens into its ranks; else the page is about what was clicked. True: the chart itself has changed.
		function pick({ row, column }) {
			const view = shown();

			if (!view.rows || view.picks) {
				const ids = idsOf(view, { row, column }), rank = ids && view.picks ? at(filled(view.picks, ids)) : null;

				if (view.comm)
					ct.state.toggle('comm', view.comm);
				else if (rank !== null)
					ct.state.toggle('rank', rank);
				return false;
			}
			const ranks = view.columns.about === 'host' ? views.find((one) => one.choice.Between === 'ranks' && one.choice.Show === view.choice.Show) : null;

			if (ranks)
				zoom = cut(ranks, view.rows.names[row], view.columns.names[column]);
			else
				toggle(view.rows, row);
			return Boolean(ranks);
		}

		function toggle(axis, i) {
			if (axis.about)
				ct.state.toggle(axis.about, thing(axis, axis.names[i])[axis.about]);
		}

		// A communicator that the page is about has its own view, if it has one.
		function follow() {
			const { comm } = ct.state.get(), like = (view) => !now.choice.Show || view.choice.Show === now.choice.Show;
			const wanted = comm === null ? (now.comm && chart.name === 'traffic' ? views[0] : now) : views.find((view) => view.comm === comm && like(view));

			if (wanted && now.comm !== comm && wanted !== now) {
				now = wanted;
				zoom = null;
			}
		}

		function draw(width, look) {
			const view = shown(), drawing = ct.draw(view, width, look);

			drawing.describe = (cell) => describe(view, cell);
			drawing.pick = pick;
			if (view.rows && view.rows.about)
				drawing.pickRow = (row) => toggle(view.rows, row);
			if (view.rows && view.columns.about)
				drawing.pickColumn = (column) => toggle(view.columns, column);
			return drawing;
		}

		// The largest first.
		function table() {
			const view = shown(), valueOf = (cell) => at(filled(view.tips[0][1], idsOf(view, cell)));
			const all = Array.from(cellsOf(view), (cell) => ({ cell, value: valueOf(cell) })).filter(({ value }) => value !== null);
			const kept = all.sort((a, b) => b.value - a.value).slice(0, TABLE_ROWS).map(({ cell }) => describe(view, cell));

			return {
				head: kept.length ? kept[0].map(([name]) => name) : [], rows: kept.map((lines) => lines.map(([, what]) => what)),
				note: all.length > TABLE_ROWS ? 'The ' + TABLE_ROWS + ' largest; the CSV has all.' : null,
			};
		}

		return {
			name: chart.name, title: chart.title, summary: () => shown().summary, controls, draw, table, follow,
			notes: () => [...shown().notes, shown().spans && shown().spans.length ? 'Numbered marks are findings.' : null],
		};
	}

	// The chart of that name, if there is one.
	ct.chart = (body, name) => {
		if (made.get(name).views.length)
			ct.figure(body, picture(made.get(name)));
	};
	for (const name of made.keys())
		ct.section('pic-' + name, (body) => ct.chart(body, name), () => (made.get(name).views.length ? null : made.get(name).why));
})();
