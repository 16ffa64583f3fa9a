/* SPDX-License-Identifier: Apache-2.0 */
/* finding_first.h — the finding that the verdict is about comes first, whatever the others cost: who reads on after the first
 * line reads of the same thing. */
#ifndef CT_FINDING_FIRST_H
#define CT_FINDING_FIRST_H

#include "analyzer/run_model.h"

/* Moves it to the front of report->findings and numbers them anew; the rest keeps its order. Nothing is moved where the verdict
 * rests on no finding. Call when the verdict is known. */
void ct_finding_first(struct ct_report *report);

#endif
