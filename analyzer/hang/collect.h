/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h — a struct ct_hang_case out of a run: one light reading of each process of an attempt.
 *
 * Processes are read one after the other. Of each rank and communicator are kept all operations that are not finished, the
 * last ones that are, and of messages the latest of each channel: memory depends on ranks and communicators, not on the
 * length of the run. No waits are judged and no clocks are related but by their hosts' time of day. One thread. */
#ifndef CT_HANG_COLLECT_H
#define CT_HANG_COLLECT_H

#include "analyzer/base/arena.h"
#include "analyzer/hang/hang_run.h"

struct ct_hang_options {
	int attempt; /* which start of the job, from 0; -1: the last one */
	int check;   /* also compare all that the ranks called: hang_run.h, equals */
	void (*progress)(void *arg, uint64_t done, uint64_t all); /* processes; may be NULL */
	void *progress_arg;
};

/* What is returned lives in `memory` and does not borrow from the run. `options` may be NULL. 0; CT_NOMEM; CT_IO;
 * CT_NOTFOUND (no such attempt). What is damaged or missing is no failure: it stands in missing_data. */
int ct_hang_collect(const struct ct_run *run, const struct ct_hang_options *options,
		    struct ct_arena *memory, struct ct_hang_run **out, struct ct_err *err);

#endif
