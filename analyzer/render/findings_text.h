/* SPDX-License-Identifier: Apache-2.0 */
/* findings_text.h — what was found, for people: the line, why, what to do about it, and by which command. */
#ifndef CT_RENDER_FINDINGS_TEXT_H
#define CT_RENDER_FINDINGS_TEXT_H

#include "analyzer/render/text.h"

/* All findings, the verdict's own one first; advice for that one and the next two, the cause for all, each once. An empty line
 * behind them, if there are any. */
void ct_findings_text(struct ct_text *text, const struct ct_report *report);

#endif
