/* SPDX-License-Identifier: Apache-2.0 */
/* A start event fires when the stream reaches a kernel, although the kernel may have no SMs to
 * run. So ops of different communicators that all their ranks have started can wait for each other,
 * if ranks issued them in different order. */
#include "analyzer/base/table.h"
#include "analyzer/base/union_find.h"
#include "analyzer/hang/roots.h"
#include "trace/status.h"

/* size: instances of one rank that are compared with each other; more of them at once would be no
 * order any more. */
#define CT_COMPARED 32u

static int is_candidate(const struct ct_waiting *w, const struct ct_components *c, uint32_t op)
{
	uint32_t at = w->ix->instance_of[op], node;
	const struct ct_hang_instance *i;

	if (at == CT_HANG_NONE || w->ix->c->ops[op].by_host || w->ix->c->ops[op].graph ||
	    w->ix->c->ops[op].state == CT_STATE_FINISHED)
		return 0;
	i = &w->ix->instances[at];
	node = ct_wait_id(w, CT_NODE_INSTANCE, at);
	if (i->p2p || c->of[node] == CT_HANG_NONE || w->nodes[node].n)
		return 0;
	return w->nodes[node].code == CT_HANG_IS_TRANSPORT_STALL ||
	       w->nodes[node].code == CT_HANG_IS_UNKNOWN;
}

/* `a` was issued before `b` on some rank: did another rank issue them in reverse? */
static int compare(const struct ct_waiting *w, const struct ct_components *c, struct ct_table *seen,
		   uint32_t a, uint32_t b, uint32_t *group, uint8_t *inverted)
{
	uint32_t low = a < b ? a : b, high = a < b ? b : a;
	uint64_t key = ct_mix((uint64_t)low << 32 | high);
	uintptr_t bits = (uintptr_t)ct_table_get(seen, key), way = a < b ? 1 : 2;
	uint32_t x = c->of[ct_wait_id(w, CT_NODE_INSTANCE, a)];
	uint32_t y = c->of[ct_wait_id(w, CT_NODE_INSTANCE, b)];

	if (w->ix->instances[a].comm == w->ix->instances[b].comm)
		return CT_OK;
	bits |= way;
	if (bits == 3) {
		inverted[x] = inverted[y] = 1;
		ct_group_join(group, x, y);
	}
	return ct_table_put(seen, key, (void *)bits);
}

int ct_roots_inversions(const struct ct_waiting *w, const struct ct_components *c, uint32_t *group,
			uint8_t *inverted)
{
	const struct ct_hang_index *ix = w->ix;
	struct ct_table seen = { 0 };
	int rc = CT_OK;

	for (uint32_t r = 0; r < ix->c->n_ranks && rc == CT_OK; r++) {
		uint32_t list[CT_COMPARED], n = 0;

		for (uint32_t k = ix->rank_kernels[r]; k < ix->rank_kernels[r + 1]; k++) {
			const struct ct_hang_kernel *kernel = &ix->kernels[k];

			for (uint32_t o = 0; o < kernel->n && n < CT_COMPARED; o++) {
				uint32_t op = ix->kernel_ops[kernel->first + o];

				/* Ops of one launch have no order. */
				if (is_candidate(w, c, op)) {
					list[n++] = ix->instance_of[op];
					break;
				}
			}
		}
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = i + 1; j < n && rc == CT_OK; j++)
				rc = compare(w, c, &seen, list[i], list[j], group, inverted);
	}
	ct_table_fini(&seen);
	return rc;
}
