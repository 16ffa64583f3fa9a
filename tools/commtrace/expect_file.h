/* SPDX-License-Identifier: Apache-2.0 */
/* expect_file.h — what `--expect` is given: a file, or the name of a profile that is installed. */
#ifndef CT_TOOLS_COMMTRACE_EXPECT_FILE_H
#define CT_TOOLS_COMMTRACE_EXPECT_FILE_H

#include "analyzer/link/expect.h"

/* tools/commtrace/profiles/NAME.json */
#define CT_EXPECT_DEFAULT "general" /* of diagnose */
#define CT_EXPECT_PROFILES "general, 7b, 235b, hardware"

/* Read it; to be freed with ct_expect_free(). 0, or an exit status after it was said why. */
int ct_expect_open(const char *path, struct ct_expect **expect);

/* Hold the report against it. 0, or an exit status after it was said why. */
int ct_expect_hold(const struct ct_expect *expect, struct ct_report *report);

#endif
