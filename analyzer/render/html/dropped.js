// SPDX-License-Identifier: Apache-2.0
// dropped.js: records that were dropped, and calls that could not be traced.
(function () {
	function part(body, heading, path, rows) {
		if (!rows.length)
			return;
		ct.add(body, [ct.el('h4', null, heading)]);
		ct.table(body, { path, label: heading, rows });
	}

	ct.section('dropped', (body, report) => {
		part(body, 'Dropped', 'dropped', report.dropped);
		part(body, 'Not traced', 'invisible', report.invisible);
	}, (report) => (report.dropped.length || report.invisible.length ? null : ''));
})();
