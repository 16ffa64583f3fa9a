/* SPDX-License-Identifier: Apache-2.0 */
/* ring_archive.h — the ring of a dead process as one zstd frame: "<segment stem>.ring.zst" in its
 * run.
 *
 * Writing belongs to the job's half (ring_archive.c), reading to the other one (ring_unarchive.c).
 * Both stream; neither maps the file, since truncating a mapped file causes a SIGBUS.
 */
#ifndef CT_TRACE_RING_ARCHIVE_H
#define CT_TRACE_RING_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/status.h"

/* size: no ring is larger: COMMTRACE_RING_MB ends at 1024, and the header adds less than 1 MB.
 * Readers allocate at most this for one. */
#define CT_RING_MAX_BYTES (1025ull << 20)

/* size: what is read at once: the most that zstd puts into one of its blocks. */
#define CT_RING_ARCHIVE_PIECE (128u << 10)

/* Compress the first `bytes` bytes of `ring_fd` into the empty file `out_fd`. *written gets what it
 * has become. 0, CT_NOMEM or CT_IO. */
int ct_ring_archive_write(int ring_fd, uint64_t bytes, int out_fd, uint64_t *written,
			  struct ct_err *err);

/* Do these first four bytes of a file start a zstd frame? */
int ct_ring_archive_is(const uint8_t start[4]);

/* Unpack the archive `fd` into *data (the caller's to free(), aligned to CT_SLOT_BYTES), at most
 * `max` bytes of it: a whole archive only fits if it says that it is no larger; with `head` nonzero
 * the first `max` bytes will do. 0, CT_NOMEM, CT_IO, CT_TORN (ends early) or CT_FORMAT. */
int ct_ring_archive_read(int fd, size_t max, int head, void **data, size_t *bytes,
			 struct ct_err *err);

#endif
