// SPDX-License-Identifier: Apache-2.0
// marks.js: how bad something is, by colour, shape and word at once.
(function () {
	const SHAPES = { severe: '\u25c6', warn: '\u25b2', info: '\u25cf', good: '\u2713', none: '?' };
	const VERDICTS = {
		HEALTHY: 'good', NOT_COMMUNICATION: 'good', NOT_ENOUGH_EVIDENCE: 'none',
		CHANGE_POINT: 'warn', POOR_OVERLAP: 'warn', COMM_BOUND: 'warn',
		STRAGGLER: 'severe', SLOW_LINK: 'severe', MISMATCH: 'severe', UNEVEN_INPUT: 'severe', HANG: 'severe',
	};

	// Findings that a verdict may stand for, where they are not called as it is.
	const FINDINGS = {
		STRAGGLER: ['STRAGGLER', 'STRAGGLER_HOST', 'STRAGGLER_GROUP', 'PERIODIC_STALLS', 'ROTATING_STALLS'],
		POOR_OVERLAP: ['EXPOSED_COMM', 'COMM_SHARE'], COMM_BOUND: ['EXPOSED_COMM', 'COMM_SHARE'],
	};

	ct.mark = (level) => ct.el('span', { class: 'mark', 'aria-hidden': 'true' }, SHAPES[level] || SHAPES.none);
	// That of the finding that the verdict names, if there is one.
	ct.verdictLevel = (code, findings) => {
		const named = findings.find((f) => (FINDINGS[code] || [code]).includes(f.kind));

		return named ? named.severity : VERDICTS[code] || 'none';
	};
})();
