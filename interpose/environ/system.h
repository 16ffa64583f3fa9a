/* SPDX-License-Identifier: Apache-2.0 */
/* system.h — facts about the machine as this process has it: kernel, C library, processors it may
 * use, memory, limits of its control group, driver. Reads /proc and /sys: the look-around's. */
#ifndef CT_INTERPOSE_ENVIRON_SYSTEM_H
#define CT_INTERPOSE_ENVIRON_SYSTEM_H

#include "trace/facts.h"

/* `root`: used instead of "/" (files only; system calls report this machine). */
void ct_system_read(const char *root, struct ct_facts *facts);

/* How long the program's first thread has waited for a processor, ns. UINT64_MAX: the kernel does
 * not say. Never blocks. */
uint64_t ct_system_waited_ns(const char *root);

#endif
