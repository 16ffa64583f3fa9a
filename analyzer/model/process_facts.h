/* SPDX-License-Identifier: Apache-2.0 */
/* process_facts.h — what the rare records of one process said, and what of it means that records
 * are missing. */
#ifndef CT_ANALYZER_MODEL_PROCESS_FACTS_H
#define CT_ANALYZER_MODEL_PROCESS_FACTS_H

#include <stdint.h>

#include "analyzer/base/arena.h"
#include "trace/reader.h"

struct ct_process_loss {
	uint64_t records, begin_ns, end_ns;
};

/* What the process's rare records said so far. */
struct ct_process_facts {
	uint64_t first_ns,
		last_ns;      /* earliest entry; latest entry or end of an op, or the END; 0 none */
	uint64_t position_ns; /* latest time in the blocks read so far: how far reading got */
	uint64_t beat_ns;
	struct ct_cost_rec cost;
	int has_cost;
	struct ct_end_rec end;
	int has_end;
	uint32_t clocks;      /* readings of the host's clocks */
	uint64_t wall_err_ns; /* the largest error that the kernel reported for the time of day ... */
	int wall_unset;	      /* ... or that nothing sets it */
	struct ct_process_loss losses[CT_LOSS_MAX]; /* from the blocks; see also ct_process_gaps() */
	uint64_t ops;
	uint64_t left_out_ops; /* of them, left out of the files on purpose ... */
	uint64_t left_out_ns;  /* ... the latest time of those; 0: none were */
	uint64_t orphans;      /* ops of communicators that were never recorded */
	uint64_t open_launches;
	int in_library;	  /* a call that enters a library for the whole process (MPI_Init) came back
			     ... */
	int left_library; /* ... and one that leaves it was made */
	uint64_t aborts_ns; /* when a call that ends the job was made, which did not come back; 0:
			       none */
	uint32_t plugin_version; /* of NCCL's profiler interface, 0: no events */
	int plugin_alone;	 /* calls of some communicator pass no wrapper */
	int plugin_is_copy;	 /* another file than the preloaded one */
	const char **notes;	 /* at most CT_PROCESS_NOTES, equal ones once */
	uint32_t n_notes;
};
#define CT_PROCESS_NOTES 16u /* size: notes of a process */

/* Are records missing for a loss of this reason (enum ct_loss), or is it only something to know? */
int ct_loss_is_of_records(unsigned reason);

/* What to do for records not to be lost for this reason; NULL: none are. */
const char *ct_loss_remedy(unsigned reason);

/* Are the operations recorded, but not when they ended, or that they had not? */
int ct_loss_is_of_ends(unsigned reason);

/* Calls of which nothing was recorded? */
int ct_loss_is_of_calls(unsigned reason);

/* Names of operations that this version does not know, learnt from NAME records; shared by the
 * processes of a run. Strings live in `memory`. */
struct ct_op_names {
	const char *names[256];
	struct ct_arena *memory;
};

/* The table's name, else a learnt one, else "?". */
const char *ct_op_names_get(const struct ct_op_names *names, unsigned op);

#endif
