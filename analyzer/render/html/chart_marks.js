// SPDX-License-Identifier: Apache-2.0
// chart_marks.js: where findings are, above an axis of time or of steps.
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
		const placed = lanes(marks, width), used = Math.max(0, ...placed.map((p) => p.lane + 1)), height = marks.length ? used * LANE_HEIGHT + 3 : 0;
		const nodes = [], hits = [];

		for (const { finding, from, to, lane, at, wide } of placed) {
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
