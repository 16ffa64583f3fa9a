/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/model/model.h"
#include "analyzer/steps/anchor_spec.h"
#include "analyzer/steps/period.h"
#include "analyzer/steps/step_log.h"
#include "analyzer/stream/instance_log.h"
#include "trace/ops.h"
#include "trace/status.h"

#define MOST_ASKED 4u /* size: ranks beside the reference */

void ct_steps_fini(struct ct_steps *steps)
{
	free(steps->cut_ns);
	free(steps->kept);
	*steps = (struct ct_steps){ 0 };
}

/* ---- cuts ---- */

static uint64_t median_time(const struct ct_steps *c)
{
	uint64_t *times = malloc(((size_t)c->n + 1) * sizeof(*times)), median;

	if (!times)
		return UINT64_MAX;
	for (uint32_t k = 0; k < c->n; k++)
		times[k] = c->cut_ns[k + 1] - c->cut_ns[k];
	qsort(times, c->n, sizeof(*times), ct_by_u64);
	median = times[c->n / 2];
	free(times);
	return median;
}

/* Of the chosen symbols every `every`th occurrence, from `first` on: their indices in the sequence.
 */
static uint32_t pick(const struct ct_sequence *s, const uint8_t *chosen, uint32_t first,
		     uint32_t every, uint32_t *indices)
{
	uint32_t seen = 0, n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		if (!chosen[s->ops[i].symbol])
			continue;
		if (seen >= first && (seen - first) % every == 0)
			indices[n++] = i;
		seen++;
	}
	return n;
}

/* Which step an operation of the sequence is in, by its index. */
static uint32_t step_of_index(const uint32_t *indices, uint32_t n, uint32_t index)
{
	uint32_t from = CT_BISECT(i, 0, n, indices[i] <= index);

	return from ? from - 1 : CT_NO_STEP;
}

/* After how many steps a small operation comes again; 0: not regularly. `last` and `gaps` are space.
 */
static uint32_t recurs_every(uint32_t *gaps, uint32_t n, uint32_t n_steps)
{
	uint32_t near = 0, median;

	if (n + 1 < CT_LEAST_OFTEN)
		return 0;
	qsort(gaps, n, sizeof(*gaps), ct_by_u32);
	median = gaps[n / 2];
	for (uint32_t k = 0; k < n; k++)
		near += gaps[k] == median;
	if (median < 2 || near < CT_RECURRING_ALIKE * n ||
	    (double)(n + 1) * median < CT_MOST * n_steps)
		return 0;
	return median;
}

static void find_recurring(const struct ct_sequence *s, const uint32_t *indices, uint32_t n,
			   uint32_t *gaps, struct ct_steps *c)
{
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < s->n_symbols; k++)
		bytes += s->symbols[k].bytes;
	for (uint32_t k = 0; k < s->n_symbols && c->n_recurring < CT_RECURRING; k++) {
		uint32_t last = CT_NO_STEP, n_gaps = 0, every;

		if (s->symbols[k].partial || s->symbols[k].n < CT_LEAST_OFTEN ||
		    s->symbols[k].n > n ||
		    (double)s->symbols[k].bytes >= CT_ANCHOR_BYTES * (double)bytes)
			continue;
		for (uint32_t i = 0; i < s->n; i++) {
			uint32_t step;

			if (s->ops[i].symbol != k)
				continue;
			step = step_of_index(indices, n, i);
			if (step == last || step == CT_NO_STEP)
				continue;
			if (last != CT_NO_STEP)
				gaps[n_gaps++] = step - last;
			last = step;
		}
		every = recurs_every(gaps, n_gaps, n);
		if (every)
			c->recurring[c->n_recurring++] = (struct ct_recurring){ s->kinds[k], every,
										s->symbols[k].n };
	}
}

/* What the chosen symbols have in common. */
static struct ct_sequence_kind anchor_of(const struct ct_sequence *s, const uint8_t *chosen)
{
	struct ct_sequence_kind kind = { 0 };

