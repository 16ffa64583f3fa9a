// SPDX-License-Identifier: Apache-2.0
// picture_exposed.js: exposed communication in each cycle, beside how long the cycle took.
(function () {
	const PLOT_HEIGHT = 220, TABLE_ROWS = 200, HATCH_PIXELS = 8;

	// What is not known is hatched as cells of a heatmap are, up to what it can be at most.
	function unknownNodes(bars, base, look) {
		const lines = [];

		for (const b of bars) {
			for (let y = base; y > b.top; y -= HATCH_PIXELS) {
				const rise = Math.min(b.width, HATCH_PIXELS, y - b.top);

				lines.push('M' + b.x + ' ' + y + 'l' + b.width + ' ' + -rise);
			}
		}
		return [ct.node.node('path', { d: barsPath(bars, base), fill: look.unknown }),
			ct.node.node('path', { d: lines.join(''), fill: 'none', stroke: look.hatch })];
	}

	// Rectangles as one path: [{ x, width, top }] down to `base`.
	function barsPath(bars, base) {
		return bars.map((b) => 'M' + b.x + ' ' + base + 'V' + b.top + 'h' + b.width + 'V' + base + 'z').join('');
	}

	function picture(report) {
		const items = report.cycles.items;
		const view = { what: 'both' };
		const first = items[0].index, last = items[items.length - 1].index;
		const told = (i, key, write, err) => ct.names.told('cycles.items.' + i + '.' + key, write || ct.format.ns, err);
		const took = (i) => told(i, 'time_ns', ct.format.ns, 'cycles.err_ns');

		// The item of each pixel: of several, the one with most exposed.
		function itemsByPixel(x, width) {
			const best = new Map();

			items.forEach((item, i) => {
				const px = Math.floor(x(item.index));
				const old = best.get(px);

				if (old === undefined || (item.exposed_ns !== null && !(items[old].exposed_ns > item.exposed_ns)))
					best.set(px, i);
			});
			return last + 1 - first > width ? [...best.values()] : items.map((_, i) => i);
		}

		function axes(width) {
			const keys = view.what === 'both' ? ['time_ns', 'exposed_ns', 'wait_ns'] : ['exposed_ns', 'wait_ns'];
			let high = 0;

			for (const item of items)
				for (const key of keys)
					high = Math.max(high, item[key] || 0);
			const y = {
				scale: ct.scale.linear(0, high || 1), title: 'time in a cycle',
				ticks: ct.axis.round(0, high || 1, 5, true).map((value) => ({ value, text: ct.axis.short(ct.format.ns(value)) })),
			};
			const plotWidth = ct.chart.plotWidth(width, y);
			const x = {
				scale: ct.scale.linear(first, last + 1), title: 'cycle',
				ticks: ct.axis.round(first, last, plotWidth / 70, true).map((value) => ({ value, text: String(value) })),
			};

			return { x, y, plotWidth };
		}

		function barNodes(at, chosen, look) {
			const each = at.plot.width / (last + 1 - first);
			const gap = each >= 5 ? 1 : 0;
			const base = at.plot.y + at.plot.height;
			// Where cycles are narrower than a pixel, each pixel has one of them, and bars stand side by side.
			const x = (i) => (each < 1 ? Math.floor(at.x(items[i].index)) : at.x(items[i].index) + gap / 2);
			const bars = (key) => chosen.filter((i) => items[i][key] !== null && items[i][key] !== undefined).map((i) => ({
				x: x(i), width: Math.max(each - gap, 1), top: at.y(items[i][key]),
			}));
			const most = (i) => (view.what === 'both' && items[i].time_ns !== null ? at.y(items[i].time_ns) : at.plot.y);
			const unknown = chosen.filter((i) => items[i].exposed_ns === null)
				.map((i) => ({ x: x(i), width: Math.max(each - gap, 1), top: most(i) }));
			const dots = bars('wait_ns').map((b) => 'M' + b.x + ' ' + (b.top - 1) + 'h' + b.width + 'v2h' + -b.width + 'z').join('');
			const path = (d, fill) => ct.node.node('path', { d, fill });

			return [
				...(view.what === 'both' ? [path(barsPath(bars('time_ns'), base), look.span)] : []),
				...unknownNodes(unknown, base, look), path(barsPath(bars('exposed_ns'), base), look.blue), path(dots, look.orange),
			];
		}

		function tell(i) {
			const item = items[i];

			return [['cycle', told(i, 'index', String)], ['begin', told(i, 'begin_ns')], ['took', took(i)],
				['exposed, of the rank with most', told(i, 'exposed_ns')], ['waiting, mean of ranks', told(i, 'wait_ns')],
				['waited for longest', item.last_rank === null || item.last_rank < 0 ? 'nobody' : ct.names.rank(item.last_rank)]];
		}

		function legend(width, look) {
			return ct.legend([
				...(view.what === 'both' ? [{ text: 'the cycle', fill: look.span }] : []),
				{ text: 'exposed, of the rank with most', fill: look.blue },
				{ text: 'waiting for others, mean of ranks', kind: 'line', fill: look.orange },
				...(items.some((item) => item.exposed_ns === null) ? [{ text: 'not known', kind: 'unknown' }] : []),
			], width, look);
		}

		function draw(width, look) {
			const { x, y, plotWidth } = axes(width);
			const names = legend(width, look);
			const place = (cycle) => x.scale(Math.min(Math.max(cycle, first), last + 1)) * plotWidth;
			const marks = ct.marks.marksOf(report.findings, (f) => [f.cycle_first, f.cycle_last === null ? null : f.cycle_last + 1], place, plotWidth);
			const at = ct.chart(width, PLOT_HEIGHT, names.height + 32, ct.marks.heightOf(marks, plotWidth), x, y, look);
			const strip = ct.marks.strip(marks, at.plot.x, names.height + 32, plotWidth, look);
			const chosen = itemsByPixel(at.x, at.plot.width);

			return {
				width, height: at.height, plot: at.plot, cells: null, hits: strip.hits, first: { row: 0, column: 0 },
				nodes: [...names.nodes, ...at.nodes, ...strip.nodes, ...barNodes(at, chosen, look)],
				at: (px) => ({ row: 0, column: nearest(chosen, at, px) }),
				move: (cell, key, isFar) => ct.grid.move({ rows: 1, columns: items.length, layers: [] }, cell, key, isFar),
				box: (cell) => ({
					x: at.x(items[cell.column].index), y: at.plot.y, width: at.plot.width / (last + 1 - first), height: at.plot.height,
				}),
				tell: (cell) => tell(cell.column),
				pick: (cell) => items[cell.column].last_rank >= 0 && items[cell.column].last_rank !== null &&
					ct.state.toggle('rank', items[cell.column].last_rank),
			};
		}

		// Of the items that are shown, the one whose bar is there.
		function nearest(chosen, at, px) {
			let low = 0, high = chosen.length - 1;

			while (low < high) {
				const middle = (low + high + 1) >> 1;

				if (at.x(items[chosen[middle]].index) <= px)
					low = middle;
				else
					high = middle - 1;
			}
			return chosen[low];
		}

		function summary() {
			const most = ct.names.largest(items.map((item) => item.exposed_ns));

			return most >= 0 ? 'Most in cycle ' + items[most].index + ': ' + told(most, 'exposed_ns').text + ' of ' + took(most).text + '.' :
				'How much of the communication was exposed is not known.';
		}

		const keys = ['index', 'begin_ns', 'time_ns', 'exposed_ns', 'wait_ns', 'last_rank'];

		return {
			name: 'exposed', title: 'Exposed communication by cycle', summary, draw,
			notes: () => [items.length < report.cycles.count ? 'Cycles that are shown are those on record; the run has ' +
				ct.format.count(report.cycles.count) + '.' : null, report.cycles.note],
			rows: () => [keys, ...items.map((item) => keys.map((key) => item[key]))],
			table: () => ({
				head: tell(0).map(([name]) => name),
				rows: ct.names.top(items.map((item) => item.exposed_ns), TABLE_ROWS).map((i) => tell(i).map(([, what]) => what)),
				note: items.length > TABLE_ROWS ? 'The ' + TABLE_ROWS + ' cycles with most exposed communication; the CSV has all.' : null,
			}),
			controls: () => [{
				label: 'Show', value: view.what,
				options: [{ value: 'both', text: 'beside the cycle\u2019s time' }, { value: 'exposed', text: 'exposed alone' }],
				set: (value) => { view.what = value; },
			}],
		};
	}

	ct.section('pic-exposed', (body, report) => {
		const cycles = report.cycles;

		if (!cycles || !cycles.items || !cycles.items.length)
			ct.empty(body, cycles && cycles.why ? 'No cycles were found: ' + cycles.why + '.' : 'No cycles were found.');
		else
			ct.figure(body, picture(report));
	});
})();
