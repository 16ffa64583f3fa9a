/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h — kernels for the tests: one of a known length that notes when it ran, and one that
 * waits at a gate. */
#ifndef CT_TESTS_SIM_KERNELS_H
#define CT_TESTS_SIM_KERNELS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tools/sim/sim.h"

/* assert that a call succeeds */
#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

struct timed {
	uint64_t ns;	/* how long it takes */
	CUresult error; /* what it ends with */
	_Atomic uint64_t start_ns, ran, done;
	int *order; /* gets the next number: in which order kernels ran */
	int turn;
};

/* The kernel takes `ns` from its start. *timed stays the caller's, until it has run. */
CUresult launch_timed(CUstream stream, struct timed *timed);

struct gate {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	bool open;
	struct timed timed;
};

#define GATE                                                                                       \
	{                                                                                          \
		.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER               \
	}

/* The kernel ends when the gate is opened. */
CUresult launch_gate(CUstream stream, struct gate *gate);

/* Returns when the kernel has gone through and has no use for the gate any more. */
void open_gate(struct gate *gate);

/* The context of a device, current on this thread. */
CUcontext use_device(int ordinal);

/* A stream of the current context. */
CUstream new_stream(unsigned int flags);

/* A timed event recorded on the stream now. */
CUevent record_new(CUstream stream);

/* The truth about an event that is known. */
uint64_t time_of(CUevent event);

#endif
