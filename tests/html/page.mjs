// SPDX-License-Identifier: Apache-2.0
// page.mjs: the scripts of report.html that draw pictures, without a browser around them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

const dir = fileURLToPath(new URL('../../analyzer/render/html/', import.meta.url));

// The scripts of pictures in the order of assets.def, on a report. What the rest of the page would do is done here: figures are not
// shown but kept. Returns { ct, pictures: by id of their section, empty: the sentences of those that have none }.
export function page(report) {
	const pictures = {}, empty = {}, listeners = [];
	const host = new Map(report.ranks.map((row) => [row.rank, row.host]));
	let state = { rank: null, host: null, comm: null };
	const around = {
		report,
		hostOf: (rank) => (host.has(rank) ? host.get(rank) : null),
		commOf: (comm) => report.comms.find((row) => row.comm === comm) || null,
		membersOf: (comm) => new Set((report.comms.find((row) => row.comm === comm) || { ranks: [] }).ranks),
		section: (id, build) => build({ id }, report),
		empty: (body, why) => { empty[body.id] = why; },
		theme: { on() {} },
		state: {
			get: () => state,
			on: (listener) => listeners.push(listener),
			isAny: () => Object.values(state).some((value) => value !== null),
			relates: (thing) => [['rank', thing.rank], ['host', thing.host === undefined ? host.get(thing.rank) : thing.host], ['comm', thing.comm]]
				.every(([kind, value]) => state[kind] === null || value === undefined || value === state[kind]),
			toggle(kind, value) {
				state = { ...state, [kind]: state[kind] === value ? null : value };
			},
		},
	};
	const context = vm.createContext({ addEventListener() {}, around, kept: (body, picture) => { pictures[body.id] = picture; } });
	const run = (text) => vm.runInContext(text, context);
	const names = [...readFileSync(dir + 'assets.def', 'utf8').matchAll(/^SCRIPT\([a-z_]+, "((start|format|picture_[a-z]+)\.js)"\)$/gm)];

	for (const [, name] of names) {
		run(readFileSync(dir + name, 'utf8'));
		if (name === 'format.js')
			run('Object.assign(ct, around);');
		if (name === 'picture_figure.js')
			run('ct.figure = kept;');
	}
	return { ct: run('ct'), pictures, empty };
}

export const noReport = { ranks: [], comms: [], findings: [], run: {}, traffic: null, heat: null, cycles: null };

// Random numbers of a seed (mulberry32); the seed is CT_SEED or the time, and is told by who fails.
export const seed = Number(process.env.CT_SEED || Date.now() % 1e9);
let next = seed;
export function random(below) {
	next = (next + 0x6d2b79f5) | 0;
	let t = Math.imul(next ^ (next >>> 15), 1 | next);

	t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
	return ((t ^ (t >>> 14)) >>> 0) / 4294967296 * below;
}
