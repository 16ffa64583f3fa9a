/* SPDX-License-Identifier: Apache-2.0 */
/* uninterposed.h — what of one loaded object passes this library unseen. The look-around's. */
#ifndef CT_INTERPOSE_ENVIRON_UNINTERPOSED_H
#define CT_INTERPOSE_ENVIRON_UNINTERPOSED_H

#include "interpose/environ/elf.h"
#include "trace/facts.h"

/* The wrappers of this library, by the symbol that they wrap: a call must be bound to one to be
 * seen. 0: none. `gloo_unheard` is ct_gloo_unheard(). */
struct ct_uninterposed_wrappers {
	uintptr_t (*nccl)(const char *symbol);
	uintptr_t (*gloo)(const char *symbol);
	uintptr_t (*mpi)(const char *symbol);
	uintptr_t (*gloo_unheard)(void);
};

/* Before there is a look-around; until then there are no wrappers. The table stays the caller's and
 * is not changed. */
void ct_uninterposed_use(const struct ct_uninterposed_wrappers *wrappers);

/* An address in the code of c10d that carries out works for Gloo unseen; 0 if there is none. Any
 * thread. */
uintptr_t ct_uninterposed_gloo(void);

/* Say it: "ID path". */
void ct_uninterposed_add(struct ct_facts *unseen, const char *id, const char *path);

/* Rules of trace/invisible_marks.def, and where its calls of NCCL are bound. *scanned_mb counts
 * what was read of read-only data, which is bounded per process. 1, or 0 if its calls are not bound
 * yet, so that one has to look again. */
int ct_uninterposed_look(const struct ct_elf_object *object, struct ct_facts *unseen,
			 uint32_t *scanned_mb);

#endif
