// SPDX-License-Identifier: Apache-2.0
// links.js: how fast connections are.
ct.section('links', (body, report) => {
	if (!report.links.length) {
		ct.empty(body, 'No link could be measured: that takes transfers with times, of more than one size.');
		return;
	}
	ct.table(body, { path: 'links', label: 'Links', rows: report.links, cells: {
		scope: { words: true, show: (row, path) => [
			ct.value(path + '.scope', row.scope, 'text'), ' ',
			row.scope !== 'edge' ? null : [ct.chip.rank(row.src, path + '.src'), ' \u2192 ', ct.chip.rank(row.dst, path + '.dst')],
			row.host === null ? null : ct.chip.host(row.host, path + '.host')] },
		slow: { words: true, show: (row, path) => [
			row.slow ? ct.el('span', { class: 'severe' }, ct.mark('severe')) : null, ct.value(path + '.slow', row.slow, 'yes'),
			row.ambiguous ? ct.el('span', { class: 'label' }, 'or another one') : null] },
	} });
	ct.omitted(body, 'links', 'links that are not slow are not in the report.');
});
