/* SPDX-License-Identifier: Apache-2.0 */
/* waits_table.h — which launches of communication a stream, or an event, has behind it.
 *
 * A stream knows for each stream that communication is launched on how far it has waited for that:
 * a vector clock. An event is a copy of its stream's clock when it was recorded; a wait for it
 * brings over what is new, however many streams that had come through. Handles are used again after
 * a destroy, so that streams have a serial number, too.
 *
 * Fixed memory. Each stream and each event has a lock that is held for some tens of ns, never
 * across a call into CUDA or other code; a stream's is acquired before an event's. Acquiring it
 * fails after a bounded number of tries: a thread that loses its core while it holds one disturbs
 * only those that use the same stream or event, not those of other GPUs. Only a stream that is new
 * needs a lock of the whole table. What was not noted for that reason, or for lack of space, is a
 * counted loss, and the waits that follow say that some may be missing before them (CT_WAIT_GAP).
 * Any thread.
 */
#ifndef CT_INTERPOSE_GPU_WAITS_TABLE_H
#define CT_INTERPOSE_GPU_WAITS_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

#include "trace/format.h"

/* size: streams with communication that one stream can wait for; each event has a copy. */
#define CT_WAITS_CLOCK 12u

/* What has been launched on a stream, kept by the launching thread, without the lock.
 * Zero-initialised. */
struct ct_waits_launches {
	_Atomic uint64_t last;	/* how many << 32, and the id of the last one */
	_Atomic uint32_t known; /* the table has it, and nothing has changed that needs a record */
};

/* A stream: its handle, and for default streams whose it is. */
struct ct_waits_key {
	uintptr_t handle;
	uintptr_t whose;
};

/* How far one stream's launches have been waited for. */
struct ct_waits_on {
	uint32_t source; /* the stream's serial number */
	uint32_t slot;	 /* its index in the table */
	uint32_t count;	 /* launches up to ... */
	uint32_t launch; /* ... and with this one */
};

struct ct_waits_clock {
	uint32_t n;
	struct ct_waits_on at[CT_WAITS_CLOCK];
};

/* What a wait brings that is new to the waiting thread. */
struct ct_waits_new {
	uint32_t n;
	uint32_t flags; /* CT_WAIT_GAP, _OTHERS, _LAUNCHES */
	uint32_t via; /* record's number of the stream that the event was recorded on, 0 not known */
	int is_direct; /* one of them was launched there */
	struct ct_waits_on on[CT_WAITS_CLOCK];
	uint32_t after[CT_WAITS_CLOCK];
};

/* Map the tables; 0 or CT_NOMEM. Before the gate opens. */
int ct_waits_table_init(void);

/* A launch, already counted in `launches`, was put on the stream, which is in the context and which
 * records call `number`. Called as long as the launches are not `known`. 1 and *rec, what is known
 * of the stream, if that is new; else 0. */
int ct_waits_launched(const struct ct_waits_key *stream, uint32_t number, uintptr_t context,
		      struct ct_waits_launches *launches, struct ct_stream_rec *rec);

static inline void ct_waits_count(struct ct_waits_launches *launches, uint32_t launch)
{
	uint64_t last = atomic_load_explicit(&launches->last, memory_order_relaxed);

	atomic_store_explicit(&launches->last, ((last >> 32) + 1) << 32 | launch,
			      memory_order_relaxed);
}

/* The event was recorded there. `captured`: into a graph, so it has no meaning now. Returns 1 if
 * that must be queried: the stream has work after it, and `captured` was negative. Then nothing is
 * done. */
int ct_waits_recorded(const struct ct_waits_key *stream, uintptr_t event, int captured);

/* The event, or the stream, is about to be destroyed. */
void ct_waits_event_gone(uintptr_t event);
void ct_waits_stream_gone(const struct ct_waits_key *stream);

/* The stream is going to wait for the event: what would be new to it. How much that is. */
uint32_t ct_waits_look(const struct ct_waits_key *stream, uintptr_t event,
		       struct ct_waits_new *found);

/* It does; records call the stream `number`, 0 not known. */
void ct_waits_merge(const struct ct_waits_key *stream, uint32_t number,
		    const struct ct_waits_new *found);

/* The same for the host, which waits for an event, for a stream (all that is on it), or for all
 * streams whose communication is in the context; and when it has waited. */
uint32_t ct_waits_look_event(uintptr_t event, struct ct_waits_new *found);
uint32_t ct_waits_look_stream(const struct ct_waits_key *stream, struct ct_waits_new *found);
uint32_t ct_waits_look_device(uintptr_t context, struct ct_waits_new *found);
void ct_waits_host_has(const struct ct_waits_new *found);

#endif
