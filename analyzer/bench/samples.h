/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h — durations of operations that a rank repeats, as benchmarks do.
 *
 * A burst is a rank's operations of one kind (library, operation, ranks, size) without another one
 * between them. An iteration lasts from the end of one to the end of the next: what nccl-tests
 * divides the time of its loop into. The first of a burst has no such time. Of a ping-pong it is
 * half a turn. Bursts of less than half the iterations of the longest are warm-up. Of each burst
 * there is the mean over iterations and ranks; memory follows the kinds and ranks, not the length
 * of the run. One thread. A zeroed struct is empty. */
#ifndef CT_ANALYZER_BENCH_SAMPLES_H
#define CT_ANALYZER_BENCH_SAMPLES_H

#include "analyzer/base/hist.h"
#include "analyzer/base/keyed.h"
#include "analyzer/stream/stream.h"

/* size: of the memory of a kind; with more bursts, neighbours count as one */
#define CT_BENCH_BURSTS 256u
/* size: of the memory of a rank: longer bursts count as several */
#define CT_BENCH_ITERATIONS 1024u

/* Beside the operations of trace/ops.def. */
enum ct_bench_form { CT_BENCH_PLAIN, CT_BENCH_SENDRECV, CT_BENCH_PINGPONG };

struct ct_bench_burst {
	double ns; /* sum */
	uint64_t n;
};

struct ct_bench_kind {
	unsigned backend, op;
	enum ct_bench_form form;
	uint32_t ranks;	 /* 2 of a ping-pong */
	uint64_t bytes;	 /* of the whole operation */
	uint64_t err_ns; /* sum over iterations */
	struct ct_hist ns;
	struct ct_bench_burst bursts[CT_BENCH_BURSTS];
	unsigned shift;	  /* of a burst's number: where it is counted */
	uint32_t longest; /* iterations of a burst */
	uint32_t *seen;	  /* by slot: its bursts so far */
	uint32_t cap;
};

struct ct_bench_slot;
struct ct_bench_samples {
	struct ct_keyed kinds; /* struct ct_bench_kind */
	struct ct_bench_slot *slots;
	uint32_t n_slots;
};

/* Fill them from a reading. The samples outlive it. */
void ct_bench_samples_observe(struct ct_bench_samples *samples, struct ct_observer *observer);

/* For results from another source: the kind equal to this one, added if it is new; NULL: out of
 * memory. */
struct ct_bench_kind *ct_bench_samples_kind(struct ct_bench_samples *samples,
					    const struct ct_bench_kind *like);

void ct_bench_samples_fini(struct ct_bench_samples *samples);

/* "AllReduce", "SendRecv", "PingPong"; "?" for an operation that is not known. */
const char *ct_bench_op_name(const struct ct_bench_kind *kind);

/* f in busbw = algbw * f, as nccl-tests defines it; 0: undefined. */
double ct_bench_bus_factor(const struct ct_bench_kind *kind);

#endif
