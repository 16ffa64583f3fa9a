/* SPDX-License-Identifier: Apache-2.0 */
/* launch_job.h — runs of launches on GPUs, written by hand: what each launch was and took stands in
 * the test. One run at a time, in the fixture's directory. */
#ifndef CT_TESTS_UNIT_LAUNCH_JOB_H
#define CT_TESTS_UNIT_LAUNCH_JOB_H

#include "tests/unit/job.h"
#include "trace/ops.h"

#define MS 1000000ull
#define US 1000ull
#define ERR 2560u /* of each time of a stream, ns; stored as it is (an error class) */

extern struct job job;
extern uint32_t lost_ops; /* that each launch held beside those that are recorded */
extern uint64_t messages[JOB_MAX_RANKS][JOB_MAX_RANKS][2]; /* by rank and peer: sent, received */

void open_job(int ranks, int ranks_per_host);

/* An empty directory once more. */
void fresh(void);

struct ct_report *close_job(uint64_t end);

/* Of `count` elements of four bytes; rooted ones have root 0. */
struct ct_op collective(unsigned op, uint64_t count);
struct ct_op message(unsigned op, int peer, uint64_t count);

#define NO_LAUNCH UINT32_MAX /* as launch of an op: it has none */

/* One launch of `n` ops by `rank`, which its stream reaches at `start`; start and end 0: not timed.
 */
void launch(int rank, const struct ct_op *ops, uint32_t n, uint64_t enter, uint64_t start,
	    uint64_t end);

int is_near(uint64_t value, double expected, double off);

/* The report's row of these operations, by group or by name; NULL: there is none. */
const struct ct_report_op *row(const struct ct_report *report, const char *group, const char *name);

#endif
