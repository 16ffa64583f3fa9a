/* SPDX-License-Identifier: Apache-2.0 */
/* cudart.h — the wrappers of abi/cudart_calls.def: functions of CUDA that show which stream waits
 * for which.
 *
 * They never begin recording: a process that makes no communicator pays a comparison and a jump for
 * each call. While recording, only what the program itself calls counts: a call inside a recorded
 * one passes, and so does one that comes from libcudart or libnccl. Their threads are the
 * program's; no lock is held across the real call.
 */
#ifndef CT_INTERPOSE_GPU_RUNTIME_CUDART_H
#define CT_INTERPOSE_GPU_RUNTIME_CUDART_H

#include <stdint.h>

#include "interpose/abi/cudart.h"
#include "interpose/gpu/graph/graph.h"
#include "interpose/gpu/stream_waits.h"
#include "interpose/guard.h"
#include "interpose/real.h"

/* In the order of the table. */
enum ct_cudart_call {
#define CUDART_CALL(symbol, ret, name, ...) CT_CUDART_##name,
#define CUDART_CALL_VOID(symbol, ret, name, ...) CT_CUDART_##name,
#include "interpose/abi/cudart_calls.def"
	CT_CUDART_CALLS
};

/* For each the type of the function, ct_NAME_fn, and the wrapper, ct_NAME. */
#define CT_CUDART_DECLARE(symbol, ret, name, params)                                               \
	typedef ret ct_##name##_fn params;                                                         \
	CT_EXPORT ret ct_##name params __asm__(symbol);
#define CUDART_CALL(symbol, ret, name, params, ...) CT_CUDART_DECLARE(symbol, ret, name, params)
#define CUDART_CALL_VOID(symbol, ret, name, ...) CT_CUDART_DECLARE(symbol, ret, name, (void))
#include "interpose/abi/cudart_calls.def"

/* One such call on its wrapper's stack. */
struct ct_cudart_frame {
	struct ct_frame frame;
	enum ct_cudart_call call;
	struct ct_waits_host host; /* where the host waits ... */
	struct ct_sync *sync;	   /* ... and while it does; NULL: no slot */
	void (*failed)(struct ct_cudart_frame *frame,
		       int result); /* instead of `after`; NULL: nothing */
	struct ct_graph_call graph;
	uint32_t ending; /* contexts */
};

extern struct ct_real ct_cudart_reals[CT_CUDART_CALLS] __attribute__((visibility("hidden")));

/* Is the address in libcuda, libcudart or libnccl? Takes the loader's lock; keeps errno. */
int ct_cudart_is_theirs(const void *address);

/* The slot of a wrapped function by its symbol, NULL if it is not wrapped. Any thread, at any time.
 */
struct ct_real *ct_cudart_real(const char *symbol);

/* If not `wanted`, calls pass unrecorded. Before the gate opens. */
void ct_cudart_init(int wanted);

#endif
