// SPDX-License-Identifier: Apache-2.0
// picture_curves.js: bus bandwidth by size, of one operation of one communicator: medians that were measured, and the fit of
// latency and bandwidth as the report has it at the same sizes.
(function () {
	const PLOT_HEIGHT = 280;

	const nameOf = (curve) => ct.format.text(curve.op) + ', ' + ct.names.comm(curve.comm);

	// A logarithmic axis over the values, with some room around them.
	function axisOf(values, write, title, want) {
		const known = values.filter((v) => v !== null && v > 0);
		const ticks = ct.axis.steps(Math.min(...known) / 1.3, Math.max(...known) * 1.3, want);

		return {
			scale: ct.scale.log(ticks[0], ticks[ticks.length - 1]), title,
			ticks: ticks.map((value) => ({ value, text: ct.axis.short(write(value)) })),
		};
	}

	function pathOf(points, at) {
		return points.filter((p) => p.busbw_Bps !== null).map((p, i) => (i ? 'L' : 'M') + at.x(p.bytes) + ' ' + at.y(p.busbw_Bps)).join('');
	}

	function dot(at, point, how) {
		return ct.node.node('circle', { cx: at.x(point.bytes), cy: at.y(point.busbw_Bps), ...how });
	}

	function picture(report) {
		const curves = report.curves.filter((curve) => curve.points.some((p) => p.bytes > 0 && p.busbw_Bps > 0));
		let chosen = ct.names.largest(curves.map((curve) => curve.points.length));

		function pointsOf(curve) {
			return curve.points.filter((p) => p.bytes > 0 && p.busbw_Bps !== null && p.busbw_Bps > 0);
		}

		// What is not chosen stays faintly in sight, unless the page is about another communicator.
		function others(at, look) {
			return curves.filter((curve, i) => i !== chosen && ct.state.relates({ comm: curve.comm })).flatMap((curve) => [
				ct.node.node('path', { d: pathOf(pointsOf(curve), at), fill: 'none', stroke: look.axis, opacity: 0.35 }),
				...pointsOf(curve).map((p) => dot(at, p, { r: 2.5, fill: look.axis, opacity: 0.5 })),
			]);
		}

		function curveNodes(curve, at, look) {
			const nodes = [];

			if (curve.beta_Bps > 0 && at.y(curve.beta_Bps) > at.plot.y && at.y(curve.beta_Bps) < at.plot.y + at.plot.height)
				nodes.push(ct.node.line(at.plot.x, at.y(curve.beta_Bps), at.plot.x + at.plot.width, at.y(curve.beta_Bps), look.orange,
					{ 'stroke-dasharray': '2 4' }));
			if (curve.fit.length)
				nodes.push(ct.node.node('path', {
					d: pathOf(curve.fit.filter((p) => p.bytes > 0 && p.busbw_Bps > 0), at), fill: 'none', stroke: look.orange, 'stroke-width': 2,
				}));
			for (const p of pointsOf(curve))
				nodes.push(dot(at, p, { r: 4.5, fill: look.blue, stroke: look.ground, 'stroke-width': 1 }));
			return nodes;
		}

		function legend(curve, width, look) {
			return ct.legend([
				{ text: 'measured, median', kind: 'dot', fill: look.blue },
				...(curve.fit.length > 1 ? [{ text: 'fit', kind: 'line', fill: look.orange }] : []),
				...(curve.beta_Bps > 0 ?
					[{ text: 'its bandwidth ' + ct.format.Bps(curve.beta_Bps), kind: 'line', dash: '2 4', fill: look.orange }] : []),
				...(curves.length > 1 ? [{ text: 'others', kind: 'dot', fill: look.axis }] : []),
			], width, look);
		}

		function tell(curve, i) {
			const p = pointsOf(curve)[i], fit = curve.fit.findIndex((one) => one.bytes === p.bytes);
			const path = 'curves.' + report.curves.indexOf(curve);
			const told = (key, write) => ct.names.told(path + '.points.' + curve.points.indexOf(p) + '.' + key, write);

			return [['operation', nameOf(curve)], ['mean size', told('bytes', ct.format.bytes)],
				['median bus bandwidth', told('busbw_Bps', ct.format.Bps)], ['of how many', told('instances', ct.format.count)],
				['by the fit', fit < 0 ? ct.format.Bps(null) : ct.names.told(path + '.fit.' + fit + '.busbw_Bps', ct.format.Bps)]];
		}

		function draw(width, look) {
			const curve = curves[chosen], points = pointsOf(curve);
			const shown = curves.filter((one, i) => i === chosen || ct.state.relates({ comm: one.comm }));
			const x = axisOf(shown.flatMap((one) => one.points.map((p) => p.bytes)), ct.format.bytes, 'size', 12);
			const y = axisOf(shown.flatMap((one) => [...pointsOf(one), ...one.fit].map((p) => p.busbw_Bps)), ct.format.Bps, 'bus bandwidth', 8);
			const names = legend(curve, width, look);
			const at = ct.chart(width, PLOT_HEIGHT, names.height + 32, 0, x, y, look);

			return {
				width, height: at.height, plot: at.plot, cells: null, first: { row: 0, column: 0 },
				nodes: [...names.nodes, ...at.nodes, ...others(at, look), ...curveNodes(curve, at, look)],
				at: (px) => ({ row: 0, column: nearest(points.map((p) => at.x(p.bytes)), px) }),
				move: (cell, key, isFar) => ct.grid.move({ rows: 1, columns: points.length, layers: [] }, cell, key, isFar),
				box: (cell) => ({ x: at.x(points[cell.column].bytes) - 8, y: at.y(points[cell.column].busbw_Bps) - 8, width: 16, height: 16 }),
				tell: (cell) => tell(curve, cell.column),
				pick: () => ct.state.toggle('comm', curve.comm),
			};
		}

		function nearest(places, at) {
			let best = 0;

			places.forEach((place, i) => {
				if (Math.abs(place - at) < Math.abs(places[best] - at))
					best = i;
			});
			return best;
		}

		function summary() {
			const curve = curves[chosen], latency = curve.alpha_ns === null ? null : 'latency ' + ct.format.ns(curve.alpha_ns) + ', ';

			if (!curve.fit.length)
				return nameOf(curve) + ': too few sizes to fit latency and bandwidth to.';
			return nameOf(curve) + ': ' + (latency || '') + 'bandwidth ' + ct.format.Bps(curve.beta_Bps) + ' by the fit' +
				(latency ? '.' : '; latency is not known.');
		}

		function follow() {
			const { comm } = ct.state.get();
			const own = curves.findIndex((curve) => curve.comm === comm);

			if (comm !== null && own >= 0 && curves[chosen].comm !== comm)
				chosen = own;
		}

		function* rows() {
			yield ['comm', 'op', 'bytes', 'busbw_Bps', 'instances', 'fit_busbw_Bps'];
			for (const curve of curves) {
				for (const p of curve.points) {
					const fit = curve.fit.find((one) => one.bytes === p.bytes);

					yield [curve.comm, curve.op, p.bytes, p.busbw_Bps, p.instances, fit ? fit.busbw_Bps : null];
				}
			}
		}

		if (!curves.length)
			return null;
		return {
			name: 'curves', title: 'Bandwidth by size', summary, draw, rows, follow, notes: () => [],
			table: () => ({
				head: ['size', 'median bus bandwidth', 'of how many', 'by the fit'],
				rows: pointsOf(curves[chosen]).map((p, i) => tell(curves[chosen], i).slice(1).map(([, what]) => what)), note: null,
			}),
			controls: () => [{
				label: 'Of', value: chosen, options: curves.map((curve, i) => ({ value: i, text: nameOf(curve) })),
				set: (value) => { chosen = Number(value); },
			}],
		};
	}

	ct.section('pic-curves', (body, report) => {
		const made = report.curves && report.curves.length ? picture(report) : null;

		if (made)
			ct.figure(body, made);
		else
			ct.empty(body, 'No bandwidth is known by size.');
	});
})();
