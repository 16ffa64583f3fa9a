/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/stats.h"
#include "analyzer/stream/judge_private.h"
#include "trace/ops.h"

/* Were all its members timed? Ranks that time more than others do (sampling, budget) would weigh
 * more in the figures of a class; of an instance that lacks members that is unknown. */
int ct_judge_timed_by_all(const struct ct_instance *i, int complete)
{
	for (uint32_t m = 0; m < i->n && complete; m++)
		if (!ct_member_is_timed(&i->members[m]))
			return 0;
	return 1;
}

int ct_judge_add_span(struct ct_stream *stream, struct ct_class *class, const struct ct_member *m)
{
	uint64_t err = (uint64_t)m->start_err_ns + m->end_err_ns;

	if (!ct_member_is_timed(m))
		return CT_OK;
	if (ct_hist_add(&stream->model.time_err, err) != CT_OK)
		return CT_NOMEM;
	class->time_err_ns = err > class->time_err_ns ? err : class->time_err_ns;
	stream->model.time_err_ns = err > stream->model.time_err_ns ? err
								    : stream->model.time_err_ns;
	return ct_hist_add(&class->span, m->end_ns - m->start_ns);
}

int ct_judge_add_transfer(struct ct_class *class, uint64_t bytes, uint64_t transfer_ns)
{
	int st = ct_hist_add(&class->transfer, transfer_ns);

	if (st == CT_OK && transfer_ns && bytes && bytes != CT_UNKNOWN &&
	    class->op != CT_OP_GraphLaunch)
		st = ct_hist_add(&class->algbw, ct_Bps(bytes, transfer_ns));
	return st;
}

/* Where the host times, several operations may end in one call (MPI_Sendrecv, MPI_Waitall), and
 * what was waited there several of them waited. */
static int shares_wait(const struct ct_member *m)
{
	return m->asked_ns && (m->posted || ct_op_class(m->op) == CT_CLASS_P2P);
}

/* A figure across hosts has the error of their clocks beside its own. */
static void note_clocks(const struct ct_stream *stream, struct ct_class *class,
			const struct ct_member *m)
{
	uint64_t err = (uint64_t)m->start_err_ns + m->end_err_ns + stream->waits.clock_err_ns;

	if (stream->waits.clock_err_ns && err > class->time_err_ns)
		class->time_err_ns = err;
}

/* Waits and transfer of an instance: on one clock, or on several that are related where it needs
 * that. */
int ct_judge_waits(struct ct_stream *stream, const struct ct_instance *i, uint64_t skew_ns)
{
	int related = ct_align(stream->model.starts->clocks, i, stream->model.host_of,
			       stream->model.n_slots, &stream->aligned);
	int st;

	if (related < 0)
		return related;
	if (!related)
		return ct_waits_judge(i, stream->model.host_of, skew_ns, &stream->waits);
	st = ct_waits_judge(&stream->aligned.instance, stream->aligned.hosts, skew_ns,
			    &stream->waits);
	if (st == CT_OK)
		ct_align_doubt(i, &stream->aligned, &stream->waits);
	return st;
}

/* The rank whose new waits are handed on. */
struct waiter {
	struct ct_stream *stream;
	uint32_t slot;
};

static int hand_on(void *arg, uint64_t begin_ns, uint64_t end_ns)
{
	const struct waiter *w = arg;

	return ct_observe_waited(w->stream, w->slot, begin_ns, end_ns);
}

/* Waits of one member, into its class and its rank's sums. */
int ct_judge_add_wait(struct ct_stream *stream, struct ct_class *class, const struct ct_member *m,
		      uint64_t wait_ns)
{
	struct ct_rank_state *slot = &stream->model.slots[m->slot];
	uint64_t from = m->posted && m->asked_ns > m->start_ns ? m->asked_ns : m->start_ns;
	uint64_t before_ns = slot->waited.total, until = from + wait_ns;
	struct waiter waiter = { stream, m->slot };

	from = ct_stream_clip(stream, m->slot, from);
	if (from <= until &&
	    ct_union_add_each(&slot->waited, from, until, hand_on, &waiter) != CT_OK)
		return CT_NOMEM;
	note_clocks(stream, class, m);
	class->wait_ns += shares_wait(m) ? slot->waited.total - before_ns : wait_ns;
	slot->judged++;
	/* A wait is a difference of two spans. */
	slot->err_ns += 2 * ((uint64_t)m->start_err_ns + m->end_err_ns) +
			stream->waits.clock_err_ns;
	return CT_OK;
}
