/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/live/live_private.h"
#include "trace/ops.h"

const char *ct_live_size_name(unsigned size)
{
	static const char *const names[CT_LIVE_SIZES] = {
		"lt_1KiB",    "1KiB_16KiB", "16KiB_256KiB", "256KiB_4MiB",
		"4MiB_64MiB", "64MiB_1GiB", "ge_1GiB",
	};

	return size < CT_LIVE_SIZES ? names[size] : "unknown";
}

static unsigned size_of(uint64_t size_range)
{
	const unsigned first = 10, step = 4; /* powers of two */
	unsigned log2 = size_range ? 63u - (unsigned)__builtin_clzll(size_range) : 0;
	unsigned size = log2 < first ? 0 : (log2 - first) / step + 1;

	if (size_range == UINT64_MAX)
		return CT_LIVE_SIZES;
	return size < CT_LIVE_SIZES ? size : CT_LIVE_SIZES - 1;
}

const char *ct_live_role(const struct ct_model *model, const struct ct_comm *comm)
{
	const char *name = comm->name ? ct_role_name(ct_role_of_name(comm->name)) : NULL;
	const struct ct_process_info *first = model->run->processes;

	if (!name && first->id.world_size > 0 && comm->nranks == (uint32_t)first->id.world_size)
		name = ct_role_name(CT_IS_WORLD);
	return name ? name : "other";
}

static const char *op_of(const struct ct_model *model, const struct ct_class *class)
{
	if (class->op)
		return ct_op_names_get(&model->names, class->op);
	return class->grouped == CT_GROUPED_MESSAGES ? "P2P" : "group";
}

static struct ct_live_row *row_of(struct ct_live_view *view, uint32_t *cap,
				  const struct ct_live_row *key)
{
	for (uint32_t i = 0; i < view->n_rows; i++) {
		struct ct_live_row *row = &view->rows[i];

		if (row->size == key->size && strcmp(row->role, key->role) == 0 &&
		    strcmp(row->op, key->op) == 0)
			return row;
	}
	if (ct_grow(&view->rows, cap, view->n_rows + 1, sizeof(*view->rows)))
		return NULL;
	view->rows[view->n_rows] = *key;
	return &view->rows[view->n_rows++];
}

/* Cells are merged, and sums stay exact. */
static int merge(struct ct_hist *into, const struct ct_hist *from)
{
	const uint64_t sum = into->sum + from->sum;
	const int st = ct_hist_merge_scaled(into, from, 1);

	into->sum = sum;
	return st;
}

static int add(struct ct_live_row *row, const struct ct_class *class)
{
	double factor = ct_op_bus_factor(class->op, class->comm->nranks);

	row->instances += class->instances;
	row->bytes += class->bytes == UINT64_MAX ? 0 : class->bytes;
	row->wait_ns += class->wait_ns;
	row->judged += class->judged;
	/* algbw holds the same transfers, as far as they move anything */
	if (factor > 0 && class->algbw.n && class->instances) {
		row->bus_ns += class->transfer.sum;
		row->bus_bytes += (uint64_t)(factor * (double)class->bytes *
					     (double)class->transfer.n / (double)class->instances);
	}
	return merge(&row->span, &class->span) ?: merge(&row->transfer, &class->transfer)
		?: merge(&row->algbw, &class->algbw);
}

void ct_live_free_rows(struct ct_live *live)
{
	struct ct_live_view *view = &live->view;

	for (uint32_t i = 0; i < view->n_rows; i++) {
		ct_hist_fini(&view->rows[i].span);
		ct_hist_fini(&view->rows[i].transfer);
		ct_hist_fini(&view->rows[i].algbw);
	}
	free(view->rows);
	view->rows = NULL;
	view->n_rows = 0;
}

int ct_live_fill_rows(struct ct_live *live)
{
	const struct ct_model *model = &ct_follow_stream(live->follow)->model;
	uint32_t cap = 0;

	for (uint32_t c = 0; c < model->classes.n; c++) {
		const struct ct_class *class = model->classes.all[c];
		const struct ct_live_row key = {
			.role = ct_live_role(model, class->comm),
			.op = op_of(model, class),
			.size = size_of(class->size_range),
		};
		struct ct_live_row *row = row_of(&live->view, &cap, &key);

		if (!row || add(row, class) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}
