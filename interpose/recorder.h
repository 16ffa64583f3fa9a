/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h — from a wrapped call to records in the ring.
 *
 * The call path: begin before the real call, end after it. Each thread fills its own lane; shared
 * are only the words of the communicator's entry (sequence number, progress). Nothing here
 * allocates, waits or fails visibly: what cannot be recorded is counted by reason, and sequence
 * numbers advance all the same, so that ranks stay comparable. struct ct_recorder is set up by the
 * lifecycle before the gate opens and stays mapped until the process is gone, because threads may
 * come out of a call long after the recording has ended.
 */
#ifndef CT_INTERPOSE_RECORDER_H
#define CT_INTERPOSE_RECORDER_H

#include <time.h>

#include "interpose/comms.h"
#include "interpose/guard.h"
#include "interpose/site.h"
#include "trace/ops.h"

/* code: in launch ids that come from a counter. Chunks are 64 slots, of which the first is none. */
#define CT_LAUNCH_SHARED (1u << 31)
_Static_assert(CT_CHUNK_BYTES == 64 * CT_SLOT_BYTES, "a slot's number in its chunk has six bits");

struct ct_recorder {
	struct ct_ring ring;
	struct ct_process process;
	_Atomic uint64_t low_water; /* free chunks below which calls wake the write thread */
	_Atomic uint32_t wanted;    /* futex of the write thread: 1 = wanted now */
	uint32_t call_cost_ns;	    /* of one recorded call, measured at start */
	_Atomic uint64_t
		start_ns; /* how long the first call waited for that start; 0: not known yet */
};
extern struct ct_recorder ct_recorder CT_NEAR;

/* A recorded data call on its wrapper's stack. */
struct ct_op_frame {
	struct ct_frame frame;
	struct ct_slot *slot; /* NULL: the record was lost, the call continues */
	uint64_t enter_ns;
};

/* A recorded host-blocking call that moves no data. */
struct ct_host_frame {
	struct ct_frame frame;
	struct ct_host_rec rec;
};

static inline uint64_t ct_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The write thread looks what there is to do, soon. Any thread; costs a system call only if it was
 * asleep. */
void ct_recorder_wake(void);

/* The lane's next slot from the pool, waking the write thread when the pool runs low. NULL: pool
 * empty, the loss of one record is counted. */
struct ct_slot *ct_recorder_claim(void);

static inline struct ct_slot *ct_recorder_slot(void)
{
	struct ct_lane *lane = &ct_self.lane;

	return __builtin_expect(lane->next != lane->end, 1) ? lane->next++ : ct_recorder_claim();
}

/* The communicator of a handle (not NULL), through the thread's cache of the last one. */
static inline struct ct_traced_comm *ct_recorder_comm(const void *handle)
{
	struct ct_traced_comm *c = ct_self.comm;

	if (c && (atomic_load_explicit(&c->handle[0], memory_order_relaxed) == handle ||
		  atomic_load_explicit(&c->handle[1], memory_order_relaxed) == handle))
		return c;
	ct_self.comm = ct_comms_find(handle);
	return ct_self.comm;
}

/* Ends the op as left by an exception. */
void ct_op_leave(struct ct_frame *frame);

/* The call has been entered: what comes after this clock read is done while the real call begins. */
static inline __attribute__((always_inline)) void ct_op_enter(struct ct_op_frame *f)
{
	f->enter_ns = ct_now_ns();
}

/* Publish the op, which was entered at f->enter_ns, in a slot of the lane or, NULL, nowhere.
 * op->enter_ns and op->comm are filled in; the rest is the caller's, and so is the call site where
 * op->site is not 0. Inlined, the op never exists in memory but in its slot. */
static inline __attribute__((always_inline)) void ct_op_begin_in(
	struct ct_slot *slot, struct ct_op_frame *f, struct ct_traced_comm *comm, struct ct_op *op,
	void (*leave)(struct ct_frame *frame))
{
	struct ct_ring_comm *entry = comm->entry;
	uint64_t w[8], enter_ns = f->enter_ns;
	uint32_t site = op->site ? op->site : ct_site();

	f->slot = slot;
	/* The ring is larger than the inner caches. The next slot is fetched during this call, or
	 * the locked instruction of the next sequence number would wait for it. */
	__builtin_prefetch(ct_self.lane.next, 1);
	f->frame.leave = leave;
	op->enter_ns = enter_ns;
	op->comm = comm->id;
	if (__builtin_expect(slot != NULL, 1)) {
		ct_op_pack(op, w);
		w[CT_OP_W_LINK] |= (uint64_t)site << 32;
		w[CT_OP_W_END] = 0;
		ct_slot_publish(slot, CT_TAG(ct_self.lane.lap, CT_KIND_OP, op->call), w);
	}
	ct_self.frame = &f->frame;
	atomic_store_explicit(&entry->last_enter, enter_ns, memory_order_relaxed);
	atomic_store_explicit(&entry->last_op, op->op, memory_order_relaxed);
}

