// SPDX-License-Identifier: Apache-2.0
// scripts.mjs: what scripts of report.html decide, without a page: which things relate to what is chosen. node scripts.mjs FOLDER
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

const folder = process.argv[2];

// Ranks 0, 1 on a; 2, 3 on b. Communicators: all, even, and one of which no one knows the ranks.
const report = {
	ranks: [[0, 'a'], [1, 'a'], [2, 'b'], [3, 'b']].map(([rank, host]) => ({ rank, host })),
	comms: [['all', [0, 1, 2, 3]], ['even', [0, 2]], ['lost', []]].map(([comm, ranks]) => ({ comm, ranks, name: null, role: null })),
};

function load(...files) {
	const page = vm.createContext({ document: { getElementById: () => ({ textContent: JSON.stringify(report) }) } });

	for (const file of files)
		vm.runInContext(readFileSync(`${folder}/${file}`, 'utf8'), page);
	return vm.runInContext('ct', page);
}

const { state } = load('start.js', 'format.js', 'report.js', 'state.js');

// choose({ rank: 1 }) and nothing else
function choose(wanted) {
	state.clear();
	for (const [kind, value] of Object.entries(wanted))
		state.toggle(kind, value);
}

const cases = [
	// chosen, thing, relates
	[{}, { rank: 1 }, true],
	[{ rank: 1 }, { rank: 1 }, true],
	[{ rank: 1 }, { rank: 2 }, false],
	[{ rank: 1 }, { ranks: [0, 1] }, true],
	[{ rank: 1 }, { ranks: [0, 2] }, false],
	[{ rank: 1 }, { src: 1, dst: 3 }, true],
	[{ rank: 1 }, { src: 3, dst: 1 }, true],
	[{ rank: 1 }, { src: 0, dst: 3 }, false],
	[{ rank: 0 }, { src: 0, dst: null, comm: 'even' }, true],
	[{ rank: 1 }, { comm: 'even' }, false],
	[{ rank: 2 }, { comm: 'even' }, true],
	[{ rank: 1 }, { host: 'a' }, true],
	[{ rank: 1 }, { host: 'b' }, false],
	[{ rank: 1 }, { scope: 'of nobody' }, true],
	[{ host: 'b' }, { rank: 2 }, true],
	[{ host: 'b' }, { rank: 1 }, false],
	[{ host: 'b' }, { ranks: [1, 2] }, true],
	[{ host: 'b' }, { rank: 2, host: 'b' }, true],
	[{ host: 'b' }, { hosts: ['a'], ranks: [2] }, false],
	[{ host: 'b' }, { hosts: [], ranks: [], comm: null }, true],
	[{ host: 'b' }, { comm: 'even' }, true],
	[{ host: 'b' }, { comm: 'lost' }, false],
	[{ comm: 'even' }, { comm: 'all' }, false],
	[{ comm: 'even' }, { comm: 'even', rank: 0 }, true],
	[{ comm: 'even' }, { rank: 1 }, false],
	[{ comm: 'even' }, { rank: 2, comm: null }, true],
	[{ comm: 'even' }, { src: 0, dst: 1 }, true],
	[{ rank: 2, host: 'b' }, { rank: 2 }, true],
	[{ rank: 2, host: 'a' }, { rank: 2 }, false],
	[{ rank: 2, comm: 'even' }, { rank: 0 }, false],
];

for (const [chosen, thing, relates] of cases) {
	choose(chosen);
	assert.equal(state.relates(thing), relates, JSON.stringify({ chosen, thing }));
}

// Once more is not any more; listeners are called each time.
const calls = [];

choose({});
state.on((now) => calls.push({ ...now }));
state.toggle('rank', 3);
state.toggle('host', 'a');
state.toggle('rank', 3);
assert.equal(state.isAny(), true);
state.clear();
assert.equal(state.isAny(), false);
assert.deepEqual(calls.map(({ rank, host }) => [rank, host]), [[3, null], [3, 'a'], [null, 'a'], [null, null]]);
console.log(`${cases.length} things relate as they should`);
