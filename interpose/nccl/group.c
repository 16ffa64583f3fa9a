/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nccl/group.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/gpu/capture_state.h"
#include "interpose/nccl/async_ops.h"
#include "interpose/nccl/failed.h"
#include "interpose/unwind.h"
#include "trace/pages.h"

/* size: threads that are, or have been, in a group and live: one for each GPU, and some of the
 * program's pools. */
#define THREADS 256u

static struct ct_nccl_thread *pool;

/* For a thread that found the pool empty: its groups cannot be followed, so all that it launches is
 * untimed. */
static struct ct_nccl_thread no_room = { .depth = 1, .n_pairs = CT_NCCL_PAIRS };

int ct_nccl_group_init(void)
{
	void *map = ct_pages_map(THREADS * sizeof(*pool));

	if (!map)
		return CT_NOMEM;
	pool = map;
	return CT_OK;
}

static __attribute__((noinline)) struct ct_nccl_thread *take_block(void)
{
	struct ct_nccl_thread *t = &no_room;

	for (uint32_t i = 0; i < THREADS && t == &no_room; i++) {
		uint32_t free = 0;

		/* acquire: pairs with the release of the thread that gave it back */
		if (atomic_compare_exchange_strong_explicit(
			    &pool[i].taken, &free, 1, memory_order_acquire, memory_order_relaxed))
			t = &pool[i];
	}
	if (t != &no_room) {
		t->depth = 0;
		t->n_pairs = 0;
		t->n_children = 0;
	}
	ct_self.nccl = t;
	return t;
}

void ct_nccl_untimed(uint32_t launch, uint32_t comm, uint32_t n_ops, int result)
{
	const struct ct_launch rec = {
		.id = launch,
		.comm = comm,
		.n_ops = n_ops,
		.result = (int16_t)result,
	};

	if (!(ct_gpu_op_flags & CT_OP_UNTIMED))
		ct_recorder_launch(&rec);
}

struct ct_nccl_pair *ct_nccl_group_pair(const struct ct_traced_comm *comm, ncclComm_t handle,
					CUstream stream)
{
	struct ct_nccl_thread *t = ct_self.nccl;
	struct ct_nccl_pair *pair;
	CUcontext current; /* another one, perhaps, when the group ends */

	for (uint32_t i = 0; i < t->n_pairs && t != &no_room; i++) {
		pair = &t->pairs[i];
		if (pair->launch.comm == comm->id && pair->launch.stream == stream)
			return pair;
	}
	if (t->n_pairs == CT_NCCL_PAIRS) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_OPEN_TABLE_FULL, 1);
		return NULL;
	}
	pair = &t->pairs[t->n_pairs++];
	memset(pair, 0, sizeof(*pair));
	pair->comm = handle;
	pair->launch.id = ct_recorder_slot_launch();
	pair->launch.comm = comm->id;
	pair->launch.device = comm->device;
	pair->launch.stream = stream;
	pair->launch.unpicked = 1;
	pair->launch.asked = ct_gpu_capture_state(stream, comm->device, &current);
	return pair;
}

void ct_nccl_group_pick(struct ct_nccl_pair *pair, int is_message, int picked)
{
	if (picked && (is_message || !pair->has_collective))
		pair->launch.unpicked = 0;
	pair->has_collective |= !is_message;
}

void ct_nccl_group_child(const struct ct_nccl_child *child, ncclResult_t result)
{
	struct ct_nccl_thread *t = ct_self.nccl;

	if (ct_nccl_in_group()) {
		if (t != &no_room && t->n_children < CT_NCCL_CHILDREN)
			t->children[t->n_children++] = *child;
	} else if (result == ncclSuccess) {
		ct_nccl_child_arrives(child);
	} else {
		ct_nccl_async_child(child);
	}
}

