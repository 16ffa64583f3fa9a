/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/poll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interpose/account.h"
#include "interpose/environ/environ.h"
#include "interpose/gpu/choice/budget.h"
#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/choice/sampling.h"
#include "interpose/gpu/collect.h"
#include "interpose/gpu/decide.h"
#include "interpose/gpu/driver/describe.h"
#include "interpose/gpu/ending.h"
#include "interpose/gpu/graph/graph_table.h"
#include "interpose/gpu/stream_waits.h"
#include "interpose/threads.h"
#include "trace/clock.h"

/* size: events that are ready for use, below which more are made: the launches of some steps. So
 * many at a time, while the thread asks for nothing else. */
#define FEW_EVENTS 256u
#define MORE_EVENTS 512u
#define MOST_EVENTS (CT_GPU_EVENTS - CT_GPU_FIRST_EVENTS)
/* size: eight launches a second take longer because their cost is measured (budget.h). */
#define PROBE_NS 125000000u
/* size: a context that nothing was launched in for so long is left alone. Steps are mostly shorter,
 * so that its clock has an anchor for each of them. */
#define IDLE_NS (2 * CT_SECOND_NS)

static struct poll {
	_Atomic(struct ct_gpu_block *) pushed; /* callers, a stack: the last one first */
	_Atomic uint32_t finished;	       /* futex */
	_Atomic uint32_t started;
	_Atomic uint32_t hung; /* it did not end in time when the driver's end came */
	pid_t process;	       /* that started it, and has its thread */
	_Atomic uint64_t events, timed, untimed, backoffs;
	_Atomic uint32_t level, coarsest;
	struct ct_gpu_probes probes; /* the thread with the probe adds */
	_Atomic uint64_t probe_ns;   /* its: what the begin cost */
	int anchors;
	/* the thread's: */
	struct ct_gpu_collect collect;
	struct ct_gpu_block *blocks; /* in the order in which they were pushed */
	struct ct_gpu_budget budget;
	int is_relaxed;
	uint64_t probed_ns; /* when a probe was last requested */
	uint64_t noted_ns;  /* when the account of this thread was */
} poll;

void ct_poll_push(struct ct_gpu_block *block)
{
	struct ct_gpu_block *top = atomic_load_explicit(&poll.pushed, memory_order_relaxed);

	/* release: pairs with the exchange in take_pushed() */
	do
		block->next = top;
	while (!atomic_compare_exchange_weak_explicit(&poll.pushed, &top, block,
						      memory_order_release, memory_order_relaxed));
}

/* What a thread put into one block is there before the next block that it pushed. */
static void take_pushed(struct poll *p)
{
	struct ct_gpu_block *top = atomic_exchange_explicit(&p->pushed, NULL, memory_order_acquire);
	struct ct_gpu_block *oldest = NULL;
	struct ct_gpu_block **at = &p->blocks;

	while (top) {
		struct ct_gpu_block *next = top->next;

		top->next = oldest;
		oldest = top;
		top = next;
	}
	while (*at)
		at = &(*at)->next;
	*at = oldest;
}

static void take_launches(struct poll *p)
{
	struct ct_gpu_block **at = &p->blocks;

	while (*at) {
		struct ct_gpu_block *block = *at;

		if (!ct_gpu_collect_block(&p->collect, block)) {
			at = &block->next;
			continue;
		}
		*at = block->next;
		ct_gpu_block_give(block, 1);
	}
}

/* Of CUDA's answers only NOT_READY is harmless. */
static void judge_result(struct ct_gpu_context *context, CUresult result)
{
	if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)
		return;
	if (ct_cuda_is_fatal(result))
		ct_poll_give_up();
	else
		atomic_store_explicit(&context->closed, CT_GPU_DEAD, memory_order_relaxed);
}

static CUresult make_events(struct poll *p, struct ct_gpu_context *context)
{
	struct ct_gpu_events *pool = &context->events;
	CUresult result = CUDA_SUCCESS;

	for (uint32_t i = 0; i < MORE_EVENTS && pool->made < MOST_EVENTS; i++) {
		result = ct_gpu_event_make(pool, p->collect.cuda, context->event_flags);
		if (result != CUDA_SUCCESS)
			break;
		ct_poll_inside(ct_now_ns());
	}
	/* no memory for more is harmless while there are some */
	return result == CUDA_ERROR_OUT_OF_MEMORY && pool->made ? CUDA_SUCCESS : result;
}

