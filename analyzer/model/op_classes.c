/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/op_classes.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "trace/status.h"

const char *ct_grouped_name(enum ct_grouped grouped)
{
	static const char *const names[] = { NULL, "collectives", "P2P" };

	return names[grouped];
}

int ct_classes_init(struct ct_classes *classes)
{
	*classes = (struct ct_classes){ .memory = ct_arena_new() };
	return classes->memory ? CT_OK : CT_NOMEM;
}

void ct_classes_fini(struct ct_classes *classes)
{
	for (uint32_t i = 0; i < classes->n; i++) {
		ct_hist_fini(&classes->all[i]->span);
		ct_hist_fini(&classes->all[i]->transfer);
		ct_hist_fini(&classes->all[i]->algbw);
		free(classes->all[i]->last_count);
		free(classes->all[i]->last_cost_ns);
	}
	free(classes->all);
	ct_table_fini(&classes->by_key);
	ct_arena_free(classes->memory);
	*classes = (struct ct_classes){ 0 };
}

static struct ct_class *create(struct ct_classes *classes, uint64_t key)
{
	struct ct_class *class = ct_arena_calloc(classes->memory, 1, sizeof(*class));

	if (!class)
		return NULL;
	if (ct_grow(&classes->all, &classes->cap, classes->n + 1, sizeof(*classes->all)))
		return NULL;
	class->same_key = ct_table_get(&classes->by_key, key);
	if (ct_table_put(&classes->by_key, key, class) != CT_OK)
		return NULL;
	class->index = classes->n;
	classes->all[classes->n++] = class;
	return class;
}

static uint64_t key_of(const struct ct_comm *comm, enum ct_grouped grouped, unsigned op,
		       unsigned dtype, uint64_t bytes)
{
	uint64_t what = (uint64_t)comm->index << 32 | (unsigned)grouped << 16 | op << 8 | dtype;

	return ct_mix(ct_size_range(bytes) ^ ct_mix(what));
}

/* Is a class of its communicator the one of these? */
static int is_of(const struct ct_class *class, enum ct_grouped grouped, unsigned op, unsigned dtype,
		 uint64_t bytes)
{
	return class->grouped == grouped && class->op == op && class->dtype == dtype &&
	       class->size_range == ct_size_range(bytes);
}

struct ct_class *ct_classes_find(const struct ct_classes *classes, const struct ct_comm *comm,
				 enum ct_grouped grouped, unsigned op, unsigned dtype,
				 uint64_t bytes)
{
	uint64_t key = key_of(comm, grouped, op, dtype, bytes);
	struct ct_class *class = ct_table_get(&classes->by_key, key);

	while (class && (class->comm != comm || !is_of(class, grouped, op, dtype, bytes)))
		class = class->same_key;
	return class;
}

struct ct_class *ct_classes_get(struct ct_classes *classes, struct ct_comm *comm,
				enum ct_grouped grouped, unsigned op, unsigned dtype,
				uint64_t bytes)
{
	struct ct_class *class = comm->latest;

	if (class && is_of(class, grouped, op, dtype, bytes))
		return class;
	class = ct_classes_find(classes, comm, grouped, op, dtype, bytes);
	if (!class) {
		class = create(classes, key_of(comm, grouped, op, dtype, bytes));
		if (!class)
			return NULL;
		class->comm = comm;
		class->grouped = grouped;
		class->op = op;
		class->dtype = dtype;
		class->size_range = ct_size_range(bytes);
	}
	return comm->latest = class;
}

int ct_class_is_slow(struct ct_class *class, uint64_t transfer_ns, uint64_t err_ns)
{
	if (class->transfer.n < CT_CLASS_TRANSFERS)
		return 0;
	/* Looked up anew each time that a quarter has been added. */
	if (4 * class->transfer.n >= 5 * class->usual_n) {
		class->usual_n = class->transfer.n;
		class->usual_p25_ns = ct_hist_quantile(&class->transfer, 0.25);
		class->usual_p50_ns = ct_hist_quantile(&class->transfer, 0.5);
	}
	/* The cells of the percentiles are 1/32 wide. */
	return transfer_ns > class->usual_p25_ns + class->usual_p25_ns / 32 + err_ns +
				     4 * (class->usual_p50_ns - class->usual_p25_ns);
}

int ct_class_last(struct ct_class *class, uint32_t rank, uint64_t cost_ns)
{
	uint32_t n = class->comm->nranks;

	if (!class->last_count)
		class->last_count = calloc(n, sizeof(*class->last_count));
	if (!class->last_cost_ns)
		class->last_cost_ns = calloc(n, sizeof(*class->last_cost_ns));
	if (!class->last_count || !class->last_cost_ns)
		return CT_NOMEM;
	class->last_count[rank]++;
	class->last_cost_ns[rank] += cost_ns;
	return CT_OK;
}

const struct ct_class *ct_classes_costliest(const struct ct_classes *classes, uint32_t slot,
					    uint64_t *cost_ns)
{
	const struct ct_class *most = NULL;

	*cost_ns = 0;
	for (uint32_t c = 0; c < classes->n; c++) {
		const struct ct_class *class = classes->all[c];

		for (uint32_t r = 0; class->last_cost_ns && r < class->comm->nranks; r++) {
			if (class->comm->slots[r] != slot + 1 || class->last_cost_ns[r] <= *cost_ns)
				continue;
			*cost_ns = class->last_cost_ns[r];
			most = class;
		}
	}
	return most;
}
