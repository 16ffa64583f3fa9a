/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a pass that deals with instances: from matched members to sums. */
#include "analyzer/stream/judge_private.h"

static void drop_groups(struct ct_pass *pass, const struct ct_instance *i)
{
	for (uint32_t m = 0; m < i->n; m++) {
		if (i->members[m].group)
			ct_group_drop(&pass->groups, i->members[m].group);
	}
}

/* Is it told by another instance: a message by the exchange of all with all that it is a part of, what was captured by
 * the launches of its graph? */
static int is_told_elsewhere(const struct ct_instance *i)
{
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_group *g = i->members[m].group;

		if (i->members[m].captured ||
		    (i->src >= 0 && g && g->shape.kind == CT_GROUP_EXCHANGE))
			return 1;
	}
	return 0;
}

static int keep_on_tape(struct ct_pass *pass, const struct ct_instance *i)
{
	if (pass->blame.in_set || is_told_elsewhere(i) ||
	    (i->src == CT_SRC_EXCHANGE && i->members[0].group->shape.kind != CT_GROUP_EXCHANGE))
		return CT_OK;
	return ct_tape_add(&pass->tape, i, &pass->waits, pass->host_of, pass->shift);
}

/* Where related clocks stand at the time of this instance. */
static void set_shifts(struct ct_pass *pass, const struct ct_instance *i)
{
	const struct ct_clocks *clocks = pass->attempts->clocks;
	uint32_t last = UINT32_MAX;

	for (uint32_t m = 0; m < i->n && clocks; m++) {
		uint32_t host = pass->host_of[i->members[m].seat];
		uint64_t at = i->members[m].end_ns ? i->members[m].end_ns : i->members[m].enter_ns;

		if (host != last && host != ct_clocks_reference(clocks))
			pass->shift[host] = ct_clocks_shift(clocks, host, at, pass->shift);
		last = host;
	}
}

/* A reading for somebody who wants to see what was matched and nothing else. */
static int hand_on(struct ct_pass *pass, const struct ct_instance *i, int complete)
{
	const struct ct_member *usual;
	int odd = i->src == -1 ? ct_mismatch_check(&pass->mismatches, i, &usual) : 0;
	int wanted = complete && !odd && i->n >= 2 && i->src != CT_SRC_EXCHANGE &&
		     ct_judge_timed_by_all(i, complete) && ct_judge_is_comparable(i);

	if (odd < 0)
		return odd;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];

		wanted &= !member->captured && !member->alone;
		/* collectives that share a launch have its times: one of them tells it */
		if (member->group && i->src == -1)
			wanted &= member->leads && ct_group_shared(i) != NULL;
	}
	return wanted ? pass->watch->matched(pass->watch->arg, pass, i) : CT_OK;
}

int ct_pass_judge(void *arg, struct ct_instance *i, int complete)
{
	struct ct_pass *pass = arg;
	int st;

	if (pass->watch && pass->watch->matched) {
		st = hand_on(pass, i, complete);
		drop_groups(pass, i);
		return st;
	}
	set_shifts(pass, i);

	pass->waits.judged = CT_JUDGED_NOTHING;
	if (i->src != CT_SRC_EXCHANGE) {
		i->comm->instances++;
		if (!complete) {
			i->comm->incomplete++;
			pass->incomplete++;
		}
	}
	if (i->src >= 0)
		st = ct_judge_message(pass, i, complete);
	else if (i->src == CT_SRC_EXCHANGE)
		st = ct_judge_exchange(pass, i, complete);
	else
		st = ct_judge_collective(pass, i, complete);
	if (st == CT_OK && complete)
		st = keep_on_tape(pass, i);
	if (st == CT_OK && !pass->blame.in_set)
		st = ct_heat_judged(pass, i);
	/* Not before all members were looked at: they look at each other's groups. */
	drop_groups(pass, i);
	return st;
}
