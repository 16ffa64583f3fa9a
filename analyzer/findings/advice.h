/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h — ADVICE: settings to try, each where the run itself speaks for it (advice.def). It
 * costs nothing that is known, names no rank and makes no verdict. */
#ifndef CT_ANALYZER_FINDINGS_ADVICE_H
#define CT_ANALYZER_FINDINGS_ADVICE_H

#include "analyzer/findings/finding_list.h"

/* Adds to the findings that are in the list already: some of them are evidence. Needs the report's
 * tables. One thread. */
void ct_advice_find(const struct ct_report *report, struct ct_findings *list);

#endif
