/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h — the objects that are loaded into this process: which communication libraries, and
 * what of them passes this library unseen (trace/invisible.def).
 *
 * The loader's lock is not taken for that: its list (chain.h) and what the objects contain (peek.h)
 * are copied. Dynamic symbols show what an object imports and exports, its relocated words where
 * its calls of NCCL lead. One thread at a time; each object is reported once. */
#ifndef CT_INTERPOSE_ENVIRON_OBJECTS_H
#define CT_INTERPOSE_ENVIRON_OBJECTS_H

#include "interpose/environ/elf.h"
#include "trace/facts.h"

/* size: objects reported already: hash of name and address. At most half of it is used: programs
 * with torch have some hundred. */
#define CT_OBJECTS_REPORTED 4096u
#define CT_OBJECTS_COPIES 4u /* size: of one library; two are seen */
/* size: of NCCL: lib.nccl, lib.nccl_net, lib.nccl_tuner */
#define CT_OBJECTS_PARTS (3 * CT_OBJECTS_COPIES)
struct ct_objects_reported {
	uint64_t seen[CT_OBJECTS_REPORTED]; /* 0 free */
	uint32_t n;
	uint32_t libraries[32]; /* per row of ENV_LIBRARY: how many */
	uint32_t scanned_mb;
	char nccl[CT_OBJECTS_COPIES][sizeof(((struct ct_elf_object *)0)->path)];
	uint32_t n_nccl, n_asked;
	struct ct_nccl_object {
		char path[sizeof(((struct ct_elf_object *)0)->path)];
		char key[32]; /* lib.nccl_net */
		uintptr_t base;
	} parts[CT_OBJECTS_PARTS]; /* of NCCL: the library, plugins */
	uint32_t n_parts, n_searched;
	int unheard; /* 1: it was reported that calls of Gloo are not seen */
	int unbound; /* 1: calls of some new object are not bound yet */
};

/* lib.*.path into `facts`; "ID=path" into `unseen` for what passes unseen. Begins with no object
 * after `until_ns`: 0 if some were left for that. */
int ct_objects_look(struct ct_objects_reported *reported, struct ct_facts *facts,
		    struct ct_facts *unseen, uint64_t until_ns);

/* lib.nccl*.version of those found since the last time: queries them, by the loader. */
void ct_objects_versions(struct ct_objects_reported *reported, struct ct_facts *facts);

/* lib.nccl*.unread of those found since the last time (nccl_settings.h): the NCCL_* of `variables`
 * that they do not contain. Reads their files. */
void ct_objects_settings(struct ct_objects_reported *reported, const struct ct_facts *variables,
			 struct ct_facts *facts);

#endif
