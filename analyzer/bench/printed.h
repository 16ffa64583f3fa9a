/* SPDX-License-Identifier: Apache-2.0 */
/* printed.h — results that a benchmark printed: nccl-tests (and comm_bench), or the OSU
 * micro-benchmarks.
 *
 * A file has one mean for each operation and size, so nothing is tested about it. Lines that are no
 * part of a table (logs of launchers and libraries) are skipped. */
#ifndef CT_ANALYZER_BENCH_PRINTED_H
#define CT_ANALYZER_BENCH_PRINTED_H

#include <stdio.h>

#include "analyzer/bench/samples.h"
#include "trace/status.h"

/* Add what the file says to `samples`. `ranks`: of OSU's results, which do not say; 0: unknown,
 * then operations whose size is a rank's share have none. Of nccl-tests the out-of-place results
 * count. 0, CT_NOMEM, or CT_FORMAT: the text names the line. */
int ct_bench_read_printed(FILE *file, uint32_t ranks, struct ct_bench_samples *samples,
			  struct ct_err *err);

#endif
