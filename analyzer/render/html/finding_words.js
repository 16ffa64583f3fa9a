// SPDX-License-Identifier: Apache-2.0
// finding_words.js: kinds of findings and names of evidence for people.
(function () {
	const KINDS = {
		STRAGGLER: 'A rank keeps the others waiting',
		STRAGGLER_HOST: 'The ranks of a host keep the others waiting',
		STRAGGLER_GROUP: 'A group of ranks keeps the others waiting',
		ROTATING_STALLS: 'Stalls, now on one rank, now on another',
		PERIODIC_STALLS: 'Stalls at regular times',
		CHANGE_POINT: 'The pace changed during the run',
		SLOW_LINK: 'A link is slower than others of its kind',
		SLOW_OP: 'An operation is slower than it should be',
		SOCKET_FALLBACK: 'Traffic went through sockets',
		LINK_ERRORS: 'Network ports counted errors',
		EXPOSED_COMM: 'Computing stood waiting for communication',
		BUCKETS: 'Messages have an unfortunate size',
		COMM_SHARE: 'Communication takes a large share of the run',
		MISMATCH: 'Ranks called operations that contradict each other',
		SKIPPED_OP: 'A rank left out an operation',
		EXTRA_OP: 'A rank called an operation too many',
		UNEVEN_INPUT: 'Ranks have inputs of different size',
		CLOCK_CONFLICT: 'Clocks contradict each other',
		LOSSES: 'The trace lost records',
		TRACER_COST: 'Recording cost more than it should',
		ENVIRONMENT_DIFFERS: 'Ranks run in different environments',
	};

	// Kinds that tell how much of the time communication takes: nobody would save all of it, so it is no loss.
	const SHARES = ['EXPOSED_COMM', 'COMM_SHARE'];

	ct.isShare = (kind) => SHARES.includes(kind);
	ct.findingTitle = (kind) => KINDS[kind] || kind;
	ct.evidenceName = (name) => name.replace(/_/g, ' ');
})();
