// SPDX-License-Identifier: Apache-2.0
// The report's pictures on reports made here: what they draw, tell and save is what stands in the report.
import assert from 'node:assert/strict';
import test from 'node:test';
import { noReport, page, random, seed } from './page.mjs';

const told = 'CT_SEED=' + seed;
const whole = (below) => Math.floor(random(below));
const some = (value) => (random(1) < 0.1 ? null : value);
const IDS = ['pic-traffic', 'pic-waits', 'pic-cycles', 'pic-histogram', 'pic-curves', 'pic-exposed'];

function layer(scope, kind, name, comm, pairs) {
	const bytes = pairs.map(() => 1 + whole(1e12)), time = pairs.map(() => some(whole(1e9))), speed = time.map((t) => (t === null ? null : whole(1e11)));

	return {
		scope, kind, name, backend: 'nccl', role: null, comm, model: kind === 'comm' ? 'exact' : 'ring', exact_bytes: 5, modelled_bytes: 7e9,
		max_bytes: Math.max(...bytes), max_count: 99, max_bandwidth_Bps: Math.max(...speed.map((v) => v || 0)),
		src: pairs.map(([s]) => s), dst: pairs.map(([, d]) => d), bytes, count: pairs.map(() => 99), time_ns: time,
		time_err_ns: time.map((t) => (t === null ? null : 12)), bandwidth_Bps: speed, bandwidth_err_Bps: speed.map((v) => (v === null ? null : 34)),
	};
}

// A report with everything pictures look at; `each` ranks on each host.
function made(ranks, each, columns, cycles) {
	const hosts = [...new Array(Math.ceil(ranks / each)).keys()].map((i) => `host-number-${i}.example`);
	const all = [...new Array(ranks).keys()];
	const pairs = all.flatMap((r) => (ranks > 1 ? [[r, (r + 1) % ranks]] : [])).sort((a, b) => a[0] - b[0]);
	const isHosts = ranks > 512, ids = isHosts ? [...hosts].reverse() : all;
	const matrix = (wide, below) => ids.map(() => [...new Array(wide)].map(() => some(whole(below))));
	const comms = [{ comm: 'aa00000000000001', name: null, role: 'dp', ranks: all }, { comm: 'bb00000000000002', name: 'tensors', role: null, ranks: [0, 1] }];
	const sizes = [...new Array(22).keys()].map((k) => 2 ** (k + 4));

	return {
		...noReport, run: { job: 'x' }, comms, ranks: all.map((rank) => ({ rank, host: hosts[Math.floor(rank / each)] })),
		findings: [
			{ id: 1, kind: 'STRAGGLER', severity: 'severe', begin_ns: 1e6, end_ns: 3e8, cycle_first: 1, cycle_last: cycles - 1 },
			{ id: 2, kind: 'SLOW_OP', severity: 'info', begin_ns: null, end_ns: null, cycle_first: null, cycle_last: null },
			{ id: 3, kind: 'BUCKETS', severity: 'warn', begin_ns: 0, end_ns: 5e8, cycle_first: 0, cycle_last: 0 },
		],
		traffic: {
			hosts, why: null, note: null, at_least: false, unplaced_bytes: 0, comms_left_out: 0,
			layers: [layer('rank', 'all', null, null, pairs), layer('rank', 'comm', 'tensors', 'bb00000000000002', [[0, 1], [1, 0]]),
				layer('host', 'all', null, null, hosts.map((_, i) => [i, (i + 1) % hosts.length]))],
		},
		heat: {
			waits: {
				why: null, rows: isHosts ? 'hosts' : 'ranks', ids, begin_ns: 0, column_ns: 4194304, columns,
				column_begin_ns: [...new Array(columns).keys()].map((c) => c * 4194304), wait_ns: matrix(columns, 4194304),
				lateness_ns: matrix(columns, 4194304), err_ns: 1234, lateness_err_ns: 777,
			},
			cycles: {
				why: null, rows: isHosts ? 'hosts' : 'ranks', ids, first_cycle: [...new Array(columns).keys()].map((c) => c * 3), cycles_each: 3,
				gap_ns: matrix(columns, 1e8), gap_ratio: ids.map(() => [...new Array(columns)].map(() => some(random(2)))), err_ns: 55,
			},
		},
		histogram: sizes.map((bytes_class) => ({
			backend: random(1) < 0.5 ? 'nccl' : 'gloo', op: some('AllReduce'), group: null, bytes_class, instances: 1 + whole(99), bytes: whole(1e14),
			transfer_ns: some(whole(1e10)), wait_ns: some(whole(1e9)), busbw_p50_Bps: some(whole(1e11)), efficiency_ratio: some(random(1)),
		})),
		curves: [{
			comm: 'aa00000000000001', op: 'AllReduce', ranks, alpha_ns: 12345, beta_Bps: 5e10,
			points: sizes.map((bytes) => ({ bytes: bytes + 1, busbw_Bps: 1 + whole(5e10), instances: 9 })),
			fit: sizes.map((bytes) => ({ bytes: bytes + 1, busbw_Bps: 1 + whole(5e10) })),
		}],
		cycles: {
			count: cycles, err_ns: 40, note: null, why: null,
			items: [...new Array(cycles).keys()].map((index) => ({
				index, begin_ns: index * 1e7, time_ns: 5e6 + whole(5e6), exposed_ns: some(whole(5e6)), wait_ns: some(whole(1e6)), last_rank: whole(ranks),
			})),
		},
	};
}

