// SPDX-License-Identifier: Apache-2.0
// judge.mjs ENGINE: does Perfetto's own engine see in each trace exactly what is meant to be in it? Most mistakes in such a file
// pass without an error: slices get wrong durations, or are not there. Reads lines NAME TRACE TUPLES [ARROWS], separated by tabs;
// TUPLES is what `commtrace timeline --format=tuples` writes, ARROWS how many there are by another count. Prints a line for each, "NAME: ok SLICES slices, VALUES values, ARROWS
// arrows, MARKS stacks and colours", or what differs, each line after "NAME: ". Exit 1 if anything does. One start of the engine for all.
import fs from 'node:fs';
import readline from 'node:readline';
import { start } from './trace_processor.mjs';

const SHOWN = 20; // differences of a file

// What the engine counts as an error, and what it only mentions although something was dropped.
const COMPLAINTS = `select name, severity, value from stats where value != 0 and (severity in ('error', 'data_loss') or name in (
	'interned_data_tokenizer_errors', 'packet_skipped_seq_needs_incremental_state_invalid',
	'track_hierarchy_missing_uuid', 'track_event_parser_errors', 'track_event_missing_sequence_id',
	'track_event_counter_invalid_track_uuid', 'misplaced_end_event'))`;
const TRACKS = 'select id, parent_id, name from track';
const SLICES = 'select ts, dur, depth, track_id, name from slice';
const VALUES = 'select ts, value, track_id from counter';
const ARROWS = `select f.trace_id, a.ts, a.track_id, a.name, b.ts, b.track_id, b.name
	from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in`;

const STACKS = `select s.ts, c.callsite_id, s.track_id, s.name
	from __intrinsic_track_event_callstacks c join slice s on s.id = c.slice_id`;
const FRAMES = `select c.id, c.parent_id, f.name, y.source_file, y.line_number from stack_profile_callsite c
	join stack_profile_frame f on f.id = c.frame_id left join stack_profile_symbol y on y.symbol_set_id = f.symbol_set_id`;
const COLOURS = `select s.ts, a.string_value, s.track_id, s.name
	from args a join slice s on s.arg_set_id = a.arg_set_id where a.key = 'correlation_id'`;

// As printf does: of two that are as near, the even one.
function sixDigits(value) {
	const tie = /^(.*\.\d{5}[02468])50*$/.exec(value.toFixed(60));

	return tie ? tie[1] : value.toFixed(6);
}

// Names from the root, by track. (In SQL this takes minutes for some ten thousand tracks.)
async function pathsOf(processor) {
	const tracks = new Map();
	const paths = new Map();
	const path = (id) => {
		if (!paths.has(id)) {
			const [parent, name] = tracks.get(id);

			paths.set(id, parent === null ? name : `${path(parent)} > ${name}`);
		}
		return paths.get(id);
	};

	await processor.each(TRACKS, ([id, parent, name]) => tracks.set(id, [parent, name]));
	for (const id of tracks.keys())
		path(id);
	return paths;
}

// What the engine sees, as lines of the same form as those that are meant.
async function seen(processor) {
	const paths = await pathsOf(processor);
	const frames = new Map();
	const all = { drawn: [], arrows: [], marks: [] };
	const mark = (ts, what, kind, track, name) => all.marks.push(`${ts}\t${what}\t${kind}\t${paths.get(track)}\t${name}`);
	const stack = (id) => {
		const [parent, name, file, line] = frames.get(id);
		const frame = `${name} (${file ?? ''}:${line ?? 0})`;

		return parent === null ? frame : `${stack(parent)} > ${frame}`;
	};

	await processor.each(SLICES, ([ts, dur, depth, track, name]) =>
		all.drawn.push(`${ts}\t${dur}\t${depth}\t${paths.get(track)}\t${name}`));
	all.slices = all.drawn.length;
	await processor.each(VALUES, ([ts, value, track]) => all.drawn.push(`${ts}\t${sixDigits(value)}\tcounter\t${paths.get(track)}`));
	await processor.each(ARROWS, ([id, ts, track, name, toTs, toTrack, toName]) =>
		all.arrows.push(`${BigInt.asUintN(64, id)}\t${ts}\t${paths.get(track)}\t${name}\t->\t${toTs}\t${paths.get(toTrack)}\t${toName}`));
	await processor.each(FRAMES, ([id, ...frame]) => frames.set(id, frame));
	await processor.each(STACKS, ([ts, site, track, name]) => mark(ts, stack(site), 'stack', track, name));
	await processor.each(COLOURS, ([ts, id, track, name]) => mark(ts, id.replace('tp:#', ''), 'colour', track, name));
	return all;
}

