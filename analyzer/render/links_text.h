/* SPDX-License-Identifier: Apache-2.0 */
/* links_text.h — how fast links are, and the score, in the text report; a line each. */
#ifndef CT_RENDER_LINKS_TEXT_H
#define CT_RENDER_LINKS_TEXT_H

#include "analyzer/render/text.h"

/* The communicator or way with most time, and how many are slow. Nothing where no link was measured. */
void ct_links_line(struct ct_text *text, const struct ct_report *report);

/* Nothing where no part of it is known. */
void ct_score_line(struct ct_text *text, const struct ct_report *report);

#endif
