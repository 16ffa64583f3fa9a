// SPDX-License-Identifier: Apache-2.0
// contents.js: the list of sections beside the page, those of a fold below its name, and which of them is being read.
(function () {
	const links = new Map();

	function markRead(entry) {
		for (const [id, link] of links) {
			if (id === entry.target.id)
				link.setAttribute('aria-current', 'true');
			else
				link.removeAttribute('aria-current');
		}
	}

	function item(section) {
		const heading = section.querySelector('h2, h3');
		const link = ct.el('a', { href: '#' + section.id }, section.id === 'verdict' ? 'Verdict' : heading.textContent);

		links.set(section.id, link);
		return ct.el('li', null, link);
	}

	function group(fold) {
		return ct.el('li', null, ct.el('p', { class: 'group' }, fold.querySelector('h2').textContent),
			ct.el('ul', null, [...fold.querySelectorAll('section')].map(item)));
	}

	ct.fillContents = () => {
		const parts = [...document.querySelectorAll('main > section, main > details')];
		const narrow = matchMedia('(max-width: 64rem)');
		const list = ct.el('details', { open: !narrow.matches }, ct.el('summary', null, 'Contents'),
			ct.el('ul', null, parts.map((part) => (part.localName === 'details' ? group(part) : item(part)))));

		document.getElementById('contents').append(list);
		narrow.addEventListener('change', () => {
			list.open = !narrow.matches;
		});
		const watcher = new IntersectionObserver((entries) => entries.filter((e) => e.isIntersecting).forEach(markRead),
			{ rootMargin: '-20% 0px -70% 0px' });
		document.querySelectorAll('main section').forEach((section) => watcher.observe(section));
	};
})();
