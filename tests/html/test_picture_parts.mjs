// SPDX-License-Identifier: Apache-2.0
// The pure parts of the report's pictures: scales, colours, axes, cells, text of files.
import assert from 'node:assert/strict';
import test from 'node:test';
import { noReport, page, random, seed } from './page.mjs';

const { ct } = page(noReport);
const told = 'CT_SEED=' + seed;

// Relative luminance and contrast as WCAG 2.1 has them.
function luminance(rgb) {
	const [r, g, b] = rgb.map((v) => (v / 255 <= 0.03928 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
	const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);

	return (high + 0.05) / (low + 0.05);
}

test('scales keep the order of values and stay within 0 and 1', () => {
	for (const scale of [ct.scale.log(10, 1e9), ct.scale.root(500), ct.scale.linear(3, 900), ct.scale.ratio(4)]) {
		let before = -1;

		for (let v = 0; v < 2000; v += 0.25) {
			assert(scale(v) >= before && scale(v) >= 0 && scale(v) <= 1, String(v));
			before = scale(v);
		}
		assert(Number.isNaN(scale(null)));
	}
});

test('scales put values where their names say', () => {
	assert(Math.abs(ct.scale.log(1, 1e4)(100) - 0.5) < 1e-12);
	assert.equal(ct.scale.log(5, 5)(5), 0);
	assert.equal(ct.scale.root(400)(100), 0.5);
	assert.equal(ct.scale.ratio(4)(1), 0.5);
	for (const v of [1.01, 1.3, 2, 4, 9])
		assert(Math.abs(ct.scale.ratio(4)(v) + ct.scale.ratio(4)(1 / v) - 1) < 1e-9, String(v));
});

test('ramps get further from the ground with every step, in both schemes', () => {
	for (const [name, ramps] of Object.entries(ct.scale.ramps)) {
		for (const scheme of ['light', 'dark']) {
			const ground = ct.scale.rgb(ct.look(scheme === 'dark').ground);
			const away = ct.scale.table(ramps[scheme]).map((c) => contrast(c, ground));
			const halves = name === 'ratio' ? [away.slice(0, 128).reverse(), away.slice(128)] : [away];

			for (const half of halves) {
				for (let i = 8; i < half.length; i += 8)
					assert(half[i] > half[i - 8] - 0.02, `${name} ${scheme} ${i}`);
				assert(half[half.length - 1] > 3 * half[0] || half[half.length - 1] > 7, `${name} ${scheme}`);
			}
		}
	}
});

test('text has a contrast of 4.5, lines and marks of 3', () => {
	for (const isDark of [false, true]) {
		const look = ct.look(isDark), to = (colour) => contrast(ct.scale.rgb(colour), ct.scale.rgb(look.ground));

		for (const text of [look.ink, look.soft, ...Object.values(look.severity)])
			assert(to(text) >= 4.5, text); // what is written on a mark has the ground's colour
		for (const mark of [look.axis, look.blue, look.orange, look.cursor])
			assert(to(mark) >= 3, mark);
	}
});

test('what is written into a cell can be read on every colour of every ramp', () => {
	for (const ramps of Object.values(ct.scale.ramps)) {
		for (const colour of [...ct.scale.table(ramps.light), ...ct.scale.table(ramps.dark)])
			assert(contrast(ct.scale.rgb(ct.scale.inkOn(colour)), colour) >= 4.5, String(colour));
	}
});

test('ticks are round, within the axis and about as many as asked for', () => {
	for (let i = 0; i < 3000; i++) {
		const low = random(10 ** random(12)), high = low + 10 ** (random(14) - 2), want = 1 + Math.floor(random(12));
		const ticks = ct.axis.round(low, high, want), mean = (high - low) / want;
		const slack = (high - low) * 1e-8 + high * 4e-16; // a double far from 0 has no more digits

		assert(ticks.length <= want + 2, told);
		for (const t of ticks) {
			assert(t >= low - slack && t <= high + slack && !Object.is(t, -0), told);
			assert(Number(t.toPrecision(12)) === t || high / mean > 1e9, `${t} ${told}`);
		}
		if (ticks.length > 1 && low < high * 0.999) {
			const digits = (ticks[1] - ticks[0]).toExponential(6);

			assert(/^(1\.00|2\.00|5\.00|9\.99|1\.99|4\.99)/.test(digits), `${digits} ${told}`);
		}
	}
	assert.deepEqual([...ct.axis.round(0, 3, 10, true)], [0, 1, 2, 3]);
	assert.deepEqual([...ct.axis.powers(2, 3e6, 10)], [10, 100, 1e3, 1e4, 1e5, 1e6]);
	assert.deepEqual([...ct.axis.steps(30, 130, 9)], [20, 50, 100, 200]);
});

test('labels that are kept do not touch', () => {
	for (let i = 0; i < 500; i++) {
		const labels = Array.from({ length: 40 }, () => ({ at: random(800), size: random(90) })).sort((a, b) => a.at - b.at);
		const kept = ct.axis.thin(labels, 4);

		for (let k = 1; k < kept.length; k++)
			assert(kept[k].at - kept[k].size / 2 >= kept[k - 1].at + kept[k - 1].size / 2 + 4 - 1e-9, told);
		const apart = random(30) + 0.01, size = random(90), step = ct.axis.every(apart, size);

		assert(step * apart >= size && (step === 1 || Math.floor(step / 2.5) * apart < size), told);
	}
});

test('tick texts lose zeros that say nothing and no others', () => {
	for (const [text, short] of [['1.50MB', '1.5MB'], ['2.00s', '2s'], ['100us', '100us'], ['10.0GB/s', '10GB/s'], ['0ns', '0'], ['20.0%', '20%'], ['500', '500']])
		assert.equal(ct.axis.short(text), short);
	assert.equal(ct.axis.middle('node-with-a-long-name-17', 11), 'node-\u2026me-17');
	assert.equal(ct.axis.middle('\u{1f600}\u{1f600}\u{1f600}', 3), '\u{1f600}\u{1f600}\u{1f600}');
});

test('text from outside cannot break out of a saved SVG', () => {
	const node = ct.node.label(1, 2, '</text><script>&"\'\u0000\u001b\ud800x\u202e', ct.look(false));
	const text = ct.node.toText({ ...node, attrs: { ...node.attrs, fill: '"><b' } });

	assert(!/<(?!\/?text[ >])/.test(text), text);
	assert(text.includes('&lt;/text&gt;&lt;script&gt;&amp;&quot;&#39;\ufffd\ufffd\ufffdx\u202e'), text);
});

test('CSV keeps all digits, quotes what has to be, and feeds no formula to a spreadsheet', () => {
	assert.equal(ct.csv([['a,b', 'say "x"', 'two\nlines'], [9007199254740991, 2 ** 63, 0.125], [null, undefined, -5], ['=1+1', '@x', '-y']]),
		'"a,b","say ""x""","two\nlines"\r\n9007199254740991,9223372036854775808,0.125\r\n,,-5\r\n\'=1+1,\'@x,\'-y\r\n');
});

test('a file is named after its run, whatever that is called', () => {
	const named = (job) => page({ ...noReport, run: { job } }).ct.save.fileName({ name: 'waits' }, 'svg');

	assert.equal(named('../../etc/x y'), 'commtrace-etc_x_y-waits.svg');
	assert.equal(named('\u202e</a>'), 'commtrace-a_-waits.svg');
	assert.equal(named(null), 'commtrace-run-waits.svg');
	assert(named('x'.repeat(500)).length < 80);
});

const look = { ground: [255, 255, 255], nothing: [240, 240, 240], unknown: [200, 200, 200], hatch: [100, 100, 100] };
const table = Array.from({ length: 256 }, (_, i) => [i, 0, 0]);
const red = (pixel) => ((pixel >>> 8) === 0xff0000 ? pixel & 255 : -1);

function painted(grid, width, height, gap) {
	const pixels = new Uint32Array(width * height);

	ct.cells.paint(pixels, width, height, grid, look, gap || 1);
	return pixels;
}

test('each cell has its own colour where there is room', () => {
	const place = Float32Array.from({ length: 12 }, (_, i) => i / 12);
	const pixels = painted({ rows: 3, columns: 4, layers: [{ place, table }] }, 80, 60);

	for (let i = 0; i < 12; i++)
		assert.equal(red(pixels[(Math.floor(i / 4) * 20 + 9) * 80 + (i % 4) * 20 + 9]), Math.floor(place[i] * 255.999));
	assert.equal(pixels[9 * 80 + 19], 0xffffffff, 'a gap between cells');
});

test('not known is hatched, nothing is neither', () => {
	const pixels = painted({ rows: 1, columns: 2, layers: [{ place: Float32Array.of(NaN, -1), table }] }, 100, 50);
	const left = new Set(), right = new Set();

	for (let y = 0; y < 50; y++) {
		for (let x = 0; x < 100; x++)
			(x < 49 ? left : x > 50 ? right : new Set()).add(pixels[y * 100 + x]);
	}
	assert.deepEqual([...left].sort(), [0xff646464, 0xffc8c8c8].sort());
	assert.deepEqual([...right], [0xfff0f0f0]);
	const small = painted({ rows: 1, columns: 300, layers: [{ place: Float32Array.from({ length: 300 }, (_, i) => (i % 3 ? -1 : NaN)), table }] }, 100, 1);

	assert(small.every((pixel) => pixel === 0xff646464 || pixel === 0xffc8c8c8), 'not known among nothing');
});

test('of cells that share a pixel the strongest is seen, and told when pointed at', () => {
	for (let i = 0; i < 30; i++) {
		const n = 100 + Math.floor(random(400)), side = 60 + Math.floor(random(200));
		const place = Float32Array.from({ length: n * n }, () => random(1.2) - 0.4), hot = Math.floor(random(n * n)); // below 0: nothing

		place[hot] = 1;
		const grid = { rows: n, columns: n, layers: [{ place, table }], least: i % 2 ? 2 : 0 };
		const pixels = painted(grid, side, side);
		const at = pixels.findIndex((pixel) => red(pixel) === 255);

		assert(at >= 0, told);
		const cell = ct.cells.cellAt(grid, at % side + 0.5, Math.floor(at / side) + 0.5, side, side);

		assert.equal(cell.row * n + cell.column, hot, told);
	}
});

test('a second layer is seen beside the first in high cells, and in low ones where it is strong or stronger', () => {
	const other = Array.from({ length: 256 }, (_, i) => [0, i, 0]);
	const two = (base, over) => ({ rows: 1, columns: 2, layers: [{ place: Float32Array.from(base), table }, { place: Float32Array.from(over), table: other }] });
	const high = painted(two([0.9, 0.2], [0.5, 0.5]), 4, 20), low = painted(two([0.9, 0.1], [0.2, 0.2]), 2, 3);

	assert.equal(red(high[2 * 4]), 230);
	assert.equal((high[18 * 4] >>> 8) & 255, 127);
	assert.equal(red(low[0]), 230);
	assert.equal((low[1] >>> 8) & 255, 51);
	assert.equal((painted(two([0.9, 0.9], [0.5, 0.5]), 2, 3)[0] >>> 8) & 255, 127, 'strong, though the base is stronger');
});

test('rows that the page is not about are faded', () => {
	const grid = { rows: 2, columns: 1, layers: [{ place: Float32Array.of(1, 1), table }], rowOn: Uint8Array.of(0, 1), columnOn: null };
	const pixels = painted(grid, 4, 8);

	assert.equal(red(pixels[4 * 5]), 255);
	assert.equal(red(pixels[4]), -1);
});

test('keys move within the grid, with control to the next value', () => {
	const grid = { rows: 3, columns: 5, layers: [{ place: Float32Array.from([-1, -1, 1, -1, -1, ...new Array(10).fill(-1)]) }] };
	const move = (row, column, key, isFar) => ({ ...ct.grid.move(grid, { row, column }, key, isFar) });

	assert.deepEqual(move(0, 0, 'ArrowLeft'), { row: 0, column: 0 });
	assert.deepEqual(move(2, 4, 'ArrowDown'), { row: 2, column: 4 });
	assert.deepEqual(move(0, 0, 'ArrowRight', true), { row: 0, column: 2 });
	assert.deepEqual(move(0, 2, 'ArrowRight', true), { row: 0, column: 2 });
	assert.deepEqual(move(1, 3, 'Home'), { row: 1, column: 0 });
	assert.deepEqual(move(1, 3, 'End', true), { row: 2, column: 4 });
	assert.equal(ct.grid.move(grid, { row: 0, column: 0 }, 'x'), null);
});

test('marks of findings do not lie on one another', () => {
	for (let i = 0; i < 200; i++) {
		const findings = Array.from({ length: 30 }, (_, id) => ({ id: id + 1, severity: 'warn', begin: random(100), end: 100 + random(100) }));
		const marks = ct.marks.marksOf(findings, (f) => [f.begin, f.end], (v) => v * 3, 600);
		const { hits } = ct.marks.strip(marks, 10, 20, 600, ct.look(false));

		assert(hits.length > 0);
		for (const a of hits) {
			assert(a.x >= 10 - 1e-9 && a.x + a.width <= 610 + 1e-9, told);
			for (const b of hits)
				assert(a === b || a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y, told);
		}
	}
});
