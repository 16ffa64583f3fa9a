// SPDX-License-Identifier: Apache-2.0
// links.js: how fast connections are.
ct.section('links', (body, report) => {
	if (!report.links.length) {
		ct.empty(body, 'No link could be measured: that takes transfers with times, of more than one size.');
		return;
	}
	ct.table(body, { path: 'links', label: 'Links', rows: report.links, columns: [
		{ key: 'scope', title: 'link', words: true, value: (row) => row.scope, show: (row, path) => [
			ct.value(path + '.scope', row.scope, 'text'), ' ',
			row.scope !== 'edge' ? null : [ct.chip.rank(row.src, path + '.src'), ' \u2192 ', ct.chip.rank(row.dst, path + '.dst')],
			row.host === null ? null : ct.chip.host(row.host, path + '.host')] },
		{ key: 'comm', title: 'communicator', unit: 'comm' },
		{ key: 'op', title: 'operation', unit: 'text' },
		{ key: 'slow', title: 'slow', words: true, show: (row, path) => [
			row.slow ? ct.el('span', { class: 'severe' }, ct.mark('severe')) : null, ct.value(path + '.slow', row.slow, 'yes'),
			row.ambiguous ? ct.el('span', { class: 'label' }, 'or another one') : null] },
		{ key: 'beta_Bps', title: 'bandwidth', unit: 'Bps', err: 'beta_err_Bps' },
		{ key: 'alpha_ns', title: 'latency', unit: 'ns', err: 'alpha_err_ns' },
		{ key: 'expected_Bps', title: 'expected', unit: 'Bps', help: 'what is slow is slower than this' },
		{ key: 'efficiency_ratio', title: 'efficiency', unit: 'number', help: 'bandwidth of what can be expected' },
		{ key: 'samples', title: 'samples', unit: 'count' },
		{ key: 'suspects', title: 'suspects', unit: 'ranks' },
	] });
	ct.omitted(body, 'links', 'links that are not slow are not in the report.');
});
