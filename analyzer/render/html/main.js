// SPDX-License-Identifier: Apache-2.0
// main.js: brings the page to life, after everything that is named here was read.
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
