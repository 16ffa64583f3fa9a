/* SPDX-License-Identifier: Apache-2.0 */
/* thread_stream.h — the default stream that each thread has of its own in each context
 * (CU_STREAM_PER_THREAD). */
#ifndef CT_TOOLS_SIM_THREAD_STREAM_H
#define CT_TOOLS_SIM_THREAD_STREAM_H

struct sim_context;
struct sim_stream;

/* This thread's in the context, made when first asked for; retired when the thread ends. The lock
 * is held. */
struct sim_stream *sim_thread_stream(struct sim_context *context);

#endif
