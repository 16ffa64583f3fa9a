/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/pause.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/stacks/disturbed.h"
#include "tools/stacks/live.h"
#include "tools/stacks/need.h"

#define PATIENCE_NS 250000000u /* size: until a thread that has no core is given up */
#define MOST_LATE 8u /* size: of a process whose threads do not run, as in a frozen control group */
#define TURN_NS 100000u /* fact: the shortest that the kernel gives */
#define RED_ZONE 128u	/* fact: bytes below rsp that a function may use */
#define LOOKS 3		/* size: how often a thread is read that may have moved meanwhile */

struct pausing {
	struct ct_target *target;
	struct ct_stack_sample *sample;
	const struct ct_pause_visit *visit;
	int refused; /* errno */
	int is_late; /* it never was paused */
};

/* Memory that is written at any time: kept for one pause only. The pages themselves stay allocated.
 */
static struct ct_pages moment;

static int fetch_page(void *source, uint64_t from, uint8_t to[CT_PAGE])
{
	const struct ct_target *target = source;

	return ct_live_peek(target->alive, from, to, CT_PAGE) == CT_PAGE ? 0 : -1;
}

/* ---- copies ---- */

static void copy_from(struct pausing *s, uint64_t from)
{
	static uint8_t bytes[CT_STACK_COPIED];
	/* a stack may have grown downwards since the ranges were read */
	const struct ct_range *range = ct_range_next(&s->target->ranges, from);
	uint64_t end = range ? range->end : (from | (CT_PAGE - 1)) + 1;
	size_t len = end - from < sizeof(bytes) ? (size_t)(end - from) : sizeof(bytes);
	struct ct_stack_sample *sample = s->sample;

	if (sample->n_copies == CT_COPIES)
		return;
	/* what is mapped may end before that */
	len = ct_live_peek(s->target->alive, from, bytes, len);
	if (!len)
		return;
	struct ct_copy *copy = &sample->copies[sample->n_copies++];

	copy->from = from;
	copy->len = len;
	copy->bytes = ct_need(1, len);
	memcpy(copy->bytes, bytes, len);
}

static void forget_copies(struct ct_stack_sample *sample)
{
	while (sample->n_copies)
		free(sample->copies[--sample->n_copies].bytes);
}

/* The stack, what an earlier look lacked, and what the visitor wants. */
static void copy_all(struct pausing *s)
{
	struct ct_stack_sample *sample = s->sample;
	uint64_t sp = sample->registers.value[CT_RSP];

	forget_copies(sample);
	copy_from(s, sp > RED_ZONE ? sp - RED_ZONE : sp);
	if (sample->lacked)
		copy_from(s, sample->lacked);
	if (s->visit)
		s->visit->visit(s->visit->arg, sample, &moment);
}

/* Before a look: nothing of it is done while the thread is paused. */
static void begin_look(struct pausing *s)
{
	moment.fetch = fetch_page;
	moment.source = s->target;
	ct_pages_forget(&moment);
}

/* ---- pausing ---- */

/* The kernel's struct sched_attr, whose header does not go with that of pthreads. */
struct pause_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* For the moment in which a thread of the job is paused this one goes first. Where it may not, it
 * asks for a short turn, which comes sooner from Linux 6.12 on. */
static void go_first(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct pause_attr soon = { .size = sizeof(soon), .runtime = TURN_NS };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) != 0)
		syscall(SYS_sched_setattr, 0, &soon, 0);
}

/* Wait until it is paused. 1, *before_ns: a moment when it did not yet, *signal: what it was about
 * to get, 0 none; 0: it is gone; -1: it goes on. */
static int wait_for(struct pausing *s, uint64_t *before_ns, int *signal)
{
	const struct timespec nap = { .tv_nsec = 20000 };
	uint64_t begin = ct_monotonic_ns();
	int status;

	for (*before_ns = begin;;) {
		uint64_t now = ct_monotonic_ns();
		pid_t got = waitpid((pid_t)s->sample->tid, &status, __WALL | WNOHANG);

		if (got > 0)
			break;
		if (got < 0 && errno != EINTR)
			return 0;
		*before_ns = now;
		if (now - begin > PATIENCE_NS)
			return -1;
		nanosleep(&nap, NULL);
	}
	if (!WIFSTOPPED(status))
		return 0;
	*signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	return 1;
}

static int read_registers(struct ct_stack_sample *sample)
{
	struct user_regs_struct kernel;
	struct iovec part = { .iov_base = &kernel, .iov_len = sizeof(kernel) };

	if (ptrace(PTRACE_GETREGSET, (pid_t)sample->tid, (void *)NT_PRSTATUS, &part) != 0 ||
	    part.iov_len < sizeof(kernel))
		return -1;
	ct_registers_take(&sample->registers, &kernel);
	return 0;
}

