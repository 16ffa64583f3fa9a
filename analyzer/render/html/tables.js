// SPDX-License-Identifier: Apache-2.0
// tables.js: the sections that are a table of the report: operations, ranks, communicators, links, exposed communication, gaps,
// stages, the scorecard, clocks, what recording cost.
(function () {
	// The rows at `path`; `empty`: why there are none, a sentence or what returns one ('': nothing worth reading). `before`, `after`: what
	// is put around the table. `measured`: a row without a value of any of these keys is not worth reading.
	function tableOf(id, label, { path = id, empty = '', cells, before, after, measured, first } = {}) {
		const isShown = (row) => !measured || measured.some((key) => row[key] !== null);

		ct.section(id, (body, report) => {
			ct.add(body, [before ? before(report) : null]);
			ct.table(body, { path, label, rows: report[path], cells, isShown, first });
			if (after)
				after(body);
		}, (report) => report[path].some(isShown) ? null : typeof empty === 'function' ? empty(report) : empty);
	}

	tableOf('ops', 'Operations', {
		cells: {
			op: { words: true, value: (row) => row.op || row.group || '?', show: (row, path) =>
				row.op === null ? [ct.value(path + '.group', row.group, 'text'), ct.el('span', { class: 'label' }, 'in one launch')] :
					ct.value(path + '.op', row.op, 'text') },
			// Of some only the width is known, as the text report says it, too.
			dtype: { words: true, show: (row, path) =>
				ct.value(path + '.dtype', row.dtype && row.dtype.replace(/^elem(\d+)$/, '$1-byte'), 'text') },
		},
	});

	tableOf('ranks', 'Ranks', {
		first: 'lateness_ns',
		before: (report) => (report.run.ranks_missing.length ?
			ct.el('p', { class: 'note' }, 'No trace of ', ct.chip.ranks(report.run.ranks_missing, 'run.ranks_missing')) : null),
	});

	tableOf('comms', 'Communicators', {
		cells: {
			role: { words: true, show: (row, path) => [ct.value(path + '.role', row.role, 'text', row.role_evidence),
				row.role === null ? null : ct.el('span', { class: 'label', title: row.role_evidence }, 'confidence ',
					ct.value(path + '.role_confidence', row.role_confidence, 'text'))] },
		},
	});

	tableOf('links', 'Links', {
		empty: 'No link could be measured: that takes timed transfers of more than one size.',
		measured: ['busbw_Bps', 'latency_ns', 'expected_Bps', 'efficiency_ratio'],
		cells: {
			scope: { words: true, show: (row, path) => [
				ct.value(path + '.scope', row.scope, 'text'), ' ',
				row.scope !== 'edge' ? null : [ct.chip.rank(row.src, path + '.src'), ' \u2192 ', ct.chip.rank(row.dst, path + '.dst')],
				row.host === null ? null : ct.chip.host(row.host, path + '.host')] },
			slow: { words: true, show: (row, path) => [
				row.slow ? ct.el('span', { class: 'critical' }, ct.mark('critical')) : null, ct.value(path + '.slow', row.slow, 'yes'),
				row.ambiguous ? ct.el('span', { class: 'label' }, 'or another one') : null] },
		},
		after: (body) => ct.omitted(body, 'links', 'links that are not slow are not in the report.'),
	});

	tableOf('exposed', 'Exposed communication', {
		path: 'overlap',
		measured: ['exposed_ns', 'hidden_ns', 'comm_ns', 'overlap_ratio'],
		first: 'exposed_ns',
		empty: 'It is unknown which communication compute waited for.',
		before: (report) => ct.factsOf('exposed_comm', report.exposed_comm),
	});
	tableOf('idle', 'Idle time of communication streams', { path: 'stream_idle', empty: 'That takes steps, and operations timed on streams.' });
	tableOf('stages', 'Stages');

	ct.section('scorecard', (body, report) => {
		const s = report.scorecard;

		ct.add(body, [s.total === null ? null : ct.factsOf('scorecard', s, {
			total: [ct.value('scorecard.total', s.total, 'integer'), ' of 100'],
		}), s.why === null ? null : ct.el('p', { class: 'note' }, ct.value('scorecard.why', s.why, 'text'))]);
		ct.table(body, { path: 'scorecard.parts', label: 'Scorecard', rows: s.parts });
	}, (report) => (report.scorecard.total === null ? report.scorecard.why || 'no part of it could be computed' : null));

	tableOf('clocks', 'Clocks', {
		empty: (report) => (report.run.hosts.length > 1 ? 'The clocks of the hosts could not be synchronized.' : ''),
	});
	tableOf('overhead', 'Overhead', { empty: 'No process recorded it.' });
})();
