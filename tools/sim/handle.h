/* SPDX-License-Identifier: Apache-2.0 */
/* handle.h — what the program holds instead of pointers: numbers that stand for an object and can
 * be distinguished from those of objects that are no more. Nothing is ever read through a handle.
 * The lock is held for all of it. */
#ifndef CT_TOOLS_SIM_HANDLE_H
#define CT_TOOLS_SIM_HANDLE_H

#include <stdbool.h>

enum sim_kind {
	SIM_CONTEXT = 1,
	SIM_STREAM,
	SIM_EVENT,
	SIM_GRAPH,
	SIM_GRAPH_EXEC,
	SIM_GRAPH_NODE,
	SIM_GREEN
};

/* A handle for the object, not 0. Freed slots are used again oldest first, with another number. */
void *sim_handle_new(enum sim_kind kind, void *object);

/* Its object; NULL if the handle never was one of this kind, or is no more. */
void *sim_handle_get(enum sim_kind kind, const void *handle);

void sim_handle_free(const void *handle);

/* Frees it, and remembers until the slot is used again that it went with its context. */
void sim_handle_lose(const void *handle);
bool sim_handle_is_lost(enum sim_kind kind, const void *handle);

/* Each object of a kind; `take` may free its handle and makes none. */
void sim_handle_each(enum sim_kind kind, void (*take)(void *handle, void *object, void *arg),
		     void *arg);

#endif
