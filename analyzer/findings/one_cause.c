/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/one_cause.h"

#include <math.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "trace/status.h"

static int can_explain(const struct ct_finding *f)
{
	switch (f->kind) {
	case CT_FINDING_STRAGGLER:
	case CT_FINDING_STRAGGLER_HOST:
	case CT_FINDING_STRAGGLER_GROUP:
	case CT_FINDING_SLOW_STAGE:
	case CT_FINDING_SLOW_LINK:
		return f->time_lost_ns != CT_UNKNOWN && f->begin_at_ns != CT_UNKNOWN &&
		       f->end_at_ns != CT_UNKNOWN;
	default:
		return 0;
	}
}

/* By steps where both have them: the times of losses have cells of a 64th of the run. */
static int is_then(const struct ct_finding *f, const struct ct_finding *change)
{
	double begin = (double)f->begin_at_ns, end = (double)f->end_at_ns;
	double from = (double)change->begin_at_ns, to = (double)change->end_at_ns;

	if (f->step_first != CT_UNKNOWN && f->step_last != CT_UNKNOWN) {
		begin = (double)f->step_first;
		end = (double)f->step_last;
		from = (double)change->step_first;
		to = (double)change->step_last;
	}
	return fabs(begin - from) <= CT_APART * (to - from) &&
	       fabs(end - to) <= CT_APART * (to - from);
}

static struct ct_finding *explains(struct ct_findings *list, const struct ct_finding *change)
{
	struct ct_finding *best = NULL;

	for (size_t i = 0; i < list->n; i++) {
		struct ct_finding *f = &list->all[i];

		if (can_explain(f) && is_then(f, change) &&
		    (double)f->time_lost_ns >= CT_MOST * (double)change->time_lost_ns &&
		    (!best || f->time_lost_ns > best->time_lost_ns))
			best = f;
	}
	return best;
}

static void hand_over(struct ct_findings *list, const struct ct_finding *change,
		      struct ct_finding *f)
{
	ct_finding_evidence(list, f, "since_step", (double)change->step_first, "", NAN);
	for (size_t i = 0; i < change->n_evidence; i++) {
		const struct ct_evidence *e = &change->evidence[i];

		if (strncmp(e->name, "step_", 5) == 0)
			ct_finding_evidence(list, f, e->name, e->value, e->unit, e->err);
	}
	ct_finding_put(list, f, "since_step", "%llu", (unsigned long long)change->step_first);
}

static void drop(struct ct_findings *list, size_t i)
{
	memmove(&list->all[i], &list->all[i + 1], (list->n - i - 1) * sizeof(*list->all));
	list->n--;
}

/* The part that stalls explain. Stalls make ranks uneven, or one of them late in single steps.
 * Their rule says more, so their time is reported once. */
static int is_of_stalls(const struct ct_findings *list, const struct ct_finding *f)
{
	double stalls = 0;

	if (f->kind != CT_FINDING_IMBALANCE && isnan(ct_finding_fact(f, "single_steps")))
		return 0;
	for (size_t i = 0; i < list->n; i++) {
		const struct ct_finding *s = &list->all[i];

		if (s->kind != CT_FINDING_PERIODIC_STALLS && s->kind != CT_FINDING_ROTATING_STALLS)
			continue;
		/* a rank's are its own, or those that it has by turns */
		if (f->kind == CT_FINDING_IMBALANCE || s->kind == CT_FINDING_ROTATING_STALLS ||
		    (s->n_ranks == 1 && s->ranks[0] == f->ranks[0]))
			stalls += (double)s->time_lost_ns;
	}
	return stalls > 0 && stalls >= CT_MOST * (double)f->time_lost_ns;
}

static void drop_what_stalls_are(struct ct_findings *list)
{
	for (size_t i = list->n; i-- > 0;) {
		if (is_of_stalls(list, &list->all[i]))
			drop(list, i);
	}
}

void ct_one_cause(struct ct_findings *list)
{
	size_t i = 0;

	drop_what_stalls_are(list);
	while (i < list->n) {
		struct ct_finding change = list->all[i], *f;

		f = change.kind == CT_FINDING_CHANGE_POINT ? explains(list, &change) : NULL;
		if (!f) {
			i++;
			continue;
		}
		hand_over(list, &change, f);
		drop(list, i);
	}
}
