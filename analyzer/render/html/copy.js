// SPDX-License-Identifier: Apache-2.0
// copy.js: a command with a button that copies it; where the browser forbids that, it is selected instead.
(function () {
	function select(node) {
		const range = document.createRange();

		range.selectNodeContents(node);
		getSelection().removeAllRanges();
		getSelection().addRange(range);
	}

	function say(button, text) {
		button.textContent = text;
		setTimeout(() => {
			button.textContent = 'Copy';
		}, 1500);
	}

	ct.command = (text, path) => {
		const code = ct.el('code', { 'data-key': path }, text);
		const button = ct.el('button', { type: 'button', class: 'copy', 'aria-live': 'polite', onclick: () => {
			Promise.resolve().then(() => navigator.clipboard.writeText(text)).then(() => say(button, 'Copied'), () => {
				select(code);
				say(button, 'Selected');
			});
		} }, 'Copy');

		return ct.el('div', { class: 'command' }, code, button);
	};
})();
