/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h — benchmark runs beside each other: time and bandwidth by operation and size, and which
 * is fastest where.
 *
 * A series is one way to communicate, such as a library; several runs of it are its repetitions.
 * Pure, but for the memory. docs/dev/algorithms/bench.md. */
#ifndef CT_ANALYZER_BENCH_BENCH_H
#define CT_ANALYZER_BENCH_BENCH_H

#include "analyzer/base/arena.h"
#include "analyzer/bench/samples.h"

/* Against the fastest series at that size. */
#define CT_BENCH_RESULT_MAP(XX)                                                                    \
	XX(ALONE, "alone") /* no other series was measured at that size */                         \
	XX(FASTEST, "fastest")                                                                     \
	XX(SAME, "same") /* no significant difference */                                           \
	XX(SLOWER, "slower")                                                                       \
	XX(TOO_FEW, "too few") /* bursts, of this one or the fastest */

enum ct_bench_result {
#define CT_BENCH_RESULT_ENUM(name, word) CT_BENCH_##name,
	CT_BENCH_RESULT_MAP(CT_BENCH_RESULT_ENUM)
#undef CT_BENCH_RESULT_ENUM
};

const char *ct_bench_result_name(unsigned result);

struct ct_bench_row {
	const char *op; /* ct_bench_op_name() */
	uint32_t ranks; /* 0: a file does not say */
	uint64_t bytes; /* of the whole operation, as nccl-tests counts them */
	const char *series;
	unsigned backend; /* 0: a file does not say */
	uint32_t runs;
	size_t bursts;
	uint64_t n; /* iterations */
	uint64_t ns; /* of one: median over the bursts of their means, geometric mean over the runs */
	uint64_t p50_ns, p99_ns;       /* of iterations; CT_UNKNOWN: only means are known */
	uint64_t err_ns;	       /* mean error of an iteration */
	uint64_t algbw_Bps, busbw_Bps; /* by ns; CT_UNKNOWN: it moves nothing, or is undefined */
	double slower_pct, low_pct,
		high_pct;    /* than the fastest: Hodges-Lehmann, 95 % interval; NAN: not tested */
	double p;	     /* false discovery rate among all rows; NAN */
	double drift_pct;    /* second half of the bursts against the first; NAN: not significant */
	uint64_t *bursts_ns; /* means in order of time; of several runs one after the other */
	enum ct_bench_result result;
};

/* From size to size, the fastest series and those that do not differ from it significantly. */
struct ct_bench_range {
	const char *op;
	uint32_t ranks;
	uint64_t from_bytes, to_bytes;
	const char **series;
	size_t n_series;
	int is_first, is_last; /* of its operation */
};

struct ct_bench {
	struct ct_bench_row *rows; /* by operation, ranks, size and series */
	size_t n_rows;
	struct ct_bench_range *ranges; /* of sizes that several series have */
	size_t n_ranges;
	uint32_t series;      /* how many */
	uint32_t fewest_runs; /* of a series */
	uint32_t tested, differ;
};

/* A run; equal names are one series. Borrowed, the name until `out` is done with. */
struct ct_bench_run {
	const char *series;
	const struct ct_bench_samples *samples;
};

/* Memory of the result is the arena's. 0 or CT_NOMEM. */
int ct_bench_make(const struct ct_bench_run *runs, size_t n, struct ct_arena *memory,
		  struct ct_bench *out);

#endif
