/* SPDX-License-Identifier: Apache-2.0 */
/* format.h — the bytes of a ring file and of a segment file. docs/dev/TRACE_FORMAT.md is the norm,
 * these headers mirror it and a test compares the two.
 *
 * Everything is little-endian and naturally aligned. Times are CLOCK_MONOTONIC of the host in
 * nanoseconds unless said otherwise.
 */
#ifndef CT_TRACE_FORMAT_H
#define CT_TRACE_FORMAT_H

#include "trace/format_process.h" /* which process wrote it */
#include "trace/format_rares.h"	  /* records of the rare kinds */
#include "trace/format_ring.h"	  /* the ring, and the slots of operations and launches */
#include "trace/format_segment.h" /* segments and their blocks */

#endif