void ct_nccl_host_end(struct ct_host_frame *f, ncclResult_t result, ncclComm_t asked,
		      const void *library)
{
	if (ct_nccl_is_error(result))
		ct_nccl_failed(f->rec.call, f->rec.comm, result, library);
	else if (result == ncclInProgress && !ct_nccl_in_group())
		ct_nccl_async_call(asked, &f->rec);
	ct_host_end(f, result);
}

/* The outermost end of a group, on its wrapper's stack. */
struct end_frame {
	struct ct_host_frame host;     /* first */
	struct ct_nccl_thread *thread; /* NULL: it has collected nothing */
};

static void forget_all(struct ct_nccl_thread *t)
{
	t->n_pairs = 0;
	t->n_children = 0;
}

/* Their launches have not begun and never will. */
static void give_up_launches(struct ct_nccl_thread *t, int result)
{
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		const struct ct_gpu_launch *launch = &t->pairs[i].launch;

		if (launch->asked != CT_GPU_CAPTURED)
			ct_nccl_untimed(launch->id, launch->comm, launch->n_ops, result);
	}
	t->n_pairs = 0;
}

static void begin_all(struct ct_nccl_thread *t)
{
	for (uint32_t i = 0; i < t->n_pairs; i++)
		if (t->pairs[i].launch.asked != CT_GPU_CAPTURED)
			t->pairs[i].span = ct_gpu_begin(&t->pairs[i].launch);
}

static void end_all(struct ct_nccl_thread *t)
{
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		ct_nccl_async_passed(t->pairs[i].comm);
		if (t->pairs[i].launch.asked != CT_GPU_CAPTURED)
			ct_gpu_end(t->pairs[i].span);
	}
	for (uint32_t i = 0; i < t->n_children; i++)
		ct_nccl_child_arrives(&t->children[i]);
	forget_all(t);
}

/* NCCL continues it in a thread of its own. */
static void put_off_all(struct ct_nccl_thread *t, const struct ct_host_rec *call)
{
	struct ct_host_rec rec = *call;

	for (uint32_t i = 0; i < t->n_pairs; i++)
		ct_nccl_async_passed(t->pairs[i].comm);
	for (uint32_t i = 0; i < t->n_pairs; i++)
		ct_nccl_async_span(t->pairs[i].comm, t->pairs[i].span, t->pairs[i].launch.stream);
	for (uint32_t i = 0; i < t->n_children; i++) {
		const struct ct_nccl_child *child = &t->children[i];

		ct_nccl_async_child(child);
		rec.key = child->key;
		rec.nranks = child->nranks;
		rec.rank = child->rank;
		ct_nccl_async_call(child->seen ? child->seen : child->made_from, &rec);
	}
	forget_all(t);
}

static void drop_all(struct ct_nccl_thread *t, int result)
{
	for (uint32_t i = 0; i < t->n_pairs; i++)
		if (t->pairs[i].launch.asked != CT_GPU_CAPTURED)
			ct_gpu_drop(t->pairs[i].span, result);
	for (uint32_t i = 0; i < t->n_children; i++)
		ct_nccl_child_fails(&t->children[i]);
	forget_all(t);
}

static void end_leave(struct ct_frame *frame)
{
	struct end_frame *f = (struct end_frame *)frame;

	if (f->thread)
		drop_all(f->thread, CT_RESULT_EXCEPTION);
	ct_host_end(&f->host, CT_RESULT_EXCEPTION);
}

/* The one communicator that it is about, NULL if there are several or none. */
static const struct ct_traced_comm *only_comm(const struct ct_nccl_thread *t)
{
	const struct ct_traced_comm *comm = t && t->n_pairs ? ct_comms_find(t->pairs[0].comm)
							    : NULL;

	for (uint32_t i = 1; comm && i < t->n_pairs; i++)
		if (t->pairs[i].comm != t->pairs[0].comm)
			return NULL;
	return comm;
}

