// SPDX-License-Identifier: Apache-2.0
// report.js: the report and the words for it, read once, and which rank belongs to which host in it.
(function () {
	const report = JSON.parse(document.getElementById('report').textContent);
	const hostOf = new Map(report.ranks.map((row) => [row.rank, row.host]));
	const commOf = new Map(report.comms.map((row) => [row.comm, row]));
	const SHORT = 8; // digits of a communicator's hash, as the text report has them ...
	const LEAST = 4; // ... and of one that is a number
	const short = new Map(); // these digits: how many communicators of the report begin with them
	const members = new Map(); // communicator: Set of its ranks, made when it is asked for

	function membersOf(comm) {
		if (!members.has(comm))
			members.set(comm, new Set(commOf.has(comm) ? commOf.get(comm).ranks : []));
		return members.get(comm);
	}

	ct.report = report;
	ct.words = JSON.parse(document.getElementById('words').textContent); // columns, kinds: as html.c writes them
	ct.hostOf = (rank) => hostOf.has(rank) ? hostOf.get(rank) : null;
	ct.commOf = (comm) => commOf.get(comm) || null;
	ct.membersOf = membersOf;
	for (const { comm } of report.comms)
		short.set(comm.slice(0, SHORT), (short.get(comm.slice(0, SHORT)) || 0) + 1);

	// C's ct_comm_digits(); all of them where another one begins with the same.
	ct.commDigits = (comm) => {
		if (comm.startsWith('0'.repeat(SHORT)))
			return comm.replace(/^0+/, '').padStart(LEAST, '0');
		return short.get(comm.slice(0, SHORT)) > 1 ? comm : comm.slice(0, SHORT);
	};
	// What a communicator is called, or what it is there for; null where neither is known.
	ct.commLabel = (comm) => {
		const row = commOf.get(comm);

		return row && (row.name || row.role) || null;
	};
	// Its key as the text report has it, and that.
	ct.commName = (comm) => comm === null ? ct.format.text(null) :
		[ct.commDigits(comm), ct.commLabel(comm)].filter((part) => part).join(' ');
})();
