/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nccl/async_ops.h"

#include "interpose/nccl/failed.h"
#include "interpose/recorder.h"
#include "trace/pages.h"

/* size: calls on nonblocking communicators that have not ended yet: one for each communicator. */
#define ENTRIES 256u

enum { KEY_FREE = 0, KEY_BUSY = 1 }; /* no communicator is there */

struct async_op {
	struct ct_gpu_span *span;
	CUstream stream;
	uint32_t tid; /* which launched */
	enum { SPAN, CHILD, CALL } kind;
	struct ct_nccl_child child;
	struct ct_host_rec call;
};

/* The thread that exchanges a key for BUSY owns its entry. */
static struct {
	_Atomic uintptr_t keys[ENTRIES]; /* ncclComm_t */
	struct async_op entries[ENTRIES];
} * table;
_Atomic uint32_t ct_nccl_async_waiting;

int ct_nccl_async_init(void)
{
	void *map = ct_pages_map(sizeof(*table));

	if (!map)
		return CT_NOMEM;
	table = map;
	atomic_store_explicit(&ct_nccl_async_waiting, 0, memory_order_relaxed);
	return CT_OK;
}

static int add(ncclComm_t comm, const struct async_op *entry)
{
	for (uint32_t i = 0; i < ENTRIES; i++) {
		uintptr_t free = KEY_FREE;

		if (atomic_load_explicit(&table->keys[i], memory_order_relaxed) != KEY_FREE ||
		    !atomic_compare_exchange_strong_explicit(&table->keys[i], &free, KEY_BUSY,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		table->entries[i] = *entry;
		atomic_fetch_add_explicit(&ct_nccl_async_waiting, 1, memory_order_relaxed);
		/* release: pairs with the acquire of the thread that takes it */
		atomic_store_explicit(&table->keys[i], (uintptr_t)comm, memory_order_release);
		return 1;
	}
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_OPEN_TABLE_FULL, 1);
	return 0;
}

/* Take the next one of this communicator, from entry *at on. 0: there is none. */
static int claim_next(ncclComm_t comm, uint32_t *at, struct async_op *entry)
{
	for (; *at < ENTRIES; ++*at) {
		uintptr_t key = (uintptr_t)comm;

		if (atomic_load_explicit(&table->keys[*at], memory_order_relaxed) != key ||
		    !atomic_compare_exchange_strong_explicit(&table->keys[*at], &key, KEY_BUSY,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		*entry = table->entries[*at];
		atomic_fetch_sub_explicit(&ct_nccl_async_waiting, 1, memory_order_relaxed);
		atomic_store_explicit(&table->keys[*at], KEY_FREE, memory_order_release);
		return 1;
	}
	return 0;
}

void ct_nccl_async_span(ncclComm_t comm, struct ct_gpu_span *span, CUstream stream)
{
	const struct async_op entry = { .span = span, .stream = stream, .tid = ct_self.lane.tid };

	if (span && !add(comm, &entry))
		ct_gpu_drop(span, ncclSuccess);
}

void ct_nccl_async_child(const struct ct_nccl_child *child)
{
	const struct async_op entry = { .child = *child, .kind = CHILD };

	if (!child->seen && child->made_from)
		add(child->made_from, &entry);
}

void ct_nccl_async_call(ncclComm_t comm, const struct ct_host_rec *call)
{
	const struct async_op entry = { .call = *call, .kind = CALL };

	if (comm)
		add(comm, &entry);
}

static void end_call(const struct async_op *e, int result)
{
	struct ct_host_rec rec = e->call;

	rec.return_ns = rec.polled_ns = ct_now_ns();
	rec.result = result;
	ct_recorder_rare(CT_KIND_HOST_END, &rec);
}

/* Each thread has its own stream of that name. */
static int is_foreign(const struct async_op *e)
{
	return e->stream == CU_STREAM_PER_THREAD && e->tid != ct_self.lane.tid;
}

static void settle(const struct async_op *e, ncclResult_t state)
{
	if (e->kind == CALL) {
		end_call(e, state);
	} else if (e->kind == CHILD) {
		if (state == ncclSuccess)
			ct_nccl_child_arrives(&e->child);
	} else if (state == ncclSuccess && !is_foreign(e)) {
		ct_gpu_end(e->span);
	} else {
		ct_gpu_drop(e->span, state);
	}
}

void ct_nccl_async_settle(ncclComm_t comm, ncclResult_t state)
{
	struct async_op entry;

	if (state == ncclInProgress)
		return;
	for (uint32_t at = 0; claim_next(comm, &at, &entry);)
		settle(&entry, state);
}

void ct_nccl_async_passed(ncclComm_t comm)
{
	struct async_op entry;

	for (uint32_t at = 0; ct_nccl_async_count() && claim_next(comm, &at, &entry);) {
		if (entry.kind == CALL)
			end_call(&entry, ncclSuccess);
		else if (entry.kind == CHILD)
			ct_nccl_child_arrives(&entry.child);
		else
			ct_gpu_drop(entry.span, ncclSuccess);
	}
}

void ct_nccl_async_gone(ncclComm_t comm, int result)
{
	struct async_op entry;

	for (uint32_t at = 0; ct_nccl_async_count() && claim_next(comm, &at, &entry);)
		if (entry.kind == CALL)
			end_call(&entry, result);
		else if (entry.kind == SPAN)
			ct_gpu_drop(entry.span, result);
}

/* Programs ask this often, of communicators that have nothing to do. */
ncclResult_t ct_ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
	ct_ncclCommGetAsyncError_fn *next = CT_NCCL_NEXT(ncclCommGetAsyncError);
	ncclResult_t result = next ? next(comm, error) : CT_NCCL_ABSENT;

	int is_error = result == ncclSuccess && error && ct_nccl_is_error(*error);

	if (result != ncclSuccess || (!is_error && !ct_nccl_async_count()))
		return result;
	if (ct_nccl_enter(CT_CALL_DATA, __builtin_return_address(0))) {
		if (is_error)
			ct_nccl_failed_async(comm, *error, (const void *)(uintptr_t)next);
		ct_nccl_async_settle(comm, *error);
		ct_guard_leave();
	} else if (ct_guard_frame()) {
		/* NCCL queries, before an operation of this communicator: the last one is over, the
		 * next not yet begun */
		ct_nccl_async_settle(comm, *error);
	}
	return result;
}
