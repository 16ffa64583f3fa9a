/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h — the steps of a run: their marker, and when each begins. If the lowest rank has NVTX
 * ranges of one name that span at least half of its operations (markers.h), a step lasts from the
 * beginning of one to that of the next. Otherwise operations mark steps. The reference is the
 * lowest rank of the largest communicator or, if nothing recurs there, one of a few others. A step
 * lasts from the end of one anchor to the end of the next one, since a synchronizing operation ends
 * on all its members at the same time. If an end was not measured, it lasts from entry to entry.
 * Time before the first and after the last anchor is in no step. One thread; borrows what the
 * stream holds. */
#ifndef CT_ANALYZER_STEPS_STEPS_H
#define CT_ANALYZER_STEPS_STEPS_H

#include "analyzer/model/model.h"
#include "analyzer/model/report.h"
#include "analyzer/steps/sequence.h"
#include "analyzer/steps/step_log.h"
#include "analyzer/stream/instance_log.h"

#define CT_STEPS_LISTED 10000u /* size: in the report; of more, as many evenly */

/* A small operation that comes every so many steps. */
struct ct_recurring {
	struct ct_sequence_kind kind;
	uint32_t every;
	uint64_t n;
};
#define CT_RECURRING 8u /* size: kinds of small operations */

struct ct_steps {
	const char *why;  /* there are none; NULL: there are */
	uint64_t *cut_ns; /* n + 1 times since the run began */
	uint32_t n;	  /* steps */
	uint32_t first;	  /* number of the first one: those before it are skipped */
	uint8_t *kept;	  /* by step: it lies in a stretch that the instance log has, whole */
	uint32_t n_kept;
	int by_ends;	    /* the times are ends of the anchor; else entries */
	uint64_t err_ns;    /* of a step's time */
	uint64_t median_ns; /* of their times */
	uint32_t slot;	    /* the reference */
	const char *marker; /* name of the NVTX ranges that begin them, the step log's; NULL: the
			       anchor marks them */
	struct ct_sequence_kind anchor;
	struct ct_recurring recurring[CT_RECURRING];
	uint32_t n_recurring;
	int may_be_parts; /* each is an operation or two, and their times differ: a step may have
			     several */
	int cut_short;	  /* only the beginning of the run was cut */
};

/* `wanted`: COMM:OP[:BYTES] of the user, or NULL. The reasons live in `memory`. CT_OK with or
 * without steps; CT_NOTFOUND: no such operation, and steps->why names the existing ones; CT_NOMEM.
 */
int ct_steps_find(const struct ct_model *model, const struct ct_instance_log *log,
		  const struct ct_step_log *step_log, const char *wanted, struct ct_arena *memory,
		  struct ct_steps *steps);

/* Forget the first `skipped` steps, fewer than there are; then ct_steps_keep(). */
void ct_steps_skip(struct ct_steps *steps, uint32_t skipped);

/* Which steps the log has: sets `kept`, as ct_steps_find() does for its log. 0 or CT_NOMEM. */
int ct_steps_keep(struct ct_steps *steps, const struct ct_instance_log *log);
void ct_steps_fini(struct ct_steps *steps);

/* Do the steps outside the sample take clearly longer than those in it: by this fraction of a
 * step's time beyond two standard errors? Then the sample misses something. Sets the means of both,
 * *kept_ns and *others_ns, if so. */
int ct_steps_hide(const struct ct_steps *steps, double share, double *kept_ns, double *others_ns);

/* The step that a time lies in, CT_NO_STEP: none. */
uint32_t ct_step_at(const struct ct_steps *steps, uint64_t at_ns);

#endif
