// SPDX-License-Identifier: Apache-2.0
// losses.js: what the trace does not have, what could not be seen, what the report leaves out.
(function () {
	function lost(body, report) {
		if (!report.losses.length) {
			ct.empty(body, report.run.ranks_missing.length ?
				'Nothing is missing in what is here; of some ranks there is no trace at all.' : 'Nothing is missing.');
			return;
		}
		ct.table(body, { path: 'losses', label: 'Losses', rows: report.losses });
	}

	function unseen(body, report) {
		if (!report.invisible.length)
			return;
		ct.add(body, [ct.el('h3', null, 'What could not be seen')]);
		ct.table(body, { path: 'invisible', label: 'What could not be seen', rows: report.invisible });
	}

	ct.section('losses', (body, report) => {
		lost(body, report);
		unseen(body, report);
	});
})();
