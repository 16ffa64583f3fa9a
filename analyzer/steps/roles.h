/* SPDX-License-Identifier: Apache-2.0 */
/* roles.h — the purpose of a communicator: world, data (dp), tensor (tp), pipeline (pp) or expert
 * (ep) parallel, or embedding.
 *
 * The role follows from its name, if the program gave one that says it; otherwise from its members
 * and its operations per step. Ambiguous communicators have no role. docs/dev/algorithms/steps.md,
 * "Roles". One thread. */
#ifndef CT_ANALYZER_STEPS_ROLES_H
#define CT_ANALYZER_STEPS_ROLES_H

#include "analyzer/model/model.h"
#include "analyzer/steps/steps.h"
#include "analyzer/stream/instance_log.h"

enum ct_role_id {
	CT_ROLE_UNKNOWN,
	CT_IS_WORLD,
	CT_IS_DP,
	CT_IS_TP,
	CT_IS_PP,
	CT_IS_EP,
	CT_IS_EMBEDDING, /* the first and the last stage of a pipeline, which share the embedding's
			    weights */
};

#define CT_ROLE_SIZES 16u /* size: sizes that a communicator is looked at for */

/* One communicator, as far as its role shows. */
struct ct_role_facts {
	const char *name;  /* NULL none */
	uint32_t n;	   /* members */
	uint32_t stride;   /* between neighbours' global ranks; 0: uneven, or ranks are not known */
	int one_host;	   /* all members are on one */
	int has_all_ranks; /* all ranks of the job are in it ... */
	int is_first;	   /* ... and it is the first such */
	int in_one_pipe;   /* all its members are stages of one pipeline; 2: its first and its last
			      one */
	int has_tensor_peer; /* its members are in different communicators of role tp each */
	/* mean per step of those that are known; sends and receives once each */
	double steps;
	uint64_t collectives, exchanges, messages, neighbours, to_self;
	uint64_t swaps; /* two members: both send and receive in one launch, as in an all-to-all */
	uint64_t exchanged_bytes, message_bytes, bytes;
	struct ct_role_size {
		uint64_t bytes, n;
		uint8_t op;
	} sizes[CT_ROLE_SIZES]; /* the collectives, by size; most at once */
	uint32_t n_sizes;
};

struct ct_role {
	enum ct_role_id id;
	enum ct_confidence confidence;
	const char *evidence;
};

/* The role by name alone; UNKNOWN if the name has none or several. */
enum ct_role_id ct_role_of_name(const char *name);

/* The role of one communicator. The evidence lives in `memory`; 0 or CT_NOMEM. */
int ct_role_of(const struct ct_role_facts *facts, struct ct_arena *memory, struct ct_role *role);

/* "tp"; NULL for UNKNOWN. */
const char *ct_role_name(enum ct_role_id id);

/* Roles of all communicators, into report->comms. 0 or CT_NOMEM. */
int ct_roles_fill(const struct ct_model *model, const struct ct_instance_log *log,
		  const struct ct_steps *steps, struct ct_report *report);

#endif