// The engine joins what has the same number one after the other, in the order of time and then of the file; what ends the
// number ("end") is joined with the one before it, and the next one begins anew.
function joined(points) {
	const last = new Map();
	const arrows = [];

	points.sort((a, b) => a.ts < b.ts ? -1 : a.ts > b.ts ? 1 : a.at - b.at);
	for (const { id, ts, path, name, ends } of points) {
		const here = `${ts}\t${path}\t${name}`;

		if (last.has(id))
			arrows.push(`${id}\t${last.get(id)}\t->\t${here}`);
		if (ends)
			last.delete(id);
		else
			last.set(id, here);
	}
	return arrows;
}

async function meant(tuples) {
	const all = { drawn: [], arrows: [], marks: [] };
	const points = [];

	for await (const line of readline.createInterface({ input: fs.createReadStream(tuples) })) {
		const [ts, what, kind, path, name] = line.split('\t');

		if (kind === 'arrow' || kind === 'end')
			points.push({ ts: BigInt(ts), at: points.length, id: what, path, name, ends: kind === 'end' });
		else if (kind === 'stack' || kind === 'colour')
			all.marks.push(line);
		else
			all.drawn.push(line);
	}
	all.arrows = joined(points);
	return all;
}

// Both are sorted; what only one of them has.
function differences(want, got) {
	const lines = [];
	let w = 0, g = 0;

	want.sort();
	got.sort();
	while (lines.length < SHOWN && (w < want.length || g < got.length)) {
		if (want[w] === got[g]) {
			w++;
			g++;
		} else if (g === got.length || want[w] < got[g]) {
			lines.push(`< ${want[w++]}`);
		} else {
			lines.push(`> ${got[g++]}`);
		}
	}
	return lines;
}

async function judge(processor, trace, tuples, arrows) {
	await processor.load(trace);
	const complaints = await processor.rows(COMPLAINTS);
	const got = await seen(processor);
	const want = await meant(tuples);
	const lines = complaints.map((row) => `the engine complains: ${row.join(' ')}`);
	const values = got.drawn.length - got.slices;

	for (const [what, w, g] of [['slices and values', want.drawn, got.drawn], ['arrows', want.arrows, got.arrows],
		['stacks and colours', want.marks, got.marks]]) {
		const different = differences(w, g);

		if (different.length)
			lines.push(`${w.length} ${what} are meant, ${g.length} are seen; < meant, > seen:`, ...different);
	}
	if (arrows && Number(arrows) !== got.arrows.length)
		lines.push(`${arrows} arrows are told of, ${got.arrows.length} are seen`);
	if (!want.drawn.length)
		lines.push('nothing is meant to be in it');
	return { ok: !lines.length,
		lines: lines.length ? lines : [`ok ${got.slices} slices, ${values} values, ${got.arrows.length} arrows, ${got.marks.length} stacks and colours`] };
}

function fail(error) {
	process.stderr.write(`judge.mjs: ${error && error.stack || error}\n`);
	process.exit(1);
}
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const processor = await start(process.argv[2]);
let failed = 0;
for await (const line of readline.createInterface({ input: process.stdin })) {
	const [name, trace, tuples, arrows] = line.split('\t');
	const verdict = await judge(processor, trace, tuples, arrows).catch((error) =>
		({ ok: false, lines: [String(error && error.message || error), ...processor.said()] }));

	failed |= !verdict.ok;
	fs.writeSync(1, verdict.lines.map((said) => `${name}: ${said}\n`).join(''));
}
process.exit(failed ? 1 : 0);
