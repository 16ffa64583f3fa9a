/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h — what playing a run again says about its suspects: their losses, who else costs as much, and what
 * communication costs at all. Rules: docs/ANALYSIS.md, "What-if". One thread. */
#ifndef CT_WHATIF_JUDGE_H
#define CT_WHATIF_JUDGE_H

#include "analyzer/lateness/lateness.h"
#include "analyzer/lateness/replay/whatif.h"
#include "analyzer/lateness/weigh.h"
#include "analyzer/model/model.h"
#include "analyzer/stream/instance_log.h"

/* Plays the run where that can tell something: it was timed on GPUs, what is on its tape hangs together, and little is
 * missing. Else w->is_close stays 0 and the next ones do nothing. 0 or CT_NOMEM; ct_whatif_fini() in any case. */
int ct_whatif_judge(struct ct_whatif *w, const struct ct_model *model, const struct ct_tape *log,
		    const struct ct_charge *charges);

/* The losses of weighed suspects as played, and who is guilty then. 0 or CT_NOMEM. */
int ct_whatif_weigh(struct ct_whatif *w, const struct ct_lateness *late, struct ct_charge *charges,
		    struct ct_set_result *set);

/* The ranks that are slow together and explain most: 1 with *set and what it comes to when replayed; 0: there are none;
 * CT_NOMEM. */
int ct_whatif_slow_set(struct ct_whatif *w, const struct ct_lateness *late,
		       const struct ct_whatif_set **set, struct ct_replayed *replayed);

/* Are these seats slower than their peers round after round? With the number of sets of so many taken into account where
 * they were chosen for being the latest (`is_chosen`), else the number of such sets side by side. Nothing is known (log10_p
 * is 0) with too few rounds. spread_ns is a share of what they hold beyond the usual. 0 or CT_NOMEM. */
int ct_whatif_recurs(const struct ct_whatif *w, const struct ct_lateness *late,
		     const uint32_t *seats, uint32_t n, int is_chosen, struct ct_recurrence *out);

/* Sets alone[seat] where nobody does what it does and it hands work on in messages: a stage of a pipeline. 0 or CT_NOMEM. */
int ct_whatif_peerless(const struct ct_whatif *w, const struct ct_model *model,
		       const struct ct_tape *log, uint8_t *alone);

/* What the report is told: at most how much faster without communication, and how even the ranks are. */
void ct_whatif_fill(const struct ct_whatif *w, struct ct_report *report);

#endif
