// SPDX-License-Identifier: Apache-2.0
// filter.js: what the page is about at the moment, always in sight, with the way back.
(function () {
	const box = document.getElementById('filter');

	function draw(state) {
		const parts = Object.entries(state).filter(([, value]) => value !== null).map(([kind, value]) =>
			ct.el('button', { type: 'button', class: 'chip', 'aria-label': 'no longer only ' + kind + ' ' + value,
				onclick: () => ct.state.toggle(kind, value) }, kind + ' ' + (kind === 'comm' ? value.slice(0, 8) : value) + ' \u00d7'));

		box.replaceChildren();
		box.hidden = !parts.length;
		if (parts.length)
			ct.add(box, ['Only ', parts, ct.el('button', { type: 'button', onclick: ct.state.clear }, 'Show everything')]);
	}

	ct.state.on(draw);
	draw(ct.state.get());
})();
