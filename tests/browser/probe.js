/* SPDX-License-Identifier: Apache-2.0 */
/* probe.js — what can be seen on the page: the body of a function that WebDriver calls with the name of a probe.
 * It changes nothing on the page. Text in a tooltip lies above other text on purpose and is left out. */
"use strict";

const BLOCKS = "script, style, template, noscript, [role=tooltip], option";

function shown(element) {
	return element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
}

function pathOf(element) {
	const steps = [];
	for (let e = element; e && e !== document.body && steps.length < 4; e = e.parentElement)
		steps.unshift(e.localName + (e.id ? "#" + e.id : e.classList.length ? "." + e.classList[0] : ""));
	return steps.join(" > ");
}

/* What is asked of an element and follows from its parent is worked out once: f(element, what its parent has). */
function inherited(top, f) {
	const known = new Map([[null, top]]);
	return function ask(element) {
		if (!known.has(element))
			known.set(element, f(element, ask(element.parentElement), getComputedStyle(element)));
		return known.get(element);
	};
}

function intersection(a, b) {
	return { left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom) };
}

/* What an element lets be seen of what is in it; what is there for screen readers only is a pixel big. */
const EVERYTHING = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity };
const window_of = inherited(EVERYTHING, (element, above, style) => {
	if (element === document.documentElement || element === document.body)
		return EVERYTHING;
	const from = style.position === "fixed" ? EVERYTHING : above;

	return style.overflowX === "visible" && style.overflowY === "visible" && style.clipPath === "none" ? from :
		intersection(element.getBoundingClientRect(), from);
});

/* The part of a rectangle in an element that can be seen; null: none. */
function clipped(rect, element) {
	const seen = intersection(rect, window_of(element));

	return seen.right - seen.left > 1 && seen.bottom - seen.top > 1 ? seen : null;
}

/* Every visible piece of text: {element, text, rects}. */
function* texts(root) {
	const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const element = node.parentElement;
		if (!node.data.trim() || element.closest(BLOCKS) || !shown(element))
			continue;
		const range = document.createRange();
		range.selectNodeContents(node);
		const boxes = element.ownerSVGElement ? [element.getBoundingClientRect()] : [...range.getClientRects()];
		const rects = boxes.map(box => clipped(box, element)).filter(Boolean);
		if (rects.length)
			yield { element, text: node.data.trim(), rects };
	}
}

/* Text that stays where it is while the page scrolls may cover other text. */
const floats = inherited(false, (element, above, style) => above || /fixed|sticky/.test(style.position));

/* A line's box is higher than its letters: an eighth above and below is empty. */
function letters(rect) {
	const slack = (rect.bottom - rect.top) / 8;
	return { left: rect.left + 0.5, right: rect.right - 0.5, top: rect.top + slack, bottom: rect.bottom - slack };
}

function overlaps() {
	const boxes = [];
	for (const { element, text, rects } of texts(document.body)) {
		if (floats(element))
			continue;
		for (const rect of rects)
			boxes.push({ element, text, ...letters(rect) });
	}
	boxes.sort((a, b) => a.top - b.top);
	const found = [];
	for (let i = 0; i < boxes.length && found.length < 8; i++) {
		const a = boxes[i];
		for (let j = i + 1; j < boxes.length && boxes[j].top < a.bottom; j++) {
			const b = boxes[j];
			if (a.element !== b.element && a.left < b.right && b.left < a.right)
				found.push(`'${a.text.slice(0, 40)}' and '${b.text.slice(0, 40)}' in ${pathOf(a.element)}`);
		}
	}
	return found;
}

/* Colours as numbers 0..255 and alpha 0..1, whatever notation they are computed in. */
const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const known = new Map();
function rgba(colour) {
	if (!known.has(colour)) {
		pixel.clearRect(0, 0, 1, 1);
		pixel.fillStyle = colour;
		pixel.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
		known.set(colour, [r, g, b, a / 255]);
	}
	return known.get(colour);
}