// What a figure is called, and which key of the report it is.
const KEYS = {
	bytes: 'bytes', count: 'count', 'time of messages': 'time_ns', 'bandwidth of messages': 'bandwidth_Bps', begins: 'column_begin_ns', lasts: 'column_ns',
	waited: 'wait_ns', 'others waited for it': 'lateness_ns', cycle: 'index', 'cycles from': 'first_cycle', 'cycles in it': 'cycles_each',
	'outside communication': 'gap_ns', 'of the median rank': 'gap_ratio', 'time of transfers': 'transfer_ns', 'time of waiting': 'wait_ns',
	'how many': 'instances', 'median bus bandwidth': 'busbw_', efficiency: 'efficiency_ratio', 'mean size': 'bytes', 'of how many': 'instances',
	'by the fit': 'busbw_Bps', begin: 'begin_ns', took: 'time_ns', 'exposed, of the rank with most': 'exposed_ns', 'waiting, mean of ranks': 'wait_ns',
};

const valueAt = (report, path) => path.split('.').reduce((value, key) => value[key], report);

function textBoxes(ct, nodes) {
	return nodes.filter((node) => node.tag === 'text' && node.text).map((node) => {
		const size = node.attrs['font-size'], wide = ct.axis.width(node.text, size);
		const left = node.attrs.x - { start: 0, middle: wide / 2, end: wide }[node.attrs['text-anchor']];

		return { text: node.text, left, right: left + wide, top: node.attrs.y - size * 0.75, bottom: node.attrs.y + size * 0.15 };
	});
}

test('labels of no picture touch each other or leave it, at any width', () => {
	for (const [ranks, each, columns, cycles] of [[1, 1, 16, 1], [8, 4, 200, 60], [96, 8, 512, 900], [1024, 8, 64, 3000]]) {
		const { ct, pictures } = page(made(ranks, each, columns, cycles));

		for (const id of ranks > 1 ? IDS : IDS.slice(1)) {
			for (const width of [310, 333, 640, 966, 1300]) {
				const boxes = textBoxes(ct, pictures[id].draw(width, ct.look(width % 2 === 0)).nodes);

				for (const [i, a] of boxes.entries()) {
					assert(a.left >= -0.5 && a.right <= width + 0.5, `${id} of ${ranks} at ${width}: '${a.text}' ${a.left} ${a.right}`);
					for (const b of boxes.slice(0, i))
						assert(a.left >= b.right || b.left >= a.right || a.top >= b.bottom || b.top >= a.bottom,
							`${id} of ${ranks} at ${width}: '${a.text}' on '${b.text}'`);
				}
			}
		}
	}
});

