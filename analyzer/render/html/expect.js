// SPDX-License-Identifier: Apache-2.0
// expect.js: baseline checks, rule by rule.
ct.section('expect', (body, report) => {
	const e = report.expect;

	ct.add(body, [ct.factsOf('expect', e)]);
	const LEVELS = { pass: 'good', fail: 'critical' };
	const show = (key) => (row, path) => ct.value(path + '.' + key, row[key], row.unit);

	ct.table(body, { path: 'expect.results', label: 'Baseline checks', rows: e.results, cells: {
		result: { words: true, show: (row, path) => ct.el('span', { class: LEVELS[row.result] || 'none' },
			ct.mark(LEVELS[row.result]), ct.value(path + '.result', row.result, 'text')) },
		value: { show: (row, path) => [show('value')(row, path), ct.error(path + '.err', row.value, row.err, row.unit)] },
		limit: { show: show('limit') },
	} });
}, (report) => (report.expect ? null : ''));
