/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a stream that deals with instances: from matched members to sums. */
#include "analyzer/stream/judge_private.h"

static void drop_groups(struct ct_stream *stream, const struct ct_instance *i)
{
	for (uint32_t m = 0; m < i->n; m++) {
		if (i->members[m].group)
			ct_group_drop(&stream->groups, i->members[m].group);
	}
}

/* Where related clocks stand at the time of this instance. */
static void set_shifts(struct ct_stream *stream, const struct ct_instance *i)
{
	const struct ct_clocks *clocks = stream->model.starts->clocks;
	uint32_t last = UINT32_MAX;

	for (uint32_t m = 0; m < i->n && clocks; m++) {
		uint32_t host = stream->model.host_of[i->members[m].slot];
		uint64_t at = i->members[m].end_ns ? i->members[m].end_ns : i->members[m].enter_ns;

		if (host != last && host != ct_clocks_reference(clocks))
			stream->model.shift[host] = ct_clocks_shift(clocks, host, at,
								    stream->model.shift);
		last = host;
	}
}

/* A reading for callers that need what was matched and nothing else. */
static int hand_on(struct ct_stream *stream, const struct ct_instance *i, int complete)
{
	const struct ct_member *usual;
	int odd = i->src == -1 ? ct_mismatch_check(&stream->order.mismatches, i, &usual) : 0;
	int wanted = complete && !odd && i->n >= 2 && i->src != CT_SRC_EXCHANGE &&
		     ct_judge_timed_by_all(i, complete) && ct_judge_is_comparable(i);

	if (odd < 0)
		return odd;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		wanted &= !member->captured && !member->alone;
		/* collectives that share a launch have its times: one of them shows it */
		if (member->group && i->src == -1)
			wanted &= member->leads && ct_group_shared(i) != NULL;
	}
	return wanted ? ct_observe_matched(stream, i) : CT_OK;
}

/* An instance belongs to where its last member came, as in lateness/step_blame.h. */
static int is_skipped(const struct ct_stream *stream, const struct ct_instance *i)
{
	uint32_t m = 0;

	while (m < i->n && ct_stream_skips_member(stream, &i->members[m]))
		m++;
	return m == i->n;
}

int ct_judge(void *arg, struct ct_instance *i, int complete)
{
	struct ct_stream *stream = arg;
	struct ct_instance_event event = {
		.instance = i,
		.complete = complete,
		.waits = &stream->waits,
	};
	int st;

	if (stream->options.only_matched) {
		st = hand_on(stream, i, complete);
		drop_groups(stream, i);
		return st;
	}
	set_shifts(stream, i);
	event.is_skipped = is_skipped(stream, i);

	stream->waits.judged = CT_JUDGED_NOTHING;
	if (i->src != CT_SRC_EXCHANGE) {
		i->comm->instances++;
		/* where blocks are left out, the members in them are */
		if (!complete && !(event.is_skipped && stream->options.from)) {
			i->comm->incomplete++;
			stream->model.incomplete++;
		}
	}
	if (i->src >= 0)
		st = ct_judge_message(stream, &event);
	else if (i->src == CT_SRC_EXCHANGE)
		st = ct_judge_exchange(stream, &event);
	else
		st = ct_judge_collective(stream, &event);
	if (i->src < 0 && event.class && stream->waits.judged == CT_JUDGED_WAITS)
		ct_waits_last(i, &stream->waits, &event.last);
	st = st ?: ct_observe_instance(stream, &event);
	if (event.class && stream->waits.judged == CT_JUDGED_WAITS)
		ct_judge_met(stream, i);
	i->comm->met |= event.is_skipped && complete;
	/* Not before all members were looked at: they look at each other's groups. */
	drop_groups(stream, i);
	return st;
}
