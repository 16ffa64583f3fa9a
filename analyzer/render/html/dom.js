// SPDX-License-Identifier: Apache-2.0
// dom.js: making elements. Whatever comes from the report gets into the page here, as text and never as markup.
(function () {
	const VERBATIM = ['code', 'pre', 'script', 'style']; // to be pasted: no other spaces than its own

	// el('td', { class: 'number', onclick: f }, 'text', element, [more], null): attributes by name, listeners by on...; children
	// that are null are left out. An attribute that is null, undefined or false is not set, true is set empty.
	function el(name, attributes, ...children) {
		const node = document.createElement(name);

		for (const [key, value] of Object.entries(attributes || {})) {
			if (typeof value === 'function')
				node.addEventListener(key.slice(2), value);
			else if (value !== null && value !== undefined && value !== false)
				node.setAttribute(key, value === true ? '' : value);
		}
		add(node, children);
		return node;
	}

	function add(node, children) {
		for (const child of children.flat(Infinity)) {
			if (child !== null && child !== undefined)
				node.append(typeof child !== 'string' || VERBATIM.includes(node.localName) ? child : ct.format.prose(child));
		}
		return node;
	}

	ct.el = el;
	ct.add = add;
	// What is not on the page because the report does not hold it; nothing if that is nothing.
	ct.omitted = (body, key, what) => ct.report.omitted[key] > 0 ?
		add(body, [el('p', { class: 'note' }, ct.value('omitted.' + key, ct.report.omitted[key], 'count'), ' ' + what)]) : body;
	// A reason of the report as a sentence.
	ct.sentence = (why) => why[0].toUpperCase() + why.slice(1) + (/[.!?]$/.test(why) ? '' : '.');
})();
