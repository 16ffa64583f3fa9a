/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_settings.h — which NCCL_* variables that are set an object of NCCL never reads.
 *
 * NCCL reads a variable by its whole name (src/misc/param.cc: NCCL_PARAM), which is then among the
 * constants of the library. What libnccl and its plugins do not contain has no effect on them. */
#ifndef CT_INTERPOSE_ENVIRON_NCCL_SETTINGS_H
#define CT_INTERPOSE_ENVIRON_NCCL_SETTINGS_H

#include "interpose/environ/elf.h"
#include "trace/facts.h"

/* Adds `key`=NAME,NAME,... to `facts`: the "env.NCCL_*" of `variables` that are not in the
 * constants of the object; "none" if all are. No fact where its constants could not be read. Reads
 * its file (elf_file.h) and its memory. One look-around at a time. */
void ct_nccl_settings_unread(const char *path, uintptr_t base, const char *key,
			     const struct ct_facts *variables, struct ct_facts *facts);

#endif
