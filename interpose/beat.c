/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/beat.h"

#include <time.h>

#include "interpose/gpu/syncs.h"
#include "interpose/recorder.h"
#include "interpose/threads.h"

static _Atomic uint64_t cpu_ns;

static void *beat(void *arg)
{
	const struct timespec second = { .tv_sec = 1 };
	ct_word *beat_ns = &ct_recorder.ring.header->beat_ns;
	uint32_t gate = (uint32_t)(uintptr_t)arg;

	/* through the end of recording, as long as the process is there */
	while (atomic_load_explicit(&ct_gate.word, memory_order_relaxed) >> CT_GATE_EPOCH_SHIFT ==
	       gate) {
		atomic_store_explicit(beat_ns, ct_now_ns(), memory_order_relaxed);
		atomic_store_explicit(&cpu_ns, ct_thread_cpu_ns(), memory_order_relaxed);
		if (ct_guard_is_on())
			ct_syncs_look(ct_now_ns());
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

uint64_t ct_beat_cpu_ns(void)
{
	return atomic_load_explicit(&cpu_ns, memory_order_relaxed);
}
