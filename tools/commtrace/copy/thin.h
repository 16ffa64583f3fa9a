/* SPDX-License-Identifier: Apache-2.0 */
/* thin.h — segments of a process without the operations of its earlier part. What other records say
 * of that part stays: ranks, communicators, heartbeats, sums of calls, losses, errors, stacks. The
 * latest part stays as it is, byte by byte. One thread. */
#ifndef CT_TOOLS_COMMTRACE_COPY_THIN_H
#define CT_TOOLS_COMMTRACE_COPY_THIN_H

#include "trace/reader.h"

/* Where the latest part begins: the first block that is kept whole. */
struct ct_thin {
	size_t segment;	   /* of the paths */
	uint64_t at;	   /* offset in its file */
	uint32_t number;   /* of the block; 0: nothing is left out, or no more than is already */
	uint32_t before;   /* number of the block before it */
	uint32_t *last;	   /* number of the last block, by segment, 0: none was read; to be freed */
	uint64_t left_out; /* operations */
};

/* `keep_ns`: of the time before its last operation. Files that are not segments are left alone. 0,
 * CT_NOMEM or CT_IO. */
int ct_thin_find(const char *const *paths, size_t n_paths, uint64_t keep_ns, struct ct_thin *thin,
		 struct ct_err *err);

/* Writes the segment paths[segment] into the open file `fd`, for segments up to thin->segment of
 * which a block was read; all others are kept as they are. `calls` is zeroed before the first one,
 * and passed on. 0, CT_NOMEM, CT_IO or CT_RANGE. */
struct ct_thin_calls {
	struct ct_host_rec *open; /* calls that have not returned, to be freed */
	uint32_t n, cap;
};
int ct_thin_write(const char *const *paths, size_t segment, const struct ct_thin *thin,
		  struct ct_thin_calls *calls, int fd, struct ct_err *err);

#endif
