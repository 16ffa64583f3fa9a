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
			const size = ct.axis.width(text, 11), place = at * RAMP / PARTS;

			// The first and the last stay within the ramp.
			return { at: Math.min(Math.max(place, size / 2), RAMP - size / 2), size, place, text };
		});

		// The last one names the largest value of all: it is never the one that gives way.
		const last = labels.pop();
		const kept = ct.axis.thin(labels, 8).filter((l) => !last || l.at + l.size / 2 + 8 <= last.at - last.size / 2);

		for (const l of last ? [...kept, last] : kept) {
			nodes.push(ct.node.line(x + l.place, y + 27, x + l.place, y + 31, look.axis));
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