	for (uint32_t k = s->n_symbols; k-- > 0;) {
		if (!chosen[k])
			continue;
		if (kind.comm && kind.bytes != s->kinds[k].bytes)
			kind.is_sized = 0;
		else if (!kind.comm)
			kind = s->kinds[k];
	}
	return kind;
}

static int cut(const struct ct_sequence *s, const uint8_t *chosen, uint32_t first, uint32_t every,
	       struct ct_steps *c)
{
	uint32_t *indices = calloc((size_t)s->n + 1, sizeof(*indices));
	uint32_t *gaps = calloc((size_t)s->n + 1, sizeof(*gaps));
	uint32_t n = indices && gaps ? pick(s, chosen, first, every, indices) : 0;
	int st = indices && gaps ? CT_NOTFOUND : CT_NOMEM;

	if (n >= CT_LEAST_OFTEN) {
		c->cut_ns = calloc(n, sizeof(*c->cut_ns));
		st = c->cut_ns ? CT_OK : CT_NOMEM;
	}
	if (st == CT_OK) {
		c->n = n - 1;
		c->by_ends = 1;
		for (uint32_t k = 0; k < n; k++)
			c->by_ends &= s->ops[indices[k]].end_ns != 0;
		for (uint32_t k = 0; k < n; k++)
			c->cut_ns[k] = c->by_ends ? s->ops[indices[k]].end_ns
						  : s->ops[indices[k]].at_ns;
		qsort(c->cut_ns, n, sizeof(*c->cut_ns), ct_by_u64);
		c->err_ns = c->by_ends ? 2 * s->err_ns : CT_UNKNOWN;
		c->anchor = anchor_of(s, chosen);
		c->slot = s->slot;
		c->cut_short = s->cut_short;
		find_recurring(s, indices, n, gaps, c);
		c->median_ns = median_time(c);
		st = c->median_ns == UINT64_MAX ? CT_NOMEM : CT_OK;
	}
	free(indices);
	free(gaps);
	return st;
}

/* ---- what marks them ---- */

/* Symbols that differ by less than a power of two in size become one: onto[symbol]. Returns how
 * many are left, 0: no memory. */
static uint32_t coarsen(const struct ct_sequence *s, uint32_t *onto)
{
	struct ct_table seen = { 0 };
	uint32_t n = 0;

	for (uint32_t k = 0; k < s->n_symbols; k++) {
		const struct ct_sequence_kind *kind = &s->kinds[k];
		uint64_t size = kind->bytes ? 64 - (uint64_t)__builtin_clzll(kind->bytes) : 0;
		uint64_t what = size << 24 | (uint64_t)kind->op << 16 | (uint64_t)kind->dtype << 8 |
				kind->is_sized;
		uint64_t key = ct_mix(
			ct_mix((uint64_t)kind->comm->index << 32 | (uint32_t)kind->peer) ^ what);
		void *known = ct_table_get(&seen, key);

		if (!known) {
			known = (void *)(uintptr_t)(++n);
			if (ct_table_put(&seen, key, known) != CT_OK) {
				n = 0;
				break;
			}
		}
		onto[k] = (uint32_t)((uintptr_t)known - 1);
	}
	ct_table_fini(&seen);
	return n;
}

/* The anchor among symbols that are taken together: onto[symbol] of n. */
static int find_among(const struct ct_sequence *s, const uint32_t *onto, uint32_t n,
		      struct ct_anchor *anchor)
{
	struct ct_anchor_op *ops = malloc(((size_t)s->n + 1) * sizeof(*ops));
	struct ct_anchor_symbol *symbols = calloc((size_t)n + 1, sizeof(*symbols));
	int st = ops && symbols ? CT_OK : CT_NOMEM;

	for (uint32_t i = 0; i < s->n && st == CT_OK; i++) {
		ops[i] = s->ops[i];
		ops[i].symbol = onto[s->ops[i].symbol];
	}
	for (uint32_t k = 0; k < s->n_symbols && st == CT_OK; k++) {
		symbols[onto[k]].n += s->symbols[k].n;
		symbols[onto[k]].bytes += s->symbols[k].bytes;
		symbols[onto[k]].partial |= s->symbols[k].partial;
	}
	st = st ?: ct_anchor_find(ops, s->n, s->n_ops, symbols, n, anchor);
	free(ops);
	free(symbols);
	return st;
}

