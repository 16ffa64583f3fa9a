/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/diff/samples.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/stats.h"
#include "trace/mix.h"
#include "trace/ops.h"

#define FIRST_SHIFT 20u /* size: blocks begin with a millisecond */

static uint64_t key_of(const struct ct_diff_kind *kind)
{
	uint64_t key = ct_mix(kind->comm_hash ^ kind->comm_size);

	key = ct_mix(key ^ kind->size_range);
	key = ct_mix(key ^ kind->op);
	return ct_mix(key ^ ((uint64_t)kind->dtype << 8 | kind->grouped));
}

static struct ct_diff_kind *find(struct ct_diff_samples *samples, const struct ct_diff_kind *like)
{
	return ct_keyed_find(&samples->kinds, key_of(like), like, sizeof(*like));
}

/* Blocks twice as long, half as many. */
static void widen(struct ct_diff_samples *samples)
{
	for (uint32_t k = 0; k < samples->kinds.n; k++) {
		struct ct_diff_kind *kind = samples->kinds.all[k];
		struct ct_diff_block *blocks = kind->blocks;

		if (kind->op == CT_DIFF_SAMPLE)
			continue;
		for (uint32_t b = 0; b < CT_DIFF_BLOCKS; b++) {
			struct ct_diff_block block = blocks[b];

			blocks[b] = (struct ct_diff_block){ 0 };
			blocks[b / 2].log_ns += block.log_ns;
			blocks[b / 2].n += block.n;
		}
	}
	samples->shift++;
}

static int add(struct ct_diff_samples *samples, const struct ct_diff_kind *like, uint64_t at_ns,
	       uint64_t ns, uint64_t err_ns)
{
	struct ct_diff_kind *kind = find(samples, like);
	struct ct_diff_block *block;

	if (!kind)
		return CT_NOMEM;
	if (!samples->shift)
		samples->shift = FIRST_SHIFT;
	while (at_ns >> samples->shift >= CT_DIFF_BLOCKS)
		widen(samples);
	block = &kind->blocks[at_ns >> samples->shift];
	block->log_ns += log((double)ns);
	block->n++;
	kind->err_ns = ct_plus(kind->err_ns, err_ns);
	return CT_OK;
}

/* The largest error of a member's span; CT_UNKNOWN: not all were timed. */
static uint64_t error_of(const struct ct_instance *i)
{
	uint64_t err_ns = 0;

	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		if (!ct_member_is_timed(member))
			return CT_UNKNOWN;
		err_ns = ct_max(err_ns, (uint64_t)member->start_err_ns + member->end_err_ns);
	}
	return err_ns;
}

static int on_instance(void *arg, struct ct_stream *stream, const struct ct_instance_event *event)
{
	const struct ct_instance *i = event->instance;
	const struct ct_member *first = &i->members[0];
	uint64_t ns = event->waits->transfer_ns, err_ns = error_of(i);
	struct ct_diff_kind like = {
		.comm_hash = i->comm->hash,
		.comm_size = i->comm->nranks,
		.size_range = ct_size_range(event->bytes),
		.op = event->class ? event->class->op : first->op,
		.dtype = event->class ? event->class->dtype : first->dtype,
		.grouped = event->class ? event->class->grouped : CT_ALONE,
	};

	if (!event->complete || event->is_skipped || event->contradictory ||
	    event->waits->judged == CT_JUDGED_NOTHING || ns == CT_NO_TRANSFER || !ns ||
	    err_ns == CT_UNKNOWN)
		return CT_OK;
	return add(arg, &like, ct_model_slot_at(&stream->model, first->slot, first->end_ns), ns,
		   err_ns);
}

void ct_diff_samples_observe(struct ct_diff_samples *samples, struct ct_observer *observer)
{
	*observer = (struct ct_observer){ .instance = on_instance, .arg = samples };
}

int ct_diff_samples_add_step(struct ct_diff_samples *samples, uint64_t at_ns, uint64_t ns,
			     uint64_t err_ns)
{
	const struct ct_diff_kind like = { .op = CT_DIFF_STEP };

	return ns ? add(samples, &like, at_ns, ns, err_ns) : CT_OK;
}

int ct_diff_samples_add_rate(struct ct_diff_samples *samples, size_t block, double per_s)
{
	const struct ct_diff_kind like = { .op = CT_DIFF_SAMPLE };
	struct ct_diff_kind *kind = find(samples, &like);

	if (!kind)
		return CT_NOMEM;
	kind->blocks[block] = (struct ct_diff_block){ log(1e9 / per_s), 1 };
	return CT_OK;
}

void ct_diff_samples_fini(struct ct_diff_samples *samples)
{
	ct_keyed_fini(&samples->kinds);
	*samples = (struct ct_diff_samples){ 0 };
}
