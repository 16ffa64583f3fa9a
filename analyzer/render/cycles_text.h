/* SPDX-License-Identifier: Apache-2.0 */
/* cycles_text.h — the line of the text report that says how the run was cut into cycles, or why not. */
#ifndef CT_CYCLES_TEXT_H
#define CT_CYCLES_TEXT_H

#include "analyzer/model/report.h"
#include "analyzer/render/text.h"

void ct_cycles_line(struct ct_text *text, const struct ct_report *report);

#endif
