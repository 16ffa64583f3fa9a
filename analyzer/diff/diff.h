/* SPDX-License-Identifier: Apache-2.0 */
/* diff.h — two runs beside each other: what got slower or faster, and whether that may be chance.
 *
 * Kinds of operations are the same in two runs if the role of the communicator (else its name, else
 * its size), operation, element type and size range are. Communicators with one role count
 * together. docs/dev/algorithms/diff.md. */
#ifndef CT_ANALYZER_DIFF_DIFF_H
#define CT_ANALYZER_DIFF_DIFF_H

#include "analyzer/diff/samples.h"
#include "analyzer/model/report.h"

#define CT_DIFF_RESULT_MAP(XX)                                                                     \
	XX(SAME, "same") /* no significant difference */                                           \
	XX(SLOWER, "slower")                                                                       \
	XX(FASTER, "faster")                                                                       \
	XX(TOO_FEW, "too few")                                                                     \
	XX(GONE, "only in base")                                                                   \
	XX(NEW, "not in base")                                                                     \
	XX(UNLIKE, "not comparable") /* steps that begin with different operations */

enum ct_diff_result {
#define CT_DIFF_RESULT_ENUM(name, word) CT_DIFF_##name,
	CT_DIFF_RESULT_MAP(CT_DIFF_RESULT_ENUM)
#undef CT_DIFF_RESULT_ENUM
};

const char *ct_diff_result_name(unsigned result);

struct ct_diff_row {
	const char *op;	     /* "step": the steps of the run; "sample": the job's time for each */
	const char *comm;    /* role, name or "8 ranks"; NULL: the whole run */
	unsigned dtype;	     /* 0: none, or several */
	uint64_t size_range; /* CT_UNKNOWN */
	uint64_t base_n, n;  /* operations, or steps */
	uint64_t base_ns,
		ns; /* transfer of one, or a step: median of the blocks; CT_UNKNOWN without any */
	uint64_t err_ns;	  /* mean error of one, in the run where it is larger: less is not a
				     difference */
	double change_pct;	  /* Hodges-Lehmann; NAN: not tested */
	double low_pct, high_pct; /* its 95 % interval */
	double repeat_pct; /* one more repetition of the base lies within it, 99 %; NAN: there is
			      one base */
	double delta;	   /* Cliff's */
	double cost_pct;   /* what the change adds to a rank, in percent of step time, at most (it
			      may be hidden behind compute) */
	double p;	   /* false discovery rate among all rows */
	enum ct_diff_result result;
};

/* What became of the samples per second when the number of ranks changed. NAN: a run did not mark
 * its samples. */
struct ct_diff_scaling {
	double base_per_s, per_s; /* of the base: geometric mean of its repetitions */
	uint64_t base_ranks, ranks;
	double efficiency_pct;	  /* samples per second of a rank, of those in the base ... */
	double low_pct, high_pct; /* ... 95 %, and with repetitions of the base 99 % of one more */
};

struct ct_diff {
	struct ct_diff_row
		*rows; /* steps; then what differs, the costliest first; then the rest by time */
	size_t n_rows;
	uint32_t tested, slower, faster;
	struct ct_diff_scaling scaling;
};

/* One of the runs; borrowed. */
struct ct_diff_run {
	const struct ct_diff_samples *samples;
	const struct ct_report *report;
};

/* `run` against `n_bases` repetitions of the base. What differs between these differs without a
 * cause: a change counts beyond it. Of one base that is not known. Step times are compared where
 * the same operation begins the steps in all. Memory of the result is the arena's. 0 or CT_NOMEM.
 * Pure. */
int ct_diff_make(const struct ct_diff_run *bases, size_t n_bases, const struct ct_diff_run *run,
		 struct ct_arena *memory, struct ct_diff *out);

/* What is slower by more than `pct` percent, by its interval's lower end: the step (the time for a
 * sample, where both runs marked them). Where steps could not be compared, an operation that may
 * add 1 % to the run. NULL: nothing is. */
const struct ct_diff_row *ct_diff_regression(const struct ct_diff *diff, double pct);

#endif
