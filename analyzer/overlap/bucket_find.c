/* SPDX-License-Identifier: Apache-2.0 */
/* bucket_find.c — which operations are gradient buckets, and when they ran. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/table.h"
#include "analyzer/overlap/buckets.h"
#include "analyzer/overlap/exposures.h"
#include "analyzer/stream/instance_log.h"
#include "trace/ops.h"
#include "trace/status.h"

/* size: looked at: members, and steps of each. */
#define MOST_MEMBERS 4u
#define MOST_STEPS 64u

/* One operation that may be a bucket. */
struct candidate {
	uint32_t instance, step;
};

/* Those of one step: from first on, n of them. */
struct sequence {
	uint32_t first, n;
	uint64_t hash; /* of their sizes */
};

struct finder {
	const struct ct_instance_log *log;
	const struct ct_exposures *stalls;
	const uint8_t *waits_known;
	struct candidate *all;
	uint32_t n;
	struct sequence *sequences;
	uint64_t *samples[6]; /* LAST .. UNTIL */
	uint32_t n_samples;
};
enum { LAST, BUSY, WINDOW, IDLE, EXPOSED, UNTIL };

static int may_be_bucket(const struct ct_instance_log *log, const struct ct_log_instance *i)
{
	if ((i->op != CT_OP_AllReduce && i->op != CT_OP_ReduceScatter) || i->src >= 0 ||
	    i->bytes < CT_BUCKET_BYTES || i->bytes == UINT64_MAX ||
	    i->transfer_ns == CT_NO_TRANSFER || i->n < 2)
		return 0;
	return !log->parts[i->first_part].group && log->parts[i->first_part].on_gpu;
}

static int in_order(const void *a, const void *b, void *arg)
{
	const struct ct_log_instance *all = arg;
	const struct candidate *x = a, *y = b;
	const struct ct_log_instance *i = &all[x->instance], *k = &all[y->instance];

	return CT_CMP(i->comm->index, k->comm->index) ?: CT_CMP(i->op, k->op) ?:
	       CT_UP(step) ?: CT_CMP(i->seq, k->seq);
}

static const struct ct_log_instance *at(const struct finder *f, uint32_t candidate)
{
	return &f->log->instances[f->all[candidate].instance];
}

/* ---- the sequence that most steps have ---- */

/* Cut [first, end), all of one communicator and kind, into steps. */
static uint32_t cut(struct finder *f, uint32_t first, uint32_t end)
{
	uint32_t n = 0;

	for (uint32_t i = first; i < end; i++) {
		struct sequence *s = n ? &f->sequences[n - 1] : NULL;

		if (!s || f->all[s->first].step != f->all[i].step) {
			s = &f->sequences[n++];
			*s = (struct sequence){ .first = i };
		}
		s->n++;
		s->hash = ct_mix(s->hash ^ at(f, i)->bytes) + s->n;
	}
	return n;
}

CT_SORT_BY(by_hash, struct sequence, CT_UP(hash) ?: CT_UP(first))

/* The longest run of equal ones of the sorted sequences; its length. */
static uint32_t most_frequent(const struct finder *f, uint32_t n, uint32_t *first)
{
	uint32_t most = 0;

	for (uint32_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && f->sequences[k].hash == f->sequences[i].hash; k++)
			;
		if (k - i > most) {
			most = k - i;
			*first = i;
		}
	}
	return most;
}

static int is_of_several_sizes(const struct finder *f, const struct sequence *s)
{
	for (uint32_t i = 1; i < s->n; i++)
		if (at(f, s->first + i)->bytes != at(f, s->first)->bytes)
			return 1;
	return 0;
}

/* ---- one rank in one step ---- */

static const struct ct_log_part *part_of(const struct finder *f, uint32_t candidate, uint32_t slot)
{
	const struct ct_log_instance *i = at(f, candidate);

	for (uint32_t p = 0; p < i->n; p++)
		if (f->log->parts[i->first_part + p].slot == slot)
			return &f->log->parts[i->first_part + p];
	return NULL;
}

/* When between begin and end the rank waited for the communicator: the length, its error, and the
 * first time. */
