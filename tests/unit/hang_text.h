/* SPDX-License-Identifier: Apache-2.0 */
/* hang_text.h — cases of hangs as text, with what is to be found in them. For tests.
 *
 * A file has several cases; '#' begins a remark. Lists of ranks and numbers: 0,2-5 (one word).
 *
 *     case NAME
 *     ranks N                                 alive, last heard of at 100 s, starts known; default
 * 4, before anything else comm NAME RANKS [backend=nccl|mpi|gloo] [role=TP] [unknown=RANKS]   order
 * of RANKS is that in the communicator op RANKS COMM SEQS OP COUNT DTYPE REDOP PEER STREAM LAUNCH
 * STATE [site=TEXT] [thread=N] [host] [graph] [varying] [fresh] [died] [unseen] [at=SECONDS]
 * [tag=N|any] [call=NAME]
 *                 '-' none; PEER the rank of the other end or of the root (global; any); STATE
 * entered returned started finished error aborted; what is not finished has been stalled since 38 s
 * unless fresh, or died (2) call RANKS KIND COMM|- [stream=N] [thread=N] [returned] [fresh]
 * [name=TEXT] process RANKS alive|dead|exited|no_trace [how=TEXT] [at=SECONDS] [killed] [left]
 * [_exit] error RANKS COMM|- TEXT [at=SECONDS] rank RANKS [cut] [until=SECONDS] [beat=SECONDS]
 * [cpu=SECONDS] [stopped=PID] [on=HOST] [host] (host: its starts cannot be seen)
 * expect|events|hosts CODE RANKS|- VICTIMS|- CONFIDENCE   in order; expect in both timings
 * expect|events|hosts none says TEXT            part of the first verdict's headline, cause, notes
 * or facts, in both timings advises TEXT         part of its advice or command runs TEXT its
 * command, in the timing `events`
 *
 * Words have no blanks; '_' in TEXT stands for one (in `says` and `advises` blanks are fine).
 * Timing `hosts` makes of what has started on a GPU what is only issued, and of all ranks ones
 * whose starts cannot be seen. */
#ifndef CT_TESTS_UNIT_HANG_TEXT_H
#define CT_TESTS_UNIT_HANG_TEXT_H

#include "analyzer/base/arena.h"
#include "analyzer/hang/diagnose.h"

#define CT_TEXT_EXPECTED 8u

struct ct_text_expected {
	const char *code, *ranks, *victims, *confidence;
};

struct ct_text_case {
	const char *file, *name;
	unsigned line;
	struct ct_hang_case c;
	struct ct_text_expected expected[2][CT_TEXT_EXPECTED]; /* events, hosts */
	uint32_t n_expected[2];
	int says_nothing[2]; /* "none" was said */
	const char *says[CT_TEXT_EXPECTED];
	uint32_t n_says;
	const char *advises, *runs; /* NULL: not compared */
	struct ct_text_case *next;
};

/* All cases of a file, in order. Stops the test at a line that it does not understand. */
struct ct_text_case *ct_text_cases(const char *path, struct ct_arena *arena);

/* The same case where starts cannot be seen. */
struct ct_hang_case *ct_text_host_timing(const struct ct_hang_case *c, struct ct_arena *arena);

/* A copy whose arrays can be changed. */
struct ct_hang_case *ct_text_copy(const struct ct_hang_case *c, struct ct_arena *arena);

/* "0,2-5" of ascending numbers; "-" of none. */
const char *ct_text_list(const int *ranks, uint32_t n, struct ct_arena *arena);

/* "CODE RANKS VICTIMS CONFIDENCE\n" of each verdict. */
const char *ct_text_verdicts(const struct ct_hang_result *result, struct ct_arena *arena);

#endif
