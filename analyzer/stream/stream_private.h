/* SPDX-License-Identifier: Apache-2.0 */
/* stream_private.h — what the files of a stream share: stream.c reads the processes, op.c and
 * calls.c take what they hold, slots.c knows whose it is, stuck.c what is left at the end,
 * observe.c hands it on, judge.h what becomes of instances. One thread. Where nothing else is said,
 * functions return 0 or CT_NOMEM. */
#ifndef CT_ANALYZER_STREAM_STREAM_PRIVATE_H
#define CT_ANALYZER_STREAM_STREAM_PRIVATE_H

#include "analyzer/load/read_ahead.h"
#include "analyzer/stream/stream.h"

/* size: calls that move no data and that a process may be in at once: one a thread. */
#define CT_READING_CALLS 64u

/* What the name of a call shows, of the latest call: most operations have the same one as the one
 * before. */
#define CT_READING_NAMES 16u /* size: ranks make few different calls */
struct ct_reading_call {
	const char *name; /* the load's */
	uint8_t varying, two_way;
};

/* A process while it is being read. */
struct ct_reading {
	struct ct_stream *stream;
	struct ct_ahead_load *ahead;
	struct ct_load *load; /* its own */
	uint32_t process;
	uint32_t slots[CT_LOAD_RANKS]; /* of its ranks seen so far */
	struct ct_sites_recent sites;
	struct ct_reading_call names[CT_READING_NAMES]; /* by address */
	struct ct_group *group; /* of the launch whose ops are coming, NULL: alone */
	int launch_has_begun;	/* some op of it was taken: not all are, where records are lost or
				   captured */
	uint64_t free_ns;	/* of that launch, see struct ct_member */
	uint64_t position_ns;	/* how far, since the run began */
	uint64_t read_bytes;
	int begun;
	struct ct_open_call {
		uint64_t enter_ns;
		uint32_t tid;
		const char *name;  /* the load's; NULL unknown */
	} calls[CT_READING_CALLS]; /* entered and not returned as far as was read */
	uint32_t n_calls;
};

/* The reading itself, in parts: reading.c reads whole runs, follow.c those that go on. */
int ct_stream_prepare(struct ct_stream *stream, const struct ct_run *run, struct ct_starts *starts,
		      int restart, const struct ct_stream_options *options);
int ct_stream_open_reading(struct ct_reading *reading, struct ct_ahead *ahead, struct ct_err *err);
/* 1: there may be more, 0: that was the end, CT_PROCESS_WAITS, or a failure. */
int ct_stream_read_block(struct ct_reading *reading, struct ct_err *err);
/* Has `a` been read less far than `b`? And the heap by that, whose first has been read further. */
int ct_stream_is_behind(const struct ct_reading *a, const struct ct_reading *b);
void ct_stream_sink(struct ct_reading **heap, size_t n);
/* Nothing more comes. */
int ct_stream_finish_matching(struct ct_stream *stream);

/* Callbacks of a ct_load; `reading` is a struct ct_reading. */
int ct_stream_comm(void *reading, struct ct_load_comm *comm);
int ct_stream_op(void *reading, const struct ct_load_op *op);

/* A call that only waits was entered or has returned. */
int ct_stream_host(struct ct_reading *reading, const struct ct_host_rec *rec, const char *name);

/* The process is read to its end: keep the calls that it did not come back from. */
int ct_stream_open_calls(struct ct_reading *reading);

/* One more in model.unreturned, with the name of its call (may be NULL) copied; *kept is NULL if
 * there are too many. */
int ct_stream_keep(struct ct_stream *stream, const char *call, struct ct_unreturned **kept);

/* The calls of an operation that the host times, whose times `m` has: in which it began, and in
 * which it ended. Adds to the slot how long it was in communication. */
int ct_stream_call(struct ct_reading *reading, const struct ct_load_op *op, struct ct_member *m);

/* Is this time of a slot's host before what is to be judged? */
static inline int ct_stream_skips(const struct ct_stream *stream, uint32_t slot, uint64_t mono_ns)
{
	return stream->model.from_ns &&
	       ct_model_slot_at(&stream->model, slot, mono_ns) < stream->model.from_ns;
}

/* Has this member started before that, or entered its call, if its start is unknown? */
static inline int ct_stream_skips_member(const struct ct_stream *stream, const struct ct_member *m)
{
	return ct_stream_skips(stream, m->slot, m->start_ns ?: m->enter_ns);
}

/* This time of a slot's host, or when what is to be judged begins, if that is later. */
static inline uint64_t ct_stream_clip(const struct ct_stream *stream, uint32_t slot,
				      uint64_t mono_ns)
{
	const struct ct_model *model = &stream->model;

	return ct_stream_skips(stream, slot, mono_ns)
		       ? model->from_ns - model->shift[model->host_of[slot]]
		       : mono_ns;
}

/* The slot was in communication. A reading that only matches does not need it. */
static inline void ct_stream_busy(const struct ct_stream *stream, struct ct_rank_state *slot,
				  uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = ct_stream_clip(stream, (uint32_t)(slot - stream->model.slots), begin_ns);
	if (!stream->options.only_matched && (!stream->model.from_ns || begin_ns < end_ns))
		ct_cover_add(&slot->busy, begin_ns, end_ns);
}

/* Waits of the slot entered up to this time count as communication. */
void ct_stream_cover_waits(struct ct_stream *stream, uint32_t slot, uint64_t until_ns);

/* The slot of a member, as its process has it; made if it is new. */
int ct_stream_slot(struct ct_reading *reading, const struct ct_load_comm *comm, uint32_t *slot);

/* A rank whose global rank is not on record, or that shares the process whose rank is, has its rank
 * in the communicator of the whole job, if no other rank has it. */
int ct_stream_name_slots(struct ct_stream *stream);

/* All is read: which operations and calls that did not end are stuck, and which launches are only
 * young. */
void ct_stream_settle_unreturned(struct ct_stream *stream);

/* Hand on; what an observer returned, or 0. */
int ct_observe_op(struct ct_stream *stream, const struct ct_op_event *event);
int ct_observe_comm(struct ct_stream *stream, uint32_t process, const struct ct_load_comm *comm,
		    uint32_t slot);
int ct_observe_host(struct ct_stream *stream, uint32_t process, const struct ct_host_rec *rec,
		    const char *call, const char *site);
int ct_observe_error(struct ct_stream *stream, uint32_t process, const struct ct_error_rec *rec,
		     const char *call, const char *text);
int ct_observe_reached(struct ct_stream *stream, uint32_t process, const struct ct_load_comm *comm,
		       const struct ct_comm_status_rec *rec);
int ct_observe_stack(struct ct_stream *stream, uint32_t process, const uint8_t *bytes, size_t len);
int ct_observe_wait(struct ct_stream *stream, uint32_t process, const struct ct_wait_rec *rec);
int ct_observe_nvtx(struct ct_stream *stream, uint32_t process, uint32_t slot,
		    const struct ct_nvtx_rec *rec);
int ct_observe_block(struct ct_stream *stream, uint32_t process, const struct ct_load *load,
		     int ended);
int ct_observe_waited(struct ct_stream *stream, uint32_t slot, uint64_t begin_ns, uint64_t end_ns);
int ct_observe_instance(struct ct_stream *stream, const struct ct_instance_event *event);
int ct_observe_matched(struct ct_stream *stream, const struct ct_instance *instance);
int ct_observe_begin(struct ct_stream *stream);
int ct_observe_end(struct ct_stream *stream);

#endif