static void enter_end(struct end_frame *f, enum ct_nccl_call call)
{
	f->thread = ct_self.nccl == &no_room ? NULL : ct_self.nccl;
	f->host.rec = ct_nccl_host_rec(call, only_comm(f->thread));
	if (f->thread && f->thread->n_children)
		f->host.rec.key = f->thread->children[0].key;
	ct_host_begin(&f->host);
	f->host.frame.leave = end_leave;
}

int ct_nccl_inside_end(uint64_t hash, int rank, uint32_t launch, struct ct_nccl_inside *in)
{
	struct ct_frame *frame = ct_guard_frame();
	const struct ct_nccl_thread *t;
	int found = 0;

	if (!frame || frame->leave != end_leave)
		return 0;
	t = ((const struct end_frame *)frame)->thread;
	for (uint32_t i = 0; t && i < t->n_pairs; i++) {
		const struct ct_nccl_pair *pair = &t->pairs[i];
		const struct ct_traced_comm *comm = ct_comms_find(pair->comm);

		if (launch ? pair->launch.id != launch
			   : !comm || comm->nccl_hash != hash || comm->rank != rank)
			continue;
		in->comm = pair->launch.comm;
		in->span = pair->span;
		in->launch = pair->launch.id;
		in->op = 0;
		in->has_seq = 0;
		in->captured = pair->launch.asked == CT_GPU_CAPTURED;
		found++;
	}
	return found == 1;
}

static ncclResult_t return_end(struct end_frame *f, ncclResult_t result, const void *library)
{
	struct ct_nccl_thread *t = f->thread;

	if (t) {
		t->depth = 0;
		if (result == ncclSuccess)
			end_all(t);
		else if (result == ncclInProgress)
			put_off_all(t, &f->host.rec);
		else
			drop_all(t, result);
	}
	ct_nccl_host_end(&f->host, result, NULL, library);
	return result;
}

static CT_UNWIND_WHOLE ncclResult_t end_group(ct_ncclGroupEnd_fn *real)
{
	struct end_frame f;

	CT_UNWIND_HERE();
	enter_end(&f, CT_NCCL_ncclGroupEnd);
	if (f.thread)
		begin_all(f.thread);
	return return_end(&f, real(), (const void *)(uintptr_t)real);
}

static void simulate_leave(struct ct_frame *frame)
{
	struct end_frame *f = (struct end_frame *)frame;

	if (f->thread)
		give_up_launches(f->thread, CT_RESULT_EXCEPTION);
	end_leave(frame);
}

/* NCCL only computes how long it would take. But what it leaves to a thread of its own, for
 * nonblocking communicators, it launches all the same, some time: nothing is known of when. */
static ncclResult_t return_simulated(struct end_frame *f, ncclResult_t result, const void *library)
{
	if (f->thread)
		give_up_launches(f->thread, result == ncclSuccess      ? CT_RESULT_ABORTED
					    : result == ncclInProgress ? ncclSuccess
								       : (int)result);
	return return_end(f, result, library);
}

static CT_UNWIND_WHOLE ncclResult_t simulate_end(ncclSimInfo_t *info,
						 ct_ncclGroupSimulateEnd_fn *real)
{
	struct end_frame f;

	CT_UNWIND_HERE();
	enter_end(&f, CT_NCCL_ncclGroupSimulateEnd);
	f.host.frame.leave = simulate_leave;
	return return_simulated(&f, real(info), (const void *)(uintptr_t)real);
}

/* Is this one inside another, where it does nothing? */
static int leaves_inner(void)
{
	if (!ct_self.nccl || ct_self.nccl->depth < 2)
		return 0;
	ct_self.nccl->depth--;
	ct_guard_leave();
	return 1;
}

/* size: a forked child is silent until it makes a communicator, which it may do in a group that it
 * has begun before: then the group has to be known. For each thread that has one, its depth. */
#define EARLY 32u

_Atomic uint32_t ct_nccl_early; /* entries in use */
static struct {
	_Atomic uint32_t tid; /* 0: free */
	uint32_t depth;
} early[EARLY];