test('what a cell tells stands in the report where it says', () => {
	for (const ranks of [8, 600]) {
		const report = made(ranks, 4, 64, 40), { ct, pictures } = page(report);
		const writers = [ct.format.ns, ct.format.bytes, ct.format.Bps, ct.format.count, ct.format.number, String];

		for (const id of IDS) {
			const drawing = pictures[id].draw(900, ct.look(false));
			let figures = 0;

			const values = drawing.cells ? [...drawing.cells.layers[0].place.keys()].filter((i) => drawing.cells.layers[0].place[i] > 0) : [];

			for (let i = 0; i < 300; i++) {
				const at = values[whole(values.length)], columns = drawing.cells && drawing.cells.columns;
				const cell = i % 2 && values.length ? { row: Math.floor(at / columns), column: at % columns } :
					drawing.at(drawing.plot.x + random(drawing.plot.width), drawing.plot.y + random(drawing.plot.height));

				for (const [name, what] of drawing.tell(cell)) {
					if (what.path === undefined)
						continue;
					assert(what.path.split('.').some((key) => key.startsWith(KEYS[name])), `${name}: ${what.path}`);
					const value = valueAt(report, what.path), [text, err] = what.text.split(' \u00b1 ');

					assert(writers.some((write) => write(value) === text), `${what.path}: ${value} as ${what.text}, ${told}`);
					if (value === null)
						assert.equal(text, 'n/a', told);
					if (err !== undefined)
						assert(writers.some((write) => write(valueAt(report, what.err)) === err), told);
					figures++;
				}
			}
			assert(figures > 50, `${id} ${figures}`);
		}
	}
});

test('an operation of the histogram tells its own figures', () => {
	const report = made(8, 4, 64, 40), { ct, pictures } = page(report), drawing = pictures['pic-histogram'].draw(900, ct.look(false));

	for (let i = 0; i < drawing.cells.rows * drawing.cells.columns; i++) {
		const lines = Object.fromEntries(drawing.tell({ row: Math.floor(i / drawing.cells.columns), column: i % drawing.cells.columns }));

		if (lines.bytes)
			assert.equal(ct.format.bytes(valueAt(report, lines.bytes.path.replace(/bytes$/, 'bytes_class'))), lines['size, from']);
	}
});

test('the cell that is told is the one that is drawn there', () => {
	const report = made(8, 4, 64, 40), { ct, pictures } = page(report);
	const drawing = pictures['pic-waits'].draw(900, ct.look(false));
	const lines = Object.fromEntries(drawing.tell(drawing.at(drawing.plot.x + drawing.plot.width * 5.5 / 64, drawing.plot.y + drawing.plot.height * 3.5 / 8)));

	assert.equal(lines.waited.path, 'heat.waits.wait_ns.3.5');
	const box = drawing.box({ row: 3, column: 5 });

	assert(Math.abs(box.x - drawing.plot.x - drawing.plot.width * 5 / 64) < 1e-6 && Math.abs(box.y - drawing.plot.y - drawing.plot.height * 3 / 8) < 1e-6);
});

test('saved numbers are those of the report, every one of them', () => {
	const report = made(8, 4, 64, 40), { pictures } = page(report);
	const rows = (id) => [...pictures[id].rows()].map((row) => [...row]);
	const all = report.traffic.layers[0], { waits, cycles } = report.heat;

	assert.deepEqual(rows('pic-traffic').slice(1).map((row) => row.slice(0, 5)), all.src.map((src, i) =>
		[src, all.dst[i], all.bytes[i], all.count[i], all.time_ns[i]]));
	assert.deepEqual(rows('pic-waits').slice(1), waits.ids.flatMap((id, r) => waits.wait_ns[r].map((wait, c) =>
		[id, c, waits.column_begin_ns[c], waits.column_ns, wait, waits.lateness_ns[r][c]])));
	assert.deepEqual(rows('pic-cycles').slice(1), cycles.ids.flatMap((id, r) => cycles.gap_ns[r].map((gap, c) =>
		[id, cycles.first_cycle[c], 3, gap, cycles.gap_ratio[r][c]])));
	assert.deepEqual(rows('pic-exposed').slice(1), report.cycles.items.map((item) => Object.values(item)));
	assert.deepEqual(rows('pic-histogram').slice(1).map((row) => row[6]), report.histogram.map((row) => row.transfer_ns));
	assert.deepEqual(rows('pic-curves').slice(1).map((row) => [row[3], row[5]]), report.curves[0].points.map((p, i) => [p.busbw_Bps, report.curves[0].fit[i].busbw_Bps]));
});

test('tables for reading are bounded and begin with the largest', () => {
	const report = made(64, 8, 400, 3000), { pictures } = page(report);

	for (const id of IDS) {
		const { head, rows } = pictures[id].table();

		assert(rows.length > 0 && rows.length <= 200, id);
		assert(rows.every((row) => row.length === head.length), id);
	}
	const first = pictures['pic-waits'].table().rows[0][2];

	assert.equal(valueAt(report, first.path), Math.max(...report.heat.waits.wait_ns.flat()));
});