static int find_anchor(const struct ct_sequence *s, uint8_t *chosen, struct ct_anchor *anchor)
{
	uint32_t *onto = calloc((size_t)s->n_symbols + 1, sizeof(*onto));
	uint32_t n = s->n_symbols;
	int st = onto ? CT_OK : CT_NOMEM;

	for (uint32_t k = 0; k < n && st == CT_OK; k++)
		onto[k] = k;
	st = st ?: find_among(s, onto, n, anchor);
	if (st == CT_NOTFOUND) {
		n = coarsen(s, onto);
		st = n			 ? find_among(s, onto, n, anchor)
		     : n == s->n_symbols ? CT_NOTFOUND
					 : CT_NOMEM;
		/* a step of one operation is recognized by its size, or not at all */
		if (st == CT_OK && anchor->ops < 2)
			st = CT_NOTFOUND;
	}
	for (uint32_t k = 0; k < s->n_symbols && st == CT_OK; k++)
		chosen[k] = onto[k] == anchor->symbol;
	free(onto);
	return st;
}

/* Where one operation comes alone, again and again (tensor parallelism without anything else of
 * weight), its order says nothing of steps. Its times may: forward and backward passes take turns. */
static int join_by_times(const struct ct_sequence *s, const uint8_t *chosen, struct ct_steps *c)
{
	uint64_t *times = malloc(((size_t)c->n + 1) * sizeof(*times));
	uint32_t parts, first;

	if (!times)
		return CT_NOMEM;
	for (uint32_t k = 0; k < c->n; k++)
		times[k] = c->cut_ns[k + 1] - c->cut_ns[k];
	parts = ct_period_of_parts(times, c->n, c->median_ns, &first);
	free(times);
	c->may_be_parts = parts == 0;
	if (parts < 2)
		return CT_OK;
	ct_steps_fini(c);
	return cut(s, chosen, first, parts, c);
}

static int try_sequence(const struct ct_sequence *s, const char *wanted, struct ct_steps *c)
{
	uint8_t *chosen = calloc((size_t)s->n_symbols + 1, 1);
	struct ct_anchor anchor = { .every = 1 };
	int st = chosen ? CT_OK : CT_NOMEM;

	if (st == CT_OK && wanted)
		st = ct_anchor_spec_choose(s, wanted, chosen) ? CT_OK : CT_NOTFOUND;
	else if (st == CT_OK)
		st = find_anchor(s, chosen, &anchor);
	st = st ?: cut(s, chosen, anchor.first, anchor.every, c);
	if (st == CT_OK && !wanted && anchor.every == 1 && anchor.ops <= CT_STEP_OPS)
		st = join_by_times(s, chosen, c);
	free(chosen);
	return st;
}

/* ---- steps that the program shows ---- */

/* Of the first operation at or after each cut, its index; of none, the end. */
static void indices_of_cuts(const struct ct_sequence *s, const struct ct_steps *c,
			    uint32_t *indices)
{
	uint32_t at = 0;

	for (uint32_t k = 0; k <= c->n; k++) {
		while (at < s->n && s->ops[at].at_ns < c->cut_ns[k])
			at++;
		indices[k] = at;
	}
}

/* A program that marks a few steps only, while a profiler runs, does not show what the steps of the
 * run are. */
static int covers(const struct ct_sequence *s, const uint64_t *cut_ns, uint32_t n)
{
	uint32_t within = 0;

	for (uint32_t i = 0; i < s->n; i++)
		within += s->ops[i].at_ns >= cut_ns[0] && s->ops[i].at_ns < cut_ns[n - 1];
	return within && within >= CT_MOST * s->n;
}

