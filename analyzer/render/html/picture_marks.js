// SPDX-License-Identifier: Apache-2.0
// picture_marks.js: where findings are, above an axis of time or of cycles.
//
// A mark is { from, to, finding }: places on the axis in pixels from its start. Each is a line over its stretch and a number in a
// badge, the finding's id, whose card a click goes to. Badges move aside into a second and third lane; where there is no room
// left, the line stands alone.
(function () {
	const LANES = 3, LANE_HEIGHT = 19, BADGE_HEIGHT = 15;

	function badgeWidth(finding) {
		return Math.max(16, ct.axis.width(String(finding.id), 11) + 8);
	}

	// The lane of each mark: the first one with room for its badge; -1: none has.
	function lanes(marks, width) {
		const free = new Array(LANES).fill(-Infinity);

		return marks.map((mark) => {
			const wide = badgeWidth(mark.finding);
			const at = Math.min(Math.max((mark.from + mark.to) / 2, wide / 2), width - wide / 2);
			const lane = free.findIndex((end) => at - wide / 2 >= end);

			if (lane >= 0)
				free[lane] = at + wide / 2 + 3;
			return { mark, lane, at, wide };
		});
	}

	// The marks of findings that have a place on an axis: `place(value)` in pixels, NaN off it; `ends(finding)`: [from, to].
	function marksOf(findings, ends, place, width) {
		return findings.map((finding) => ({ finding, ends: ends(finding) }))
			.filter(({ ends: [from, to] }) => from !== null && to !== null)
			.map(({ finding, ends: [from, to] }) => ({
				finding, from: Math.max(place(from), 0), to: Math.min(place(to), width),
			}))
			.filter((mark) => mark.from <= width && mark.to >= 0 && mark.from <= mark.to)
			.sort((a, b) => a.from - b.from || a.finding.id - b.finding.id);
	}

	// { nodes, hits: [{ x, y, width, height, finding }], height, left } for a strip whose lower edge is the plot's upper one.
	function strip(marks, x, y, width, look) {
		const placed = lanes(marks, width);
		const used = Math.max(0, ...placed.map((p) => p.lane + 1));
		const height = marks.length ? used * LANE_HEIGHT + 3 : 0;
		const nodes = [], hits = [];

		for (const { mark, lane, at, wide } of placed) {
			const colour = look.severity[mark.finding.severity] || look.axis;
			const top = y + Math.max(lane, 0) * LANE_HEIGHT;
			const bottom = y + height;

			nodes.push(ct.node.node('rect', {
				x: x + mark.from, y: bottom - 3, width: Math.max(mark.to - mark.from, 2), height: 2, fill: colour,
			}));
			if (lane < 0)
				continue;
			nodes.push(ct.node.node('rect', {
				x: x + at - wide / 2, y: top, width: wide, height: BADGE_HEIGHT, rx: 3, fill: colour,
			}));
			nodes.push(ct.node.tick(x + at, top + 11.5, String(mark.finding.id), look, 'middle',
				{ 'font-size': 11, 'font-weight': '600', fill: look.ground }));
			hits.push({ x: x + at - wide / 2, y: top, width: wide, height: BADGE_HEIGHT, finding: mark.finding });
		}
		return { nodes, hits, height };
	}

	// How high the strip will be.
	const heightOf = (marks, width) =>
		(marks.length ? Math.max(0, ...lanes(marks, width).map((p) => p.lane + 1)) * LANE_HEIGHT + 3 : 0);

	ct.marks = { marksOf, strip, heightOf };
})();
