/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/match/align.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

/* For a synchronizing operation spans suffice, without clocks. */
static int needs_it(const struct ct_instance *i, const uint32_t *host_of)
{
	if (i->src == CT_SRC_EXCHANGE ||
	    (i->src < 0 && ct_op_class(i->members[0].op) != CT_CLASS_ROOTED))
		return 0;
	for (uint32_t m = 1; m < i->n; m++) {
		if (host_of[i->members[m].slot] != host_of[i->members[0].slot])
			return 1;
	}
	return 0;
}

static int make_room(struct ct_aligned *a, uint32_t n, uint32_t n_slots)
{
	if (ct_grow(&a->instance.members, &a->cap, n, sizeof(*a->instance.members)))
		return CT_NOMEM;
	if (n_slots > a->cap_hosts) {
		free(a->hosts);
		a->cap_hosts = 0;
		a->hosts = calloc(n_slots, sizeof(*a->hosts));
		if (!a->hosts)
			return CT_NOMEM;
		a->cap_hosts = n_slots;
	}
	return CT_OK;
}

/* Converts all times of a member by the offset of its clock at its end. 0: not synchronized. */
static int move(const struct ct_clocks *clocks, uint32_t host, struct ct_member *m)
{
	uint64_t at, err, shift;

	if (!m->start_ns || !m->end_ns || !ct_clocks_at(clocks, host, m->end_ns, &at, &err))
		return 0;
	shift = at - m->end_ns;
	m->start_ns += shift;
	m->end_ns += shift;
	if (m->asked_ns)
		m->asked_ns += shift;
	m->start_err_ns = ct_plus_u32(m->start_err_ns, err);
	m->end_err_ns = ct_plus_u32(m->end_err_ns, err);
	return 1;
}

int ct_align(const struct ct_clocks *clocks, const struct ct_instance *i, const uint32_t *host_of,
	     uint32_t n_slots, struct ct_aligned *a)
{
	struct ct_member *members;

	if (!clocks || !needs_it(i, host_of))
		return 0;
	if (make_room(a, i->n, n_slots) != CT_OK)
		return CT_NOMEM;
	members = a->instance.members;
	a->instance = *i;
	a->instance.members = members;
	memcpy(members, i->members, i->n * sizeof(*members));
	for (uint32_t m = 0; m < i->n; m++) {
		if (!move(clocks, host_of[members[m].slot], &members[m]))
			return 0;
	}
	return 1;
}

void ct_align_doubt(const struct ct_instance *i, const struct ct_aligned *a, struct ct_waits *w)
{
	uint64_t worst = 0;

	/* A wait compares two clocks: its error is at most the sum of the two largest. The errors
	 * of the times themselves are added elsewhere. */
	for (uint32_t m = 0; m < i->n; m++) {
		uint64_t err = a->instance.members[m].start_err_ns - i->members[m].start_err_ns;

		worst = err > worst ? err : worst;
	}
	w->clock_err_ns = 2 * worst;
	if (w->judged != CT_JUDGED_WAITS)
		return;
	for (uint32_t m = 0; m < i->n; m++) {
		if (w->wait_ns[m] <= w->clock_err_ns)
			w->wait_ns[m] = 0;
	}
	if (w->transfer_ns != CT_NO_TRANSFER && w->transfer_ns < 2 * w->clock_err_ns)
		w->transfer_ns = CT_NO_TRANSFER;
}

void ct_aligned_fini(struct ct_aligned *a)
{
	free(a->instance.members);
	free(a->hosts);
	*a = (struct ct_aligned){ 0 };
}