static int is_silent_child(void)
{
	return CT_GATE_STATE(ct_guard_gate()) == CT_GATE_CHILD;
}

static void leave_early(uint32_t i)
{
	atomic_store_explicit(&early[i].tid, 0, memory_order_relaxed);
	atomic_fetch_sub_explicit(&ct_nccl_early, 1, memory_order_relaxed);
}

/* The calling thread's, EARLY if it has none; `may_take`: then a free one. */
static uint32_t find_early(int may_take)
{
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	for (uint32_t i = 0; i < EARLY; i++)
		if (atomic_load_explicit(&early[i].tid, memory_order_relaxed) == tid)
			return i;
	for (uint32_t i = 0; i < EARLY && may_take; i++) {
		uint32_t free = 0;

		if (!atomic_compare_exchange_strong_explicit(
			    &early[i].tid, &free, tid, memory_order_relaxed, memory_order_relaxed))
			continue;
		early[i].depth = 0;
		atomic_fetch_add_explicit(&ct_nccl_early, 1, memory_order_relaxed);
		return i;
	}
	return EARLY;
}

static void start_early(void)
{
	uint32_t i = find_early(1);

	if (i < EARLY)
		early[i].depth++;
}

static void end_early(void)
{
	uint32_t i = atomic_load_explicit(&ct_nccl_early, memory_order_relaxed) ? find_early(0)
										: EARLY;

	if (i < EARLY && --early[i].depth == 0)
		leave_early(i);
}

void ct_nccl_group_adopt(void)
{
	uint32_t i = find_early(0);
	struct ct_nccl_thread *t;

	if (i == EARLY)
		return;
	t = ct_self.nccl ? ct_self.nccl : take_block();
	if (t != &no_room)
		t->depth += early[i].depth;
	leave_early(i);
}

ncclResult_t ct_ncclGroupStart(void)
{
	ct_ncclGroupStart_fn *next = CT_NCCL_NEXT(ncclGroupStart);
	ncclResult_t result = next ? next() : CT_NCCL_ABSENT;
	struct ct_nccl_thread *t;

	if (result != ncclSuccess)
		return result;
	/* whatever comes in the group has to know of it, so recording starts here */
	if (ct_nccl_enter(CT_CALL_DATA, __builtin_return_address(0))) {
		t = ct_self.nccl ? ct_self.nccl : take_block();
		if (t != &no_room)
			t->depth++;
		ct_guard_leave();
	} else if (is_silent_child()) {
		start_early();
	}
	return result;
}

/* The end of a group is not recorded. */
static int is_unrecorded_end(const void *caller)
{
	if (ct_nccl_enter(CT_CALL_DATA, caller))
		return leaves_inner();
	if (is_silent_child())
		end_early();
	return 1;
}

ncclResult_t ct_ncclGroupEnd(void)
{
	ct_ncclGroupEnd_fn *next = CT_NCCL_NEXT(ncclGroupEnd);

	if (!next)
		return CT_NCCL_ABSENT;
	if (is_unrecorded_end(__builtin_return_address(0)))
		return next();
	return end_group(next);
}

ncclResult_t ct_ncclGroupSimulateEnd(ncclSimInfo_t *info)
{
	ct_ncclGroupSimulateEnd_fn *next = CT_NCCL_NEXT(ncclGroupSimulateEnd);

	if (!next)
		return CT_NCCL_ABSENT;
	if (is_unrecorded_end(__builtin_return_address(0)))
		return next(info);
	return simulate_end(info, next);
}

void ct_nccl_thread_end(void)
{
	struct ct_nccl_thread *t = ct_self.nccl;

	ct_self.nccl = NULL;
	if (!t || t == &no_room)
		return;
	give_up_launches(t, CT_RESULT_ABORTED);
	atomic_store_explicit(&t->taken, 0, memory_order_release);
}
