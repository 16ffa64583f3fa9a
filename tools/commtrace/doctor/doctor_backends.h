/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_backends.h — which of the looked-at files call NCCL, Gloo or MPI, and which libraries they
 * would get. Main thread only; what was collected is one process's. */
#ifndef CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_BACKENDS_H
#define CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_BACKENDS_H

#include "tools/commtrace/doctor/doctor.h"
#include "tools/commtrace/doctor/doctor_elf.h"

/* `path` is the library of CT_DOCTOR_NCCL or CT_DOCTOR_GLOO, or has a copy whose calls come to the
 * loader. Which one is that of MPI, ct_doctor_backends_look() finds. */
void ct_doctor_backends_copy(enum ct_doctor_id id, const char *path);

/* Does this file call one of them? `is_loaded`: the program has or loads it; 0: it may or may not.
 * Returns whether it calls one of which no copy is known yet: then what it needs is worth a look. */
int ct_doctor_backends_look(const struct ct_doctor_elf *file, const char *path, int is_loaded);

/* A line for each that was found, or one that says that none was. Forgets them. */
void ct_doctor_backends_done(struct ct_doctor *d);

#endif
