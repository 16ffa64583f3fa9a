/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that findings refer to: where ranks were awaited, the most expensive ones. */
#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/timeline/timeline_index.h"

/* Does the finding say that its ranks, or others, were awaited? */
static int says_late(const struct ct_finding *f)
{
	switch (f->kind) {
	case CT_FINDING_STRAGGLER:
	case CT_FINDING_STRAGGLER_HOST:
	case CT_FINDING_STRAGGLER_GROUP:
	case CT_FINDING_SLOW_STAGE:
	case CT_FINDING_ROTATING_STALLS:
	case CT_FINDING_PERIODIC_STALLS:
	case CT_FINDING_CHANGE_POINT:
		return 1;
	default:
		return 0;
	}
}

static int names(const struct ct_finding *f, int rank)
{
	size_t low = CT_BISECT(i, 0, f->n_ranks, f->ranks[i] < rank);

	return !f->n_ranks || (low < f->n_ranks && f->ranks[low] == rank);
}

static int tells_of(const struct ct_timeline_index *tl_index, const struct ct_finding *f,
		    const struct ct_blamed *b)
{
	const struct ct_timeline_index_comm *comm = &tl_index->comms[b->comm];

	if (b->finding || !names(f, tl_index->slots[b->slot].rank))
		return 0;
	if (f->comm_hash && comm->id != ct_cached_comm(f->comm_hash, comm->nranks))
		return 0;
	return (f->begin_at_ns == CT_UNKNOWN || b->end_ns >= f->begin_at_ns) &&
	       (f->end_at_ns == CT_UNKNOWN || b->at_ns <= f->end_at_ns);
}

CT_SORT_BY(by_cost, struct ct_blamed, CT_DOWN(cost_ns) ?: CT_UP(key.comm) ?: CT_UP(key.seq))

int ct_timeline_index_flag(struct ct_timeline_index *tl_index, const struct ct_report *report)
{
	struct ct_costly *costly = &tl_index->costly;

	qsort(costly->blamed, costly->n_blamed, sizeof(*costly->blamed), by_cost);
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *f = &report->findings[i];
		uint32_t n = 0;

		for (uint32_t b = 0; b < costly->n_blamed && says_late(f); b++) {
			if (n < CT_COSTLY_FLAGGED && tells_of(tl_index, f, &costly->blamed[b])) {
				costly->blamed[b].finding = f->id;
				n++;
			}
		}
	}
	return ct_costly_close(costly);
}
