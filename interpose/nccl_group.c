/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nccl_group.h"

#include <string.h>
#include <sys/mman.h>

#include "interpose/nccl_later.h"
#include "interpose/unwind.h"

/* Threads that are, or have been, in a group and live. */
#define THREADS 256u

static struct ct_nccl_thread *pool;

/* For a thread that found the pool empty: its groups cannot be followed, so all that it launches is untimed. */
static struct ct_nccl_thread no_room = { .depth = 1, .n_pairs = CT_NCCL_PAIRS };

int ct_nccl_group_init(void)
{
	void *map = mmap(NULL, THREADS * sizeof(*pool), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
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

void ct_nccl_untimed(uint32_t launch, const struct ct_comm *comm, uint32_t n_ops, int result)
{
	const struct ct_launch rec = {
		.id = launch,
		.comm = comm->id,
		.n_ops = n_ops,
		.result = (int16_t)result,
	};

	if (!(ct_gpu_op_flags & CT_OP_UNTIMED))
		ct_recorder_launch(&rec);
}

struct ct_nccl_pair *ct_nccl_group_pair(const struct ct_comm *comm, ncclComm_t handle,
					CUstream stream)
{
	struct ct_nccl_thread *t = ct_self.nccl;
	struct ct_nccl_pair *pair;

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
		ct_nccl_later_child(child);
	}
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
		const struct ct_comm comm = { .id = t->pairs[i].launch.comm };

		ct_nccl_untimed(t->pairs[i].launch.id, &comm, t->pairs[i].launch.n_ops, result);
	}
	t->n_pairs = 0;
}

static void begin_all(struct ct_nccl_thread *t)
{
	for (uint32_t i = 0; i < t->n_pairs; i++)
		t->pairs[i].span = ct_gpu_begin(&t->pairs[i].launch);
}

static void end_all(struct ct_nccl_thread *t)
{
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		ct_nccl_later_passed(t->pairs[i].comm);
		ct_gpu_end(t->pairs[i].span);
	}
	for (uint32_t i = 0; i < t->n_children; i++)
		ct_nccl_child_arrives(&t->children[i]);
	forget_all(t);
}

/* NCCL goes on with it in a thread of its own. */
static void put_off_all(struct ct_nccl_thread *t)
{
	for (uint32_t i = 0; i < t->n_pairs; i++)
		ct_nccl_later_passed(t->pairs[i].comm);
	for (uint32_t i = 0; i < t->n_pairs; i++)
		ct_nccl_later_span(t->pairs[i].comm, t->pairs[i].span, t->pairs[i].launch.stream);
	for (uint32_t i = 0; i < t->n_children; i++)
		ct_nccl_later_child(&t->children[i]);
	forget_all(t);
}

static void drop_all(struct ct_nccl_thread *t, int result)
{
	for (uint32_t i = 0; i < t->n_pairs; i++)
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
static const struct ct_comm *only_comm(const struct ct_nccl_thread *t)
{
	const struct ct_comm *comm = t && t->n_pairs ? ct_comms_find(t->pairs[0].comm) : NULL;

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

static ncclResult_t return_end(struct end_frame *f, ncclResult_t result)
{
	struct ct_nccl_thread *t = f->thread;

	if (t) {
		t->depth = 0;
		if (result == ncclSuccess)
			end_all(t);
		else if (result == ncclInProgress)
			put_off_all(t);
		else
			drop_all(t, result);
	}
	ct_host_end(&f->host, result);
	return result;
}

static CT_UNWIND_WHOLE ncclResult_t end_group(ct_ncclGroupEnd_fn *real)
{
	struct end_frame f;

	CT_UNWIND_HERE();
	enter_end(&f, CT_NCCL_ncclGroupEnd);
	if (f.thread)
		begin_all(f.thread);
	return return_end(&f, real());
}

/* NCCL only computes how long it would take. (A nonblocking communicator launches all the same, some time.) */
static CT_UNWIND_WHOLE ncclResult_t simulate_end(ncclSimInfo_t *info,
						 ct_ncclGroupSimulateEnd_fn *real)
{
	struct end_frame f;

	CT_UNWIND_HERE();
	enter_end(&f, CT_NCCL_ncclGroupSimulateEnd);
	if (f.thread)
		give_up_launches(f.thread, CT_RESULT_ABORTED);
	return return_end(&f, real(info));
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

ncclResult_t ct_ncclGroupStart(void)
{
	ct_ncclGroupStart_fn *next = CT_NCCL_NEXT(ncclGroupStart);
	ncclResult_t result = next ? next() : CT_NCCL_ABSENT;
	struct ct_nccl_thread *t;

	/* whatever comes in the group has to know of it, so recording starts here */
	if (result == ncclSuccess && ct_nccl_enter(CT_CALL_CREATE)) {
		t = ct_self.nccl ? ct_self.nccl : take_block();
		if (t != &no_room)
			t->depth++;
		ct_guard_leave();
	}
	return result;
}

ncclResult_t ct_ncclGroupEnd(void)
{
	ct_ncclGroupEnd_fn *next = CT_NCCL_NEXT(ncclGroupEnd);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_DATA) || leaves_inner())
		return next();
	return end_group(next);
}

ncclResult_t ct_ncclGroupSimulateEnd(ncclSimInfo_t *info)
{
	ct_ncclGroupSimulateEnd_fn *next = CT_NCCL_NEXT(ncclGroupSimulateEnd);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_DATA) || leaves_inner())
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
