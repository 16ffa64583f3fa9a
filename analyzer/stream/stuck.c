/* SPDX-License-Identifier: Apache-2.0 */
/* Of the operations that had not ended: which of them are not an ordinary part of a run that
 * continues? */
#include "analyzer/base/limits.h"
#include "analyzer/stream/stream_private.h"

/* What operations of this name on its communicator, or all of them, do not take. 0: there is none
 * with a time. */
static uint64_t unusual_ns(const struct ct_model *model, const struct ct_unreturned *u,
			   int of_its_like)
{
	uint64_t p99 = 0, longest = 0;

	for (uint32_t i = 0; i < model->classes.n; i++) {
		const struct ct_class *class = model->classes.all[i];
		uint64_t q;

		if (!class->span.n ||
		    (of_its_like && (class->comm != u->comm || class->op != u->op.op)))
			continue;
		q = ct_hist_quantile(&class->span, 0.99);
		p99 = q > p99 ? q : p99;
		longest = class->span.max > longest ? class->span.max : longest;
	}
	return ct_hist_unusual(p99, longest);
}

/* Since when its process has recorded nothing but heartbeats. */
static uint64_t silence_ns(const struct ct_model *model, const struct ct_unreturned *u)
{
	const struct ct_process_facts *facts = &model->processes[u->process].facts;

	return facts->beat_ns > facts->last_ns ? facts->beat_ns - facts->last_ns : 0;
}

static enum ct_stuck stuck_of(const struct ct_model *model, const struct ct_unreturned *u)
{
	uint64_t age = ct_model_age(model, u), limit, silence;

	if (age > model->run->processes[u->process].id.hang_after_ns)
		return CT_STUCK_LATE;
	if (age <= CT_STUCK_NS)
		return CT_STUCK_NOT;
	limit = u->launched || !u->comm ? 0 : unusual_ns(model, u, 1);
	if (limit)
		return age > limit ? CT_STUCK_UNUSUAL : CT_STUCK_NOT;
	/* A launch waits for those before it, and a thread may listen all the time: while its
	 * process goes on with other operations, that it is under way means nothing. */
	silence = silence_ns(model, u);
	return silence > CT_STUCK_NS && silence > unusual_ns(model, u, 0) ? CT_STUCK_UNUSUAL
									  : CT_STUCK_NOT;
}

static int is_in_call(const struct ct_model *model, uint32_t process)
{
	for (uint32_t i = 0; i < model->n_unreturned; i++) {
		if (model->unreturned[i].is_call && model->unreturned[i].process == process)
			return 1;
	}
	return 0;
}

/* Work that was begun is under way in every run that still goes on, or that was killed: of it only
 * what is late, or what its rank perhaps waited for. */
static void forget_young_launches(struct ct_model *model)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < model->n_unreturned; i++) {
		const struct ct_unreturned *u = &model->unreturned[i];

		if (!u->launched || (u->by_host && is_in_call(model, u->process)) ||
		    u->stuck != CT_STUCK_NOT)
			model->unreturned[n++] = *u;
	}
	model->n_unreturned = n;
}

void ct_stream_settle_unreturned(struct ct_stream *stream)
{
	struct ct_model *model = &stream->model;

	for (uint32_t i = 0; i < model->n_unreturned; i++)
		model->unreturned[i].stuck = stuck_of(model, &model->unreturned[i]);
	forget_young_launches(model);
	/* An op without return kept its rank busy up to the last heartbeat, and the run lasted as
	 * long. */
	for (uint32_t i = 0; i < model->n_unreturned; i++) {
		const struct ct_unreturned *u = &model->unreturned[i];
		uint64_t start = model->run->processes[u->process].id.start_ns;
		uint64_t until = u->op.enter_ns + ct_model_age(model, u);

		if (u->launched)
			continue;
		ct_stream_busy(stream, &model->slots[u->slot], u->op.enter_ns, until);
		if (until > start && until - start > model->end_ns)
			model->end_ns = until - start;
	}
}
