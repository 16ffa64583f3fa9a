/* SPDX-License-Identifier: Apache-2.0 */
/* event_prealloc.h — events for a context are made before its first launch needs them. By the
 * thread that makes a communicator, with the guard held; not on the call path. Keeps errno. */
#ifndef CT_INTERPOSE_GPU_EVENT_PREALLOC_H
#define CT_INTERPOSE_GPU_EVENT_PREALLOC_H

/* A communicator is about to be made on the calling thread: if its current CUDA context is new, the
 * poll thread makes events for it meanwhile. */
void ct_gpu_prealloc_ask(void);

/* One was made: the same, and if the poll thread has not made enough events yet, the calling thread
 * makes the first ones itself, so that the next launches find them however late that thread gets a
 * processor. Once per context. It relaxes the capture mode of the calling thread meanwhile, so that
 * no capture ends by it. NCCL has just called CUDA on this thread for the same purpose, and for
 * much longer; while another thread holds the driver, CUDA is left alone. */
void ct_gpu_prealloc_events(void);

#endif
