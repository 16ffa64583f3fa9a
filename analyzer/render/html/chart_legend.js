// SPDX-License-Identifier: Apache-2.0
// chart_legend.js: what the colors of a chart mean: ramps with values, and samples of single colours.
//
// An item is { title, table, marks: [[position, text]] }, or { text, look, fill } for a sample. Items
// flow from left to right and wrap; labels of a ramp that would touch are left out.
(function () {
	const RAMP = 192, RAMP_STEPS = 48, RAMP_HEIGHT = 10, SAMPLE = 14, PARTS = 10000;

	function rampNodes(item, x, y, look) {
		const nodes = [ct.node.label(x, y + 11, item.title, look, 'start', { fill: look.ink })];
		const step = RAMP / RAMP_STEPS;

		for (let i = 0; i < RAMP_STEPS; i++) {
			const fill = 'rgb(' + item.table[Math.round(i * (item.table.length - 1) / (RAMP_STEPS - 1))] + ')';

			nodes.push(ct.node.node('rect', { x: x + i * step, y: y + 17, width: step + (i + 1 < RAMP_STEPS ? 0.5 : 0), height: RAMP_HEIGHT, fill }));
		}
		const labels = item.marks.map(([at, text]) => {
			const size = ct.axis.width(text, 11), tickAt = at * RAMP / PARTS;

			// The first and the last stay within the ramp.
			return { at: Math.min(Math.max(tickAt, size / 2), RAMP - size / 2), size, tickAt, text };
		});

		// The last one names the largest value of all: it is never the one that gives way.
		const last = labels.pop();
		const kept = ct.axis.thin(labels, 8).filter((l) => !last || l.at + l.size / 2 + 8 <= last.at - last.size / 2);

		for (const l of last ? [...kept, last] : kept) {
			nodes.push(ct.node.line(x + l.tickAt, y + 27, x + l.tickAt, y + 31, look.axis));
			nodes.push(ct.node.tick(x + l.at, y + 42, l.text, look, 'middle', { 'font-size': 11 }));
		}
		return nodes;
	}

	function hatchNodes(x, y, size, look) {
		const nodes = [ct.node.node('rect', { x, y, width: size, height: size, fill: look.unknown })];

		for (const d of [size / 3, size, size * 5 / 3]) {
			const over = Math.max(0, d - size);

			nodes.push(ct.node.line(x + d - over, y + over, x + over, y + d - over, look.hatch, { 'stroke-width': 1.5 }));
		}
		return nodes;
	}

	function sampleNodes(item, x, y, look) {
		const across = (more) => [ct.node.line(x, y + SAMPLE / 2, x + SAMPLE, y + SAMPLE / 2, item.fill, { 'stroke-width': 2, ...more })];
		const box = () => [ct.node.node('rect', { x: x + 0.5, y: y + 0.5, width: SAMPLE - 1, height: SAMPLE - 1, fill: item.fill, stroke: look.axis })];
		const nodes = {
			box, bar: box, hatch: () => hatchNodes(x, y, SAMPLE, look), line: across, edge: across, dash: () => across({ 'stroke-dasharray': '2 4' }),
			dot: () => [ct.node.node('circle', { cx: x + SAMPLE / 2, cy: y + SAMPLE / 2, r: 4, fill: item.fill })],
		}[item.look]();

		nodes.push(ct.node.label(x + SAMPLE + 6, y + 11, item.text, look));
		return nodes;
	}

	// `text` cut to `room` pixels.
	function fitted(text, room) {
		const letters = Array.from(text).length, wide = ct.axis.width(text, 12);

		return wide <= room ? text : ct.axis.middle(text, Math.max(Math.floor(letters * room / wide) - 1, 3));
	}

	// { nodes, height } of a legend that starts at y 0 and is at most `width` wide.
	function legend(items, width, look) {
		const nodes = [];
		let x = 0, y = 0, high = 0;

		for (const full of items) {
			const item = full.table ? { ...full, title: fitted(full.title, width) } : { ...full, text: fitted(full.text, width - SAMPLE - 6) };
			const wide = item.table ? Math.max(RAMP, ct.axis.width(item.title, 12)) : SAMPLE + 6 + ct.axis.width(item.text, 12);
			const tall = item.table ? 46 : SAMPLE + 4;

			if (x > 0 && x + wide > width) {
				x = 0;
				y += high + 6;
				high = 0;
			}
			// Samples stand beside ramps, at the height of the ramp.
			nodes.push(...(item.table ? rampNodes(item, x, y, look) : sampleNodes(item, x, y + (high > tall ? 15 : 0), look)));
			x += wide + 24;
			high = Math.max(high, tall);
		}
		return { nodes, height: items.length ? y + high : 0 };
	}

	ct.legend = legend;
})();

// Where findings are, above an axis of time or of steps.
//
// A span is [finding, from, to]. Each is a line over its stretch and a number in a badge, the finding's id, whose card a click goes
// to. Badges move aside into a second and third lane; where there is no room left, the line stands alone.
(function () {
	const LANES = 3, LANE_HEIGHT = 19, BADGE_HEIGHT = 15, PARTS = 10000;

	// The lane of each mark: the first one with room for its badge; -1: none has.
	function lanes(marks, width) {
		const free = new Array(LANES).fill(-Infinity);

		return marks.map((mark) => {
			const wide = Math.max(16, ct.axis.width(String(mark.finding.id), 11) + 8);
			const at = Math.min(Math.max((mark.from + mark.to) / 2, wide / 2), width - wide / 2);
			const lane = free.findIndex((end) => at - wide / 2 >= end);

			if (lane >= 0)
				free[lane] = at + wide / 2 + 3;
			return { ...mark, lane, at, wide };
		});
	}

	// { nodes, hits: [{ x, y, width, height, finding }], height } of a strip whose lower edge is the plot's upper one.
	ct.marks = (spans, x, y, width, look) => {
		const marks = spans.map(([id, from, to]) => ({ finding: ct.report.findings.find((one) => one.id === id), from: from * width / PARTS, to: to * width / PARTS }))
			.filter(({ finding }) => finding).sort((a, b) => a.from - b.from || a.finding.id - b.finding.id);
		const inLanes = lanes(marks, width), used = Math.max(0, ...inLanes.map((p) => p.lane + 1)), height = marks.length ? used * LANE_HEIGHT + 3 : 0;
		const nodes = [], hits = [];

		for (const { finding, from, to, lane, at, wide } of inLanes) {
			const fill = look.severity[finding.severity] || look.axis, top = y + Math.max(lane, 0) * LANE_HEIGHT;

			nodes.push(ct.node.node('rect', { x: x + from, y: y + height - 3, width: Math.max(to - from, 2), height: 2, fill }));
			if (lane < 0)
				continue;
			nodes.push(ct.node.node('rect', { x: x + at - wide / 2, y: top, width: wide, height: BADGE_HEIGHT, rx: 3, fill }),
				ct.node.tick(x + at, top + 11.5, String(finding.id), look, 'middle', { 'font-size': 11, 'font-weight': '600', fill: look.ground }));
			hits.push({ x: x + at - wide / 2, y: top, width: wide, height: BADGE_HEIGHT, finding });
		}
		return { nodes, hits, height };
	};
})();
