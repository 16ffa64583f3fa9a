// SPDX-License-Identifier: Apache-2.0
// tables.js: the sections that are a table of the report: operations, ranks, communicators, links, exposed communication, gaps,
// stages, the scorecard, clocks, what recording cost.
(function () {
	// The rows at `path`, or a sentence that says why there are none; `before`, `after`: what is put around the table.
	function tableOf(id, label, { path = id, empty, cells, before, after }) {
		ct.section(id, (body, report) => {
			if (!report[path].length) {
				ct.empty(body, typeof empty === 'function' ? empty(report) : empty);
				return;
			}
			ct.add(body, [before ? before(report) : null]);
			ct.table(body, { path, label, rows: report[path], cells });
			if (after)
				after(body);
		});
	}

	tableOf('ops', 'Operations', {
		empty: 'No operation is on record.',
		cells: {
			op: { words: true, value: (row) => row.op || row.group || '?', show: (row, path) =>
				row.op === null ? [ct.value(path + '.group', row.group, 'text'), ct.el('span', { class: 'label' }, 'in one launch')] :
					ct.value(path + '.op', row.op, 'text') },
		},
	});

	tableOf('ranks', 'Ranks', {
		empty: 'No rank is on record.',
		before: (report) => (report.run.ranks_missing.length ?
			ct.el('p', { class: 'note' }, 'No trace of ', ct.chip.ranks(report.run.ranks_missing, 'run.ranks_missing')) : null),
	});

	tableOf('comms', 'Communicators', {
		empty: 'No communicator is on record.',
		cells: {
			role: { words: true, show: (row, path) => [ct.value(path + '.role', row.role, 'text', row.role_evidence),
				row.role === null ? null : ct.el('span', { class: 'label', title: row.role_evidence }, 'confidence ',
					ct.value(path + '.role_confidence', row.role_confidence, 'text'))] },
		},
	});

	tableOf('links', 'Links', {
		empty: 'No link could be measured: that takes transfers with times, of more than one size.',
		cells: {
			scope: { words: true, show: (row, path) => [
				ct.value(path + '.scope', row.scope, 'text'), ' ',
				row.scope !== 'edge' ? null : [ct.chip.rank(row.src, path + '.src'), ' \u2192 ', ct.chip.rank(row.dst, path + '.dst')],
				row.host === null ? null : ct.chip.host(row.host, path + '.host')] },
			slow: { words: true, show: (row, path) => [
				row.slow ? ct.el('span', { class: 'severe' }, ct.mark('severe')) : null, ct.value(path + '.slow', row.slow, 'yes'),
				row.ambiguous ? ct.el('span', { class: 'label' }, 'or another one') : null] },
		},
		after: (body) => ct.omitted(body, 'links', 'links that are not slow are not in the report.'),
	});

	tableOf('exposed', 'Exposed communication', {
		path: 'overlap',
		empty: 'Nothing is known of it: no rank showed for which communication its computing waited.',
		before: (report) => ct.factsOf('exposed', report.exposed),
	});
	tableOf('gaps', 'Gaps', { empty: 'Nothing is known of them: that takes steps, and operations timed on streams.' });
	tableOf('stages', 'Stages', {
		empty: 'No pipeline was seen: no ranks hand messages on to each other, stage by stage, in each step.',
	});

	ct.section('scorecard', (body, report) => {
		const s = report.scorecard;

		if (!s.parts.length) {
			ct.empty(body, 'There is no score: ' + (s.why || 'no part of it could be computed') + '.');
			return;
		}
		ct.add(body, [ct.factsOf('scorecard', s, {
			total: [ct.value('scorecard.total', s.total, 'whole', s.why), s.total === null ? null : ' of 100'],
			grade: ct.value('scorecard.grade', s.grade, 'text', s.why),
		}), s.why === null ? null : ct.el('p', { class: 'note' }, ct.value('scorecard.why', s.why, 'text'))]);
		ct.table(body, { path: 'scorecard.parts', label: 'Scorecard', rows: s.parts });
	});

	tableOf('clocks', 'Clocks', {
		empty: (report) => (report.run.hosts.length > 1 ? 'Nothing relates the clocks of the hosts.' :
			'All ranks ran on one host and share its clock.'),
	});
	tableOf('cost', 'Cost of tracing', { empty: 'No process told what recording it cost.' });
})();