static int wants_events(struct ct_gpu_context *context)
{
	return ct_gpu_events_ready(&context->events) < FEW_EVENTS &&
	       context->events.made < MOST_EVENTS;
}

/* With the context current. */
static CUresult serve_current(struct poll *p, struct ct_gpu_context *context, int last)
{
	struct ct_gpu_anchoring *anchoring = &context->anchoring;
	int has_anchors = p->anchors && context->event_flags == CU_EVENT_DEFAULT;
	int is_due = has_anchors && !ct_gpu_sampling_is_paused() &&
		     ct_gpu_raw_ns() >= anchoring->due_ns;
	uint64_t now = p->collect.host.mono_ns;
	CUresult result = CUDA_SUCCESS;

	/* the events first: without one a launch is untimed, without an anchor its times are coarse
	 */
	if (!last && wants_events(context))
		result = make_events(p, context);
	if (!last && !context->ready && result == CUDA_SUCCESS) {
		result = has_anchors ? ct_gpu_anchoring_init(anchoring, p->collect.cuda)
				     : CUDA_SUCCESS;
		context->ready = result == CUDA_SUCCESS;
		context->used_ns = now;
		if (context->ready)
			ct_gpu_describe(p->collect.cuda, context->device, ct_environ_gpus());
	}
	if (!last && is_due && result == CUDA_SUCCESS)
		result = ct_gpu_anchor_take(anchoring, p->collect.cuda);
	if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)
		result = ct_gpu_collect(&p->collect, context);
	if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY)
		ct_waits_collect(&p->collect, context, 0);
	return result;
}

static int is_idle(struct poll *p, struct ct_gpu_context *context)
{
	if (ct_gpu_context_is_closed(context) && !ct_gpu_context_is_ahead(context))
		return !context->active && !ct_waits_pending(context);
	return context->ready && !context->active && !ct_waits_pending(context) &&
	       p->collect.host.mono_ns - context->used_ns > IDLE_NS && !wants_events(context);
}

static void serve(struct poll *p, struct ct_gpu_context *context, int last)
{
	CUcontext handle = atomic_load_explicit(&context->handle, memory_order_relaxed);
	CUresult result = CUDA_SUCCESS;
	CUcontext popped;

	last |= ct_gpu_context_is_closed(context) && !ct_gpu_context_is_ahead(context);
	if (ct_gpu_look_begin(context, &last)) {
		if (!ct_gpu_context_is_dead(context) && !ct_poll_gave_up() &&
		    !is_idle(p, context)) {
			ct_poll_inside(ct_now_ns());
			result = ct_gpu_context_is_there(p->collect.cuda, context)
					 ? p->collect.cuda->ctx_push(handle)
					 : CUDA_ERROR_CONTEXT_IS_DESTROYED;
			if (result == CUDA_SUCCESS) {
				result = serve_current(p, context, last);
				p->collect.cuda->ctx_pop(&popped);
			}
			ct_poll_inside(0);
			judge_result(context, result);
		}
		ct_gpu_look_end(context);
	}
	if (ct_gpu_context_is_dead(context) || ct_poll_gave_up()) {
		ct_gpu_collect_lost(&p->collect, context);
		ct_waits_collect(&p->collect, context, 1);
	}
}

static void note_cost(struct poll *p, int last)
{
	uint64_t events = p->collect.events;
	struct ct_gpu_context *context;

	for (unsigned i = 0; i < CT_GPU_CONTEXTS && (context = ct_gpu_context_nth(i)); i++)
		events += context->anchoring.recorded;
	/* that takes longer than a look at nothing new */
	if (last || p->collect.host.mono_ns - p->noted_ns >= CT_SECOND_NS) {
		p->noted_ns = p->collect.host.mono_ns;
		ct_account_note(CT_OURS_POLL);
	}
	atomic_store_explicit(&p->events, events, memory_order_relaxed);
	atomic_store_explicit(&p->timed, p->collect.timed, memory_order_relaxed);
	atomic_store_explicit(&p->untimed, p->collect.untimed, memory_order_relaxed);
}