test('not known is hatched and told as n/a', () => {
	const report = made(4, 4, 16, 20);

	report.heat.waits.wait_ns[2][7] = null;
	const { ct, pictures } = page(report), drawing = pictures['pic-waits'].draw(700, ct.look(false));

	assert(Number.isNaN(drawing.cells.layers[0].place[2 * 16 + 7]));
	assert.equal(Object.fromEntries(drawing.tell({ row: 2, column: 7 })).waited.text, 'n/a');
});

test('a cycle whose exposed communication is not known is hatched as high as the cycle took', () => {
	const report = made(4, 4, 16, 20);

	report.cycles.items = report.cycles.items.map((item, i) => ({ ...item, time_ns: i === 5 ? 4e6 : 8e6, exposed_ns: i === 5 ? null : 1e6, wait_ns: 0 }));
	const { ct, pictures } = page(report), look = ct.look(false), { nodes, plot } = pictures['pic-exposed'].draw(700, look);
	const paths = nodes.filter((node) => node.tag === 'path'), ground = paths.filter((node) => node.attrs.fill === look.unknown);
	const [, x, base, top] = ground[0].attrs.d.match(/^M(\S+) (\S+)V(\S+)h[^M]*$/).map(Number), slot = plot.width / 20;

	assert(x >= plot.x + 5 * slot && x < plot.x + 6 * slot, 'of that cycle alone');
	assert(Math.abs(base - plot.y - plot.height) < 1e-6 && Math.abs(base - top - plot.height / 2) < 1e-6, 'the whole cycle');
	assert(paths.some((node) => node.attrs.stroke === look.hatch && node.attrs.d.length > 0), 'stripes');
});

test('what is above a picture names nobody where nobody stands out', () => {
	const report = made(4, 4, 16, 20), { waits, cycles } = report.heat;
	const summary = (id) => page(report).pictures[id].summary();

	cycles.gap_ratio = cycles.ids.map(() => new Array(16).fill(1.02));
	waits.wait_ns[0][3] = waits.wait_ns[2][4] = waits.column_ns;
	waits.lateness_ns = waits.ids.map(() => new Array(16).fill(0));
	assert.doesNotMatch(summary('pic-cycles') + summary('pic-waits'), /rank \d/);
	cycles.gap_ratio[2][7] = 1.1;
	waits.wait_ns = waits.ids.map((_, r) => new Array(16).fill(r));
	assert.match(summary('pic-cycles'), /rank 2\b.* in cycle 21/);
	assert.match(summary('pic-waits'), /rank 3\b/);
});

test('a pick makes the page about the rank, and others fade', () => {
	const { ct, pictures } = page(made(8, 4, 64, 40)), before = pictures['pic-waits'].draw(700, ct.look(false));

	assert.equal(before.cells.rowOn, null);
	before.pick({ row: 5, column: 3 });
	assert.equal(ct.state.get().rank, 5);
	assert.deepEqual([...pictures['pic-waits'].draw(700, ct.look(false)).cells.rowOn], [0, 0, 0, 0, 0, 1, 0, 0]);
	assert.deepEqual([...pictures['pic-traffic'].draw(700, ct.look(false)).cells.columnOn], [0, 0, 0, 0, 0, 1, 0, 0]);
});

test('many ranks begin as hosts, and a pair of hosts opens into its ranks', () => {
	const report = made(600, 8, 16, 20), { ct, pictures } = page(report), traffic = pictures['pic-traffic'];
	const hosts = traffic.draw(700, ct.look(false));

	assert.equal(hosts.cells.rows, 75);
	assert(hosts.pick({ row: 3, column: 4 }));
	const pair = traffic.draw(700, ct.look(false));

	assert.deepEqual([pair.cells.rows, pair.cells.columns], [8, 8]);
	const lines = Object.fromEntries(pair.tell({ row: 7, column: 0 }));

	assert.equal(lines.bytes.path, 'traffic.layers.0.bytes.31');
	assert.equal([...traffic.rows()].length, 2);
	assert(traffic.summary().includes('From host-number-3.example to host-number-4.example'));
	traffic.controls()[0].press();
	assert.equal(traffic.draw(700, ct.look(false)).cells.rows, 75);
});

