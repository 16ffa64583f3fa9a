/* SPDX-License-Identifier: Apache-2.0 */
/* writer.h — the write thread: from the ring into segments.
 *
 * It naps (50 ms, 5 ms when the pool runs low), encodes records when there are enough or they are
 * old enough, appends with write(2), and marks them drained only after that. So the records of a
 * dead process are in segment or ring, or in both. While nothing can be written the oldest records
 * go first, counted. It may allocate and block; nothing on the call path ever waits for it.
 */
#ifndef CT_INTERPOSE_WRITER_H
#define CT_INTERPOSE_WRITER_H

#include "trace/notes.h"
#include "trace/settings.h"

struct ct_writer_options {
	int dirfd;		  /* run directory, -1 none; the writer's from now on */
	const char *ring_dirs[4]; /* borrowed forever; where dead processes' rings are searched */
	const struct ct_settings *settings; /* borrowed forever */
	const struct ct_notes *notes;	    /* copied */
};

/* Start it on ct_recorder's ring. 0, or -1: records stay in the ring. */
int ct_writer_start(const struct ct_writer_options *options);

/* Have everything written, the END block last, and the ring removed; the ring stays if that fails.
 * Wait at most `timeout_ns`. Returns 1 if it came to an end, either way, 0 if not. Once. */
int ct_writer_finish(int exit_code, uint64_t timeout_ns);

#endif
