/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/beat.h"

#include <time.h>

#include "interpose/account.h"
#include "interpose/gpu/runtime/syncs.h"
#include "interpose/recorder.h"
#include "interpose/threads.h"
#include "trace/clock.h"

/* On a host so busy that this thread runs late, the program stalls, too: readers of the ring must
 * know. Older delays count less with every beat. */
static void note_late(ct_word *late_ns, uint64_t since_beat_ns)
{
	uint64_t late = since_beat_ns > CT_SECOND_NS ? since_beat_ns - CT_SECOND_NS : 0;
	uint64_t before = atomic_load_explicit(late_ns, memory_order_relaxed);

	before -= before / 8;
	atomic_store_explicit(late_ns, late > before ? late : before, memory_order_relaxed);
}

static void *beat(void *arg)
{
	const struct timespec second = { .tv_sec = 1 };
	struct ct_ring_header *ring = ct_recorder.ring.header;
	uint32_t gate = (uint32_t)(uintptr_t)arg;
	uint64_t now, last = 0;

	ct_thread_settle();
	/* through the end of recording, as long as the process is there */
	while (atomic_load_explicit(&ct_gate.word, memory_order_relaxed) >> CT_GATE_EPOCH_SHIFT ==
	       gate) {
		now = ct_now_ns();
		note_late(&ring->late_ns, last ? now - last : 0);
		last = now;
		atomic_store_explicit(&ring->beat_ns, now, memory_order_relaxed);
		ct_account_note(CT_OURS_BEAT);
		if (ct_guard_is_on())
			ct_syncs_look(now);
		/* the write thread may be stuck in a file system */
		if (atomic_load_explicit(&ring->n_free, memory_order_relaxed) < ring->n_chunks / 4)
			ct_ring_grow(&ct_recorder.ring);
		nanosleep(&second, NULL);
	}
	return NULL;
}

int ct_beat_start(void)
{
	uint32_t epoch = atomic_load_explicit(&ct_gate.word, memory_order_relaxed) >>
			 CT_GATE_EPOCH_SHIFT;

	return ct_thread_start(beat, (void *)(uintptr_t)epoch);
}
