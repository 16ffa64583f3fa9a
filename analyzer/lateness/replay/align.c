/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyzer/lateness/replay/schedule_private.h"
#include "trace/ops.h"
#include "trace/status.h"

/* size: 36 years. Clocks that are farther apart are none; sums of less fit into 64 bits. */
#define FARTHEST_NS ((int64_t)1 << 60)

struct aligning {
	struct ct_schedule *s;
	const uint32_t *host_of;
	uint32_t n_hosts;
	int64_t *off_ns; /* by stretch x host */
	uint8_t *known;
	uint8_t *has_first; /* by stretch: one of its hosts is known */
};

static uint32_t cell(const struct aligning *a, const struct ct_schedule_part *p)
{
	const struct ct_schedule_launch *l = &a->s->launches[p->launch];

	return l->stretch * a->n_hosts + a->host_of[l->slot];
}

/* Members leave a synchronising operation together. Returns how many hosts became known by this
 * one. */
static uint32_t learn(struct aligning *a, const struct ct_schedule_exchange *m)
{
	const struct ct_schedule_part *parts = &a->s->parts[m->first_part], *known = NULL;
	uint32_t learnt = 0;
	int64_t end;

	if (ct_op_class(m->op) != CT_CLASS_SYNC)
		return 0;
	for (uint32_t p = 0; p < m->n && !known; p++)
		known = a->known[cell(a, &parts[p])] ? &parts[p] : NULL;
	if (!known)
		return 0;
	end = ct_schedule_end(&a->s->launches[known->ends]) + a->off_ns[cell(a, known)];
	for (uint32_t p = 0; p < m->n; p++) {
		uint32_t c = cell(a, &parts[p]);
		int64_t off;

		if (a->known[c])
			continue;
		off = end - ct_schedule_end(&a->s->launches[parts[p].ends]);
		a->known[c] = 1;
		a->off_ns[c] = off > -FARTHEST_NS && off < FARTHEST_NS ? off : 0;
		learnt++;
	}
	return learnt;
}

/* The first host of each stretch stays where it is; so does a host that shares nothing with it. */
static void learn_all(struct aligning *a)
{
	struct ct_schedule *s = a->s;
	uint32_t learnt = 1;

	for (uint32_t l = 0; l < s->n_launches; l++) {
		uint32_t stretch = s->launches[l].stretch;

		if (a->has_first[stretch])
			continue;
		a->has_first[stretch] = 1;
		a->known[stretch * a->n_hosts + a->host_of[s->launches[l].slot]] = 1;
	}
	for (uint32_t round = 0; round < a->n_hosts && learnt; round++) {
		learnt = 0;
		for (uint32_t m = 0; m < s->n_exchanges; m++)
			learnt += learn(a, &s->exchanges[m]);
	}
	for (uint32_t l = 0; l < s->n_launches; l++)
		s->launches[l].start_ns += a->off_ns[s->launches[l].stretch * a->n_hosts +
						     a->host_of[s->launches[l].slot]];
}

int ct_schedule_align(struct ct_schedule *s, const uint32_t *host_of)
{
	struct aligning a = { .s = s, .host_of = host_of };
	size_t cells;
	int st;

	for (uint32_t k = 0; k < s->n_slots; k++)
		a.n_hosts = host_of[k] >= a.n_hosts ? host_of[k] + 1 : a.n_hosts;
	if (a.n_hosts < 2)
		return CT_OK;
	cells = (size_t)s->n_stretches * a.n_hosts + 1;
	a.off_ns = calloc(cells, sizeof(*a.off_ns));
	a.known = calloc(cells, 1);
	a.has_first = calloc((size_t)s->n_stretches + 1, 1);
	st = a.off_ns && a.known && a.has_first ? CT_OK : CT_NOMEM;
	if (st == CT_OK)
		learn_all(&a);
	free(a.off_ns);
	free(a.known);
	free(a.has_first);
	return st;
}
