// SPDX-License-Identifier: Apache-2.0
// chip.js: ranks, hosts and communicators as buttons, by which the whole page is about them, and not about them any more.
(function () {
	const MOST = 8; // of a list, before one has to ask for the others

	// All that are on the page show whether they are chosen.
	const all = new Map(); // "kind value": Set of buttons

	function keyOf(kind, value) {
		return kind + ' ' + value;
	}

	function chip(kind, value, text, path) {
		const state = ct.state.get();
		const button = ct.el('button', {
			type: 'button', class: 'chip', 'data-key': path, 'aria-pressed': String(state[kind] === value),
			'aria-label': kind + ' ' + text, title: 'show only ' + kind + ' ' + text,
			onclick: () => ct.state.toggle(kind, value),
		}, text);
		const key = keyOf(kind, value);

		if (!all.has(key))
			all.set(key, new Set());
		all.get(key).add(new WeakRef(button));
		return button;
	}

	function press(kind, value, isChosen) {
		const buttons = all.get(keyOf(kind, value));

		for (const ref of buttons || []) {
			const button = ref.deref();

			if (button)
				button.setAttribute('aria-pressed', String(isChosen));
			else
				buttons.delete(ref);
		}
	}

	let before = ct.state.get();
	ct.state.on((state) => {
		for (const kind of Object.keys(state)) {
			if (before[kind] !== state[kind]) {
				press(kind, before[kind], false);
				press(kind, state[kind], true);
			}
		}
		before = state;
	});

	// A list of them; behind the first few a button that shows the others.
	function list(values, one, path) {
		const shown = values.slice(0, MOST).map((value, i) => one(value, path + '.' + i));
		const box = ct.el('span', { class: 'chips' }, shown);
		const rest = values.length - MOST;

		if (rest > 0) {
			const more = ct.el('button', { type: 'button', class: 'quiet more', 'data-count': true, onclick: () => {
				more.replaceWith(...values.slice(MOST).map((value, i) => one(value, path + '.' + (MOST + i))));
			} }, 'and ' + rest + ' more');

			box.append(more);
		}
		return box;
	}

	const na = (path) => ct.value(path, null, 'text');

	ct.chip = {
		rank: (rank, path) => rank === null ? na(path) : chip('rank', rank, String(rank), path),
		host: (host, path) => host === null ? na(path) : chip('host', host, host, path),
		comm: (comm, path) => comm === null ? na(path) : ct.add(ct.el('span', { class: 'chips' }),
			[chip('comm', comm, ct.commDigits(comm), path),
			 ct.commLabel(comm) && ct.el('span', { class: 'label', title: ct.commLabel(comm) }, ct.commLabel(comm))]),
		ranks: (ranks, path) => list(ranks, ct.chip.rank, path),
		hosts: (hosts, path) => list(hosts, ct.chip.host, path),
	};
})();

// What the page is about at the moment, always in sight, with the way back.
(function () {
	const box = document.getElementById('filter');

	function draw(state) {
		const parts = Object.entries(state).filter(([, value]) => value !== null).map(([kind, value]) =>
			ct.el('button', { type: 'button', class: 'chip', 'aria-label': 'no longer only ' + kind + ' ' + value,
				onclick: () => ct.state.toggle(kind, value) }, kind + ' ' + (kind === 'comm' ? ct.commDigits(value) : value) + ' \u00d7'));

		box.replaceChildren();
		box.hidden = !parts.length;
		if (parts.length)
			ct.add(box, ['Only ', parts, ct.el('button', { type: 'button', onclick: ct.state.clear }, 'Show everything')]);
	}

	ct.state.on(draw);
	draw(ct.state.get());
})();
