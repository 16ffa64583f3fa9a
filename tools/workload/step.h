/* SPDX-License-Identifier: Apache-2.0 */
/* step.h — inside the folder: one step of one rank as a list of actions, and the gestures that a
 * framework's process groups are made of. Emitters (ddp.c ...) append; without memory they set
 * `failed`, and later calls have no effect.
 */
#ifndef CT_TOOLS_WORKLOAD_STEP_H
#define CT_TOOLS_WORKLOAD_STEP_H

#include "tools/workload/workload.h"
#include "trace/ops.h"

/* The roles a rank can have communicators of, one each; the indices of the tables below. */
enum ct_workload_role { CT_ROLE_WORLD, CT_ROLE_TP, CT_ROLE_PP, CT_ROLE_DP, CT_ROLE_EP, CT_ROLES };

/* Numbers of events: one per role that marks "inputs are ready", a few for hops, then one per slot.
 */
enum {
	CT_EVENT_READY = 0,
	CT_EVENT_HOP = CT_ROLES,
	CT_EVENT_FAULT = CT_EVENT_HOP + 4,
	CT_EVENT_SLOT
};

struct ct_step;
struct ct_workload {
	struct ct_workload_config config;
	struct ct_fault *faults;
	void (*emit)(struct ct_step *step);
	struct ct_workload_comm *comms;
	int n_comms;
	int n_of_role[CT_ROLES]; /* communicators; 0: the workload has no such role */
	int first_of_role[CT_ROLES];
	int pair; /* the first of the two that faults need, -1 */
};

struct ct_step {
	const struct ct_workload *w;
	int rank;
	uint64_t number;
	int comm[CT_ROLES];   /* this rank's, -1 */
	int member[CT_ROLES]; /* in it */
	int n[CT_ROLES];      /* members */
	struct ct_action *at;
	size_t count, capacity;
	int failed;
	uint32_t slots;		 /* taken so far */
	uint32_t tags[CT_ROLES]; /* collectives so far */
	uint64_t draws;
};

struct ct_action *ct_step_add(struct ct_step *step, enum ct_action_kind kind, int stream);
uint64_t ct_workload_mix(uint64_t a, uint64_t b);

/* Elements of a real model as they are here. */
uint64_t ct_step_scaled(const struct ct_step *step, uint64_t elements);

/* That part of a step's computing, on the compute stream, with a little noise; the CPU needs an
 * eighth of it to launch. */
void ct_step_compute(struct ct_step *step, double part);

/* A collective with a slot of its own, not issued yet. */
struct ct_workload_op ct_step_op(struct ct_step *step, enum ct_workload_role role, unsigned op,
				 unsigned dtype, uint64_t count);
/* The same for a send or receive. `tag` is equal on both sides and distinguishes what they exchange
 * in this step. */
struct ct_workload_op ct_step_p2p(struct ct_step *step, enum ct_workload_role role, unsigned op,
				  unsigned dtype, uint64_t count, int peer, uint32_t tag);

/* As a process group does it: the communicator's stream waits for what `from` computed, the ops are
 * launched there (several, or one with `grouped`: as one group), an event marks their end.
 * ct_step_wait: `stream` waits for that event of the first op; ct_step_consume: and reads. */
void ct_step_start(struct ct_step *step, int from, const struct ct_workload_op *ops, unsigned n,
		   int grouped);
void ct_step_wait(struct ct_step *step, int stream, const struct ct_workload_op *op);
void ct_step_consume(struct ct_step *step, int stream, const struct ct_workload_op *ops,
		     unsigned n);
/* All three, on the compute stream. */
void ct_step_sync(struct ct_step *step, const struct ct_workload_op *op);
/* `stream` waits for what `other` has in its queue, by event `event`. */
void ct_step_join(struct ct_step *step, int stream, int other, int event);

void ct_emit_ddp(struct ct_step *step);
void ct_emit_megatron(struct ct_step *step);
void ct_emit_fsdp(struct ct_step *step);
void ct_emit_moe(struct ct_step *step);
void ct_emit_decode(struct ct_step *step);

/* The rank's first and last actions, without faults. */
void ct_emit_setup(struct ct_step *step);
void ct_emit_teardown(struct ct_step *step);

/* Append `from` to `to` with the rank's faults woven in. `index`: data-moving ops of the rank
 * before this; `hits`: one byte per fault, set when it happened. */
struct ct_weave {
	uint64_t index;
	uint8_t *hits;
};
void ct_weave(struct ct_weave *weave, const struct ct_step *from, struct ct_step *to);
/* Whether any fault may be this rank's; if none is, ct_weave_nothing() numbers its ops in `step`
 * itself, and no copy is made. */
int ct_weave_has(const struct ct_workload *w, int rank);
void ct_weave_nothing(struct ct_weave *weave, struct ct_step *step);

/* Whether the fault happens on this rank in the whole of its life; -1: no memory. */
int ct_workload_happens(const struct ct_workload *w, int rank, size_t fault);

#endif