test('rows of hosts stand in the order of their ranks', () => {
	const report = made(600, 8, 16, 20), { ct, pictures } = page(report);
	const drawing = pictures['pic-waits'].draw(700, ct.look(false));

	assert.equal(drawing.tell({ row: 0, column: 0 })[0][1], 'host-number-0.example');
	assert.equal(Object.fromEntries(drawing.tell({ row: 0, column: 0 })).waited.path, 'heat.waits.wait_ns.74.0');
	assert(Object.is(drawing.cells.layers[0].place[0], ct.scale.root(4194304)(report.heat.waits.wait_ns[74][0])) ||
		Math.abs(drawing.cells.layers[0].place[0] - ct.scale.root(4194304)(report.heat.waits.wait_ns[74][0])) < 1e-6);
});

test('the host of a culprit is seen among many, though its other ranks wait as long as those of all hosts', () => {
	const report = made(1024, 8, 16, 20), waits = report.heat.waits, culprit = waits.ids.indexOf('host-number-97.example');

	waits.wait_ns = waits.ids.map(() => new Array(16).fill(waits.column_ns / 2));
	waits.lateness_ns = waits.ids.map((_, r) => new Array(16).fill(r === culprit ? waits.column_ns / 2 - 1000 : waits.column_ns / 100));
	const { ct, pictures } = page(report), { cells } = pictures['pic-waits'].draw(900, ct.look(false));
	const look = { ground: [0, 0, 0], nothing: [0, 0, 0], unknown: [0, 0, 0], hatch: [0, 0, 0] };
	const plain = (of) => [...of.keys()].map((i) => [i, i, i]), only = [plain(new Array(256)), new Array(256).fill([255, 0, 0])];
	const layers = cells.layers.map((layer, i) => ({ ...layer, table: only[i] })), pixels = new Uint32Array(16 * 2 * 128);

	ct.cells.paint(pixels, 16, 2 * 128, { ...cells, layers }, look, 1);
	const rows = [...new Array(2 * 128).keys()].filter((y) => pixels[y * 16 + 7] === 0xff0000ff);

	assert.deepEqual(rows, [2 * 97, 2 * 97 + 1]);
});

test('a communicator that the page is about has its own layer', () => {
	const { ct, pictures } = page(made(8, 4, 16, 20)), traffic = pictures['pic-traffic'];

	ct.state.toggle('comm', 'bb00000000000002');
	traffic.follow();
	assert.equal(traffic.draw(700, ct.look(false)).cells.rows, 2);
	assert(traffic.notes()[0].startsWith('P2P exact'));
	ct.state.toggle('comm', 'bb00000000000002');
	traffic.follow();
	assert.equal(traffic.draw(700, ct.look(false)).cells.rows, 8);
	assert(traffic.notes()[0].startsWith('Model: ring'));
});

test('findings stand above the time and the cycles that they are about', () => {
	const { ct, pictures } = page(made(8, 4, 256, 60));

	for (const id of ['pic-waits', 'pic-cycles', 'pic-exposed']) {
		const drawing = pictures[id].draw(1000, ct.look(false));

		assert.deepEqual([...drawing.hits].map((hit) => hit.finding.id).sort(), [1, 3], id);
		const [, last] = drawing.nodes.filter((node) => node.tag === 'rect' && node.attrs.height === 2).sort((a, b) => b.attrs.width - a.attrs.width);

		assert(id !== 'pic-cycles' || last.attrs.width >= drawing.plot.width / drawing.cells.columns - 1, 'a whole column of the cycle');
		assert(drawing.hits.every((hit) => hit.y + hit.height <= drawing.plot.y), id);
	}
});

test('where nothing is known each section says why', () => {
	const { empty, pictures } = page({
		...noReport, traffic: { why: 'nobody counted', layers: [] }, heat: { waits: { why: 'no times', ids: [], columns: 0 }, cycles: null },
		cycles: { why: 'nothing repeats', items: [] }, histogram: [], curves: [],
	});

	assert.deepEqual(Object.keys(pictures), []);
	assert.deepEqual(Object.keys(empty).sort(), [...IDS].sort());
	assert(empty['pic-traffic'].includes('nobody counted') && empty['pic-waits'].includes('no times') && empty['pic-exposed'].includes('nothing repeats'));
});
