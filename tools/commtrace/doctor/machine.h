/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h — the devices of this machine, as the recorder would put them into the start record of
 * a job. */
#ifndef CT_TOOLS_COMMTRACE_DOCTOR_MACHINE_H
#define CT_TOOLS_COMMTRACE_DOCTOR_MACHINE_H

#include "analyzer/model/environment_facts.h"

/* Facts gpu.*, nic.*, ib.* out of /sys: all GPUs that the kernel knows. `root` is used instead of
 * "/". Texts are in `memory`; ct_facts_fini() in any case. 0 or CT_NOMEM. */
int ct_machine_read(const char *root, struct ct_arena *memory, struct ct_environment_facts *facts);

#endif
