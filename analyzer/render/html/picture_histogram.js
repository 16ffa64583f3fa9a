// SPDX-License-Identifier: Apache-2.0
// picture_histogram.js: operations by kind and by the power of two of their bytes.
(function () {
	const MEASURES = {
		transfer_ns: { text: 'time of transfers', write: ct.format.ns },
		wait_ns: { text: 'time of waiting', write: ct.format.ns },
		instances: { text: 'how many', write: ct.format.count },
		bytes: { text: 'bytes', write: ct.format.bytes },
		busbw_p50_Bps: { text: 'median bus bandwidth', write: ct.format.Bps },
		efficiency_ratio: { text: 'efficiency', write: ct.format.number },
	};

	function picture(report) {
		const all = report.histogram;
		const view = { measure: all.some((row) => row.transfer_ns > 0) ? 'transfer_ns' : 'instances' };
		const isOneBackend = all.every((row) => row.backend === all[0].backend);

		function opName(row) {
			const op = row.op === null ? row.group || '?' : row.op; // in the words of the table of operations

			return (isOneBackend ? '' : row.backend + ' ') + op + (row.group ? ' in one launch' : '');
		}

		const ops = [...new Set(all.map(opName))];
		const classes = classesOf(all);
		const entry = new Map(all.map((row) => [ops.indexOf(opName(row)) + ' ' + classes.indexOf(row.bytes_class), row]));
		const told = (row, key) => ct.names.told('histogram.' + all.indexOf(row) + '.' + key, MEASURES[key].write);
		const at = (r, c) => entry.get(r + ' ' + c) || null;

		// Powers of two from the smallest to the largest that occurs, so that distances are true; 0 before them.
		function classesOf(rows) {
			const used = rows.map((row) => row.bytes_class).filter((v) => v > 0);
			const list = rows.some((row) => row.bytes_class === 0) ? [0] : [];
			const last = Math.max(...used);

			for (let v = Math.min(...used); v <= last; v *= 2)
				list.push(v);
			return list;
		}

		function scaleNow() {
			const values = all.map((row) => row[view.measure]);

			if (view.measure === 'efficiency_ratio')
				return { scale: ct.scale.linear(0, 1), ticks: [0, 0.25, 0.5, 0.75, 1].map((v) => ({ place: v, text: String(v) })) };
			return ct.names.logScale(values, values[ct.names.largest(values)], MEASURES[view.measure].write);
		}

		function tell(r, c) {
			const row = at(r, c), lines = [['operation', ops[r]], ['size, from', ct.format.bytes(classes[c])]];

			if (!row)
				return [...lines, ['how many', 'none']];
			return [...lines, ...Object.keys(MEASURES).map((key) => [MEASURES[key].text, told(row, key)])];
		}

		function draw(width, look) {
			const { scale, ticks } = scaleNow();
			const table = ct.scale.table(ct.scale.ramps.amount[look.dark ? 'dark' : 'light']);
			const place = new Float32Array(ops.length * classes.length);

			for (let i = 0; i < place.length; i++) {
				const row = at(Math.floor(i / classes.length), i % classes.length);

				place[i] = row ? scale(row[view.measure]) : ct.cells.NOTHING;
			}
			return ct.grid.drawing({
				grid: { rows: ops.length, columns: classes.length, layers: [{ place, table }], rowOn: null, columnOn: null },
				rowName: (r) => ops[r], rowTitle: 'operation', columnName: (c) => ct.format.bytes(classes[c]), columnTitle: 'size, to twice as much',
				legend: [{ title: MEASURES[view.measure].text, table, ticks }, { text: 'none', fill: look.nothing },
					...(place.some(Number.isNaN) ? [{ text: 'not known', kind: 'unknown' }] : [])],
				rowHeight: 30, tell,
				cellText: (r, c) => (at(r, c) ? MEASURES[view.measure].write(at(r, c)[view.measure]) : null),
			}, width, look);
		}

		function summary() {
			const row = all[ct.names.largest(all.map((one) => one[view.measure]))];

			return row ? 'Largest ' + MEASURES[view.measure].text + ': ' + opName(row) + ' from ' + ct.format.bytes(row.bytes_class) + ', ' +
				MEASURES[view.measure].write(row[view.measure]) + '.' : '';
		}

		const keys = ['backend', 'op', 'group', 'bytes_class', 'instances', 'bytes', 'transfer_ns', 'wait_ns', 'busbw_p50_Bps', 'efficiency_ratio'];

		return {
			name: 'histogram', title: 'Operations by size', summary, draw, notes: () => [],
			rows: () => [keys, ...all.map((row) => keys.map((key) => row[key]))],
			table: () => ({
				head: ['operation', 'size, from', ...Object.values(MEASURES).map((m) => m.text)],
				rows: all.map((row) => [opName(row), ct.format.bytes(row.bytes_class), ...Object.keys(MEASURES).map((key) => told(row, key))]),
				note: null,
			}),
			controls: () => [{
				label: 'Show', value: view.measure, options: Object.entries(MEASURES).map(([value, { text }]) => ({ value, text })),
				set: (value) => { view.measure = value; },
			}],
		};
	}

	ct.section('pic-histogram', (body, report) => {
		if (!report.histogram || !report.histogram.length)
			ct.empty(body, 'No operation was recorded.');
		else
			ct.figure(body, picture(report));
	});
})();