static int try_markers(const struct ct_model *model, const struct ct_step_log *step_log,
		       struct ct_steps *c)
{
	const struct ct_sequence *s = &step_log->sequence;
	uint32_t *indices, *gaps, n = 0;
	uint64_t *cut_ns = NULL;
	const char *name = NULL;
	int st = ct_markers_cut(&step_log->markers, &cut_ns, &n, &name);

	if (st == CT_OK && !covers(s, cut_ns, n)) {
		free(cut_ns);
		st = CT_NOTFOUND;
	}
	if (st != CT_OK)
		return st;
	c->cut_ns = cut_ns;
	c->marker = name;
	c->n = n - 1;
	c->slot = s->slot;
	c->err_ns = 2 * model->run->processes[model->slots[s->slot].process].id.clock_res_ns;
	c->cut_short = step_log->markers.cut_short || s->cut_short;
	indices = calloc((size_t)n + 1, sizeof(*indices));
	gaps = calloc((size_t)s->n + 1, sizeof(*gaps));
	if (indices && gaps) {
		indices_of_cuts(s, c, indices);
		find_recurring(s, indices, n, gaps, c);
		c->median_ns = median_time(c);
	}
	st = indices && gaps && c->median_ns != UINT64_MAX ? CT_OK : CT_NOMEM;
	free(indices);
	free(gaps);
	return st;
}

/* ---- whose operations ---- */

/* The lowest rank of the largest communicator; of equally large ones, of that with most operations.
 */
static uint32_t reference(const struct ct_model *model, const struct ct_step_log *step_log)
{
	const struct ct_comm *largest = NULL;

	for (uint32_t c = 0; c < model->comms.n; c++) {
		const struct ct_comm *comm = model->comms.all[c];

		if (!comm->n_known || comm->shared_slot || comm->clash)
			continue;
		if (!largest || comm->n_known > largest->n_known ||
		    (comm->n_known == largest->n_known && comm->instances > largest->instances))
			largest = comm;
	}
	for (uint32_t r = 0; largest && r < largest->nranks; r++) {
		if (largest->slots[r])
			return largest->slots[r] - 1;
	}
	return step_log->sequence.slot;
}

/* What another rank did, as far as it is on the log; only if that holds all of the run. */
static int from_log(const struct ct_instance_log *log, uint32_t slot, struct ct_sequence *s)
{
	ct_sequence_init(s, slot, 0);
	for (uint32_t k = log->slot_first[slot]; k < log->slot_first[slot + 1]; k++) {
		const struct ct_log_part *part = &log->parts[log->order[k]];
		const struct ct_log_instance *i = &log->instances[part->instance];
		const struct ct_call_seen call = {
			.comm = i->comm,
			.op = i->op,
			.dtype = i->dtype,
			.peer = i->src < 0    ? -1
				: part->index ? i->src
					      : i->dst,
			.bytes = i->count == UINT64_MAX ? UINT64_MAX
							: i->count * ct_dtype_bytes(i->dtype),
			.varies = i->varying,
			.at_ns = part->enter_ns,
			.end_ns = part->end_ns,
			.err_ns = part->err_ns,
		};

		if (ct_sequence_add(s, &call) != CT_OK)
			return CT_NOMEM;
	}
	ct_sequence_close(s);
	return CT_OK;
}

static int try_slot(const struct ct_instance_log *log, const struct ct_step_log *step_log,
		    uint32_t slot, const char *wanted, struct ct_steps *c)
{
	struct ct_sequence s;
	int st;

	if (slot == step_log->sequence.slot)
		return try_sequence(&step_log->sequence, wanted, c);
	if (log->sample.one_of > 1 || slot >= log->n_slots)
		return CT_NOTFOUND;
	st = from_log(log, slot, &s);
	st = st ?: try_sequence(&s, wanted, c);
	ct_sequence_fini(&s);
	return st;
}

static const char *why_not(const struct ct_step_log *step_log)
{
	if (!step_log->sequence.n_ops)
		return "no operation of several ranks to cut the run by";
	if (step_log->sequence.n_ops < CT_LEAST_OFTEN)
		return "too few operations to cut the run by";
	return "no operation comes again at regular distances; --step-anchor names one";
}

