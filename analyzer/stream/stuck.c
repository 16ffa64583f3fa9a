/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stream/stuck.h"

/* What a person who looks at a job would not call stuck yet, ns. */
#define LEAST_NS 1000000000ull

/* What operations of this name on its communicator, or all of them, do not take. 0: there is none with a time. */
static uint64_t unusual_ns(const struct ct_pass *pass, const struct ct_unreturned *u,
			   int of_its_like)
{
	uint64_t p99 = 0, longest = 0;

	for (uint32_t i = 0; i < pass->classes.n; i++) {
		const struct ct_class *class = pass->classes.all[i];
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

/* Since when its process has recorded nothing but signs of life. */
static uint64_t silence_ns(const struct ct_pass *pass, const struct ct_unreturned *u)
{
	const struct ct_load_facts *facts = &pass->processes[u->process].facts;

	return facts->beat_ns > facts->last_ns ? facts->beat_ns - facts->last_ns : 0;
}

enum ct_stuck ct_stuck_of(const struct ct_pass *pass, const struct ct_unreturned *u)
{
	uint64_t age = ct_pass_age(pass, u), limit, silence;

	if (age > pass->run->processes[u->process].id.hang_after_ns)
		return CT_STUCK_LATE;
	if (age <= LEAST_NS)
		return CT_STUCK_NOT;
	limit = u->launched || !u->comm ? 0 : unusual_ns(pass, u, 1);
	if (limit)
		return age > limit ? CT_STUCK_UNUSUAL : CT_STUCK_NOT;
	/* A launch waits for those before it, and a thread may listen all the time: while its process goes on with
	 * other operations, that it is under way means nothing. */
	silence = silence_ns(pass, u);
	return silence > LEAST_NS && silence > unusual_ns(pass, u, 0) ? CT_STUCK_UNUSUAL
								      : CT_STUCK_NOT;
}

void ct_stuck_sum(const struct ct_pass *pass, struct ct_stuck_sum *sum)
{
	*sum = (struct ct_stuck_sum){ 0 };
	for (uint32_t i = 0; i < pass->n_unreturned; i++) {
		const struct ct_unreturned *u = &pass->unreturned[i];
		int runs = pass->run->processes[u->process].end.how == CT_END_RUNNING;
		enum ct_stuck stuck = ct_stuck_of(pass, u);
		uint64_t age = ct_pass_age(pass, u);

		sum->all += !runs || stuck != CT_STUCK_NOT;
		sum->late += stuck == CT_STUCK_LATE;
		sum->unusual += runs && stuck == CT_STUCK_UNUSUAL;
		if (stuck != CT_STUCK_NOT && age > sum->longest_ns)
			sum->longest_ns = age;
	}
}
