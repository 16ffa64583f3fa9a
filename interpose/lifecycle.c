/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/lifecycle.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "interpose/exit_note.h"
#include "interpose/gpu/poll.h"
#include "interpose/gpu/span.h"
#include "interpose/gpu/time.h"
#include "interpose/guard.h"
#include "interpose/log.h"
#include "interpose/nccl/nccl.h"
#include "interpose/nvtx/open_ranges.h"
#include "interpose/recorder.h"
#include "interpose/setup.h"
#include "interpose/stacks/callers.h"
#include "interpose/writer.h"

/* size: a start takes milliseconds. One that takes longer may wait for this thread, whose call then
 * passes unrecorded. */
#define START_WAIT_NS 2000000000ull
/* size: writing the rest takes milliseconds. What a file system holds up for longer is taken from
 * the ring afterwards, so that the program is not held up by it. */
#define EXIT_WAIT_NS 2000000000ull

/* Unlike the gate these are copied into a forked child. */
static _Atomic uint32_t starts; /* epochs given out so far in this line of processes */
static _Atomic int refused;	/* switched off, or not possible: children need not try either */
static _Atomic uint32_t passed; /* calls that gave up waiting for the start */
static int has_key;
static pthread_key_t thread_key;

static uint32_t gate_word(void)
{
	return atomic_load_explicit(&ct_gate.word, memory_order_acquire);
}

static void set_gate(uint32_t epoch, enum ct_gate_state state)
{
	atomic_store_explicit(&ct_gate.word, epoch << CT_GATE_EPOCH_SHIFT | state,
			      memory_order_release);
}

/* Runs when a thread ends, perhaps before its last call: then that call arms it again. */
static void thread_end(void *unused)
{
	(void)unused;
	/* the lane's memory is there as long as it is this epoch's, also after the end of recording
	 */
	if (ct_self.gate &&
	    ct_self.gate >> CT_GATE_EPOCH_SHIFT == gate_word() >> CT_GATE_EPOCH_SHIFT) {
		ct_nccl_thread_end();
		ct_gpu_thread_end();
		ct_ranges_thread_end();
		ct_lane_close(&ct_self.lane);
		ct_callers_leave();
	}
	memset(&ct_self, 0, sizeof(ct_self));
}

static void bind_thread(uint32_t gate)
{
	const void *caller = ct_self.caller;

	memset(&ct_self, 0, sizeof(ct_self));
	ct_self.gate = gate;
	ct_self.caller = caller;
	if (has_key)
		pthread_setspecific(thread_key, &ct_self);
	ct_callers_join();
}

static void at_exit(int status, void *unused)
{
	(void)unused;
	ct_lifecycle_end(status);
}

static void in_child(void)
{
	atomic_store_explicit(&ct_gate.word, CT_GATE_COLD, memory_order_relaxed);
}

/* Before the gate leaves COLD for the first time: a child that is forked meanwhile must not see
 * STARTING without a thread that starts. */
static int wipe_in_children(void)
{
	return madvise(&ct_gate, sizeof(ct_gate), MADV_WIPEONFORK) == 0;
}

/* What lasts for the life of the process and of its forked children: done by the first start only. */
static int prepare_once(void)
{
	static int done;

	if (done)
		return 0;
	/* Kernels before 4.14 cannot wipe; there fork() detects it, and only a raw clone() is
	 * missed. */
	if (!wipe_in_children() && pthread_atfork(NULL, NULL, in_child) != 0)
		return -1;
	has_key = pthread_key_create(&thread_key, thread_end) == 0;
	if (on_exit(at_exit, NULL) != 0)
		return -1;
	done = 1;
	return 0;
}

/* This thread has set the gate to STARTING. */
static int start(uint32_t epoch)
{
	uint64_t begin_ns = ct_now_ns();
	int possible;

	/* what the start calls is not recorded */
	memset(&ct_self, 0, sizeof(ct_self));
	ct_self.gate = gate_word();
	possible = ct_setup_wanted() && prepare_once() == 0 && ct_setup_recording(epoch - 1) == 0;
	if (!possible) {
		atomic_store_explicit(&refused, 1, memory_order_relaxed);
		ct_self.gate = 0;
		set_gate(epoch, CT_GATE_OFF);
		return 0;
	}
	atomic_store_explicit(&ct_recorder.start_ns, ct_now_ns() - begin_ns, memory_order_relaxed);
	set_gate(epoch, CT_GATE_ON);
	bind_thread(gate_word());
	return 1;
}

