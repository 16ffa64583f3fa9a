/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/excess.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

int ct_excess_add(struct ct_excess *e, const struct ct_moved *moved, double expected_ns,
		  double err_ns)
{
	double over = moved->ns - expected_ns;

	if (!(over > err_ns) || over < 1)
		return CT_OK;
	if (ct_grow(&e->spans, &e->cap, e->n + 1, sizeof(*e->spans)))
		return CT_NOMEM;
	e->spans[e->n++] = (struct ct_excess_span){
		moved->end_ns > (uint64_t)over ? moved->end_ns - (uint64_t)over : 0, moved->end_ns
	};
	e->sum_ns += over;
	e->err_ns += err_ns;
	return CT_OK;
}

CT_SORT_BY(by_begin, struct ct_excess_span, CT_UP(begin_ns) ?: CT_UP(end_ns))

struct ct_excess_sum ct_excess_sum(struct ct_excess *e, const struct ct_step_time *steps)
{
	struct ct_excess_sum out = { 0 };
	uint64_t covered = 0, begin, end;

	if (!e->n)
		return out;
	qsort(e->spans, e->n, sizeof(*e->spans), by_begin);
	out.begin_ns = e->spans[0].begin_ns;
	for (uint32_t i = 0; i < e->n; i++) {
		uint64_t from = e->spans[i].begin_ns > covered ? e->spans[i].begin_ns : covered;

		if (e->spans[i].end_ns <= from)
			continue;
		out.time_lost_ns += e->spans[i].end_ns - from;
		begin = ct_max(from, steps->from_ns);
		end = ct_min(e->spans[i].end_ns, steps->to_ns);
		out.in_steps_ns += end > begin ? end - begin : 0;
		covered = e->spans[i].end_ns;
	}
	out.end_ns = covered;
	out.err_ns = (uint64_t)((double)out.time_lost_ns * e->err_ns / e->sum_ns);
	return out;
}

void ct_excess_fini(struct ct_excess *e)
{
	free(e->spans);
	*e = (struct ct_excess){ 0 };
}