static int find(const struct ct_model *model, const struct ct_instance_log *log,
		const struct ct_step_log *step_log, const char *wanted, struct ct_arena *memory,
		struct ct_steps *c)
{
	uint32_t first = reference(model, step_log), asked = 0;
	int st;

	*c = (struct ct_steps){ 0 };
	st = wanted ? CT_NOTFOUND : try_markers(model, step_log, c);
	if (st == CT_NOTFOUND)
		st = try_slot(log, step_log, first, wanted, c);
	if (st == CT_NOTFOUND && first != step_log->sequence.slot)
		st = try_slot(log, step_log, step_log->sequence.slot, wanted, c);
	/* every quarter of the ranks */
	for (; st == CT_NOTFOUND && asked < MOST_ASKED; asked++)
		st = try_slot(log, step_log,
			      (uint32_t)((uint64_t)model->n_slots * (asked + 1) / (MOST_ASKED + 1)),
			      wanted, c);
	if (st != CT_NOTFOUND)
		return st;
	ct_steps_fini(c);
	if (!wanted) {
		c->why = why_not(step_log);
		return CT_OK;
	}
	c->why = ct_anchor_spec_others(&step_log->sequence, wanted, memory);
	return c->why ? CT_NOTFOUND : CT_NOMEM;
}

/* Steps that lie in a stretch that is kept, from its beginning to its end. */
int ct_steps_keep(struct ct_steps *c, const struct ct_instance_log *log)
{
	free(c->kept);
	c->n_kept = 0;
	c->kept = calloc((size_t)c->n + 1, sizeof(*c->kept));
	if (!c->kept)
		return CT_NOMEM;
	for (uint32_t k = 0; k < c->n; k++) {
		c->kept[k] = ct_sample_keeps(&log->sample, c->cut_ns[k]) &&
			     ct_sample_stretch(&log->sample, c->cut_ns[k]) ==
				     ct_sample_stretch(&log->sample, c->cut_ns[k + 1]);
		c->n_kept += c->kept[k];
	}
	return CT_OK;
}

int ct_steps_find(const struct ct_model *model, const struct ct_instance_log *log,
		  const struct ct_step_log *step_log, const char *wanted, struct ct_arena *memory,
		  struct ct_steps *c)
{
	int st = find(model, log, step_log, wanted, memory, c);

	return st == CT_OK ? ct_steps_keep(c, log) : st;
}

void ct_steps_skip(struct ct_steps *c, uint32_t skipped)
{
	c->first += skipped;
	c->n -= skipped;
	memmove(c->cut_ns, c->cut_ns + skipped, ((size_t)c->n + 1) * sizeof(*c->cut_ns));
	c->median_ns = median_time(c);
}

int ct_steps_hide(const struct ct_steps *c, double share, double *kept_ns, double *others_ns)
{
	double n[2] = { 0 }, sum[2] = { 0 }, squares = 0, mean, others;

	for (uint32_t k = 0; k < c->n; k++) {
		double time = (double)(c->cut_ns[k + 1] - c->cut_ns[k]);

		n[c->kept[k]]++;
		sum[c->kept[k]] += time;
		squares += c->kept[k] ? time * time : 0;
	}
	if (n[0] < 1 || n[1] < 2)
		return 0;
	*others_ns = others = sum[0] / n[0];
	*kept_ns = mean = sum[1] / n[1];
	return others - mean > share * mean + 2 * sqrt((squares / n[1] - mean * mean) / n[1]);
}

uint32_t ct_step_at(const struct ct_steps *c, uint64_t at_ns)
{
	uint32_t from = 0, to = c->n;

	if (!c->n || at_ns < c->cut_ns[0] || at_ns >= c->cut_ns[c->n])
		return CT_NO_STEP;
	while (to - from > 1) {
		uint32_t middle = from + (to - from) / 2;

		if (c->cut_ns[middle] <= at_ns)
			from = middle;
		else
			to = middle;
	}
	return from;
}
