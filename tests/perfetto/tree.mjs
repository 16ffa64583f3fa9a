// SPDX-License-Identifier: Apache-2.0
// tree.mjs ENGINE TRACE...: prints the tree of tracks of each trace as the UI shows it, a tab a level, "# TRACE" before each.
// It asks what the UI's plugin dev.perfetto.TrackEvent asks, and builds the tree as that does (v55.3): tracks of a group in the order of
// order_id; what has neither data nor children is left out; a root that has data and no children goes into a group of its own.
import { start } from './trace_processor.mjs';

const TRACKS = `select parent_id, name, is_counter, has_data, has_children, track_ids, order_id, unit, y_axis_share_key
	from _track_event_tracks_ordered_groups`;
const ROOTS = 'Global Track Events';

// Before the first that comes after it.
function add(parent, node) {
	const at = parent.children.findIndex((other) => other.order > node.order);

	parent.children.splice(at < 0 ? parent.children.length : at, 0, node);
}

function build(rows) {
	const root = { children: [] };
	const nodes = new Map();
	let lone;

	for (const [parent, name, counter, data, children, tracks, order, unit, share] of rows) {
		if (!Number(data) && !Number(children))
			continue;
		const lanes = tracks.split(',');
		const node = { order: Number(order), children: [], name: name +
			(lanes.length > 1 ? ` [${lanes.length} rows]` : '') +
			(Number(counter) ? ` (${unit}, scale: ${share ?? 'own'})` : '') };
		let to = parent === null ? root : nodes.get(Number(parent));

		if (parent === null && !Number(children)) {
			if (!lone)
				add(root, lone = { name: ROOTS, order: 0, children: [] });
			to = lone;
		}
		add(to, node);
		nodes.set(Number(lanes[0]), node);
	}
	return root;
}

function print(node, indent) {
	for (const child of node.children) {
		console.log(indent + child.name);
		print(child, indent + '\t');
	}
}

const [folder, ...traces] = process.argv.slice(2);
const processor = await start(folder);
for (const trace of traces) {
	await processor.load(trace);
	await processor.rows('include perfetto module viz.summary.track_event');
	console.log(`# ${trace}`);
	print(build(await processor.rows(TRACKS)), '');
}
process.exit(0);
