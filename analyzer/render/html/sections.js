// SPDX-License-Identifier: Apache-2.0
// sections.js: parts of the page are built when they come near the window, when there is time, or before printing; once.
//
//   ct.section('pic-traffic', (body, report) => { ... })     fills the .body of <section id="pic-traffic">
//   ct.buildAll()                                            what was not built yet, now
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
		builder(section.querySelector('.body'), ct.report);
	}

	// For who waits until the whole page stands.
	function tellBuilt() {
		if (document.documentElement.dataset.built === undefined) {
			document.documentElement.dataset.built = '';
			performance.mark('built');
		}
	}

	// One after the other, so that the page answers in between.
	function buildNext() {
		const [id] = builders.keys();

		if (id === undefined) {
			tellBuilt();
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

	ct.section = (id, builder) => builders.set(id, builder);
	ct.buildAll = () => {
		for (const id of [...builders.keys()])
			build(id);
		tellBuilt();
	};
	ct.buildSections = () => {
		watcher = new IntersectionObserver((entries) => {
			for (const entry of entries) {
				if (entry.isIntersecting)
					build(entry.target.id);
			}
		}, { rootMargin: '600px 0px' });
		for (const id of builders.keys()) {
			const section = document.getElementById(id);

			if (section)
				watcher.observe(section);
		}
		later(buildNext);
	};
	addEventListener('beforeprint', ct.buildAll);
})();
