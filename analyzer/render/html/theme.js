// SPDX-License-Identifier: Apache-2.0
// theme.js: light and dark. The system decides until the switch does; what it chose is kept in the page only.
(function () {
	const root = document.documentElement;
	const system = matchMedia('(prefers-color-scheme: dark)');
	const listeners = [];
	const probe = document.createElement('i');

	function mark() {
		for (const listener of listeners)
			listener(ct.theme.isDark());
	}

	ct.theme = {
		isDark: () => root.dataset.scheme ? root.dataset.scheme === 'dark' : system.matches,
		toggle() {
			root.dataset.scheme = ct.theme.isDark() ? 'light' : 'dark';
			mark();
		},
		// listener(isDark), called after each change.
		on: (listener) => listeners.push(listener),
		// What a colour of tokens.css is at the moment, as rgb(...), for a canvas: color('--accent').
		color(token) {
			if (!probe.isConnected)
				root.append(probe);
			probe.style.color = 'var(' + token + ')';
			return getComputedStyle(probe).color;
		},
	};
	probe.hidden = true;
	system.addEventListener('change', mark);
})();
