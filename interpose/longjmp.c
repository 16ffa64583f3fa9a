/* SPDX-License-Identifier: Apache-2.0 */
/* Calls abandoned by longjmp, out of an error handler or a signal handler; we get no notice. The
 * thread's next wrapped call detects it (guard.h). The abandoned call's records end then, at the
 * latest possible time. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "interpose/recorder.h"

void ct_guard_passed(struct ct_frame *frame)
{
	(void)frame;
	ct_guard_leave();
}

static struct ct_slot *first_of(struct ct_lane *lane)
{
	return (struct ct_slot *)ct_lane_chunk(lane) +
	       1; /* the chunk's header is as large as a slot */
}

/* The ops in these slots that have not returned: how many there were. */
static int end_ops_in(struct ct_slot *slots, const struct ct_slot *to, uint32_t lap,
		      uint64_t now_ns)
{
	int n = 0;

	for (struct ct_slot *s = slots; s < to; s++) {
		uint64_t tag = atomic_load_explicit(&s->w[0], memory_order_relaxed);

		if (CT_TAG_KIND(tag) != CT_KIND_OP || CT_TAG_LAP(tag) != lap ||
		    atomic_load_explicit(&s->w[CT_OP_W_END], memory_order_relaxed))
			continue;
		atomic_store_explicit(&s->w[CT_OP_W_END],
				      ct_op_end_word(atomic_load_explicit(&s->w[CT_OP_W_ENTER],
									  memory_order_relaxed),
						     now_ns, CT_RESULT_EXCEPTION),
				      memory_order_release);
		n++;
	}
	return n;
}

/* Did the call perhaps begin in an earlier chunk of the thread? Not if this one begins with an op
 * that has returned: during a call its thread records nothing else. */
static int may_begin_earlier(struct ct_lane *lane)
{
	const struct ct_slot *s = first_of(lane);

	return s == lane->next ||
	       CT_TAG_KIND(atomic_load_explicit(&s->w[0], memory_order_relaxed)) != CT_KIND_OP ||
	       !atomic_load_explicit(&s->w[CT_OP_W_END], memory_order_relaxed);
}

/* The ops of a call that filled a chunk. The write thread frees no chunk with an op that has not
 * returned, so these chunks still are the thread's. */
static int end_earlier_ops(const struct ct_lane *lane, uint64_t now_ns)
{
	const struct ct_ring *ring = &ct_recorder.ring;
	/* relaxed: the thread has claimed its chunks itself */
	uint32_t n_chunks = atomic_load_explicit(&ring->header->n_chunks, memory_order_relaxed);
	int n = 0;

	for (uint32_t i = 0; i < n_chunks; i++) {
		struct ct_chunk *chunk = ct_ring_chunk(ring, i);
		struct ct_slot *slots = ct_chunk_slots(chunk);
		uint64_t state = atomic_load_explicit(&chunk->state, memory_order_relaxed);

		if ((state & 0xff) == CT_CHUNK_CLOSED &&
		    atomic_load_explicit(&chunk->owner, memory_order_relaxed) == lane->tid)
			n += end_ops_in(slots, slots + CT_CHUNK_SLOTS, (uint32_t)(state >> 8),
					now_ns);
	}
	return n;
}

/* The call's ops that had not returned. Calls of many requests fill several chunks. */
static int end_ops(struct ct_lane *lane, uint64_t now_ns)
{
	int n = may_begin_earlier(lane) ? end_earlier_ops(lane, now_ns) : 0;

	return n + end_ops_in(first_of(lane), lane->next, lane->lap, now_ns);
}

/* A host-blocking call has its begin as the last record. */
static void end_host(struct ct_lane *lane, uint64_t now_ns)
{
	struct ct_slot *last = lane->next - 1;
	struct ct_host_rec rec;
	uint64_t tag, w[7];

	if (last < first_of(lane))
		return;
	tag = atomic_load_explicit(&last->w[0], memory_order_relaxed);
	if (CT_TAG_KIND(tag) != CT_KIND_HOST_BEGIN || CT_TAG_LAP(tag) != lane->lap)
		return;
	for (int i = 0; i < 7; i++)
		w[i] = atomic_load_explicit(&last->w[i + 1], memory_order_relaxed);
	memcpy(&rec, w, sizeof(rec));
	rec.return_ns = now_ns;
	rec.result = CT_RESULT_EXCEPTION;
	ct_recorder_rare(CT_KIND_HOST_END, &rec);
}

int ct_guard_end_abandoned(void)
{
	struct ct_lane *lane = &ct_self.lane;
	uint64_t now_ns;
	int saved = errno;
	stack_t on;
	int is_other = sigaltstack(NULL, &on) != 0 || on.ss_flags & SS_ONSTACK;

	errno = saved;
	if (is_other)
		return 0;
	now_ns = ct_now_ns();
	if (lane->end && !end_ops(lane, now_ns))
		end_host(lane, now_ns);
	ct_guard_leave();
	return 1;
}
