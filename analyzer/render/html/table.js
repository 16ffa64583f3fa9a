// SPDX-License-Identifier: Apache-2.0
// table.js: rows of the report as a table that can be sorted, filtered and leafed through; however many rows there are, only a
// page of them is in the document. It follows the filter of the page (state.js) and says how many rows that leaves out.
// The first MOST_COLUMNS columns are shown, fewer where the box is narrower, so that none is cut off; a button shows all of them, and then
// the box scrolls.
//
//   ct.table(body, { path: 'ranks', label: 'Ranks', rows, cells: { peer: { show: (row, path) => ... } }, isShown, first })
//
// isShown(row): rows for which it is false are left out. first: the key by which a table of more than one page is sorted, largest first.
// Its columns are those of analyzer/render/columns.def for this path: key, title, unit (of format.js, or rank, host, comm, ranks,
// hosts), err, help. What is not one value has show(row, path) in cells, words: true where that is no number, and value(row) to
// sort by. The first column names the row.
(function () {
	const PAGE = 25;
	const MOST_COLUMNS = 9;
	const FEW_COLUMNS = 6; // that stay together instead of being spread over the width
	const MOST_PRINTED = 100;
	const FILTERED_FROM = 8; // rows, before there is a field to filter by
	const CHIPS = { rank: 'rank', host: 'host', comm: 'comm', ranks: 'ranks', hosts: 'hosts' };
	const WORDS = ['rank', 'host', 'comm', 'text', 'hosts', 'ranks', 'yes'];
	const tables = [];

	function rawOf(column, row) {
		return column.value ? column.value(row) : row[column.key];
	}

	function isWord(column) {
		return WORDS.includes(column.unit) || Boolean(column.words);
	}

	function compare(a, b) {
		if (Array.isArray(a))
			return compare(a.length ? a[0] : null, b.length ? b[0] : null);
		return typeof a === 'string' ? a.localeCompare(b, 'en', { numeric: true }) : a - b;
	}

	// What is not known comes last, either way.
	function sorted(rows, column, direction) {
		const known = [], unknown = [];

		for (const row of rows) {
			const raw = rawOf(column, row.row);

			(raw === null || raw === undefined ? unknown : known).push(row);
		}
		known.sort((a, b) => direction * compare(rawOf(column, a.row), rawOf(column, b.row)) || a.at - b.at);
		return known.concat(unknown);
	}

	// The text that a filter matches: a value as it is and as it is shown.
	function textOf(table, row) {
		return table.columns.map((column) => {
			const raw = rawOf(column, row);

			return raw === null || raw === undefined ? 'n/a' :
				CHIPS[column.unit] || typeof raw === 'string' ? String(raw) : ct.format.unit(raw, column.unit);
		}).join('\n').toLowerCase();
	}

	function chosenRows(table) {
		const wanted = table.text.trim().toLowerCase();
		let rows = table.all.filter(({ row }) => ct.state.relates(row));

		table.related = rows.length;
		if (wanted) {
			rows = rows.filter((entry) => {
				entry.text = entry.text || textOf(table, entry.row);
				return entry.text.includes(wanted);
			});
		}
		return table.sort ? sorted(rows, table.sort, table.direction) : rows;
	}

	function cell(table, column, entry, isFirst) {
		const path = table.path + '.' + entry.at, row = entry.row, chip = CHIPS[column.unit];
		const content = column.show ? column.show(row, path) :
			chip ? ct.chip[chip](row[column.key], path + '.' + column.key) :
			ct.valueOf(path, row, column.key, column.unit, column.err);

		return ct.el(isFirst ? 'th' : 'td', { scope: isFirst ? 'row' : null, class: isWord(column) ? null : 'number' }, content);
	}

	function fillBody(table, rows) {
		const columns = shownColumns(table);

		table.tbody.replaceChildren(...rows.map((entry) => ct.el('tr', null, columns.map((column, i) => cell(table, column, entry, i === 0)))));
	}

	const isKnown = (raw) => raw !== null && raw !== undefined && !(Array.isArray(raw) && !raw.length);

	// Without what no row knows.
	function shownColumns(table) {
		const known = (column, i) => i === 0 || table.all.some(({ row }) => isKnown(rawOf(column, row)));

		return table.hasAll ? table.columns : table.columns.filter(known).slice(0, MOST_COLUMNS);
	}

	// Columns that do not end inside the box are hidden; the first one names the row and stays. A box that is not displayed waits
	// for its ResizeObserver.
	function fit(table, isWhole) {
		const rows = [...table.scroll.querySelectorAll('tr')], room = table.scroll.clientWidth;
		let shown = shownColumns(table).length;

		table.scroll.classList.toggle('few', shown <= FEW_COLUMNS);
		for (const row of rows)
			for (const one of row.children)
				one.hidden = false;
		if (!table.hasAll && !isWhole && room) {
			const ends = [...rows[0].children].map((th) => th.offsetLeft + th.offsetWidth);

			shown = Math.max(1, ends.filter((end) => end <= room + 0.5).length);
			for (const row of rows)
				[...row.children].slice(shown).forEach((one) => { one.hidden = true; });
		}
		table.room = room;
		table.more.hidden = !table.hasAll && shown === table.columns.length;
		table.more.textContent = table.hasAll ? 'Fewer columns' : 'All ' + table.columns.length + ' columns';
		table.head.hidden = table.more.hidden && !table.head.querySelector('input');
	}

	function toggleColumns(table) {
		table.hasAll = !table.hasAll;
		table.thead.replaceChildren(head(table));
		draw(table);
	}

	// "rows 26 to 50 of 1024", and what is left out and why.
	function count(table, rows, from, to) {
		const parts = [];

		if (!rows.length)
			parts.push(table.all.length === 1 ? 'the only row is left out' : 'none of ' + table.all.length + ' rows');
		else if (to - from < table.all.length)
			parts.push('rows ' + (from + 1) + ' to ' + to + ' of ' + rows.length + (table.sort ? ' by \u201c' + table.sort.title + '\u201d' : ''));
		if (table.related < table.all.length)
			parts.push(table.all.length + ' rows without the filter of the page');
		else if (rows.length < table.all.length)
			parts.push(table.all.length + ' rows in all');
		table.count.textContent = parts.join('; ');
	}

	// isWhole: for print, which has no pages to turn.
	function draw(table, isWhole = false) {
		const rows = chosenRows(table);
		const size = isWhole ? MOST_PRINTED : PAGE;
		const pages = Math.max(1, Math.ceil(rows.length / size));

		table.page = Math.min(table.page, pages - 1);
		const from = isWhole ? 0 : table.page * size, to = Math.min(rows.length, from + size);

		fillBody(table, rows.slice(from, to));
		fit(table, isWhole);
		count(table, rows, from, to);
		table.before.disabled = table.page === 0;
		table.next.disabled = table.page === pages - 1;
		table.leaf.hidden = pages === 1 || isWhole;
		table.foot.hidden = table.leaf.hidden && !table.count.textContent;
	}

	function turn(table, by) {
		table.page += by;
		draw(table);
	}

	// First the way that shows most: numbers from the largest, words from A; then the other; then as in the report.
	function sortBy(table, column, head) {
		const first = isWord(column) ? 1 : -1;

		if (table.sort !== column) {
			table.sort = column;
			table.direction = first;
		} else if (table.direction === first) {
			table.direction = -first;
		} else {
			table.sort = null;
		}
		for (const other of head.parentNode.children)
			other.removeAttribute('aria-sort');
		if (table.sort)
			head.setAttribute('aria-sort', orderOf(table, column));
		table.page = 0;
		draw(table);
	}

	function orderOf(table, column) {
		return table.sort !== column ? null : table.direction > 0 ? 'ascending' : 'descending';
	}

	function head(table) {
		return ct.el('tr', null, shownColumns(table).map((column) => {
			const th = ct.el('th', { scope: 'col', class: isWord(column) ? null : 'number', 'aria-sort': orderOf(table, column) });

			th.append(ct.el('button', { type: 'button', class: 'sort', title: column.help, onclick: () => sortBy(table, column, th) },
				column.title));
			return th;
		}));
	}

	function filterField(table) {
		const input = ct.el('input', { type: 'search', placeholder: 'filter rows', 'aria-label': 'filter rows: ' + table.label,
			spellcheck: 'false', autocomplete: 'off' });

		input.addEventListener('input', () => {
			table.text = input.value;
			table.page = 0;
			draw(table);
		});
		return input;
	}

	ct.table = (body, spec) => {
		const columns = ct.words.columns[spec.path].map((column) => ({ ...column, ...(spec.cells || {})[column.key] }));
		const table = { ...spec, columns, text: '', sort: null, direction: 1, page: 0, hasAll: false, room: 0 };

		table.all = spec.rows.map((row, at) => ({ row, at, text: null })).filter(({ row }) => !spec.isShown || spec.isShown(row));
		if (table.all.length > PAGE && spec.first) {
			table.sort = columns.find((column) => column.key === spec.first);
			table.direction = -1;
		}
		table.tbody = ct.el('tbody');
		table.count = ct.el('p', { class: 'count', role: 'status', 'data-count': true });
		table.before = ct.el('button', { type: 'button', onclick: () => turn(table, -1), 'aria-label': 'rows before: ' + spec.label }, '\u2039');
		table.next = ct.el('button', { type: 'button', onclick: () => turn(table, 1), 'aria-label': 'next rows: ' + spec.label }, '\u203a');
		table.leaf = ct.el('div', { class: 'leaf' }, table.before, table.next);
		table.foot = ct.el('div', { class: 'foot' }, table.count, table.leaf);
		table.more = ct.el('button', { type: 'button', class: 'quiet', 'data-count': true, onclick: () => toggleColumns(table) });
		table.head = ct.el('div', { class: 'head' }, table.all.length >= FILTERED_FROM ? filterField(table) : null, table.more);
		table.thead = ct.el('thead', null, head(table));
		table.scroll = ct.el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': spec.label },
			ct.el('table', { 'aria-label': spec.label }, table.thead, table.tbody));
		ct.add(body, [ct.el('div', { class: 'table' }, table.head, table.scroll, table.foot)]);
		new ResizeObserver(() => {
			if (table.scroll.clientWidth !== table.room)
				fit(table, false);
		}).observe(table.scroll);
		tables.push(table);
		draw(table);
	};

	ct.state.on(() => tables.forEach((table) => {
		table.page = 0;
		draw(table);
	}));
	addEventListener('beforeprint', () => tables.forEach((table) => draw(table, true)));
	addEventListener('afterprint', () => tables.forEach((table) => draw(table)));
})();
