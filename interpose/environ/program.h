/* SPDX-License-Identifier: Apache-2.0 */
/* program.h — which script or module the Python of this process runs, since the executable's name
 * is the same for every job. Reads /proc: the look-around's. */
#ifndef CT_INTERPOSE_ENVIRON_PROGRAM_H
#define CT_INTERPOSE_ENVIRON_PROGRAM_H

#include "trace/facts.h"

/* The fact `program`: "train.py" as on the command line, or "-m pkg.train". Arguments may be
 * secrets, so no other word of the command line is recorded. No fact: another executable, code of
 * -c or of standard input, no /proc. `root`: used instead of "/". */
void ct_program_read(const char *root, struct ct_facts *facts);

#endif