static void *pause_it(void *arg)
{
	struct pausing *s = arg;
	struct ct_stack_sample *sample = s->sample;
	pid_t tid = (pid_t)sample->tid;
	uint64_t before_ns;
	int signal = 0, got;

	begin_look(s);
	go_first();
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		s->refused = errno;
		return NULL;
	}
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	got = wait_for(s, &before_ns, &signal);
	if (got <= 0) {
		s->refused = got ? 0 : ESRCH;
		s->is_late = got < 0;
		return NULL;
	}
	moment.until_ns = ct_monotonic_ns() + CT_PAUSE_NS;
	if (read_registers(sample) == 0)
		copy_all(s);
	else
		s->refused = ESRCH;
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal);
	sample->paused_ns = ct_monotonic_ns() - before_ns;
	return NULL;
}

/* ---- without a pause ---- */

/* NULL: it may be paused. `text`: its file `syscall`. */
static const char *why_not_pause(const struct ct_target *target,
				 const struct ct_stack_sample *sample, const char *text)
{
	if (sample->state == 'D')
		return "it is in uninterruptible sleep (driver or file system)";
	if (ct_disturbed_by_pause(target->pid, text))
		return "its system call would return EINTR";
	return NULL;
}

/* "NUMBER ARGUMENTS... SP PC" of a thread that sleeps in the kernel. */
static int take_registers(struct ct_stack_sample *sample, const char *text)
{
	unsigned long long at[2];
	const char *sp = NULL, *pc = NULL;

	for (const char *p = strchr(text, ' '); p; p = strchr(p + 1, ' ')) {
		sp = pc;
		pc = p;
	}
	if (!sp || sscanf(sp, " %llx", &at[0]) != 1 || sscanf(pc, " %llx", &at[1]) != 1)
		return -1;
	sample->registers = (struct ct_registers){ .known = 1u << CT_RSP | 1u << CT_RIP };
	sample->registers.value[CT_RSP] = at[0];
	sample->registers.value[CT_RIP] = at[1];
	return 0;
}

/* Copied between two looks at where it is: if these are equal, it has hardly moved. */
static void read_asleep(struct pausing *s)
{
	struct ct_stack_sample *sample = s->sample;
	char before[256], after[256];

	moment.until_ns = 0;
	for (int i = 0; i < LOOKS; i++) {
		if (ct_live_file(s->target->pid, sample->tid, "syscall", before, sizeof(before)) <=
			    0 ||
		    take_registers(sample, before) != 0)
			continue;
		begin_look(s);
		copy_all(s);
		if (ct_live_file(s->target->pid, sample->tid, "syscall", after, sizeof(after)) >
			    0 &&
		    strcmp(before, after) == 0)
			return;
	}
	forget_copies(sample);
	sample->not_taken = "it cannot be paused, and moves";
}

static void pause_thread(struct pausing *s)
{
	struct ct_stack_sample *sample = s->sample;
	pthread_t thread;

	if (s->target->n_late >= MOST_LATE) {
		s->is_late = 1;
	} else if (pthread_create(&thread, NULL, pause_it, s) != 0) {
		sample->not_taken = "no thread can be created to pause it";
		return;
	} else {
		pthread_join(thread, NULL);
	}
	/* a first thread that has ended while others go on */
	if (s->refused == EPERM && ct_live_state(s->target->alive, sample->tid) == 'Z')
		s->refused = ESRCH;
	if (s->refused == ESRCH)
		sample->not_taken = "it has ended";
	if (s->is_late)
		sample->not_taken = "it does not run, and could not be paused: it waits for a "
				    "core, "
				    "or in the kernel";
	s->target->n_late += (uint32_t)s->is_late;
}

int ct_pause_take(struct ct_target *target, struct ct_stack_sample *sample,
		  const struct ct_pause_visit *visit)
{
	struct pausing s = { .target = target, .sample = sample, .visit = visit };
	char text[256] = "";

	sample->not_taken = NULL;
	if (sample->state == 'Z' || sample->state == 'X') {
		sample->not_taken = "it has ended";
		return 0;
	}
	ct_live_file(target->pid, sample->tid, "syscall", text, sizeof(text));
	sample->not_paused = why_not_pause(target, sample, text);
	if (sample->not_paused)
		read_asleep(&s);
	else
		pause_thread(&s);
	return s.refused == ESRCH ? 0 : s.refused;
}
