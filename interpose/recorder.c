/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/recorder.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/threads.h"

_Static_assert(sizeof(struct ct_host_rec) == 56, "fills words 1..7");
_Static_assert(sizeof(struct ct_vcounts_rec) == 56, "fills words 1..7");
_Static_assert(sizeof(struct ct_match_rec) == 56, "fills words 1..7");

struct ct_recorder ct_recorder = { .ring.fd = -1 };

/* Once until the write thread has seen it, so a full pool costs no system call per record. */
void ct_recorder_wake(void)
{
	/* release: pairs with the write thread's nap(), which then sees what is to be done */
	if (atomic_load_explicit(&ct_recorder.wanted, memory_order_relaxed) ||
	    atomic_exchange_explicit(&ct_recorder.wanted, 1, memory_order_release))
		return;
	ct_futex_wake(&ct_recorder.wanted);
}

struct ct_slot *ct_recorder_claim(void)
{
	struct ct_ring *ring = &ct_recorder.ring;
	struct ct_slot *slot = NULL;
	int saved = errno;

	if (ct_ring_claim(ring, &ct_self.lane))
		slot = ct_self.lane.next++;
	else
		ct_ring_lose(ring, CT_LOSS_POOL_EMPTY, 1);
	if (!slot || atomic_load_explicit(&ring->header->n_free, memory_order_relaxed) <
			     atomic_load_explicit(&ct_recorder.low_water, memory_order_relaxed))
		ct_recorder_wake();
	errno = saved;
	return slot;
}

void ct_op_leave(struct ct_frame *frame)
{
	ct_op_end((struct ct_op_frame *)frame, ct_now_ns(), CT_RESULT_EXCEPTION);
}

void ct_recorder_rare(enum ct_kind kind, const void *payload)
{
	struct ct_slot *slot = ct_recorder_slot();
	uint64_t w[8];

	if (!slot)
		return;
	memcpy(&w[1], payload, 7 * sizeof(w[0]));
	ct_slot_publish(slot, CT_TAG(ct_self.lane.lap, kind, 0), w);
}

void ct_recorder_launch(const struct ct_launch *launch)
{
	struct ct_slot *slot = ct_recorder_slot();
	uint64_t w[8];

	if (!slot)
		return;
	__builtin_prefetch(ct_self.lane.next, 1); /* as ct_op_begin() does, for the next op */
	ct_launch_pack(launch, w);
	ct_slot_publish(slot, CT_TAG(ct_self.lane.lap, CT_KIND_LAUNCH, 0), w);
}

uint32_t ct_recorder_launch_id(void)
{
	return CT_LAUNCH_SHARED |
	       (uint32_t)atomic_fetch_add_explicit(&ct_recorder.ring.header->launches, 1,
						   memory_order_relaxed);
}

struct ct_slot *ct_recorder_refill(void)
{
	int saved = errno;
	int has = ct_ring_claim(&ct_recorder.ring, &ct_self.lane);

	errno = saved;
	return has ? ct_self.lane.next : NULL;
}

struct ct_host_rec ct_host_rec_of(uint32_t call, const struct ct_traced_comm *comm)
{
	struct ct_host_rec rec = { .call = call, .rank = -1 };

	if (comm) {
		rec.comm = comm->id;
		rec.key = comm->key;
		rec.nranks = comm->nranks;
		rec.rank = comm->rank;
	}
	return rec;
}

void ct_host_leave(struct ct_frame *frame)
{
	ct_host_end((struct ct_host_frame *)frame, CT_RESULT_EXCEPTION);
}

void ct_host_begin(struct ct_host_frame *f)
{
	f->frame.leave = ct_host_leave;
	f->rec.tid = ct_self.lane.tid ? ct_self.lane.tid : (uint32_t)syscall(SYS_gettid);
	f->rec.enter_ns = ct_now_ns();
	f->rec.result = (int32_t)ct_site();
	ct_recorder_rare(CT_KIND_HOST_BEGIN, &f->rec);
	ct_self.frame = &f->frame;
}

void ct_host_end(struct ct_host_frame *f, int result)
{
	f->rec.return_ns = ct_now_ns();
	f->rec.result = result;
	ct_recorder_rare(CT_KIND_HOST_END, &f->rec);
	ct_guard_leave();
}

/* Record into a scrap of memory as a wrapper does into the ring. */
static void record_scrap(struct ct_traced_comm *comm, struct ct_slot *slot, uint64_t count)
{
	struct ct_op op = { .op = CT_OP_AllReduce, .count = count, .peer = -1 };
	struct ct_op_frame f;

	ct_self.lane.next = slot;
	ct_self.lane.end = slot + 1;
	op.seq = atomic_fetch_add_explicit(&comm->entry->next_seq, 1, memory_order_relaxed);
	ct_op_begin(&f, comm, &op);
	ct_op_end(&f, ct_now_ns(), 0);
}

/* size: a chunk's calls, so many times: 50 us, of which the shortest round counts. */
#define ROUNDS 16
#define CALLS CT_CHUNK_SLOTS

uint32_t ct_recorder_calibrate(void)
{
	static struct ct_slot slots[CALLS] __attribute__((aligned(64)));
	struct ct_thread mine = ct_self;
	struct ct_ring_comm entry;
	struct ct_traced_comm comm;
	uint64_t best = UINT64_MAX;

	memset(&entry, 0, sizeof(entry));
	memset(&comm, 0, sizeof(comm));
	memset(&ct_self, 0, sizeof(ct_self));
	comm.entry = &entry;
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t begin = ct_now_ns();
		uint64_t took;

		for (uint64_t i = 0; i < CALLS; i++)
			record_scrap(&comm, &slots[i], i);
		took = ct_now_ns() - begin;
		best = took < best ? took : best; /* the others were interrupted */
	}
	ct_self = mine;
	return (uint32_t)(best / CALLS);
}