/* Calls so far, as far as that is known here: records of chunks that were claimed, less those of
 * launches. */
static uint64_t count_calls(const struct poll *p)
{
	uint64_t claims = atomic_load_explicit(&ct_recorder.ring.header->claims,
					       memory_order_relaxed);
	uint64_t records = claims * CT_CHUNK_SLOTS;
	uint64_t launches = p->collect.timed + p->collect.untimed;

	return records > launches ? records - launches : 0;
}

static void mind_budget(struct poll *p)
{
	const uint64_t now_ns = p->collect.host.mono_ns;
	uint32_t before = p->budget.level;
	struct ct_gpu_spent spent;

	if (!p->budget.limit_millionths || now_ns - p->probed_ns < PROBE_NS)
		return;
	p->probed_ns = now_ns;
	ct_gpu_set_unusual(CT_GPU_PROBE, 1);
	spent = (struct ct_gpu_spent){
		.now_ns = now_ns,
		.fixed_ns = count_calls(p) * ct_recorder.call_cost_ns +
			    ct_account_of(CT_OURS_WRITE).cpu_ns +
			    ct_account_of(CT_OURS_BEAT).cpu_ns,
		.poll_ns = ct_account_of(CT_OURS_POLL).cpu_ns,
		.launches = p->collect.timed + p->collect.untimed,
		.launch_ns = ct_gpu_probe_cost(&p->probes),
	};
	if (ct_gpu_budget_look(&p->budget, &spent) != before)
		ct_gpu_sampling_level(p->budget.level);
	atomic_store_explicit(&p->level, p->budget.level, memory_order_relaxed);
	atomic_store_explicit(&p->coarsest, p->budget.coarsest, memory_order_relaxed);
	atomic_store_explicit(&p->backoffs, p->budget.backoffs, memory_order_relaxed);
}

/* A question by a thread whose capture mode is not relaxed can end a capture of the program's: then
 * there are none any more once it captures. */
static void relax(struct poll *p)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

	if (p->is_relaxed || ct_poll_gave_up())
		return;
	ct_poll_inside(ct_now_ns());
	p->is_relaxed = p->collect.cuda->exchange_capture_mode(&mode) == CUDA_SUCCESS;
	ct_poll_inside(0);
	if (!p->is_relaxed && ct_graph_is_used())
		ct_poll_give_up();
}

static void poll_once(struct poll *p, int last)
{
	struct ct_gpu_context *context;

	ct_gpu_host_clock_read(&p->collect.host);
	p->collect.next_ns = p->collect.host.mono_ns + CT_GPU_LONGEST_NAP_NS;
	relax(p);
	take_pushed(p);
	take_launches(p);
	for (unsigned i = 0; i < CT_GPU_CONTEXTS && (context = ct_gpu_context_nth(i)); i++)
		serve(p, context, last);
	/* a reader of the ring must not mistake work that was not polled, while CUDA blocks us, for
	 * stalled work */
	atomic_store_explicit(&ct_recorder.ring.header->looked_ns, p->collect.host.mono_ns,
			      memory_order_relaxed);
	note_cost(p, last);
	mind_budget(p);
	ct_gpu_decide_look(p->collect.host.mono_ns);
}

static void nap(struct poll *p)
{
	uint64_t now = ct_now_ns();
	uint64_t ns = p->collect.next_ns > now ? p->collect.next_ns - now : 0;
	uint32_t looked = CT_POLL_LOOK;

	ct_futex_wait(&ct_poll_wanted, CT_POLL_NOTHING,
		      ns < CT_GPU_SHORTEST_NAP_NS ? CT_GPU_SHORTEST_NAP_NS : ns);
	/* acquire: pairs with the release in ct_poll_wake() */
	atomic_compare_exchange_strong_explicit(&ct_poll_wanted, &looked, CT_POLL_NOTHING,
						memory_order_acq_rel, memory_order_acquire);
}