/* Try to be the one that starts. 1: recording; 0: pass this call on; -1: the gate has changed, look
 * again. */
static int try_start(uint32_t gate, enum ct_guard_call kind)
{
	uint32_t epoch = atomic_load_explicit(&starts, memory_order_relaxed) + 1;
	uint32_t to = epoch << CT_GATE_EPOCH_SHIFT | CT_GATE_STARTING;

	if (atomic_load_explicit(&refused, memory_order_relaxed))
		to = CT_GATE_OFF;
	else if (epoch > 1 && kind != CT_CALL_CREATE)
		to = CT_GATE_CHILD;
	wipe_in_children();
	if (!atomic_compare_exchange_strong_explicit(&ct_gate.word, &gate, to, memory_order_acq_rel,
						     memory_order_acquire))
		return -1;
	if (CT_GATE_STATE(to) != CT_GATE_STARTING)
		return 0;
	atomic_store_explicit(&starts, epoch, memory_order_relaxed);
	return start(epoch);
}

/* Another thread is starting. Waits for it, but not forever: it may be waiting for us. */
static int wait_for_start(void)
{
	const struct timespec nap = { .tv_nsec = 500000 };
	uint64_t begin = ct_now_ns();

	while (CT_GATE_STATE(gate_word()) == CT_GATE_STARTING) {
		if (ct_now_ns() - begin > START_WAIT_NS) {
			atomic_fetch_add_explicit(&passed, 1, memory_order_relaxed);
			return 0;
		}
		nanosleep(&nap, NULL);
	}
	return -1;
}

int ct_guard_slow(uint32_t gate, enum ct_guard_call kind)
{
	int saved = errno;
	int may = -1;

	for (; may < 0; gate = gate_word()) {
		switch ((enum ct_gate_state)CT_GATE_STATE(gate)) {
		case CT_GATE_ON:
			if (ct_self.gate != gate)
				bind_thread(gate);
			may = ct_self.depth == 0;
			if (atomic_load_explicit(&passed, memory_order_relaxed))
				ct_ring_lose(&ct_recorder.ring, CT_LOSS_STARTING,
					     atomic_exchange_explicit(&passed, 0,
								      memory_order_relaxed));
			break;
		case CT_GATE_STARTING:
			/* our own start: the gate word is in the thread's block already */
			may = ct_self.gate == gate ? 0 : wait_for_start();
			break;
		case CT_GATE_OFF:
			may = 0;
			break;
		case CT_GATE_CHILD:
			may = kind == CT_CALL_DATA ? 0 : try_start(gate, kind);
			break;
		case CT_GATE_COLD:
			may = try_start(gate, kind);
			break;
		}
	}
	errno = saved;
	return may;
}

/* An exec'ed or vfork'ed child shares nothing or everything with us; only the process that started
 * it ends it. */
void ct_lifecycle_end(int code)
{
	struct ct_ring_header *header = ct_recorder.ring.header;
	uint32_t gate = gate_word();
	uint64_t begin = ct_now_ns(), passed_ns;
	int saved = errno;

	if (!(gate & CT_GATE_ON) || (uint32_t)getpid() != header->process.pid ||
	    !atomic_compare_exchange_strong_explicit(&ct_gate.word, &gate,
						     (gate & ~7u) | CT_GATE_OFF,
						     memory_order_acq_rel, memory_order_acquire))
		return;
	ct_exit_note(header, CT_EXIT_NORMAL, code);
	if (!ct_poll_finish(CT_POLL_END_NS)) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_DRIVER_HELD, 1);
		ct_log("the driver hangs: launches that are not done stay open");
	}
	/* more than the bound if the process was stopped meanwhile */
	passed_ns = ct_now_ns() - begin;
	if (!ct_writer_finish(code, passed_ns < EXIT_WAIT_NS ? EXIT_WAIT_NS - passed_ns : 0)) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_EXIT_TIMEOUT, 1);
		ct_log("the last flush did not end in time: the ring stays");
	}
	errno = saved;
}
