// SPDX-License-Identifier: Apache-2.0
// expect.js: what was expected of the run, rule by rule.
ct.section('expect', (body, report) => {
	const e = report.expect;

	if (!e) {
		ct.empty(body, 'Nothing was expected: no rules were given with --expect.');
		return;
	}
	ct.add(body, [ct.facts([
		['passed', ct.value('expect.passed', e.passed, 'count')],
		['failed', ct.value('expect.failed', e.failed, 'count')],
		['not applicable', ct.value('expect.not_applicable', e.not_applicable, 'count')],
	])]);
	const LEVELS = { pass: 'good', fail: 'severe' };
	const show = (key) => (row, path) => ct.value(path + '.' + key, row[key], row.unit);

	ct.table(body, { path: 'expect.results', label: 'Expectations', rows: e.results, columns: [
		{ key: 'rule', title: 'rule', unit: 'whole' },
		{ key: 'result', title: 'result', words: true, show: (row, path) => ct.el('span', { class: LEVELS[row.result] || 'none' },
			ct.mark(LEVELS[row.result]), ct.value(path + '.result', row.result, 'text')) },
		{ key: 'name', title: 'name', unit: 'text' },
		{ key: 'op', title: 'operation', unit: 'text' },
		{ key: 'scope', title: 'scope', unit: 'text' },
		{ key: 'metric', title: 'metric', unit: 'text' },
		{ key: 'value', title: 'value', show: (row, path) => [show('value')(row, path),
			ct.error(path + '.err', row.value, row.err, row.unit)] },
		{ key: 'limit', title: 'limit', show: show('limit') },
		{ key: 'within_error', title: 'within error', unit: 'yes' },
		{ key: 'required', title: 'required', unit: 'yes' },
		{ key: 'comm', title: 'communicator', unit: 'comm' },
		{ key: 'bytes', title: 'bytes', unit: 'bytes' },
		{ key: 'instances', title: 'count', unit: 'count' },
		{ key: 'rows', title: 'rows', unit: 'count' },
		{ key: 'why', title: 'why', unit: 'text' },
	] });
});
