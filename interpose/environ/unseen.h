/* SPDX-License-Identifier: Apache-2.0 */
/* unseen.h — what of one loaded object passes this library unseen. The look-around's. */
#ifndef CT_ENVIRON_UNSEEN_H
#define CT_ENVIRON_UNSEEN_H

#include "interpose/environ/elf.h"
#include "interpose/environ/facts.h"

/* Say it: "ID path". */
void ct_unseen_add(struct ct_facts *unseen, const char *id, const char *path);

/* Rules of trace/invisible_marks.def, and where its calls of NCCL are bound. *scanned_mb counts what was read of
 * read-only data, which is bounded per process. 1, or 0 if its calls are not bound yet, so that one has to look again. */
int ct_unseen_look(const struct ct_elf_object *object, struct ct_facts *unseen,
		   uint32_t *scanned_mb);

#endif
