/* SPDX-License-Identifier: Apache-2.0 */
/* segment.h — the writing side of a process's segment files: one file, one writer, blocks appended
 * with write(2) only. segment_read.h has the way back.
 *
 * Opened through the run directory's descriptor, so that a directory renamed during the run stays
 * the run's directory. A block that could not be written whole is cut off again; a process that
 * dies in between leaves a torn tail, which readers take as normal input.
 */
#ifndef CT_TRACE_SEGMENT_H
#define CT_TRACE_SEGMENT_H

#include <stddef.h>

#include "trace/format.h"
#include "trace/status.h"

struct ct_segment_writer {
	struct ct_process process;
	int dirfd;	    /* borrowed */
	uint64_t opened_ns; /* what headers say; 0 (after init): when it is */
	int fd;		    /* -1: none open */
	uint32_t number;    /* of the open segment */
	uint32_t oldest;    /* lowest number that still exists */
	uint64_t bytes;	    /* in the open segment */
	uint64_t total;	    /* in all segments that still exist */
	uint64_t *sizes;    /* of segments oldest.. */
	uint32_t n_sizes;
};

/* "<host>.<bootid4>.<pid>.<start>.<n>.seg", start in hex. `name` has space for CT_SEGMENT_NAME_MAX
 * bytes. */
#define CT_SEGMENT_NAME_MAX 192 /* size: some 110 are used: 63 of the host, and four numbers */
void ct_segment_name(char *name, const struct ct_process *process, uint32_t number);

/* The same without number and suffix: what a process's files have in common ("<stem>.ring.zst"). */
void ct_segment_stem(char *name, const struct ct_process *process);

/* Prepare; nothing is created yet. `dirfd` stays the caller's and must outlive the writer. */
void ct_segment_init(struct ct_segment_writer *writer, const struct ct_process *process, int dirfd);

/* Create the next segment (O_EXCL, O_NOFOLLOW, 0600) and write its header; closes the one before. */
int ct_segment_next(struct ct_segment_writer *writer, struct ct_err *err);

/* Append the bytes of one block. 0, or CT_IO (nothing of it stays in the file; *err names file and
 * reason). */
int ct_segment_append(struct ct_segment_writer *writer, const void *block, size_t bytes,
		      struct ct_err *err);

/* Remove the oldest closed segments until all together hold at most `max_bytes`. Returns how many. */
uint32_t ct_segment_trim(struct ct_segment_writer *writer, uint64_t max_bytes);

void ct_segment_close(struct ct_segment_writer *writer);

#endif
