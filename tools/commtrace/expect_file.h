/* SPDX-License-Identifier: Apache-2.0 */
/* expect_file.h — the file that `report --expect` is given. */
#ifndef CT_TOOLS_COMMTRACE_EXPECT_FILE_H
#define CT_TOOLS_COMMTRACE_EXPECT_FILE_H

#include "analyzer/link/expect.h"

/* Read it; to be freed with ct_expect_free(). 0, or an exit status after it was said why. */
int ct_expect_open(const char *path, struct ct_expect **expect);

/* Hold the report against it. 0, or an exit status after it was said why. */
int ct_expect_hold(const struct ct_expect *expect, struct ct_report *report);

#endif