static void *run(void *arg)
{
	struct poll *p = &poll;

	/* its records go into a lane of its own; what CUDA calls in turn is not recorded */
	memset(&ct_self, 0, sizeof(ct_self));
	ct_self.gate = (uint32_t)(uintptr_t)arg;
	ct_self.depth = 1;
	p->collect.cuda = ct_cuda();
	while (atomic_load_explicit(&ct_poll_wanted, memory_order_acquire) != CT_POLL_FINISH) {
		poll_once(p, 0);
		nap(p);
	}
	poll_once(p, 1);
	ct_lane_close(&ct_self.lane);
	atomic_store_explicit(&p->finished, 1, memory_order_release);
	ct_futex_wake(&p->finished);
	return NULL;
}

void ct_poll_init(int anchors, uint32_t budget_millionths)
{
	memset(&poll, 0, sizeof(poll));
	ct_poll_state_init();
	ct_gpu_set_unusual(CT_GPU_PROBE, 0);
	poll.budget.limit_millionths = budget_millionths;
	poll.anchors = anchors;
}

/* The driver is torn down by a handler that cuInit() registers. A later call into the driver fails,
 * or crashes the program; so this thread ends before. Registered later than cuInit(), this handler
 * runs earlier. */
static void before_driver_ends(int status, void *unused)
{
	int saved = errno;

	(void)status;
	(void)unused;
	if (!atomic_load_explicit(&poll.started, memory_order_acquire) || poll.process != getpid())
		return;
	if (!ct_poll_finish(CT_POLL_END_NS))
		atomic_store_explicit(&poll.hung, 1, memory_order_relaxed);
	ct_poll_give_up();
	errno = saved;
}

void ct_poll_start(void)
{
	if (atomic_load_explicit(&poll.started, memory_order_relaxed) ||
	    atomic_exchange_explicit(&poll.started, 1, memory_order_relaxed))
		return;
	poll.process = getpid();
	if (on_exit(before_driver_ends, NULL) == 0 &&
	    ct_thread_start(run, (void *)(uintptr_t)ct_guard_gate()) == 0) {
		if (!ct_poll_gave_up())
			ct_gpu_set_unusual(CT_GPU_NO_POLL, 0);
		return;
	}
	ct_poll_give_up();
	atomic_store_explicit(&poll.finished, 1, memory_order_release);
}

int ct_poll_finish(uint64_t timeout_ns)
{
	uint64_t begin = ct_now_ns();
	uint64_t now = begin;

	if (!atomic_load_explicit(&poll.started, memory_order_acquire))
		return 1;
	/* the program has waited for it once */
	if (atomic_load_explicit(&poll.hung, memory_order_relaxed))
		timeout_ns = 0;
	atomic_store_explicit(&ct_poll_wanted, CT_POLL_FINISH, memory_order_release);
	ct_futex_wake(&ct_poll_wanted);
	while (!atomic_load_explicit(&poll.finished, memory_order_acquire) &&
	       now - begin < timeout_ns) {
		ct_futex_wait(&poll.finished, 0, timeout_ns - (now - begin));
		now = ct_now_ns();
	}
	return atomic_load_explicit(&poll.finished, memory_order_acquire) != 0;
}

void ct_poll_cost(struct ct_poll_cost *cost)
{
	cost->events = atomic_load_explicit(&poll.events, memory_order_relaxed);
	cost->timed = atomic_load_explicit(&poll.timed, memory_order_relaxed);
	cost->untimed = atomic_load_explicit(&poll.untimed, memory_order_relaxed);
	cost->level = atomic_load_explicit(&poll.level, memory_order_relaxed);
	cost->coarsest = atomic_load_explicit(&poll.coarsest, memory_order_relaxed);
	cost->backoffs = atomic_load_explicit(&poll.backoffs, memory_order_relaxed);
}

uint64_t ct_poll_take_probe(void)
{
	uint32_t before = atomic_fetch_and_explicit(&ct_gpu_unusual, ~(uint32_t)CT_GPU_PROBE,
						    memory_order_acquire);

	return before & CT_GPU_PROBE ? ct_now_ns() : 0;
}

void ct_poll_probe_begun(uint64_t since_ns)
{
	atomic_store_explicit(&poll.probe_ns, ct_now_ns() - since_ns, memory_order_relaxed);
}

void ct_poll_probe_ended(uint64_t end_cost_ns)
{
	ct_gpu_probe_add(&poll.probes,
			 end_cost_ns + atomic_load_explicit(&poll.probe_ns, memory_order_relaxed));
}