static uint64_t waited_ns(const struct finder *f, uint32_t slot, uint32_t comm, uint64_t begin,
			  uint64_t end, uint64_t *first, uint64_t *err)
{
	const struct ct_exposures *stalls = f->stalls;
	uint32_t last = stalls->slot_first[slot + 1];
	uint32_t low = CT_BISECT(i, stalls->slot_first[slot], last,
				 stalls->all[i].begin_ns < begin);
	uint64_t reached = begin, sum = 0;

	*first = 0;
	*err = 0;
	for (; low < last && stalls->all[low].begin_ns < end; low++) {
		const struct ct_exposure *s = &stalls->all[low];
		uint64_t from = s->begin_ns > reached ? s->begin_ns : reached;

		if (s->comm != comm || !s->is_known || s->end_ns <= from)
			continue;
		*first = *first ? *first : s->begin_ns;
		*err += s->err_ns;
		sum += s->end_ns - from;
		reached = s->end_ns;
	}
	return sum;
}

static void sample(struct finder *f, const struct sequence *s, uint32_t slot, uint64_t *err_sum)
{
	const struct ct_log_part *before = NULL, *first = part_of(f, s->first, slot);
	uint64_t idle = 0, busy = 0, exposed, stall, err;
	uint32_t k = f->n_samples;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct ct_log_part *p = part_of(f, s->first + i, slot);

		if (!p || !p->start_ns)
			return;
		if (before && p->start_ns > before->end_ns)
			idle += p->start_ns - before->end_ns;
		busy += at(f, s->first + i)->transfer_ns;
		before = p;
	}
	if (!ct_exposures_keep(f->stalls, first->start_ns, before->end_ns))
		return;
	exposed = waited_ns(f, slot, at(f, s->first)->comm->index, first->start_ns, before->end_ns,
			    &stall, &err);
	f->samples[LAST][k] = at(f, s->first + s->n - 1)->transfer_ns;
	f->samples[BUSY][k] = busy;
	f->samples[WINDOW][k] = before->end_ns - first->start_ns;
	f->samples[IDLE][k] = idle;
	f->samples[EXPOSED][k] = exposed;
	f->samples[UNTIL][k] = (stall ? stall : before->end_ns) - first->start_ns;
	f->n_samples++;
	*err_sum += err;
}

static uint64_t median(const struct finder *f, int of)
{
	ct_sort(f->samples[of], f->n_samples, sizeof(**f->samples), ct_by_u64);
	return f->samples[of][f->n_samples / 2];
}

/* ---- one communicator ---- */

static void take_samples(struct finder *f, const struct sequence *all, uint32_t n,
			 struct ct_buckets *b)
{
	const struct ct_log_instance *one = at(f, all[0].first);
	uint32_t step = one->n > MOST_MEMBERS ? one->n / MOST_MEMBERS : 1;
	uint32_t stride = n / MOST_STEPS + 1;
	uint64_t err = 0;

	f->n_samples = 0;
	for (uint32_t m = 0, used = 0; m < one->n && used < MOST_MEMBERS; m += step) {
		uint32_t slot = f->log->parts[one->first_part + m].slot;

		if (!f->waits_known[slot])
			continue;
		used++;
		for (uint32_t s = 0; s < n; s += stride)
			sample(f, &all[s], slot, &err);
	}
	if (!f->n_samples)
		return;
	b->last_ns = median(f, LAST);
	b->busy_ns = median(f, BUSY);
	b->window_ns = median(f, WINDOW);
	b->idle_ns = median(f, IDLE);
	b->exposed_ns = median(f, EXPOSED);
	b->until_stall_ns = median(f, UNTIL);
	b->exposed_err_ns = err / f->n_samples;
}

/* A member whose waits are known; NULL: none. */
static const struct ct_log_part *part_with_waits(const struct finder *f, uint32_t candidate)
{
	const struct ct_log_instance *i = at(f, candidate);

	for (uint32_t p = 0; p < i->n; p++)
		if (f->waits_known[f->log->parts[i->first_part + p].slot])
			return &f->log->parts[i->first_part + p];
	return NULL;
}

/* Is the candidate the first of a backward pass? The one before it was waited for until it ended,
 * and then nothing was reduced for a while. */
static int begins(const struct finder *f, uint32_t candidate)
{
	const struct ct_log_part *p = part_with_waits(f, candidate);
	const struct ct_log_part *before = p ? part_of(f, candidate - 1, p->slot) : NULL;
	uint64_t first, err;

	if (!before || p->start_ns < before->end_ns + CT_GAP_LAUNCH_NS)
		return 0;
	return waited_ns(f, p->slot, at(f, candidate)->comm->index, before->start_ns,
			 before->end_ns, &first, &err) > 0;
}

/* Steps may be cut at any of their operations. Let the sequences begin where backward passes do,
 * and reach as far into the next step. Kept are those of `hash` that another one follows; none if
 * it does not show where they begin. */
