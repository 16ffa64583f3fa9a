// SPDX-License-Identifier: Apache-2.0
// table.js: rows of the report as a table that can be sorted, filtered and leafed through; however many rows there are, only a
// page of them is in the document. It follows what the page is about (state.js) and says how many rows it leaves out for that.
//
//   ct.table(body, { path: 'ranks', label: 'Ranks', rows, cells: { peer: { show: (row, path) => ... } } })
//
// Its columns are those of analyzer/render/columns.def for this path: key, title, unit (of format.js, or rank, host, comm, ranks,
// hosts), err, help. What is not one value has show(row, path) in cells, words: true where that is no number, and value(row) to
// sort by. The first column names the row.
(function () {
	const PAGE = 25;
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

	// What somebody who filters may have in mind: a value as it is and as it is shown.
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
		table.tbody.replaceChildren(...rows.map((entry) =>
			ct.el('tr', null, table.columns.map((column, i) => cell(table, column, entry, i === 0)))));
	}

	// "rows 26 to 50 of 1024", and what is left out and why.
	function tell(table, rows, from, to) {
		const parts = [];

		if (!rows.length)
			parts.push(table.all.length === 1 ? 'the only row is left out' : 'none of ' + table.all.length + ' rows');
		else if (to - from < table.all.length)
			parts.push('rows ' + (from + 1) + ' to ' + to + ' of ' + rows.length);
		if (table.related < table.all.length)
			parts.push(table.all.length + ' rows without the filter of the page');
		else if (rows.length < table.all.length)
			parts.push(table.all.length + ' rows in all');
		table.count.textContent = parts.join('; ');
	}

	// isWhole: for paper, which nobody leafs through on a screen.
	function draw(table, isWhole = false) {
		const rows = chosenRows(table);
		const size = isWhole ? MOST_PRINTED : PAGE;
		const pages = Math.max(1, Math.ceil(rows.length / size));

		table.page = Math.min(table.page, pages - 1);
		const from = isWhole ? 0 : table.page * size, to = Math.min(rows.length, from + size);

		fillBody(table, rows.slice(from, to));
		tell(table, rows, from, to);
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
			head.setAttribute('aria-sort', table.direction > 0 ? 'ascending' : 'descending');
		table.page = 0;
		draw(table);
	}

	function head(table) {
		return ct.el('tr', null, table.columns.map((column) => {
			const th = ct.el('th', { scope: 'col', class: isWord(column) ? null : 'number' });

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
		const table = { ...spec, columns, text: '', sort: null, direction: 1, page: 0 };


		table.all = spec.rows.map((row, at) => ({ row, at, text: null }));
		table.tbody = ct.el('tbody');
		table.count = ct.el('p', { class: 'count', role: 'status', 'data-count': true });
		table.before = ct.el('button', { type: 'button', onclick: () => turn(table, -1), 'aria-label': 'rows before: ' + spec.label }, '\u2039');
		table.next = ct.el('button', { type: 'button', onclick: () => turn(table, 1), 'aria-label': 'next rows: ' + spec.label }, '\u203a');
		table.leaf = ct.el('div', { class: 'leaf' }, table.before, table.next);
		table.foot = ct.el('div', { class: 'foot' }, table.count, table.leaf);
		ct.add(body, [ct.el('div', { class: 'table' },
			spec.rows.length >= FILTERED_FROM ? ct.el('div', { class: 'head' }, filterField(table)) : null,
			ct.el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': spec.label },
				ct.el('table', { 'aria-label': spec.label }, ct.el('thead', null, head(table)), table.tbody)),
			table.foot)]);
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
