// SPDX-License-Identifier: Apache-2.0
// Cells of heatmaps as pixels, without a page: node test_chart_cells.mjs FOLDER
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import vm from 'node:vm';

const folder = process.argv[2];
const page = vm.createContext({ atob });

for (const file of ['start.js', 'chart_cells.js'])
	vm.runInContext(readFileSync(`${folder}/${file}`, 'utf8'), page);
const { cells } = vm.runInContext('ct', page);
const LOOK = { ground: [255, 255, 255], nothing: [0, 0, 9], unknown: [0, 9, 0], hatch: [9, 0, 0] };
const TABLE = Array.from({ length: 252 }, (_, i) => [i, i, 1]);
const ink = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

function painted(grid, width, height, gap = 1) {
	const pixels = new Uint32Array(width * height);

	cells.paint(pixels, width, height, grid, TABLE, LOOK, gap);
	return pixels;
}

test('levels become shades: nothing, not known, and colors in their order', () => {
	assert.deepEqual([...cells.shades(Buffer.from([0, 251, 252, 253]).toString('base64'))], [cells.FIRST, cells.FIRST + 251, cells.UNKNOWN, cells.NOTHING]);
});

test('a cell of its own pixels has its color, nothing and not known have theirs', () => {
	const grid = { rows: 2, columns: 2, shade: Uint8Array.from([cells.FIRST + 7, cells.NOTHING, cells.UNKNOWN, cells.FIRST]), on: null };
	const pixels = painted(grid, 40, 40), at = (x, y) => pixels[y * 40 + x];

	assert.equal(at(5, 5), ink(TABLE[7]));
	assert.equal(at(30, 5), ink(LOOK.nothing));
	assert([ink(LOOK.unknown), ink(LOOK.hatch)].includes(at(5, 30)));
	assert.deepEqual(new Set([...Array(12).keys()].map((x) => at(2 + x, 30))), new Set([ink(LOOK.unknown), ink(LOOK.hatch)]));
	assert.equal(at(30, 30), ink(TABLE[0]));
	assert.equal(at(19, 5), ink(LOOK.ground));
});

test('the only strong cell of a thousand columns is seen and found at any width', () => {
	for (const width of [1, 7, 64, 333, 999, 1000, 1001, 2500]) {
		for (const strong of [0, 1, 499, 998, 999]) {
			const shade = new Uint8Array(1000).fill(cells.FIRST);

			shade[strong] = cells.FIRST + 200;
			const grid = { rows: 1, columns: 1000, shade, on: null }, pixels = painted(grid, width, 4), x = pixels.indexOf(ink(TABLE[200]));

			assert(x >= 0, `column ${strong} at ${width}`);
			assert.equal(cells.cellAt(grid, x, 0, width, 4).column, strong);
		}
	}
});

test('what the page is not about fades', () => {
	const grid = { rows: 2, columns: 1, shade: new Uint8Array(2).fill(cells.FIRST + 9), on: (row) => row === 1 };
	const pixels = painted(grid, 4, 8, 0);

	assert.notEqual(pixels[0], ink(TABLE[9]));
	assert.equal(pixels[4 * 7], ink(TABLE[9]));
});

test('keys stay inside, and with Control go to the next value', () => {
	const grid = { rows: 3, columns: 3, shade: Uint8Array.from([2, 0, 9, 0, 0, 0, 2, 1, 2]) };
	const go = (...way) => { const { row, column } = cells.move(grid, ...way); return [row, column]; };

	assert.deepEqual(go({ row: 0, column: 0 }, 'ArrowLeft', false), [0, 0]);
	assert.deepEqual(go({ row: 0, column: 0 }, 'ArrowRight', false), [0, 1]);
	assert.deepEqual(go({ row: 0, column: 0 }, 'ArrowRight', true), [0, 2]);
	assert.deepEqual(go({ row: 0, column: 0 }, 'ArrowDown', true), [2, 0]);
	assert.deepEqual(go({ row: 2, column: 0 }, 'ArrowRight', true), [2, 2]);
	assert.deepEqual(go({ row: 1, column: 1 }, 'End', true), [2, 2]);
	assert.equal(cells.move(grid, { row: 0, column: 0 }, 'a', false), null);
});
