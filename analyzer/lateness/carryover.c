/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/carryover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

/* Pairs of operations before a slope is believed, and over which a mean is taken. */
#define FEW 5u
#define MEMORY 32u

/* A rank's latest operation on a communicator. */
struct latest {
	uint64_t end_ns;
	float took_ns;
	int early;   /* at least two came after it */
	int follows; /* it was in nothing else since the one before */
};

struct ct_carry_comm {
	struct latest *ranks;
	uint64_t seq;
	uint64_t solo_ns; /* by which the last came after the one before it */
	uint64_t late_ns,
		before_ns; /* of who was last in the latest operation, and in the one before */
	uint32_t last, before;
	uint32_t class;
	struct ct_carry_pair *pair; /* of the latest two; NULL: it did not follow upon another */
	int begun;
};

/* What a rank's gap before an operation has to do with how long it was kept waiting in the one before. */
struct relation {
	float kept_ns, took_ns, gap_ns; /* means */
	float kept_took, kept_gap;	/* sums of products */
	uint32_t n;
};

struct ct_carry_pair {
	struct relation *ranks;
	uint32_t n, n_known; /* times; when the share was found */
	double share;
	struct ct_carry_pair *next;
};

void ct_carries_fini(struct ct_carries *c)
{
	struct ct_carry_pair *next;

	for (uint32_t i = 0; i < c->n_comms; i++)
		free(c->comms[i].ranks);
	for (struct ct_carry_pair *pair = c->first; pair; pair = next) {
		next = pair->next;
		free(pair->ranks);
		free(pair);
	}
	free(c->comms);
	ct_table_fini(&c->pairs);
	*c = (struct ct_carries){ 0 };
}

/* It was kept waiting by the last one alone for kept_ns, which is part of what the operation took. What of the latter
 * goes with the former is not its own doing: so its own pace, which may be in both what an operation takes and in the
 * gap behind it, is not mistaken for a connection. */
static void add_times(struct relation *r, float kept_ns, float took_ns, float gap_ns)
{
	float step = 1 / (float)(r->n < MEMORY ? r->n + 1 : MEMORY);
	float kept = kept_ns - r->kept_ns, took = took_ns - r->took_ns, gap = gap_ns - r->gap_ns;

	if (r->n > 1) {
		r->kept_took += kept * took;
		r->kept_gap += kept * gap;
	}
	r->kept_ns += step * kept;
	r->took_ns += step * took;
	r->gap_ns += step * gap;
	r->n++;
}

/* The pair of classes; made if it is new. NULL: out of memory. */
static struct ct_carry_pair *find_pair(struct ct_carries *c, uint32_t before, uint32_t class,
				       uint32_t nranks)
{
	uint64_t key = (uint64_t)before << 32 | class;
	struct ct_carry_pair *pair = ct_table_get(&c->pairs, key);

	if (pair)
		return pair;
	pair = calloc(1, sizeof(*pair));
	if (!pair)
		return NULL;
	pair->next = c->first;
	c->first = pair;
	pair->ranks = calloc(nranks, sizeof(*pair->ranks));
	if (!pair->ranks || ct_table_put(&c->pairs, key, pair) != CT_OK)
		return NULL;
	return pair;
}

/* Was the rank in nothing else between its latest operation here and this one? */
static int is_next(const struct latest *latest, const struct ct_member *m)
{
	uint64_t err = 2 * (uint64_t)m->start_err_ns;

	return m->free_ns != UINT64_MAX && m->start_ns > latest->end_ns + err &&
	       m->free_ns + err >= m->start_ns - latest->end_ns;
}

int ct_carry_add(struct ct_carries *c, const struct ct_instance *i, const struct ct_waits *w,
		 uint32_t class)
{
	uint32_t nranks = i->comm->nranks;
	uint64_t last = 0, second = 0;
	struct ct_carry_comm *comm;
	int follows;

	if (ct_grow_zeroed(&c->comms, &c->n_comms, i->comm->index + 1, sizeof(*c->comms)))
		return CT_NOMEM;
	comm = &c->comms[i->comm->index];
	if (!comm->ranks)
		comm->ranks = calloc(nranks, sizeof(*comm->ranks));
	if (!comm->ranks)
		return CT_NOMEM;
	for (uint32_t m = 0; m < i->n; m++) {
		uint64_t arrival = w->arrival_ns[m];

		if (arrival >= last) {
			second = last;
			last = arrival;
		} else if (arrival > second) {
			second = arrival;
		}
	}
	follows = comm->begun && i->seq > comm->seq;
	comm->pair = follows ? find_pair(c, comm->class, class, nranks) : NULL;
	if (follows && !comm->pair)
		return CT_NOMEM;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		struct latest *latest = &comm->ranks[member->index];

		latest->follows = follows && is_next(latest, member);
		if (latest->follows && latest->early)
			add_times(&comm->pair->ranks[member->index], (float)comm->solo_ns,
				  latest->took_ns, (float)(member->start_ns - latest->end_ns));
		latest->end_ns = member->end_ns;
		latest->took_ns = (float)(member->end_ns - member->start_ns);
		latest->early = w->arrival_ns[m] < second;
	}
	comm->solo_ns = last - second;
	if (comm->pair)
		comm->pair->n++;
	comm->before = comm->last;
	comm->before_ns = comm->late_ns;
	comm->late_ns = 0;
	comm->class = class;
	comm->seq = i->seq;
	comm->begun = 1;
	return CT_OK;
}

/* The median over the ranks; of an even number the one nearer to none. */
static double find_share(const struct ct_carry_pair *pair, uint32_t nranks)
{
	float *slopes = malloc(nranks * sizeof(*slopes));
	uint32_t n = 0;
	double slope;

	for (uint32_t r = 0; slopes && r < nranks; r++) {
		const struct relation *relation = &pair->ranks[r];

		if (relation->n >= FEW && relation->kept_took > 0)
			slopes[n++] = -relation->kept_gap / relation->kept_took;
	}
	if (slopes)
		qsort(slopes, n, sizeof(*slopes), ct_by_float);
	slope = n ? (double)slopes[(n - 1) / 2] : 0;
	free(slopes);
	return fmin(fmax(2 * slope - 0.5, 0), 1);
}

uint64_t ct_carry_take(struct ct_carries *c, const struct ct_instance *i, uint32_t last,
		       uint64_t late_ns)
{
	struct ct_carry_comm *comm = &c->comms[i->comm->index];
	struct ct_carry_pair *pair = comm->pair;
	double brought;

	comm->last = last;
	comm->late_ns = late_ns;
	if (!pair || comm->before != last || !comm->ranks[last].follows)
		return late_ns;
	/* Looked up anew each time that an eighth has been added. */
	if (8 * (uint64_t)pair->n >= 9 * (uint64_t)pair->n_known) {
		pair->share = find_share(pair, i->comm->nranks);
		pair->n_known = pair->n;
	}
	brought = pair->share * (double)comm->before_ns;
	return (double)late_ns > brought ? late_ns - (uint64_t)brought : 0;
}