static uint32_t turn(struct finder *f, uint32_t n, uint64_t hash)
{
	uint64_t *firsts = f->samples[IDLE], most = 0;
	uint32_t kept = 0, by = 0, size = 0, looked = 0, stride;

	for (uint32_t i = 0; i + 1 < n; i++) {
		const struct sequence *s = &f->sequences[i], *next = s + 1;

		if (s->hash == hash && next->hash == hash &&
		    f->all[next->first].step == f->all[s->first].step + 1)
			f->sequences[kept++] = *s;
	}
	if (kept)
		size = f->sequences[0].n;
	memset(firsts, 0, size * sizeof(*firsts));
	stride = kept / MOST_STEPS + 1;
	for (uint32_t i = 0; i < kept; i += stride, looked++)
		for (uint32_t k = 1; k <= size; k++)
			firsts[k % size] += (uint64_t)begins(f, f->sequences[i].first + k);
	for (uint32_t k = 0; k < size; k++) {
		if (firsts[k] > most) {
			most = firsts[k];
			by = k;
		}
	}
	for (uint32_t i = 0; i < kept; i++)
		f->sequences[i].first += by;
	return 2 * most > looked ? kept : 0;
}

static int look_at(struct finder *f, uint32_t first, uint32_t end, struct ct_buckets *b)
{
	const struct ct_log_instance *i = at(f, first);
	uint32_t n = cut(f, first, end), from = 0, alike;
	const struct sequence *s;
	uint64_t hash;

	ct_sort(f->sequences, n, sizeof(*f->sequences), by_hash);
	alike = most_frequent(f, n, &from);
	s = &f->sequences[from];
	hash = s->hash;
	if (alike < CT_FEW_SAMPLES || alike < CT_MOST * n || s->n < 2 || s->n > CT_BUCKETS_MOST ||
	    !is_of_several_sizes(f, s))
		return 0;
	*b = (struct ct_buckets){ .comm = i->comm, .op = i->op, .n = s->n, .steps = alike };
	n = turn(f, cut(f, first, end), hash);
	if (!n)
		return 0;
	s = &f->sequences[0];
	b->factor = ct_op_bus_factor(i->op, i->comm->nranks);
	for (uint32_t k = 0; k < s->n; k++) {
		b->bytes[k] = at(f, s->first + k)->bytes;
		b->total_bytes += b->bytes[k];
	}
	take_samples(f, s, n, b);
	return f->n_samples > 0;
}

static int gather(struct finder *f, const uint32_t *step_of)
{
	const struct ct_instance_log *log = f->log;
	uint32_t most = MOST_MEMBERS * (MOST_STEPS + 1) + CT_BUCKETS_MOST;
	int failed = 0;

	f->all = calloc((size_t)log->n_instances + 1, sizeof(*f->all));
	if (!f->all)
		return CT_NOMEM;
	for (uint32_t i = 0; i < log->n_instances; i++)
		if (step_of[i] != CT_NO_STEP && may_be_bucket(log, &log->instances[i]))
			f->all[f->n++] = (struct candidate){ .instance = i, .step = step_of[i] };
	ct_sort_r(f->all, f->n, sizeof(*f->all), in_order, log->instances);
	f->sequences = calloc((size_t)f->n + 1, sizeof(*f->sequences));
	for (int k = 0; k < 6; k++) {
		f->samples[k] = calloc(most, sizeof(**f->samples));
		failed |= !f->samples[k];
	}
	return f->sequences && !failed ? CT_OK : CT_NOMEM;
}

int ct_buckets_each(const struct ct_instance_log *log, const struct ct_exposures *stalls,
		    const uint32_t *step_of, const uint8_t *waits_known, ct_buckets_fn each,
		    void *arg)
{
	struct finder f = { .log = log, .stalls = stalls, .waits_known = waits_known };
	struct ct_buckets *b = calloc(1, sizeof(*b));
	int st = b ? gather(&f, step_of) : CT_NOMEM;

	for (uint32_t i = 0, k; st == CT_OK && i < f.n; i = k) {
		for (k = i; k < f.n && at(&f, k)->comm == at(&f, i)->comm &&
			    at(&f, k)->op == at(&f, i)->op;
		     k++)
			;
		if (look_at(&f, i, k, b))
			st = each(arg, b);
	}
	for (int k = 0; k < 6; k++)
		free(f.samples[k]);
	free(f.sequences);
	free(f.all);
	free(b);
	return st;
}
