// SPDX-License-Identifier: Apache-2.0
// main.js: brings the page to life, after everything that is named here was read.
// Sections that are not on the page, with the reason. Read last: it lists what ct.dropEmpty() took out before it.
ct.section('absent', (body) => ct.add(body, [ct.facts(ct.absent.map(([heading, why]) => [heading, ct.sentence(why)]))]),
	() => (ct.absent.length ? null : ''));

(function () {
	document.getElementById('theme').addEventListener('click', ct.theme.toggle);
	document.getElementById('print').addEventListener('click', () => print());
	document.documentElement.dataset.script = 'on';
	ct.dropEmpty();
	ct.fillVerdict();
	ct.fillContents();
	ct.buildSections();
	performance.mark('ready');
	document.documentElement.dataset.ready = '';
})();
