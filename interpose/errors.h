/* SPDX-License-Identifier: Apache-2.0 */
/* errors.h — errors that a library reported to the program, as records: the result or exception of
 * a call, or the answer to a query about an earlier call. Only the first of each communicator and
 * result is recorded, so that a program that retries does not fill the ring. A fixed table; any
 * thread, inside a recorded call; nothing waits. What is recorded is in the ring when
 * ct_error_record() returns, so it survives the process.
 */
#ifndef CT_INTERPOSE_ERRORS_H
#define CT_INTERPOSE_ERRORS_H

#include <stdint.h>

#include "interpose/guard.h"
#include "trace/format.h"

struct ct_error {
	uint32_t comm; /* id, 0 none or not known */
	uint32_t call; /* string id of the function that reported it */
	int result;
	enum ct_backend backend;
	int is_async;
};

/* Forgets all reported ones. Before the gate opens. */
void ct_errors_init(void);

/* Frames with this `leave` begin with a struct ct_op_frame. Before the gate opens. */
void ct_errors_transfers(void (*leave)(struct ct_frame *frame));

/* 1: it is the first of its kind, and the caller records it; 0: it is known. */
int ct_error_is_new(const struct ct_error *error);

/* Communicator and function of the op in this slot, its thread's own; 0: its record was lost
 * (`slot` is NULL). */
int ct_error_of_slot(struct ct_slot *slot, uint32_t *comm, uint32_t *call);

/* `text`: the library's words, NULL none; at most 511 bytes are kept. Keeps errno. */
void ct_error_record(const struct ct_error *error, const char *text);

/* A C++ exception of this class (Itanium C++ ABI) leaves the call of `frame`, which is a
 * communicating one. What it says is read where that is certain: GNU's C++ library,
 * std::runtime_error and Gloo's exceptions, which derive from it. */
void ct_error_thrown(const struct ct_frame *frame, uint64_t class, const void *exception);

#endif
