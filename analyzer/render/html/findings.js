// SPDX-License-Identifier: Apache-2.0
// findings.js: each finding as a card: who, what it costs, why, how sure, what to do about it, and the evidence.
(function () {
	const TIMELINE = 'https://ui.perfetto.dev/'; // where a link may lead to
	const cards = [];

	function who(f, path) {
		const parts = [];

		if (f.ranks.length)
			parts.push(ct.el('span', null, f.ranks.length === 1 ? 'rank ' : 'ranks ', ct.chip.ranks(f.ranks, path + '.ranks')));
		if (f.hosts.length)
			parts.push(ct.el('span', null, f.hosts.length === 1 ? 'host ' : 'hosts ', ct.chip.hosts(f.hosts, path + '.hosts')));
		return parts.length ? ct.el('p', { class: 'who' }, parts) : null;
	}

	function share(f, path) {
		return ct.el('p', { class: 'loss' }, ct.value(path + '.time_lost_pct', f.time_lost_pct, 'pct'),
			ct.el('span', { class: 'share' }, 'of ' + ct.stepTime()));
	}

	function loss(f, path) {
		if (ct.words.kinds[f.kind].is_share)
			return share(f, path);
		if (f.time_lost_ns === null)
			return ct.el('p', { class: 'loss' }, ct.value(path + '.time_lost_ns', null, 'ns'), ct.el('span', { class: 'share' }, 'time lost: unknown'));
		return ct.el('p', { class: 'loss' }, ct.valueOf(path, f, 'time_lost_ns', 'ns', 'time_lost_err_ns'),
			ct.el('span', { class: 'share' }, 'lost in the run, ', ct.value(path + '.time_lost_pct', f.time_lost_pct, 'pct'),
				' of ' + ct.stepTime()));
	}

	function between(f, path, first, last, unit) {
		return [ct.value(path + '.' + first, f[first], unit), ' to ', ct.value(path + '.' + last, f[last], unit)];
	}

	function facts(f, path) {
		return ct.factsOf('findings', f, {
			gpu_seconds: f.gpu_seconds === null ? null : [ct.value(path + '.gpu_seconds', f.gpu_seconds, 'number'), ' GPU-seconds'],
			op: f.op === null ? null : undefined,
			comm: f.comm === null ? null : ct.chip.comm(f.comm, path + '.comm'),
			step_first: f.step_first === null ? null : between(f, path, 'step_first', 'step_last', 'count'),
			begin_ns: f.begin_ns === null ? null : between(f, path, 'begin_ns', 'end_ns', 'ns'),
		}, path);
	}

	function evidence(f, path) {
		if (!f.evidence.length)
			return null;
		return ct.el('details', null, ct.el('summary', null, 'Evidence'),
			ct.facts(f.evidence.map((e, i) => {
				const at = path + '.evidence.' + i;

				return [ct.evidenceName(e.name), ct.value(at + '.value', e.value, e.unit), ct.error(at + '.err', e.value, e.err, e.unit),
					e.value === null ? null : ct.format.behind(e.unit)];
			})));
	}

	// The link leads to a page that gets the run from `commtrace open --serve`: without that it shows nothing, so the command is first.
	function timeline(f) {
		if (typeof f.timeline !== 'string' || !f.timeline.startsWith(TIMELINE) || !ct.report.run.dir)
			return null;
		return ct.el('details', { class: 'timeline' }, ct.el('summary', null, 'Timeline in Perfetto'),
			ct.el('p', { class: 'note' }, 'Run this command and leave it running; it serves the timeline to your browser:'),
			ct.command('commtrace open ' + ct.report.run.dir + ' --serve', null),
			ct.el('p', { class: 'note' }, 'Then ', ct.el('a', { href: f.timeline, target: '_blank', rel: 'noopener noreferrer' },
				'open ui.perfetto.dev at this finding'), '.'));
	}

	function words(f, path) {
		const isNew = (key) => f[key] !== null && !ct.saidBefore(f.headline, key, f[key]);
		const line = (word, key, kind = 'why') => isNew(key) ?
			ct.el('p', { class: kind }, ct.el('b', null, word + ' '), ct.value(path + '.' + key, f[key], 'text')) : null;

		return [line('Where', 'where'), line('Cause', 'cause'), line('Note', 'note'), line('Do', 'advice', 'do'),
			isNew('command') ? ct.command(f.command, path + '.command') : null, ct.isVerdict(f.headline) ? ct.seeVerdict() : null];
	}

	function card(f, i) {
		const path = 'findings.' + i;

		return ct.el('article', { class: 'finding ' + f.severity, id: 'finding-' + f.id, 'aria-labelledby': 'finding-title-' + f.id },
			ct.el('div', { class: 'title' },
				ct.el('div', null,
					ct.el('p', { class: 'code' }, ct.mark(f.severity), ct.value(path + '.severity', f.severity, 'text')),
					ct.el('h3', { id: 'finding-title-' + f.id }, ct.words.kinds[f.kind].title, ': ', ct.value(path + '.headline', f.headline, 'text')),
					who(f, path)),
				loss(f, path)),
			words(f, path),
			facts(f, path),
			evidence(f, path),
			timeline(f));
	}

	function follow() {
		for (const { node, finding } of cards)
			node.classList.toggle('dimmed', !ct.state.relates(finding));
	}

	ct.section('findings', (body, report) => {
		report.findings.forEach((finding, i) => {
			const node = card(finding, i);

			cards.push({ node, finding });
			body.append(node);
		});
		ct.omitted(body, 'findings', 'less important findings are not in the report.');
		follow();
	}, (report) => (report.findings.length ? null : ''));
	ct.state.on(follow);
})();
