// SPDX-License-Identifier: Apache-2.0
// chart_tip.js: the box that shows the figures of what the pointer or the cursor is on; one for the whole page.
//
//   ct.tip.show(lines, x, y)    lines [[name, what], ...] beside a point of the window; never over its edge
//   ct.tip.hide()
//   ct.valueElement('dd', what)         an element with the description: a text, or a figure as ct.figureOf() makes it
// It is for eyes only: what a screen reader says is in the figure's live line.
(function () {
	const APART = 14;
	let box = null;

	function move(x, y) {
		const size = box.getBoundingClientRect();
		const right = document.documentElement.clientWidth - size.width - 8;
		const below = innerHeight - size.height - 8;

		box.style.left = Math.max(8, x + APART > right ? Math.min(x - APART - size.width, right) : x + APART) + 'px';
		box.style.top = Math.max(8, y + APART > below ? y - APART - size.height : y + APART) + 'px';
	}

	function show(lines, x, y) {
		if (!box) {
			box = ct.el('dl', { class: 'tip', 'aria-hidden': 'true' });
			document.body.append(box);
		}
		box.replaceChildren();
		for (const [name, what] of lines)
			ct.add(box, [ct.el('dt', {}, name), ct.valueElement('dd', what)]);
		box.hidden = false;
		move(x, y);
	}

	ct.valueElement = (name, what, attributes) => ct.el(name, { ...attributes, 'data-key': what.path, 'data-err': what.err },
		what.text === undefined ? what : what.text);
	ct.tip = {
		show,
		hide() {
			if (box)
				box.hidden = true;
		},
	};
})();
