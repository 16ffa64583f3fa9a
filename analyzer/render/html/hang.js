// SPDX-License-Identifier: Apache-2.0
// hang.js: why the job hangs, as `commtrace hang` says it: which rank the others wait for, since when, the stacks of its threads, and
// the evidence.
(function () {
	const LEVELS = { high: 'critical', medium: 'critical', low: 'warning' };

	function ranks(word, list, path) {
		return list.length ? ct.el('span', null, list.length === 1 ? 'rank ' : 'ranks ', ct.chip.ranks(list, path), ' ' + word) : null;
	}

	function facts(v, path) {
		return ct.facts([
			['confidence', ct.value(path + '.confidence', v.confidence, 'text')],
			v.host === null ? null : ['host', ct.chip.host(v.host, path + '.host')],
			v.op === null ? null : ['operation', ct.value(path + '.op', v.op, 'text')],
			v.seq === null ? null : ['number', ct.value(path + '.seq', v.seq, 'integer')],
			v.comm === null ? null : ['communicator', ct.chip.comm(v.comm, path + '.comm')],
			v.call === null ? null : ['call', ct.value(path + '.call', v.call, 'text')],
			['since, from the start', ct.valueOf(path, v, 'since_ns', 'ns', 'since_err_ns')],
		]);
	}

	function frame(f, path) {
		const line = f.line === null ? null : [':', ct.value(path + '.line', f.line, 'integer')];

		return ct.el('li', null, ct.el('code', null, f.func === null ? '?' : ct.value(path + '.func', f.func, 'text')),
			f.file === null ? null : [' ', ct.el('span', { class: 'label' }, ct.value(path + '.file', f.file, 'text'), line)]);
	}

	function stack(s, path, isOpen) {
		return ct.el('details', { open: isOpen }, ct.el('summary', null,
			'rank ', ct.value(path + '.rank', s.rank, 'integer'), s.main ? ', main thread' : [', thread ', ct.value(path + '.thread', s.thread, 'text')],
			s.state === null ? null : [', ', ct.value(path + '.state', s.state, 'text')],
			', ', ct.value(path + '.after_ns', s.after_ns, 'ns'), ' into it'),
		ct.el('ol', { class: 'stack' }, s.frames.map((f, i) => frame(f, path + '.frames.' + i))));
	}

	function evidence(v, path) {
		return ct.el('details', null, ct.el('summary', null, 'Evidence'),
			ct.facts(v.evidence.map((e, i) => {
				const at = path + '.evidence.' + i;

				return [[ct.evidenceName(e.name), e.rank === null ? null : [', rank ', ct.value(at + '.rank', e.rank, 'integer')]],
					e.text === null ? ct.value(at + '.value', e.value, e.unit) : ct.value(at + '.text', e.text, 'text')];
			})));
	}

	// Before the operation that hangs, one that ranks called from different call sites.
	function apart(d, path) {
		return ct.el('p', { class: 'why' }, ct.el('b', null, 'Diverged '), ct.el('span', null,
			'operation ', ct.value(path + '.seq', d.seq, 'integer'), ' was called from ', ct.value(path + '.site', d.site, 'text'),
			' by ', ranks('', d.ranks, path + '.ranks'), ', by the others from ', ct.value(path + '.usual_site', d.usual_site, 'text')));
	}

	function card(v, i) {
		const path = 'hang.verdicts.' + i, level = LEVELS[v.confidence] || 'info';
		const isNew = (key) => v[key] !== null && !ct.saidBefore(v.text, key, v[key]);

		return ct.el('article', { class: 'finding ' + level },
			ct.el('div', { class: 'title' },
				ct.el('div', null,
					ct.el('p', { class: 'code' }, ct.mark(level), ct.value(path + '.code', v.code, 'text')),
					ct.el('h3', null, ct.value(path + '.text', v.text, 'text')),
					ct.el('p', { class: 'who' }, ranks('', v.ranks, path + '.ranks'),
						ranks(v.victims.length === 1 ? 'waits' : 'wait', v.victims, path + '.victims'))),
				v.age_ns === null ? null : ct.el('p', { class: 'loss' }, ct.value(path + '.age_ns', v.age_ns, 'ns'),
					ct.el('span', { class: 'share' }, 'waited by the first rank'))),
			isNew('cause') ? ct.el('p', { class: 'why' }, ct.el('b', null, 'Cause '), ct.value(path + '.cause', v.cause, 'text')) : null,
			v.notes.map((note, k) => ct.el('p', { class: 'why' }, ct.el('b', null, 'Evidence '), ct.value(path + '.notes.' + k, note, 'text'))),
			isNew('advice') ? ct.el('p', { class: 'do' }, ct.el('b', null, 'Do '), ct.value(path + '.advice', v.advice, 'text')) : null,
			isNew('command') ? ct.command(v.command, path + '.command') : null,
			ct.isVerdict(v.text) ? ct.seeVerdict() : null,
			v.confidence_why.length ? ct.el('p', { class: 'why' }, ct.el('b', null, 'Less certain '),
				ct.el('span', null, v.confidence_why.map((why, k) => [k ? '; ' : null, ct.value(path + '.confidence_why.' + k, why, 'text')]))) : null,
			v.divergence === null ? null : apart(v.divergence, path + '.divergence'),
			facts(v, path),
			v.stacks.map((s, k) => stack(s, path + '.stacks.' + k, k === 0)),
			evidence(v, path));
	}

	ct.section('hang', (body, report) => ct.add(body, [report.hang.verdicts.map(card)]), (report) => (report.hang ? null : ''));
})();
