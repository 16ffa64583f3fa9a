/* SPDX-License-Identifier: Apache-2.0 */
/* this_host.h — what a reader has to know of the machine that it runs on. One thread. */
#ifndef CT_TOOLS_COMMTRACE_BASE_THIS_HOST_H
#define CT_TOOLS_COMMTRACE_BASE_THIS_HOST_H

/* Directories in which rings of this host may be, from this process's environment; `ring_dir` NULL:
 * from there too. */
void ct_host_ring_dirs(const char *ring_dir, const char *dirs[4]);

/* The identity of this boot of this machine, for options of the analysis: a static text, NULL if it
 * cannot be read. */
const char *ct_host_boot_id(void);

#endif
