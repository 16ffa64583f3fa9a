/* SPDX-License-Identifier: Apache-2.0 */
/* finding_list.h — the findings of all analyses, collected for the report.
 *
 *     f = ct_findings_add(list, CT_FINDING_SLOW_LINK);
 *     ct_finding_ranks(list, f, ranks, n);
 *     ct_finding_evidence(list, f, "efficiency", 0.4, "ratio", NAN);
 *     ct_finding_put_who(list, f);
 *     f->time_lost_ns = ...; f->cause = ...; f->advice = ...;
 *
 * Everything is in the report's memory, which records failed allocations (ct_arena_failed), so
 * nothing here fails. One thread. */
#ifndef CT_ANALYZER_FINDINGS_FINDING_LIST_H
#define CT_ANALYZER_FINDINGS_FINDING_LIST_H

#include "analyzer/base/arena.h"
#include "analyzer/model/model.h"
#include "analyzer/model/report.h"

struct ct_findings {
	struct ct_finding *all;
	size_t n;
	uint32_t cap;
	struct ct_arena *memory;       /* the report's */
	struct ct_step_time step_time; /* what percentages are of */
	/* out of memory: a finding in no list; ranks and hosts before they are set */
	struct ct_finding spare;
	int no_rank[1];
	const char *nowhere[1];
};

void ct_findings_fini(struct ct_findings *list);

/* Adds a finding with unknown times, loss and steps, severity info, confidence none. Valid until
 * the next one is added. */
struct ct_finding *ct_findings_add(struct ct_findings *list, enum ct_finding_kind kind);

/* Removes the finding that was added last. */
void ct_findings_drop_last(struct ct_findings *list);

/* Its ranks, sorted; copied. */
void ct_finding_ranks(struct ct_findings *list, struct ct_finding *f, const int *ranks, size_t n);

/* The same by slots; also sets their hosts. */
void ct_finding_slots(const struct ct_model *model, const uint32_t *slots, size_t n,
		      struct ct_findings *list, struct ct_finding *f);

/* The same for all ranks of one host. */
void ct_finding_host(const struct ct_model *model, uint32_t host, struct ct_findings *list,
		     struct ct_finding *f);

/* Adds a fact, or replaces the one with this name. `name` (in docs/dev/algorithms/evidence.md,
 * Evidence) and `unit` live as long as the report; err NAN: exact or unknown. */
void ct_finding_evidence(struct ct_findings *list, struct ct_finding *f, const char *name,
			 double value, const char *unit, double err);

/* Adds key=value to the figures in words (--format=kv, the timeline). `key` lives as long as the
 * report. */
void ct_finding_put(struct ct_findings *list, struct ct_finding *f, const char *key,
		    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same with its error, both copied. */
void ct_finding_put_err(struct ct_findings *list, struct ct_finding *f, const char *key,
			const char *value, const char *err);

/* ranks=0,1,3-15 hosts=node0,node1: those of the finding, in the same form for every kind. Nothing
 * for what is not known. */
void ct_finding_put_who(struct ct_findings *list, struct ct_finding *f);

/* comm=HASH. */
void ct_finding_put_comm(struct ct_findings *list, struct ct_finding *f, uint64_t hash);

/* The time lost, its error and its percentage of step time. `key`: "time_lost", or "time_lost_max"
 * if it may be less. */
void ct_finding_put_time_lost(struct ct_findings *list, struct ct_finding *f, const char *key);

/* Sets loss and error, of the run, and the percentage of step time: in_steps_ns is the part of the
 * loss that lies in the steps. Severity follows from the certain part of the percentage
 * (docs/dev/algorithms/waits.md, Who was last): info, warning from 3 %, critical above 10 %. */
void ct_finding_loss(const struct ct_findings *list, struct ct_finding *f, uint64_t time_lost_ns,
		     uint64_t err_ns, double in_steps_ns);

/* Is the certain part of a loss in the steps this fraction of their time or more? */
int ct_finding_is_worth(const struct ct_findings *list, double in_steps_ns, double err_ns,
			double least);

/* Order for qsort: contradictions, then by loss, then findings without loss. */
int ct_finding_order(const void *a, const void *b);

/* A fact of the finding by name; NAN: absent. */
double ct_finding_fact(const struct ct_finding *finding, const char *name);

#endif
