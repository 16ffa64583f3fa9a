/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stream/host_calls.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "trace/status.h"

/* size: how far back a call that began earlier is looked for: on another thread, or with the same
 * call. */
#define THREADS 64u
#define SAME_CALL 4u

static uint32_t reach(const struct ct_call_list *list)
{
	return list->has_threads ? THREADS : SAME_CALL;
}

void ct_calls_fini(struct ct_calls *calls)
{
	free(calls->ops.all);
	free(calls->waits.all);
	*calls = (struct ct_calls){ 0 };
}

/* Space for one more at the end. Only `*lost_ns` is left of what had to go: its latest end. 0 or
 * CT_NOMEM. */
static int make_room(struct ct_call_list *list, uint64_t *lost_ns)
{
	if (list->n < list->cap)
		return CT_OK;
	if (list->cap == CT_CALLS_MAX && list->first < list->cap / 4) {
		while (list->first < list->cap / 4) {
			const struct ct_call *old = &list->all[list->first++];

			*lost_ns = old->end_ns > *lost_ns ? old->end_ns : *lost_ns;
		}
	}
	if (list->first >= list->cap / 4 && list->first) {
		list->n -= list->first;
		memmove(list->all, list->all + list->first, list->n * sizeof(*list->all));
		list->first = 0;
		return CT_OK;
	}
	return ct_grow(&list->all, &list->cap, list->n + 1, sizeof(*list->all));
}

int ct_calls_add(struct ct_calls *calls, enum ct_call_kind kind, const struct ct_call *call)
{
	struct ct_call_list *list = kind == CT_CALL_OP ? &calls->ops : &calls->waits;
	uint64_t lost_ns = 0;
	uint32_t at;

	if (make_room(list, &lost_ns) != CT_OK)
		return CT_NOMEM;
	if (!calls->from_ns)
		calls->from_ns = call->begin_ns;
	if (!list->tid)
		list->tid = call->tid;
	list->has_threads |= list->tid != call->tid;
	if (lost_ns > calls->from_ns)
		calls->from_ns = lost_ns;
	for (at = list->n; at > list->first && list->all[at - 1].begin_ns > call->begin_ns; at--)
		;
	memmove(&list->all[at + 1], &list->all[at], (list->n - at) * sizeof(*list->all));
	list->all[at] = *call;
	list->n++;
	return CT_OK;
}

/* The first that begins at `ns` or later. */
static uint32_t from(const struct ct_call_list *list, uint64_t ns)
{
	return (uint32_t)CT_BISECT(i, list->first, list->n, list->all[i].begin_ns < ns);
}

/* The wait of this thread that began then; NULL: not reported. */
static struct ct_call *find(const struct ct_call_list *list, uint64_t begin_ns, uint32_t tid)
{
	for (uint32_t i = from(list, begin_ns); i < list->n && list->all[i].begin_ns == begin_ns;
	     i++) {
		if (!tid || list->all[i].tid == tid)
			return &list->all[i];
	}
	return NULL;
}

int ct_calls_wait(struct ct_calls *calls, const struct ct_call *call)
{
	struct ct_call *known = find(&calls->waits, call->begin_ns, call->tid);

	if (known) {
		known->ends_several |= call->ends_several;
		if (call->end_ns != CT_CALL_OPEN) {
			known->end_ns = call->end_ns;
			known->is_message = known->comm || !call->comm;
		}
		return CT_OK;
	}
	/* Another one of the thread that is still open has returned without a record of that: when
	 * is unknown. */
	for (uint32_t i = calls->waits.n; i > calls->waits.first; i--) {
		struct ct_call *before = &calls->waits.all[i - 1];

		if (calls->waits.n - i == reach(&calls->waits))
			break;
		if (before->tid != call->tid || before->begin_ns > call->begin_ns)
			continue;
		if (before->end_ns == CT_CALL_OPEN) {
			before->end_ns = call->begin_ns;
			calls->from_ns = call->begin_ns;
		}
		break;
	}
	return ct_calls_add(calls, CT_CALL_WAIT, call);
}

uint64_t ct_calls_entered(const struct ct_calls *calls, uint64_t at_ns)
{
	const struct ct_call_list *list = &calls->waits;
	uint32_t at = from(list, at_ns + 1), seen = 0;

	for (; at > list->first && seen < reach(list); at--, seen++) {
		if (list->all[at - 1].end_ns >= at_ns)
			return list->all[at - 1].begin_ns;
	}
	return 0;
}

int ct_calls_serve(struct ct_calls *calls, uint64_t enter_ns, int with_others)
{
	struct ct_call *call = find(&calls->waits, enter_ns, 0);

	if (!call)
		return 0;
	if (with_others)
		call->served_others = 1;
	else
		call->served_itself = 1;
	return call->ends_several;
}

/* Is it known to have concerned the rank alone? */
static int is_private(const struct ct_call *call)
{
	return call->served_itself && !call->served_others;
}

static uint64_t ended(const struct ct_call_list *list, uint64_t at_ns)
{
	uint32_t at = from(list, at_ns + 1), seen = 0;
	uint64_t latest = 0;

	for (; at > list->first && seen < reach(list); at--) {
		const struct ct_call *call = &list->all[at - 1];

		if (is_private(call))
			continue;
		seen++;
		if (call->end_ns <= at_ns && call->end_ns > latest)
			latest = call->end_ns;
	}
	return latest;
}

uint64_t ct_calls_ended(const struct ct_calls *calls, uint64_t at_ns)
{
	uint64_t op = ended(&calls->ops, at_ns), wait = ended(&calls->waits, at_ns);

	return op > wait ? op : wait;
}

const struct ct_call *ct_calls_next_wait(const struct ct_calls *calls, uint64_t after_ns,
					 uint64_t until_ns)
{
	uint32_t at = from(&calls->waits, after_ns + 1);

	return at < calls->waits.n && calls->waits.all[at].begin_ns <= until_ns
		       ? &calls->waits.all[at]
		       : NULL;
}
