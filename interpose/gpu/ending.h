/* SPDX-License-Identifier: Apache-2.0 */
/* ending.h — contexts that the program ends: resets of a device, cuCtxDestroy, the last release of
 * a primary context.
 *
 * Whatever belonged to such a context must not be touched afterwards: events and streams of ours,
 * too. So before the real call the poll thread takes a last look at it and stays out; the call
 * waits for that, but at most CT_GPU_ENDING_NS. When the context is gone it is dead to us, with its
 * events; launches that come later find a new one, whatever its handle.
 */
#ifndef CT_INTERPOSE_GPU_ENDING_H
#define CT_INTERPOSE_GPU_ENDING_H

#include "interpose/gpu/streams.h"

/* size: a look takes microseconds; what hangs in the driver for longer may hang on. */
#define CT_GPU_ENDING_NS 100000000ull

/* The poll thread wants to look at a context. 0: it must not. Sets *last if the program waits for a
 * last look. Then ct_gpu_look_end(). */
int ct_gpu_look_begin(struct ct_gpu_context *context, int *last);
void ct_gpu_look_end(struct ct_gpu_context *context);

/* A program's thread is about to end the contexts of a device, negative for the current one's; or
 * one by its handle. Returns which, for ct_gpu_ended(). Keeps errno. */
uint32_t ct_gpu_ending_device(int device);
uint32_t ct_gpu_ending_context(CUcontext handle);

/* It has ended them, or not. */
void ct_gpu_ended(uint32_t which, int gone);

/* Does the device's primary context still exist? 0 if CUDA does not say. */
int ct_gpu_is_primary_there(CUdevice device);

#endif
