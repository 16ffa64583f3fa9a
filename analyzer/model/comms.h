/* SPDX-License-Identifier: Apache-2.0 */
/* comms.h — the communicators of a start, each once although every member records it. Two
 * communicators are one if key and size agree. Lives as long as the analysis; one thread. */
#ifndef CT_ANALYZER_MODEL_COMMS_H
#define CT_ANALYZER_MODEL_COMMS_H

#include "analyzer/base/arena.h"
#include "analyzer/base/table.h"
#include "trace/format.h"

struct ct_comm {
	uint64_t hash, parent;
	const char *name; /* NULL none; lives in the registry's arena */
	uint32_t nranks;
	uint32_t index; /* in order of first sight */
	unsigned backend;
	uint32_t *slots;     /* by rank in the communicator: slot + 1, 0 if unknown */
	uint64_t *reached;   /* by rank: highest sequence number of a collective seen so far, + 1 */
	uint64_t *exchanges; /* by rank: groups seen so far that exchange with every other rank */
	uint32_t n_known;
	int guessed;	 /* the key may clash with another's */
	int clash;	 /* a rank in it was claimed by two slots: no rank is judged by it */
	int shared_slot; /* two of its ranks are one slot (a process with several ranks): not judged
			    either */
	int on_one_host; /* all of its ranks are known, and are on one host */
	/* what matching finds out */
	uint64_t instances, incomplete, bytes;
	uint64_t first_seq, last_seq; /* of collectives; UINT64_MAX without any */
	uint64_t equal_to_seq;	      /* UINT64_MAX: nothing was compared */
	uint64_t first_difference;    /* UINT64_MAX: none */
	int met;		      /* its members have met once */
	struct ct_class *latest;      /* of its latest operation (op_classes.h); NULL: none yet */
};

struct ct_comms {
	struct ct_comm **all;
	uint32_t n, cap;
	struct ct_table by_id;
	struct ct_table by_slot; /* (communicator, slot) pairs that were seen */
	struct ct_arena *memory;
};

int ct_comms_init(struct ct_comms *comms); /* 0 or CT_NOMEM */
void ct_comms_fini(struct ct_comms *comms);

/* Is the slot that of more than one rank in it? */
int ct_comm_is_shared(const struct ct_comm *comm, uint32_t slot);

/* The one of this key and size, NULL: not recorded. */
struct ct_comm *ct_comms_get(const struct ct_comms *comms, uint64_t key, uint32_t nranks);

/* One member's record of a communicator. 0 and *comm, or CT_NOMEM. */
int ct_comms_add(struct ct_comms *comms, const struct ct_comm_rec *rec, const char *name,
		 uint32_t slot, struct ct_comm **comm);

#endif
