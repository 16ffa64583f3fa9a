/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cuda.h — a CUDA driver that does what a test says: events on a program's stream happen when
 * the test advances the stream, and it remembers when that was. Events on streams made through the
 * driver itself (the tracer's own) happen at once. Strict where it matters: an event and a stream
 * of different contexts do not fit together. */
#ifndef CT_TESTS_INTERPOSE_FAKE_CUDA_H
#define CT_TESTS_INTERPOSE_FAKE_CUDA_H

#include <stdint.h>

#include "interpose/gpu/driver/cuda.h"

/* What the device's clock gains on the host's. */
#define FAKE_PPM 30.0

struct fake_driver {
	int creates_fail;	/* event_create */
	int anchors_hang;	/* events on the tracer's own streams never happen */
	int queries_hang;	/* event_query does not return as long as this is set */
	CUresult query_result;	/* of event_query on a program's events, if not CUDA_SUCCESS */
	CUresult record_result; /* of event_record on a program's streams, likewise */
	int creates_hang;	/* event_create does not return as long as this is set */
	unsigned create_ns;	/* of CPU that event_create takes */
	unsigned record_ns;	/* of CPU that event_record takes on a program's streams */
	double elapsed_off_ns;	/* of every elapsed time */
	int elapsed_backwards;	/* from a later event to an earlier one: 0 negative, 1 no time, 2 an
				   error */
	CUresult stream_ctx_result; /* of stream_get_ctx, likewise */
	CUresult exchange_result;   /* of exchange_capture_mode, if not CUDA_SUCCESS */
	CUresult capture_result;
	CUstreamCaptureStatus capture_status;
	unsigned calls;	       /* of any function */
	unsigned streams_made; /* by the tracer */
	unsigned created;      /* events, of which ... */
	unsigned untimed;      /* ... cannot be timed */
	unsigned recorded;     /* on a program's streams */
	unsigned relaxed;      /* times that a thread relaxed its capture mode */
	unsigned unrelaxed; /* events that a thread asked for whose capture mode was not relaxed */
};

/* Anew: no contexts, no streams. The table to give to ct_cuda_use(). */
const struct ct_cuda *fake_cuda(void);

/* Change or look at it with the driver locked. */
struct fake_driver *fake_lock(void);
void fake_unlock(void);

CUcontext fake_context(int device);
void fake_set_current(CUcontext context);
CUstream fake_stream(CUcontext context);

/* The same handle in another context, as after the program destroyed it and made another one. */
void fake_move_stream(CUstream stream, CUcontext context);

/* Of the calling thread. */
CUstreamCaptureMode fake_capture_mode(void);

/* Let the next event of the stream happen now; returns when that was, 0 if there is none. */
uint64_t fake_advance(CUstream stream);

#endif
