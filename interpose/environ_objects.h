/* SPDX-License-Identifier: Apache-2.0 */
/* environ_objects.h — the objects that are loaded into this process: which communication libraries, and what of them
 * passes this library unseen (trace/invisible.def).
 *
 * The loader's lock is held only while their names and addresses are copied; what they contain is read afterwards
 * (environ_peek.h). Dynamic symbols tell what an object imports and exports, its relocated words where its calls of
 * NCCL lead. Only the look-around calls this; each object is told once. */
#ifndef CT_ENVIRON_OBJECTS_H
#define CT_ENVIRON_OBJECTS_H

#include "interpose/environ_facts.h"

/* What was told already, by object: hash of its name and address. */
#define CT_OBJECTS_TOLD 4096u
struct ct_objects_told {
	uint64_t seen[CT_OBJECTS_TOLD]; /* 0 free */
	uint32_t n;
	uint32_t libraries[32]; /* per row of ENV_LIBRARY: how many */
	uint32_t scanned_mb;
	int unbound; /* 1: calls of some new object are not bound yet */
};

/* Objects loaded since the process began: a number that changes when there is something new to look at. */
uint64_t ct_objects_loads(void);

/* lib.*.path and lib.nccl.version into `facts`; "ID path" into `unseen` for what passes unseen. */
void ct_objects_look(struct ct_objects_told *told, struct ct_facts *facts, struct ct_facts *unseen);

#endif
