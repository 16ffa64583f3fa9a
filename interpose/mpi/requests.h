/* SPDX-License-Identifier: Apache-2.0 */
/* requests.h — MPI's requests: the meaning of each handle, from the call that created it to the one
 * that ended it.
 *
 * Three things are kept under a handle: an operation that was begun (nonblocking, or persistent and
 * started), a persistent operation that is not started, and a message that was received as a handle
 * (MPI_Mprobe). The table has a fixed size, is mapped once and takes no lock; a thread that finds
 * an entry owns it as MPI says that a request is one thread's at a time. Handles come in normalised
 * (flavour.h), so nothing here knows a flavour. A library may give several live requests one
 * handle, where they are alike: then the oldest one is found.
 *
 * The launch of an operation is closed exactly once, by the thread that takes its entry. A full
 * table costs the end of that one operation (counted), never its record; of a persistent one its
 * starts (counted). There is spare space for those that are collectives, whose order on their
 * communicator all members share. After a transfer that was lost, or whose other side is not known,
 * its communicator's messages have no numbers (ct_channels_stop()): nothing is matched wrongly. All
 * functions: any thread, inside a recorded call (ct_self.depth).
 */
#ifndef CT_INTERPOSE_MPI_REQUESTS_H
#define CT_INTERPOSE_MPI_REQUESTS_H

#include <stdint.h>

#include "trace/record.h"
#include "trace/ring.h"

#define CT_MPI_REQUESTS_MAX 65536u /* size: live ones; memory is taken only where it is used */

enum ct_mpi_request_flag {
	CT_MPI_REQUEST_PERSISTENT = 1 << 0, /* made by MPI_..._init: stays until MPI_Request_free */
	CT_MPI_REQUEST_ACTIVE = 1 << 1,	    /* begun and not waited for */
	CT_MPI_REQUEST_ANY_SOURCE = 1 << 2,
	CT_MPI_REQUEST_ANY_TAG = 1 << 3,
	CT_MPI_REQUEST_CANCELLED = 1 << 4, /* MPI_Cancel was called */
	CT_MPI_REQUEST_PARTITIONED = 1 << 5,
	CT_MPI_REQUEST_MESSAGE = 1 << 6,    /* no request: what MPI_Mprobe gave */
	CT_MPI_REQUEST_PAIR = 1 << 7,	    /* a receive, and a send that has the same launch */
	CT_MPI_REQUEST_UNREPORTED = 1 << 8, /* what its status will say is not to be believed */
	CT_MPI_REQUEST_SHARED = 1 << 9,	    /* its handle may be that of others as well */
};

/* What is known of it. For an operation that is begun, `op` is its record; for one that is not,
 * what every start has in common. Of a message: comm, peer, tag, seq, and count bytes. */
struct ct_mpi_request {
	struct ct_op op;
	uint64_t bytes;		     /* posted */
	struct ct_traced_comm *comm; /* may have ended since: look at its id */
	uint32_t comm_id;
	uint32_t flags;		   /* enum ct_mpi_request_flag */
	uint32_t rounds;	   /* persistent: starts so far */
	uint32_t is_starting;	   /* between the two halves of a start */
	uint32_t parts;		   /* persistent: its counts for each peer (parts.h) */
	uint64_t ordinal;	   /* partitioned: the pair's number on its channel */
	struct ct_slot *slot;	   /* of the op while its starting call has not returned */
	struct ct_ring_open *open; /* what a reader sees when the process dies now; NULL: none */
};

/* Map the table; 0 or CT_NOMEM. Before the gate opens. */
int ct_mpi_requests_init(void);

/* Entries that there are; 0 lets waits pass without a search. The second: receives that are under
 * way. */
uint32_t ct_mpi_requests_count(void);
uint32_t ct_mpi_requests_receives(void);

/* What the library's handle of a new operation says. */
enum ct_mpi_handle_kind {
	CT_MPI_HANDLE_OWN, /* the operation's own: another entry under it was ended unseen, and goes
			    */
	CT_MPI_HANDLE_DONE,   /* one for all that is complete already: the launch ends here */
	CT_MPI_HANDLE_SHARED, /* perhaps one for several alike */
};

/* A nonblocking operation was begun by a call that has returned: request->op is what was recorded,
 * with its launch. */
void ct_mpi_requests_begun(uintptr_t handle, enum ct_mpi_handle_kind kind,
			   const struct ct_mpi_request *request, uint64_t now_ns);

/* The call that should have begun it failed: the launch ends with the result. */
void ct_mpi_requests_failed(const struct ct_mpi_request *request, uint64_t now_ns, int result);

/* A persistent operation was made, or a message was received as a handle. If there is no space for
 * a persistent one, it is lost: the second reports how many are. */
void ct_mpi_requests_keep(uintptr_t handle, const struct ct_mpi_request *request);
uint32_t ct_mpi_requests_lost(void);

/* The entry of a handle, NULL if there is none; a message only if `message`. The caller may change
 * it: a request is one thread's. The newest one: a library gives a handle out again as soon as a
 * request is done, before the thread that waited for it has taken the entry; of a shared handle the
 * oldest one. */
struct ct_mpi_request *ct_mpi_requests_find(uintptr_t handle, int message);

/* A persistent operation was started: its op is filled in and recorded, its launch is open from
 * here on. */
void ct_mpi_requests_started(struct ct_mpi_request *request);

/* An entry that a thread is about to wait for, by which it is found again afterwards: its handle
 * may be another's by then. No entry: `entry` NULL. */
struct ct_mpi_held {
	struct ct_mpi_request *entry;
	uint64_t serial; /* unique: no other request has it, nor a later one with this handle */
	uintptr_t handle;
};
struct ct_mpi_held ct_mpi_requests_hold(uintptr_t handle);

/* Copy the entry and make its slot free again; a persistent one is kept and is inactive. 0: there
 * is none, or it is persistent and was not active. */
int ct_mpi_requests_take(const struct ct_mpi_held *held, struct ct_mpi_request *request);

/* The same of a message, by its handle. */
int ct_mpi_requests_take_message(uintptr_t handle, struct ct_mpi_request *request);

/* MPI_Request_free: no persistent operation, nor any other, is known under the handle any more. An
 * operation in flight ends at an unknown time. */
void ct_mpi_requests_forget(uintptr_t handle);

/* Nothing that could hold it is free: the request, if any is known, ends at an unknown time
 * (counted). */
void ct_mpi_requests_give_up(uintptr_t handle);

/* Write the launch record of an operation that was taken. end_ns 0: not known when it ended. */
void ct_mpi_requests_close(const struct ct_mpi_request *request, uint64_t end_ns,
			   enum ct_source source, int result);

#endif
