// SPDX-License-Identifier: Apache-2.0
// picture_chart.js: a plot between two axes of numbers, for curves and bars.
//
// An axis is { scale: value to 0..1, ticks: [{ value, text }], title }. What comes back are the plot's place, nodes of its axes,
// and x(value), y(value) in pixels.
(function () {
	function yNodes(axis, plot, look) {
		const nodes = [];
		let above = Infinity;

		for (const tick of axis.ticks) {
			const y = plot.y + plot.height * (1 - axis.scale(tick.value));

			nodes.push(ct.node.line(plot.x, y, plot.x + plot.width, y, look.grid));
			if (above - y < 14)
				continue;
			above = y;
			nodes.push(ct.node.tick(plot.x - 7, y + 4, tick.text, look, 'end'));
		}
		return nodes;
	}

	function xNodes(axis, plot, look) {
		const y = plot.y + plot.height, nodes = [];
		const labels = axis.ticks.map((tick) => ({ at: plot.width * axis.scale(tick.value), size: ct.axis.width(tick.text, 12), tick }))
			.filter((l) => plot.x + l.at + l.size / 2 <= plot.right && plot.x + l.at - l.size / 2 >= 0);

		for (const l of ct.axis.thin(labels, 8)) {
			nodes.push(ct.node.line(plot.x + l.at, y, plot.x + l.at, y + 4, look.axis));
			nodes.push(ct.node.tick(plot.x + l.at, y + 17, l.tick.text, look, 'middle'));
		}
		nodes.push(ct.node.line(plot.x, y, plot.x + plot.width, y, look.axis));
		nodes.push(ct.node.label(plot.x + plot.width / 2, y + 34, axis.title, look, 'middle', { fill: look.ink }));
		return nodes;
	}

	// `top`: room above the plot, of which the last 25 pixels are for the title of the y axis; strip: of picture_marks.js below it.
	function chart(width, height, top, stripHeight, x, y, look) {
		const left = Math.ceil(Math.max(24, ...y.ticks.map((tick) => ct.axis.width(tick.text, 12)))) + 10;
		const plot = { x: left, y: top + stripHeight, width: width - left - 12, height, right: width };

		return {
			plot, height: plot.y + height + 42,
			nodes: [
				ct.node.label(0, top - 13, y.title, look, 'start', { fill: look.ink }),
				...yNodes(y, plot, look), ...xNodes(x, plot, look),
			],
			x: (value) => plot.x + plot.width * x.scale(value),
			y: (value) => plot.y + plot.height * (1 - y.scale(value)),
		};
	}

	// Width of the plot that chart() will make, for what has to be placed before it.
	chart.plotWidth = (width, y) => width - Math.ceil(Math.max(24, ...y.ticks.map((tick) => ct.axis.width(tick.text, 12)))) - 22;
	ct.chart = chart;
})();
