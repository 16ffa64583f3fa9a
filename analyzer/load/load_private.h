/* SPDX-License-Identifier: Apache-2.0 */
/* load_private.h — shared by load.c (ops) and rares.c (rare records). Owned by the ct_load, one
 * thread. */
#ifndef CT_ANALYZER_LOAD_LOAD_PRIVATE_H
#define CT_ANALYZER_LOAD_LOAD_PRIVATE_H

#include "analyzer/base/table.h"
#include "analyzer/load/graphs.h"
#include "analyzer/load/join.h"
#include "analyzer/load/load.h"

/* Entry times of a block's ops, to sort by. */
struct ct_load_order {
	uint64_t enter_ns;
	uint32_t at;
};

struct ct_load_memory {
	struct ct_decoding *decoding;
	struct ct_pool entries; /* of joins */
	struct ct_load_order *order;
	uint32_t cap_order;
};

/* size: a program makes few different calls, and again and again. */
#define CT_LOAD_CALLS 16u

struct ct_load {
	const struct ct_process_info *info;
	uint32_t index;
	struct ct_process_reader *reader;
	struct ct_load_sink sink;
	struct ct_op_names *names;
	struct ct_arena *memory;
	struct ct_table strings; /* id -> const char * */
	struct ct_load_call {
		uint32_t id;
		const struct ct_call_row *row; /* NULL none yet */
	} calls[CT_LOAD_CALLS]; /* by id: those of the latest calls that move no data */
	struct ct_table comms;	/* id -> struct ct_load_comm */
	struct ct_table syncs;	/* tid -> uint64_t, when its latest wait for a GPU that is over was
				   entered */
	struct ct_join *join;
	struct ct_graphs graphs;
	struct ct_table matches; /* launch -> struct ct_load_match */
	struct ct_load_match *free_matches;
	struct ct_table details; /* of ops that are still to come */
	struct ct_load_detail *free_details;
	struct ct_table submits; /* of ops that are still to come */
	struct ct_load_submit *free_submits;
	struct ct_table traffic_by_key;
	struct ct_load_traffic *traffic;
	struct ct_port_sums *ports; /* NULL: none were reported */
	struct ct_process_facts facts;
	struct ct_environment_facts environment;
	struct ct_open_op_rec
		*open; /* as the latest status reported, less what came as an op since */
	uint32_t n_open, cap_open;
	struct ct_open_launch_rec *launches; /* likewise */
	uint32_t n_launches, cap_launches;
	struct ct_load_rank ranks[CT_LOAD_RANKS];
	uint32_t n_ranks;
	struct ct_load_memory *shared;
	struct ct_load_memory *own; /* the same, unless the caller lent it */
	struct ct_load_backwards {
		uint64_t ns, seq, key; /* by how much at most, 0 never; before which number of which
					  communicator */
	} backwards;
	uint64_t edge_err_ns; /* of host times in the current block */
	int ended;
};

/* Look at the order of a collective and its time; what was found most becomes a note of the process
 * (backwards.c). The latter 0 or CT_NOMEM. */
void ct_load_look_back(struct ct_load *load, struct ct_load_comm *comm,
		       const struct ct_joined_op *op);
int ct_load_report_backwards(struct ct_load *load);

/* A string of the process; NULL for id 0 and for strings that were never written. */
const char *ct_load_string(const struct ct_load *load, uint32_t id);

/* Take in the rare records of a block, strings first: the others name them. 0, CT_NOMEM or what a
 * callback returned. */
int ct_load_rares(struct ct_load *load, const struct ct_block *block);

/* An open op that a block holds is no longer known from the status alone. */
void ct_load_forget_open(struct ct_load *load, const struct ct_block *block);

/* What NCCL's profiler reported (detail.c): taken in, and given to the op that it is of. 0 or
 * CT_NOMEM. */
int ct_load_take_detail(struct ct_load *load, const struct ct_detail_rec *rec);
void ct_load_give_detail(struct ct_load *load, struct ct_joined_op *op);

/* What receives got (wildcard_match.c): taken in, and put into a copy of the op that it is of. 0 or
 * CT_NOMEM; the op itself if nothing is known of it, else the copy. */
int ct_load_take_match(struct ct_load *load, const struct ct_match_rec *rec);
const struct ct_op *ct_load_give_match(struct ct_load *load, const struct ct_op *op,
				       struct ct_op *copy);
/* SUBMIT records (submit.c): taken in, and given to the op that they are of. 0 or CT_NOMEM. */
int ct_load_take_submit(struct ct_load *load, const struct ct_submit_rec *rec);
void ct_load_give_submit(struct ct_load *load, struct ct_joined_op *op);

/* TRAFFIC records (traffic.c). 0 or CT_NOMEM. */
int ct_load_take_traffic(struct ct_load *load, const struct ct_traffic_rec *rec);

static inline void ct_load_seen_at(uint64_t *latest, uint64_t ns)
{
	if (ns > *latest)
		*latest = ns;
}

#endif
