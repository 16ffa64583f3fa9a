/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/poll.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interpose/clear.h"
#include "interpose/recorder.h"
#include "trace/mix.h"

/* size: threads that poll at the same time; half full, 1 in 50 finds no space (REQUESTS_FULL). */
#define POLLS 256u
#define PROBES 16u

/* tuning: the longest pause between questions that needs no further look: in so short a one nothing
 * is computed that matters, and the look costs a system call. */
#define CLOSE_NS 20000u
#define SHORT_NS 10000u /* tuning: what was shorter is not worth a record */
/* tuning: so long before the begin is on record, and so often again: a rank that hangs in a poll is
 * seen, and ten records a second are the most that one costs. */
#define BEGIN_NS 1000000u
#define REPEAT_NS 100000000u

/* What a thread asks. */
struct thread_poll {
	_Atomic uintptr_t thread; /* 0: free */
	uint64_t reported_ns;	  /* when the begin was last put on record, 0 never */
	uint64_t cpu_ns;	  /* time that the thread had run ... */
	uint64_t cpu_at_ns;	  /* ... at this time, 0: not looked at yet */
	struct ct_host_rec rec;	  /* enter_ns the first question, polled_ns the last */
};

_Atomic uint32_t ct_mpi_polls;
static struct thread_poll polls[POLLS];

void ct_mpi_poll_init(void)
{
	ct_clear(polls, sizeof(polls));
	atomic_store_explicit(&ct_mpi_polls, 0, memory_order_relaxed);
}

/* Live threads differ in it. That of a dead one comes again: then its entry is taken over. */
static uintptr_t me(void)
{
	return (uintptr_t)&ct_self;
}

static struct thread_poll *poll_slot(uint32_t probe)
{
	return &polls[ct_mix_slot(me(), 24) % POLLS ^ probe];
}

static struct thread_poll *find(void)
{
	for (uint32_t i = 0; i < PROBES; i++)
		if (atomic_load_explicit(&poll_slot(i)->thread, memory_order_relaxed) == me())
			return poll_slot(i);
	return NULL;
}

/* acquire and release: an entry goes from thread to thread */
static struct thread_poll *make(void)
{
	for (uint32_t i = 0; i < PROBES; i++) {
		struct thread_poll *p = poll_slot(i);
		uintptr_t none = 0;

		if (!atomic_compare_exchange_strong_explicit(
			    &p->thread, &none, me(), memory_order_acquire, memory_order_relaxed))
			continue;
		atomic_fetch_add_explicit(&ct_mpi_polls, 1, memory_order_relaxed);
		return p;
	}
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_REQUESTS_FULL, 1);
	return NULL;
}

static void drop(struct thread_poll *p)
{
	atomic_fetch_sub_explicit(&ct_mpi_polls, 1, memory_order_relaxed);
	atomic_store_explicit(&p->thread, 0, memory_order_release);
}

static uint64_t cpu_now_ns(void)
{
	struct timespec t = { 0, 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Since the last question the thread has done something, rather than wait or sleep. Time that it
 * ran since the last look and before the last question went into questions. */
static int has_worked(struct thread_poll *p, uint64_t now_ns)
{
	uint64_t last_ns = p->rec.polled_ns;
	uint64_t pause = now_ns - last_ns, ran, asked;
	uint64_t cpu_ns;
	int is_known;

	if (now_ns <= last_ns || pause <= CLOSE_NS)
		return 0;
	cpu_ns = cpu_now_ns();
	ran = cpu_ns - p->cpu_ns;
	asked = last_ns - p->cpu_at_ns;
	is_known = p->cpu_at_ns != 0;
	p->cpu_ns = cpu_ns;
	p->cpu_at_ns = now_ns;
	return !is_known || (ran > asked && ran - asked > pause / 4);
}

static void begin_poll(struct thread_poll *p, uint32_t call, uint32_t comm, uint64_t enter_ns)
{
	p->reported_ns = 0;
	p->rec = (struct ct_host_rec){
		.enter_ns = enter_ns,
		.tid = ct_self.lane.tid ? ct_self.lane.tid : (uint32_t)syscall(SYS_gettid),
		.call = call,
		.comm = comm,
		.rank = -1,
	};
}

static void end(struct thread_poll *p, uint64_t now_ns)
{
	if (!p->reported_ns && now_ns - p->rec.enter_ns < SHORT_NS)
		return;
	p->rec.return_ns = now_ns;
	ct_recorder_rare(CT_KIND_HOST_END, &p->rec);
}

void ct_mpi_poll_missed(uint32_t call, uint32_t comm, uint64_t enter_ns, uint64_t return_ns)
{
	struct thread_poll *p = find();
	struct ct_host_rec begun;

	if (!p) {
		p = make();
		if (!p)
			return;
		p->cpu_at_ns = 0;
		begin_poll(p, call, comm, enter_ns);
	} else if (has_worked(p, enter_ns)) {
		end(p, p->rec.polled_ns);
		begin_poll(p, call, comm, enter_ns);
	}
	p->rec.polled_ns = return_ns;
	if (p->rec.comm != comm)
		p->rec.comm = 0;
	if (return_ns - p->rec.enter_ns < BEGIN_NS ||
	    (p->reported_ns && return_ns - p->reported_ns < REPEAT_NS))
		return;
	p->reported_ns = return_ns;
	begun = p->rec;
	begun.result = (int32_t)ct_site();
	ct_recorder_rare(CT_KIND_HOST_BEGIN, &begun);
}

void ct_mpi_poll_done_slow(uint64_t enter_ns, uint64_t return_ns)
{
	struct thread_poll *p = find();

	if (!p)
		return;
	if (has_worked(p, enter_ns)) {
		end(p, p->rec.polled_ns);
	} else {
		p->rec.polled_ns = return_ns;
		end(p, return_ns);
	}
	drop(p);
}

void ct_mpi_poll_over_slow(void)
{
	struct thread_poll *p = find();

	if (!p)
		return;
	end(p, p->rec.polled_ns);
	drop(p);
}
