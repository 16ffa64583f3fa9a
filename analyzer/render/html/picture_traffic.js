// SPDX-License-Identifier: Apache-2.0
// picture_traffic.js: who sent how much to whom, between ranks or hosts, of everything or of one backend, role or communicator.
//
// Where ranks are many, hosts come first, and a pair of them opens into its ranks.
(function () {
	const MOST_RANKS_FIRST = 512, TABLE_ROWS = 200;
	const MEASURES = {
		bytes: { text: 'bytes', title: 'bytes sent', of: 'bytes', max: 'max_bytes', write: ct.format.bytes },
		count: { text: 'count', title: 'operations and messages', of: 'count', max: 'max_count', write: ct.format.count },
		bandwidth: {
			text: 'bandwidth of messages', title: 'bandwidth of messages', of: 'bandwidth_Bps', max: 'max_bandwidth_Bps', write: ct.format.Bps,
		},
	};

	function keyOf(layer) {
		return layer.kind + ' ' + (layer.kind === 'comm' ? layer.comm : layer.name);
	}

	function nameOf(layer) {
		if (layer.kind === 'all')
			return 'all of it';
		if (layer.kind === 'comm')
			return ct.names.comm(layer.comm) + (layer.backend ? ' (' + layer.backend + ')' : '');
		return layer.kind + ' ' + ct.format.text(layer.name);
	}

	// The ends of a layer: { ids, name(id), thing(id), text(id) }, ids as in its src and dst.
	function endsOf(traffic, layer, ranks) {
		if (layer.scope === 'host')
			return {
				ids: traffic.hosts.map((_, i) => i), short: (id) => traffic.hosts[id], full: (id) => traffic.hosts[id],
				thing: (id) => ({ host: traffic.hosts[id] }), kind: 'host',
			};
		const members = layer.kind === 'comm' ? ct.membersOf(layer.comm) : null;

		return {
			ids: members && members.size ? [...members].filter((r) => r !== null && r >= 0).sort((a, b) => a - b) : ranks,
			short: String, full: ct.names.rank, thing: (id) => ({ rank: id }), kind: 'rank',
		};
	}

	// The cells of a layer between the rows' and columns' ends: which entry each shows (-1: none), and where it stands.
	function cellsOf(layer, rows, columns, values, scale) {
		const rowOf = new Map(rows.map((id, i) => [id, i])), columnOf = new Map(columns.map((id, i) => [id, i]));
		const place = new Float32Array(rows.length * columns.length).fill(ct.cells.NOTHING);
		const entry = new Int32Array(rows.length * columns.length).fill(-1);

		for (let i = 0; i < layer.src.length; i++) {
			const r = rowOf.get(layer.src[i]), c = columnOf.get(layer.dst[i]);

			if (r === undefined || c === undefined)
				continue;
			entry[r * columns.length + c] = i;
			place[r * columns.length + c] = scale(values[i]);
		}
		return { place, entry };
	}

	// Everything that happened between ranks that the report knows.
	function ranksOf(report) {
		const ranks = new Set(report.ranks.map((row) => row.rank));

		for (const layer of report.traffic.layers)
			if (layer.scope === 'rank' && layer.kind === 'all')
				[...layer.src, ...layer.dst].forEach((rank) => ranks.add(rank));
		return [...ranks].filter((rank) => rank >= 0).sort((a, b) => a - b);
	}

	function picture(report) {
		const traffic = report.traffic, layers = traffic.layers;
		const ranks = ranksOf(report);
		const scopes = ['rank', 'host'].filter((scope) => layers.some((layer) => layer.scope === scope));
		const view = {
			scope: scopes.includes('rank') && (ranks.length <= MOST_RANKS_FIRST || scopes.length === 1) ? 'rank' : scopes[scopes.length - 1],
			layer: keyOf(layers[0]), measure: 'bytes', pair: null,
		};

		const ofScope = (scope) => layers.filter((layer) => layer.scope === scope);
		const scopeNow = () => (view.pair ? 'rank' : view.scope);
		function layerNow() {
			const own = ofScope(scopeNow());

			return own.find((layer) => keyOf(layer) === view.layer) || own[0];
		}
		const hostIs = (host) => (rank) => ct.hostOf(rank) === traffic.hosts[host];

		// The entries of the layer that are in the picture.
		function entriesNow() {
			const layer = layerNow(), all = Array.from(layer.src.keys());

			return view.pair ? all.filter((i) => hostIs(view.pair.src)(layer.src[i]) && hostIs(view.pair.dst)(layer.dst[i])) : all;
		}

		function endsNow() {
			const ends = endsOf(traffic, layerNow(), ranks);

			return {
				ends,
				rows: view.pair ? ends.ids.filter(hostIs(view.pair.src)) : ends.ids,
				columns: view.pair ? ends.ids.filter(hostIs(view.pair.dst)) : ends.ids,
			};
		}

		// A figure of entry i of a layer; time and bandwidth with their errors.
		function told(layer, key, i, write) {
			const path = 'traffic.layers.' + layers.indexOf(layer) + '.';
			const err = { time_ns: 'time_err_ns', bandwidth_Bps: 'bandwidth_err_Bps' }[key];

			return ct.names.told(path + key + '.' + i, write, err && path + err + '.' + i);
		}

		const figures = (layer, i) => [['bytes', told(layer, 'bytes', i, ct.format.bytes)], ['count', told(layer, 'count', i, ct.format.count)],
			['time of messages', told(layer, 'time_ns', i, ct.format.ns)], ['bandwidth of messages', told(layer, 'bandwidth_Bps', i, ct.format.Bps)]];

		function tellEntry(layer, ends, src, dst, i) {
			return [['from', ends.full(src)], ['to', ends.full(dst)],
				...(i < 0 ? [['traffic', src === dst ? 'none with itself' : 'none']] : [...figures(layer, i), ['model', layer.model]])];
		}

		function legend(layer, measure, table, ticks, look) {
			return [
				{ title: measure.title + ', ' + nameOf(layer), table, ticks },
				{ text: 'no traffic', fill: look.nothing },
				...(layer[measure.of].some((v) => v === null) ? [{ text: 'not known', kind: 'unknown' }] : []),
			];
		}

		function pick(ends, src, dst) {
			if (ends.kind === 'rank')
				ct.state.toggle('rank', src);
			else if (ofScope('rank').length) {
				view.pair = { src, dst };
				return true;
			} else
				ct.state.toggle('host', traffic.hosts[src]);
			return false;
		}

		function draw(width, look) {
			const layer = layerNow(), measure = MEASURES[view.measure];
			const { ends, rows, columns } = endsNow();
			const { scale, ticks } = ct.names.logScale(layer[measure.of], layer[measure.max], measure.write);
			const table = ct.scale.table(ct.scale.ramps.amount[look.dark ? 'dark' : 'light']);
			const { place, entry } = cellsOf(layer, rows, columns, layer[measure.of], scale);
			const drawing = ct.grid.drawing({
				grid: {
					rows: rows.length, columns: columns.length, layers: [{ place, table }],
					rowOn: ct.names.on(rows.map(ends.thing)), columnOn: ct.names.on(columns.map(ends.thing)), least: 2,
				},
				rowName: (r) => ends.short(rows[r]), columnName: (c) => ends.short(columns[c]),
				rowTitle: 'sending ' + ends.kind, columnTitle: 'receiving ' + ends.kind,
				legend: legend(layer, measure, table, ticks, look), isSquare: true,
				tell: (r, c) => tellEntry(layer, ends, rows[r], columns[c], entry[r * columns.length + c]),
				pick: (r, c) => pick(ends, rows[r], columns[c]),
			}, width, look);
			const toggle = (id) => ct.state.toggle(ends.kind, ends.kind === 'host' ? traffic.hosts[id] : id);

			drawing.pickRow = (r) => toggle(rows[r]);
			drawing.pickColumn = (c) => toggle(columns[c]);
			return drawing;
		}

		function summary() {
			const layer = layerNow(), ends = endsOf(traffic, layer, ranks), entries = entriesNow();
			const i = entries[ct.names.largest(entries.map((e) => layer.bytes[e]))];
			const most = i === undefined ? 'No bytes were sent.' : 'Most went from ' + ends.full(layer.src[i]) + ' to ' + ends.full(layer.dst[i]) + ': ' +
				ct.format.bytes(layer.bytes[i]) + '.';

			return (view.pair ? 'From ' + traffic.hosts[view.pair.src] + ' to ' + traffic.hosts[view.pair.dst] + ', rank by rank. ' : '') + most;
		}

		function notes() {
			const layer = layerNow();
			const model = layer.model === 'exact' ? 'P2P exact: every byte of this is known.' :
				'Model: ' + layer.model + '. Collective bytes are attributed by it, P2P bytes are exact.';

			// What the first sentence says already is not said again.
			const more = (traffic.note || '').split('; ').filter((part) => !part.startsWith('collective bytes are attributed by model')).join('; ');

			return [model + ' Exact: ' + ct.format.bytes(layer.exact_bytes) + ', by a model: ' + ct.format.bytes(layer.modelled_bytes) + '.',
				more ? 'To know: ' + more + '.' : traffic.at_least ? 'There may be more: bytes are missing from the record, or may be.' : null,
				traffic.unplaced_bytes > 0 ? 'Between ranks of which no trace tells, in no picture: ' + ct.format.bytes(traffic.unplaced_bytes) + '.' : null];
		}

		function* rows() {
			const layer = layerNow(), isHost = layer.scope === 'host';
			const extra = ['time_ns', 'time_err_ns', 'bandwidth_Bps', 'bandwidth_err_Bps'].filter((key) => layer[key]);

			yield [isHost ? 'src_host' : 'src', isHost ? 'dst_host' : 'dst', 'bytes', 'count', ...extra];
			for (const i of entriesNow()) {
				const end = (id) => (isHost ? traffic.hosts[id] : id);

				yield [end(layer.src[i]), end(layer.dst[i]), layer.bytes[i], layer.count[i], ...extra.map((key) => layer[key][i])];
			}
		}

		function table() {
			const layer = layerNow(), ends = endsOf(traffic, layer, ranks);
			const entries = entriesNow();
			const order = ct.names.top(entries.map((i) => layer.bytes[i]), TABLE_ROWS).map((e) => entries[e]);

			return {
				head: ['from', 'to', 'bytes', 'count', 'time of messages', 'bandwidth of messages'],
				rows: order.map((i) => [ends.full(layer.src[i]), ends.full(layer.dst[i]), ...figures(layer, i).map(([, what]) => what)]),
				note: entries.length > TABLE_ROWS ? 'The ' + TABLE_ROWS + ' pairs with most bytes; the CSV has all.' : null,
			};
		}

		function controls() {
			const layer = layerNow(), choice = (value, text) => ({ value, text });

			return [
				...(view.pair ? [{ text: 'Back to all hosts', press: () => { view.pair = null; } }] : []),
				...(scopes.length > 1 && !view.pair ? [{
					label: 'Between', value: view.scope, options: [choice('rank', 'ranks'), choice('host', 'hosts')],
					set: (value) => { view.scope = value; },
				}] : []),
				{
					label: 'Of', value: keyOf(layer), options: ofScope(scopeNow()).map((one) => choice(keyOf(one), nameOf(one))),
					set: (value) => { view.layer = value; },
				},
				{
					label: 'Show', value: view.measure,
					options: Object.entries(MEASURES).filter(([, m]) => layer[m.max] !== null && layer[m.max] !== undefined)
						.map(([value, m]) => choice(value, m.text)),
					set: (value) => { view.measure = value; },
				},
			];
		}

		// A communicator that is chosen on the page has its own layer, if it has one.
		function follow() {
			const { comm } = ct.state.get();

			view.layer = comm === null ? (view.layer.startsWith('comm ') ? keyOf(layers[0]) : view.layer) : 'comm ' + comm;
		}

		return { name: 'traffic', title: 'Traffic', summary, notes, controls, draw, rows, table, follow };
	}

	ct.section('pic-traffic', (body, report) => {
		const traffic = report.traffic;

		if (!traffic || !traffic.layers || !traffic.layers.length)
			ct.empty(body, 'It is not known who sent how much to whom' + (traffic && traffic.why ? ': ' + traffic.why : '') + '.');
		else
			ct.figure(body, picture(report));
	});
})();
