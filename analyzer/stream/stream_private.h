/* SPDX-License-Identifier: Apache-2.0 */
/* stream_private.h — what the files of a pass share: pass.c reads the processes, pass_op.c takes what they tell,
 * pass_seats.c knows whose it is. One thread. */
#ifndef CT_PASS_PRIVATE_H
#define CT_PASS_PRIVATE_H

#include "analyzer/stream/stream.h"

/* Calls that move no data and that a process may be in at once: one a thread. */
#define CT_READING_CALLS 64u

/* A process while it is being read. */
struct ct_reading {
	struct ct_pass *pass;
	struct ct_load *load;
	uint32_t process;
	uint32_t seats[CT_LOAD_RANKS]; /* of its ranks seen so far */
	struct ct_sites_recent sites;
	struct ct_group *group; /* of the launch whose ops are coming, NULL: alone */
	int launch_has_begun; /* some op of it was taken: not all are, where records are lost or captured */
	uint64_t free_ns;     /* of that launch, see struct ct_member */
	uint64_t position_ns; /* how far, since the run began */
	int begun;
	struct ct_open_call {
		uint64_t enter_ns;
		uint32_t tid;
		const char *name;  /* the load's; NULL unknown */
	} calls[CT_READING_CALLS]; /* entered and not returned as far as was read */
	uint32_t n_calls;
};

/* Callbacks of a ct_load; `reading` is a struct ct_reading. */
int ct_pass_comm(void *reading, struct ct_load_comm *comm);
int ct_pass_op(void *reading, const struct ct_load_op *op);

/* A call that only waits was entered or has returned. 0 or CT_NOMEM. */
int ct_pass_host(struct ct_reading *reading, const struct ct_host_rec *rec, const char *name);

/* No more is told of the process: keep the calls that it did not come back from. 0 or CT_NOMEM. */
int ct_pass_open_calls(struct ct_reading *reading);

/* One more in pass->unreturned, with the name of its call (may be NULL) copied; *kept is NULL if there are too many.
 * 0 or CT_NOMEM. */
int ct_pass_keep(struct ct_pass *pass, const char *call, struct ct_unreturned **kept);

/* The calls of an operation that the host times, whose times `m` has: in which it began, and in which it ended. Adds to
 * the seat how long it was in communication. 0 or CT_NOMEM. */
int ct_pass_call(struct ct_reading *reading, const struct ct_load_op *op, struct ct_member *m);

/* Waits entered up to this time count as communication. */
void ct_pass_cover_waits(struct ct_seat *seat, uint64_t until_ns);

/* The seat of a member, as its process has it; made if it is new. 0 or CT_NOMEM. */
int ct_pass_seat(struct ct_reading *reading, const struct ct_load_comm *comm, uint32_t *seat);

/* Who was told no global rank, or shares the process that was told one, has the one of the whole job's communicator, if
 * nobody else has it. 0 or CT_NOMEM. */
int ct_pass_name_seats(struct ct_pass *pass);

#endif
