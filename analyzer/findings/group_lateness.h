/* SPDX-License-Identifier: Apache-2.0 */
/* group_lateness.h — several ranks that come late together and are not named: what that costs, and why nobody is blamed. */
#ifndef CT_VERDICT_TOGETHER_H
#define CT_VERDICT_TOGETHER_H

#include "analyzer/findings/judgement.h"
#include "analyzer/lateness/lateness.h"

/* Of the run, %, that they cost, if it is worth telling and not named as a finding; else 0. */
double ct_together_pct(const struct ct_judgement *judgement);

/* "2 of 8 ranks come late together, which costs up to 1.20s (14%): why nobody is named"; NULL: out of memory. */
const char *ct_together_text(const struct ct_judgement *judgement, struct ct_report *report);

/* "vm runs 8 processes of the job on 2 cores: they wait for cores, too"; "": there are enough. NULL: out of memory. */
const char *ct_oversubscribed_text(const struct ct_lateness *late, struct ct_arena *memory);

#endif
