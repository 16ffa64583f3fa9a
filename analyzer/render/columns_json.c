/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analyzer/render/columns.h"
#include "analyzer/render/json_value.h"

static const char *const units[] = {
#define UNIT_NAME(name) #name,
	CT_UNIT_MAP(UNIT_NAME)
#undef UNIT_NAME
};

static json_t *scalar(const struct ct_report_column *c, const void *at)
{
	if (c->name)
		return ct_json_text(c->name(*(const unsigned *)at));
	switch (c->store) {
	case CT_STORE_INT:
		return c->unit == CT_UNIT_yes ? json_boolean(*(const int *)at)
					      : ct_json_rank(*(const int *)at);
	case CT_STORE_U32:
		return json_integer(*(const uint32_t *)at);
	case CT_STORE_U64:
		return c->unit == CT_UNIT_comm ? ct_json_hex(*(const uint64_t *)at)
					       : ct_json_u64(*(const uint64_t *)at);
	case CT_STORE_I64:
		return json_integer(*(const int64_t *)at);
	case CT_STORE_DOUBLE:
		return ct_json_double(*(const double *)at);
	case CT_STORE_TEXT:
		return ct_json_text(*(const char *const *)at);
	default:
		return json_null();
	}
}

static json_t *list(const struct ct_report_column *c, const char *values, size_t n)
{
	size_t size = c->store == CT_STORE_INT ? sizeof(int) : sizeof(uint64_t);
	return CT_JSON_ARRAY(i, n, scalar(c, values + i * size));
}

static json_t *value(const struct ct_report_column *c, const char *row, const void *outer)
{
	const void *at = row + c->at;
	size_t n = c->n_at ? *(const size_t *)(row + c->n_at) : 0;

	if (!ct_column_is_known(c, row))
		return json_null();
	if (c->constant)
		return json_string(c->constant);
	if (c->json)
		return c->json(row, outer);
	switch (c->store) {
	case CT_STORE_ROW:
		return ct_columns_json(c->rows(), at, outer);
	case CT_STORE_ROWS:
		return ct_columns_json_all(c->rows(), at, n, outer);
	case CT_STORE_LIST:
		return ct_columns_json_all(c->rows(), *(const void *const *)at, n, outer);
	default:
		return c->n_at ? list(c, *(const char *const *)at, n) : scalar(c, at);
	}
}

int ct_column_is_known(const struct ct_report_column *c, const void *row)
{
	const char *at = (const char *)row + c->only_at;

	int is_set = !c->only_len;

	for (unsigned i = 0; i < c->only_len; i++)
		is_set |= at[i] != 0;
	return c->is_unless ? !is_set : is_set;
}

json_t *ct_columns_json(const struct ct_columns *columns, const void *row, const void *outer)
{
	json_t *o = json_object();
	int failed = !o;

	for (size_t i = 0; i < columns->n; i++) {
		if (!columns->all[i].is_for_text)
			ct_json_set(o, columns->all[i].key, value(&columns->all[i], row, outer),
				    &failed);
	}
	return ct_json_done(o, failed);
}

json_t *ct_columns_json_all(const struct ct_columns *columns, const void *rows, size_t n,
			    const void *outer)
{
	return CT_JSON_ARRAY(
		i, n, ct_columns_json(columns, (const char *)rows + i * columns->size, outer));
}

const struct ct_report_column *ct_columns_next(const struct ct_columns *columns, const char **keys)
{
	size_t len;

	*keys += strspn(*keys, " ");
	len = strcspn(*keys, " ");
	for (size_t i = 0; len && i < columns->n; i++) {
		const struct ct_report_column *c = &columns->all[i];

		if (strncmp(c->key, *keys, len) == 0 && !c->key[len]) {
			*keys += len;
			return c;
		}
	}
	return NULL;
}

/* ---- for the page ---- */

static json_t *page_column(const struct ct_report_column *c)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "key", json_string(c->key), &failed);
	ct_json_set(o, "title", json_string(c->title), &failed);
	ct_json_set(o, "unit", json_string(units[c->unit]), &failed);
	if (c->err)
		ct_json_set(o, "err", json_string(c->err), &failed);
	if (c->help)
		ct_json_set(o, "help", json_string(c->help), &failed);
	return ct_json_done(o, failed);
}

/* Those of this row and of all inside it. */
static void add_tables(json_t *tables, const struct ct_columns *columns, const char *path,
		       int *failed)
{
	const struct ct_report_column *c;
	const char *keys = columns->page;
	json_t *table = *keys ? json_array() : NULL;

	while ((c = ct_columns_next(columns, &keys)))
		ct_json_append(table, page_column(c), failed);
	if (table)
		ct_json_set(tables, path, table, failed);
	for (size_t i = 0; i < columns->n; i++) {
		char inside[64];

		c = &columns->all[i];
		if (!c->rows)
			continue;
		snprintf(inside, sizeof(inside), "%s%s%s", path, *path ? "." : "", c->key);
		add_tables(tables, c->rows(), inside, failed);
	}
}

json_t *ct_columns_page(void)
{
	json_t *tables = json_object();
	int failed = !tables;

	add_tables(tables, ct_columns_report(), "", &failed);
	return ct_json_done(tables, failed);
}