function over(front, back) {
	const a = front[3];
	return [0, 1, 2].map(i => front[i] * a + back[i] * (1 - a)).concat(1);
}

function luminance(colour) {
	const [r, g, b] = colour.slice(0, 3).map(c => c / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/* WCAG 2, relative luminance and contrast ratio: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function ratio(a, b) {
	const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
	return (high + 0.05) / (low + 0.05);
}

/* What the page itself is painted on. */
function canvas() {
	const isDark = /dark/.test(getComputedStyle(document.documentElement).colorScheme) && matchMedia("(prefers-color-scheme: dark)").matches;
	return isDark ? [18, 18, 18, 1] : [255, 255, 255, 1];
}

/* What is painted behind an element's text: the backgrounds of its ancestors. */
const painted = inherited(canvas(), (element, above, style) => over(rgba(style.backgroundColor), above));
const opacity = inherited(1, (element, above, style) => above * Number(style.opacity));

function behind(element) {
	return element.ownerSVGElement ? drawnBehind(element, painted(element)) : painted(element);
}

/* In a picture: the cells of a canvas below it, then what was drawn before the text where its middle is. */
function drawnBehind(element, colour) {
	const box = element.getBoundingClientRect();
	const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
	const holds = r => r.left <= x && x <= r.right && r.top <= y && y <= r.bottom;

	for (const canvas of element.ownerSVGElement.parentElement.querySelectorAll(":scope > canvas")) {
		const at = canvas.getBoundingClientRect();

		if (!holds(at) || !canvas.width)
			continue;
		pixel.clearRect(0, 0, 1, 1);
		pixel.drawImage(canvas, Math.floor((x - at.left) * canvas.width / at.width),
			Math.floor((y - at.top) * canvas.height / at.height), 1, 1, 0, 0, 1, 1);
		const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
		colour = over([r, g, b, a / 255], colour);
	}
	for (const shape of element.ownerSVGElement.querySelectorAll("rect, circle, path, polygon")) {
		const style = getComputedStyle(shape);

		if (shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING && style.fill !== "none" &&
		    holds(shape.getBoundingClientRect())) {
			const [r, g, b, a] = rgba(style.fill);
			colour = over([r, g, b, a * Number(style.fillOpacity) * Number(style.opacity)], colour);
		}
	}
	return colour;
}

function faint(least) {
	const found = new Map();
	for (const { element, text } of texts(document.body)) {
		const style = getComputedStyle(element);
		const colour = rgba(element.ownerSVGElement ? style.fill : style.color);
		const back = behind(element);
		const seen = ratio(over([...colour.slice(0, 3), colour[3] * opacity(element)], back), back);
		if (seen < least && !element.closest(":disabled"))
			found.set(pathOf(element), `'${text.slice(0, 40)}' has a contrast of ${seen.toFixed(2)} in ${pathOf(element)}`);
	}
	return [...found.values()].slice(0, 8);
}

/* What an element says, without its ornaments. */
function said(element) {
	const copy = element.cloneNode(true);

	for (const ornament of copy.querySelectorAll("[aria-hidden=true]"))
		ornament.remove();
	return copy.textContent.trim().replace(/\s+/g, " ");
}

/* Each value that is shown: [its path in the JSON, the path of its error or null, its text]. */
function values() {
	return [...document.querySelectorAll("[data-key]")].map(e => [e.dataset.key, e.dataset.err ?? null, said(e)]);
}

/* Text with a digit that is no value of the JSON at a named path: {text: is it drawn in a picture}. */
function digits() {
	const found = {};
	for (const { element, text } of texts(document.body))
		if (/\d/.test(text) && !element.closest("[data-key], [data-count]"))
			found[text.replace(/\s+/g, " ")] = Boolean(element.ownerSVGElement);
	return found;
}

function headings() {
	return [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(e => e.checkVisibility())
		.map(e => [Number(e.localName[1]), e.textContent.trim()]);
}

function twins() {
	const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
	return ids.filter((id, i) => ids.indexOf(id) !== i);
}

/* Elements that are wider than the window, those first that hold no other such. */
function wide() {
	const width = document.documentElement.clientWidth;
	const found = [...document.body.querySelectorAll("*")].filter(e => shown(e) && e.getBoundingClientRect().right > width + 0.5 &&
		clipped(e.getBoundingClientRect(), e.parentElement)?.right > width + 0.5);
	return found.filter(e => !found.some(other => e !== other && e.contains(other))).slice(0, 4).map(pathOf);
}

/* Boxes that cut off what is in them; an ellipsis is visible, and what is there for screen readers only is a pixel big. */
function cut() {
	return [...document.body.querySelectorAll("main *, header *")].filter(e => {
		const style = getComputedStyle(e);

		return style.overflowX !== "visible" && style.textOverflow !== "ellipsis" && e.clientWidth > 1 && shown(e) &&
			e.scrollWidth > e.clientWidth + 1;
	}).slice(0, 8).map(e => `${pathOf(e)} shows ${e.clientWidth} of ${e.scrollWidth} pixels`);
}

function extent(element) {
	const range = document.createRange();

	range.selectNodeContents(element);
	return range.getBoundingClientRect();
}

/* Columns whose heading neither begins nor ends where their cells do. */
function crooked() {
	const found = [];

	for (const table of document.querySelectorAll("main table")) {
		const rows = [...table.rows].map(row => [...row.cells].filter(shown));

		for (const [c, th] of (rows[0] || []).entries()) {
			const isNumber = th.classList.contains("number"), head = extent(th.querySelector("button") || th);

			for (const row of rows.slice(1)) {
				const cell = row[c] && row[c].childNodes.length ? extent(row[c]) : null;
				const off = cell && cell.width ? (isNumber ? head.right - cell.right : head.left - cell.left) : 0;

				if (Math.abs(off) > 1.5)
					found.push(`'${th.textContent}' is ${off.toFixed(1)} pixels beside '${row[c].textContent.slice(0, 30)}'`);
			}
		}
	}
	return found.slice(0, 8);
}

/* How many columns the tables show: [label, number]. */
function columns() {
	return [...document.querySelectorAll("main table")].filter(shown)
		.map(table => [table.ariaLabel || "", [...table.rows[0].cells].filter(shown).length]);
}

/* What is shown and has no content: columns of tables whose rows are all in sight, facts, errors. */
function hollow() {
	const isEmpty = text => /^(n\/a|\s*)$/.test(text.replace(/\u00a0/g, " "));
	const found = [...document.querySelectorAll("main .facts:not(.even) dd")].filter(e => shown(e) && isEmpty(e.textContent))
		.map(e => `'${e.previousElementSibling.textContent}' is n/a`);

	for (const e of document.querySelectorAll("main .err"))
		if (/^\s*\u00b1\s0(?![.\d])/.test(e.textContent))
			found.push(`the error of '${e.parentElement.textContent}' is 0`);
	for (const table of document.querySelectorAll("main .table")) {
		const rows = [...table.querySelectorAll("tr")].map(row => [...row.cells].filter(shown)), leaf = table.querySelector(".leaf");

		for (const [c, th] of (leaf && !leaf.hidden || rows.length < 2 ? [] : rows[0]).entries())
			if (rows.slice(1).every(row => isEmpty(row[c].textContent)))
				found.push(`column '${th.textContent}' has no content`);
	}
	return found.slice(0, 8);
}

/* The sections and folds of the page in order, and those without words: [id, is empty]. */
function sections() {
	return [...document.querySelectorAll("main section, main > details")].map(e => [e.id,
		e.id !== "verdict" && ![...e.querySelectorAll(".body")].every(body => body.textContent.trim())]);
}

return ({ cut, crooked, columns, hollow, sections, overlaps, faint, values, digits, headings, twins, wide })[arguments[0]](arguments[1]);
