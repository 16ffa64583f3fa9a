// SPDX-License-Identifier: Apache-2.0
// sections.js: the sections of the page. One that has nothing to show is taken out before the contents are listed; the others are
// filled when they come near the window, when the browser is idle, or before printing; once.
//
//   ct.section('ranks', (body, report) => { ... }, (report) => null)
//       fills the .body of <section id="ranks">; the last function returns null where there is something to show, else the reason
//       why there is not ('': none worth reading)
//   ct.dropEmpty()     takes out sections without content and folds without sections
//   ct.absent          [heading, reason] of those taken out
//   ct.buildAll()      fills what is left, now
(function () {
	const builders = new Map();
	let watcher = null;

	function build(id) {
		const builder = builders.get(id);
		const section = document.getElementById(id);

		if (!builder || !section)
			return;
		builders.delete(id);
		if (watcher)
			watcher.unobserve(section);
		builder.fill(section.querySelector('.body'), ct.report);
	}

	// For tests and for printing: the page is complete.
	function markBuilt() {
		if (document.documentElement.dataset.built === undefined) {
			document.documentElement.dataset.built = '';
			performance.mark('built');
		}
	}

	// One after the other, so that the page answers in between.
	function buildNext() {
		const [id] = builders.keys();

		if (id === undefined) {
			markBuilt();
			return;
		}
		build(id);
		later(buildNext);
	}

	function later(what) {
		if ('requestIdleCallback' in window)
			requestIdleCallback(what, { timeout: 500 });
		else
			setTimeout(what, 20);
	}

	// A link into a fold opens it: not every browser does.
	function reveal(hash) {
		const target = hash.length > 1 ? document.getElementById(decodeURIComponent(hash.slice(1))) : null;
		const fold = target ? target.closest('details.fold') : null;

		if (fold && !fold.open) {
			fold.open = true;
			target.scrollIntoView();
		}
	}

	ct.absent = [];
	ct.section = (id, fill, whyAbsent = () => null) => builders.set(id, { fill, whyAbsent });
	ct.dropEmpty = () => {
		for (const [id, { whyAbsent }] of [...builders]) {
			const section = document.getElementById(id), why = whyAbsent(ct.report);

			if (why === null)
				continue;
			if (why)
				ct.absent.push([section.querySelector('h2, h3').textContent, why]);
			builders.delete(id);
			section.remove();
		}
		for (const fold of document.querySelectorAll('details.fold'))
			if (!fold.querySelector('section'))
				fold.remove();
	};
	ct.buildAll = () => {
		for (const id of [...builders.keys()])
			build(id);
		markBuilt();
	};
	ct.buildSections = () => {
		watcher = new IntersectionObserver((entries) => {
			for (const entry of entries) {
				if (entry.isIntersecting)
					build(entry.target.id);
			}
		}, { rootMargin: '600px 0px' });
		for (const id of builders.keys())
			watcher.observe(document.getElementById(id));
		later(buildNext);
		reveal(location.hash);
	};
	addEventListener('hashchange', () => reveal(location.hash));
	addEventListener('beforeprint', ct.buildAll);
})();
