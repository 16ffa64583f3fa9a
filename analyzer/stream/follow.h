/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h — a stream over a job that runs: reads what its processes have written since the last
 * time, with the same observers as a reading of the whole run. Memory is that of a stream, and does
 * not follow the length of the run. Processes that started after the run was opened are not read:
 * the caller opens it again. One thread. */
#ifndef CT_ANALYZER_STREAM_FOLLOW_H
#define CT_ANALYZER_STREAM_FOLLOW_H

#include "analyzer/stream/stream.h"

struct ct_follow;

/* Begin with the last start of `run`; both are borrowed until the end. Of its processes those are
 * read for which `wants` is not 0 (NULL: all). *follow is to be closed in any case. */
int ct_follow_open(const struct ct_run *run, struct ct_starts *starts,
		   const struct ct_stream_options *options,
		   int (*wants)(const struct ct_process_info *process), struct ct_follow **follow,
		   struct ct_err *err);

enum ct_follow_state {
	CT_FOLLOW_ENDED, /* all processes have, and the model is complete */
	CT_FOLLOW_MORE,	 /* the time was over before all was read */
	CT_FOLLOW_LATEST /* everything that is in files by now has been read */
};

/* Read on, for about `most_ns` at most. 0 and *state, or a failure. */
int ct_follow_read(struct ct_follow *follow, uint64_t most_ns, enum ct_follow_state *state,
		   struct ct_err *err);

/* What was read so far; the model's end_ns and duration_ns are those of now. */
struct ct_stream *ct_follow_stream(struct ct_follow *follow);

/* The reading of a process, NULL: it is not read. Facts, gaps and environment of an ended one are
 * in the model. */
const struct ct_load *ct_follow_load(const struct ct_follow *follow, uint32_t process);

void ct_follow_close(struct ct_follow *follow);

#endif
