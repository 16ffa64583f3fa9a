/* SPDX-License-Identifier: Apache-2.0 */
/* call_kind.h — what a host-blocking call that moves no data does, by its name (calls.def).
 * call_name.h covers the names of calls that move data. Pure; any thread. */
#ifndef CT_ANALYZER_MODEL_CALL_KIND_H
#define CT_ANALYZER_MODEL_CALL_KIND_H

enum ct_host_call {
	CT_HOST_INIT,	  /* making a communicator: all its ranks meet */
	CT_HOST_SPLIT,	  /* of a communicator: all of the parent meet */
	CT_HOST_FINALIZE, /* finalize, destroy, MPI_Finalize: all meet */
	CT_HOST_GROUP_END,
	CT_HOST_ABORT,
	CT_HOST_SYNC, /* waits for a stream, an event, a device or requests of its own */
	CT_HOST_GRAPH_LAUNCH,
	CT_HOST_OTHER,
	CT_HOST_PEERS, /* waits for unknown others of the communicator: a probe, a lock */
};

enum ct_call_library {
	CT_CALL_OF_UNKNOWN,
	CT_CALL_OF_NCCL,
	CT_CALL_OF_CUDA,
	CT_CALL_OF_MPI,
	CT_CALL_OF_GLOO
};

#define CT_CALL_LEAVES_COMM 1u	  /* code: how a rank leaves a communicator in order */
#define CT_CALL_ENTERS_LIBRARY 2u /* code: of the whole process ... */
#define CT_CALL_LEAVES_LIBRARY 4u /* code: ... which leaves it in order by this one */
#define CT_CALL_ENDS_JOB 8u	  /* code: the job ends with it */
#define CT_CALL_ENDS_SEVERAL 16u  /* code: returns when several operations have ended */
#define CT_CALL_WAITS_FOR_GPU                                                                      \
	32u /* code: the host waits in it for a stream, an event or a device */
#define CT_CALL_ONLY_LAUNCHES 64u /* code: puts work onto streams and waits for no other rank */
#define CT_CALL_NEEDS_OTHERS 128u /* code: ranks outside its communicator must take part */

struct ct_call_row {
	const char *prefix;
	enum ct_host_call kind;
	enum ct_call_library library;
	unsigned traits; /* CT_CALL_* */
};

/* NULL and unknown names: CT_HOST_OTHER of no library, without traits. Never NULL. */
const struct ct_call_row *ct_call_row(const char *call);

static inline int ct_call_is(const char *call, unsigned trait)
{
	return (ct_call_row(call)->traits & trait) != 0;
}

/* Do all members of a communicator meet in it? */
static inline int ct_host_call_meets(enum ct_host_call kind)
{
	return kind == CT_HOST_INIT || kind == CT_HOST_SPLIT || kind == CT_HOST_FINALIZE;
}

#endif