static inline __attribute__((always_inline)) void ct_op_begin_entered(struct ct_op_frame *f,
								      struct ct_traced_comm *comm,
								      struct ct_op *op)
{
	ct_op_begin_in(ct_recorder_slot(), f, comm, op, ct_op_leave);
}

/* Both at once. */
static inline __attribute__((always_inline)) void ct_op_begin(struct ct_op_frame *f,
							      struct ct_traced_comm *comm,
							      struct ct_op *op)
{
	ct_op_enter(f);
	ct_op_begin_entered(f, comm, op);
}

/* A call that seemed to have been left by longjmp, but comes back (a library changed stacks in it),
 * may find its slot in other use. */
static inline int ct_op_is_its_slot(const struct ct_op_frame *f)
{
	return atomic_load_explicit(&f->slot->w[CT_OP_W_ENTER], memory_order_relaxed) ==
	       f->enter_ns;
}

/* Store the end of an op, which may be one of several in its call. Of *f only `slot` and `enter_ns`
 * are read. */
static inline void ct_op_store_end(const struct ct_op_frame *f, uint64_t now_ns, int result)
{
	if (__builtin_expect(f->slot != NULL, 1) && __builtin_expect(ct_op_is_its_slot(f), 1))
		atomic_store_explicit(&f->slot->w[CT_OP_W_END],
				      ct_op_end_word(f->enter_ns, now_ns, result),
				      memory_order_release);
}

/* It has returned; `now_ns` is when. */
static inline void ct_op_end(struct ct_op_frame *f, uint64_t now_ns, int result)
{
	ct_op_store_end(f, now_ns, result);
	ct_guard_leave();
}

/* A record of one of the rare kinds, whose payload fills words 1..7. */
void ct_recorder_rare(enum ct_kind kind, const void *payload);

void ct_recorder_launch(const struct ct_launch *launch);

/* A new launch id, never 0, for a launch whose first op is not this thread's next record. */
uint32_t ct_recorder_launch_id(void);

/* The slot of the next record in a new chunk, NULL if the pool is empty. It stays the next one. */
struct ct_slot *ct_recorder_refill(void);

/* The launch whose first op is in this slot of the lane's chunk. */
static inline uint32_t ct_recorder_launch_of(const struct ct_slot *slot)
{
	return (ct_self.lane.lap << 6 | ((uintptr_t)slot / CT_SLOT_BYTES) % 64) & ~CT_LAUNCH_SHARED;
}

/* The same for one whose first op is this thread's next record: the number of that record's slot,
 * which is unique, so that threads need not share a counter. */
static inline uint32_t ct_recorder_slot_launch(void)
{
	const struct ct_lane *lane = &ct_self.lane;

	if (__builtin_expect(lane->next == lane->end, 0) && !ct_recorder_refill())
		return ct_recorder_launch_id();
	return ct_recorder_launch_of(lane->next);
}

/* Host-blocking calls: HOST_BEGIN now, with the call site (the wrapper has noted what it returns
 * to), HOST_END at the end. The caller has filled rec.call, rec.nranks and rec.rank, and may fill
 * rec.comm and rec.key before the end; ct_host_rec_of() does so for a call by its string id, on a
 * communicator or, NULL, on none that is known. */
struct ct_host_rec ct_host_rec_of(uint32_t call, const struct ct_traced_comm *comm);
void ct_host_leave(struct ct_frame *frame);
void ct_host_begin(struct ct_host_frame *f);
void ct_host_end(struct ct_host_frame *f, int result);

/* Measure what recording one call costs, on memory of its own. Once, before the gate opens. */
uint32_t ct_recorder_calibrate(void);

/* size: peers whose counts are recorded, the first ones: 16 records of the 63 of a chunk. */
#define CT_RECORDED_PEERS 128u

#endif
