// SPDX-License-Identifier: Apache-2.0
// contents.js: the list of sections beside the page, and which of them is being read.
(function () {
	const links = new Map();

	function isRead(entry) {
		for (const [id, link] of links) {
			if (id === entry.target.id)
				link.setAttribute('aria-current', 'true');
			else
				link.removeAttribute('aria-current');
		}
	}

	ct.fillContents = () => {
		const nav = document.getElementById('contents');
		const sections = [...document.querySelectorAll('main > section')];

		const items = sections.map((section) => {
			const heading = section.querySelector('h2');
			const link = ct.el('a', { href: '#' + section.id }, heading ? heading.textContent : 'Verdict');

			links.set(section.id, link);
			return ct.el('li', { 'data-group': section.dataset.group }, link);
		});
		const narrow = matchMedia('(max-width: 64rem)');
		const list = ct.el('details', { open: !narrow.matches }, ct.el('summary', null, 'Contents'),
			ct.el('ul', null, items));

		nav.append(list);
		narrow.addEventListener('change', () => {
			list.open = !narrow.matches;
		});
		const watcher = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach(isRead),
			{ rootMargin: '-20% 0px -70% 0px' });
		sections.forEach((section) => watcher.observe(section));
	};
})();
