/* SPDX-License-Identifier: Apache-2.0 */
/* process_exit.h — who failed first? Of the processes that did not end well, in which order they failed.
 *
 * A process that was seen to be killed failed when the signal was sent, whatever moment it was gone: a launcher kills
 * the rest after the first one has failed, and then the time of that is later. One that said itself that it ends (exit(),
 * abort()) failed then. Of any other it is only known that it was alive at one moment and gone at another one. */
#ifndef CT_ENDS_H
#define CT_ENDS_H

#include <stddef.h>

#include "analyzer/model/model.h"

/* When one failed, as far as anybody knows: within [lo_ns, hi_ns], on a clock that all share. */
struct ct_ends_moment {
	size_t process;
	uint64_t lo_ns, hi_ns; /* UINT64_MAX: nobody saw it gone */
	int was_killed; /* by SIGTERM or SIGKILL, or by whatever signal somebody was seen to send */
	int how_unknown;
};

/* How a process ended as its ring, its parent and its last block tell together. */
struct ct_end ct_end_whole(const struct ct_process_info *info,
			   const struct ct_process_facts *facts);

/* In order, or it still runs. */
int ct_end_is_well(const struct ct_end *end);

/* Did it end of a signal that somebody was seen to send it? */
int ct_end_was_sent(const struct ct_end *end);

/* The moment in terms of the process's own host. */
struct ct_ends_moment ct_ends_moment_of(const struct ct_end *end);

/* Those that may have been the first come first; of these who failed by itself before who was killed, before those of whom
 * nobody knows how they ended; then by time. How many may have been the first: 1 where it is known who was. */
size_t ct_ends_sort(struct ct_ends_moment *moments, size_t n);

/* report->ended, n_ended, n_ended_first, of the attempt; after its processes. 0 or CT_NOMEM. */
int ct_fill_ended(const struct ct_model *model, struct ct_report *report);

#endif
