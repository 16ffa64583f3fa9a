/* SPDX-License-Identifier: Apache-2.0 */
/* start_line.h — the only line on stderr: where the run is, and which settings are wrong. */
#ifndef CT_INTERPOSE_START_LINE_H
#define CT_INTERPOSE_START_LINE_H

#include "trace/format.h"
#include "trace/notes.h"

/* One process of the job prints it: global rank 0; among processes without a rank those whose
 * parent is not traced. `dirs`: where rings are. */
int ct_start_line_is_mine(const struct ct_process *process, const char *const *dirs);

/* Printed instead of it: nothing is recorded, and why. */
void ct_start_line_refuse(const char *why);

/* Write it with one write(2). A closed or full stderr costs the line, nothing else. */
void ct_start_line_write(const struct ct_process *process, const struct ct_notes *notes);

#endif
