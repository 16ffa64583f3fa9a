/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/stall.h"

#include <string.h>

#include "interpose/recorder.h"
#include "interpose/stacks/awaited.h"
#include "interpose/stacks/callers.h"

/* A thread, and since when it has recorded nothing. */
struct seen_thread {
	uint32_t tid;
	uint64_t progress, since_ns;
};

static struct seen_thread seen[CT_CALLERS];
static struct ct_caller callers[CT_CALLERS];
static uint32_t n_seen;
static uint64_t moved_ns;	      /* when any thread was seen to have recorded something */
static uint64_t asked_ns, awaited_ns; /* when others' rings were looked at, and what came of it */

void ct_stall_reset(void)
{
	n_seen = 0;
	moved_ns = 0;
	asked_ns = 0;
	awaited_ns = UINT64_MAX;
}

static const struct seen_thread *seen_before(uint32_t tid)
{
	for (uint32_t i = 0; i < n_seen; i++)
		if (seen[i].tid == tid)
			return &seen[i];
	return NULL;
}

/* Since when the thread that is longest in a call has been there; UINT64_MAX none. */
static uint64_t look_at_callers(uint64_t now)
{
	static struct seen_thread next[CT_CALLERS];
	uint32_t n = ct_callers_read(callers, CT_CALLERS);
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		const struct seen_thread *before = seen_before(callers[i].tid);

		next[i] = (struct seen_thread){ .tid = callers[i].tid,
						.progress = callers[i].progress,
						.since_ns = now };
		if (before && before->progress == callers[i].progress)
			next[i].since_ns = before->since_ns;
		else
			moved_ns = now;
		if (callers[i].depth && next[i].since_ns < oldest)
			oldest = next[i].since_ns;
	}
	memcpy(seen, next, n * sizeof(seen[0]));
	n_seen = n;
	if (!moved_ns)
		moved_ns = now;
	return oldest;
}

static uint64_t oldest_launch(void)
{
	struct ct_ring *ring = &ct_recorder.ring;
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < ring->header->n_opens; i++) {
		uint64_t tag = ct_load_relaxed(&ring->opens[i].tag);
		uint64_t opened = ct_load_relaxed(&ring->opens[i].opened_ns);

		if (tag >> 32 == 1 && opened && opened < oldest &&
		    ct_load_relaxed(&ring->opens[i].tag) == tag)
			oldest = opened;
	}
	return oldest;
}

static int has_comms(void)
{
	struct ct_ring *ring = &ct_recorder.ring;

	for (uint32_t i = 0; i < ring->header->n_comms; i++) {
		uint64_t id = ct_load_relaxed(&ring->comms[i].id);

		if (id && id <= UINT32_MAX && !ct_load_relaxed(&ring->comms[i].ended_ns))
			return 1;
	}
	return 0;
}

/* Others' rings are files: not with each look at one's own. */
static uint64_t awaited_since(uint64_t after_ns, uint64_t now)
{
	if (!asked_ns || now - asked_ns >= after_ns / 4) {
		asked_ns = now;
		awaited_ns = ct_awaited_since(&ct_recorder.ring, after_ns, now);
	}
	return awaited_ns;
}

int ct_stall_find(struct ct_stalled_call *stall, uint64_t after_ns, uint64_t now)
{
	uint64_t in_call = look_at_callers(now), launch = oldest_launch();
	uint64_t old = now > after_ns ? now - after_ns : 0;

	if (in_call <= old)
		*stall = (struct ct_stalled_call){ CT_STALL_CALL, in_call };
	else if (launch <= old)
		*stall = (struct ct_stalled_call){ CT_STALL_LAUNCH, launch };
	else if (moved_ns <= old && has_comms())
		*stall = (struct ct_stalled_call){ CT_STALL_IDLE, moved_ns };
	else if (awaited_since(after_ns, now) <= old)
		*stall = (struct ct_stalled_call){ CT_STALL_AWAITED, awaited_ns };
	else
		return 0;
	return 1;
}
