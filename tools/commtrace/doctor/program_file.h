/* SPDX-License-Identifier: Apache-2.0 */
/* program_file.h — the words of a command line that are programs: their paths, and whether one of
 * them has AddressSanitizer. Reads files, executes nothing. Main thread only.
 */
#ifndef CT_TOOLS_COMMTRACE_DOCTOR_PROGRAM_FILE_H
#define CT_TOOLS_COMMTRACE_DOCTOR_PROGRAM_FILE_H

#include <limits.h>

/* Where execvp() would find it. 0, or -1 with errno. */
int ct_program_find(const char *word, char path[PATH_MAX]);

/* Is one of the words, up to NULL, a program with AddressSanitizer whose runtime is a library? All
 * words are checked: a launcher (mpirun, numactl) starts another one. What a script starts is not
 * seen. */
int ct_program_has_asan(const char *const *words);

#endif
