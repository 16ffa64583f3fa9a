/* SPDX-License-Identifier: Apache-2.0 */
/* fixture_run.h — for the tests of reader.h: put processes into a run, open it, read it. Names are
 * those of the test's directory, see fixture.h. */
#ifndef CT_TESTS_UNIT_FIXTURE_RUN_H
#define CT_TESTS_UNIT_FIXTURE_RUN_H

#include "tests/unit/fixture.h"
#include "trace/reader.h"

/* Open `a` and, if not NULL, `b` as one run, with the rings that lie in `rings`, NULL for none. */
struct ct_run *fx_open_runs(const char *a, const char *b, const char *rings);
struct ct_run *fx_open_run(const char *a);

/* Is there a warning that holds both texts? */
int fx_has_warning(const struct ct_run *run, const char *a, const char *b);

/* Read a process: bit n of the result for each op n < 64 that came, failing if one comes twice.
 * `gaps` may be NULL. */
uint64_t fx_read_ops(const struct ct_run *run, size_t index, struct ct_gaps *gaps);
uint64_t fx_bits(int from, int to);

/* A process with one segment of two blocks (ops 0..19) in directory `run`. */
struct ct_process fx_put_process(int rank, const char *run);

/* Name of a segment of it; `to` has space for 300 bytes. */
void fx_segment_path(char *to, const char *run, const struct ct_process *process, uint32_t number);

#endif
