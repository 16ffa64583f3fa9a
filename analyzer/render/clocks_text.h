/* SPDX-License-Identifier: Apache-2.0 */
/* clocks_text.h — one line of how the hosts' clocks stand. */
#ifndef CT_CLOCKS_TEXT_H
#define CT_CLOCKS_TEXT_H

#include "analyzer/model/report.h"
#include "analyzer/render/text.h"

/* "clocks    ..."; nothing where there is one host. */
void ct_clocks_line(struct ct_text *text, const struct ct_report *report);

/* A line for each host: "clock     host=... ref=... offset_ns=... drift_ppb=... err=... quality=... selftest=...". */
void ct_clocks_rows(struct ct_text *text, const struct ct_report *report);

#endif
