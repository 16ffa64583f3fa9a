/* SPDX-License-Identifier: Apache-2.0 */
/* disk.h — the disk of a process: its files take data, or hang.
 *
 * The program's own write(2) overrides libc's, for itself and for all libraries in the process;
 * what hangs is writing to regular files. Any thread.
 */
#ifndef CT_TOOLS_SIM_JOB_DISK_H
#define CT_TOOLS_SIM_JOB_DISK_H

#include <stdint.h>

/* For so long from now, who writes waits. */
void simjob_disk_hang(uint64_t ns);

#endif
