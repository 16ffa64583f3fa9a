/* SPDX-License-Identifier: Apache-2.0 */
/* environment_text.h — the part of `commtrace info` about where the ranks ran: what differs, by value; GPUs, network
 * devices and libraries in short. */
#ifndef CT_RENDER_ENVIRONMENT_TEXT_H
#define CT_RENDER_ENVIRONMENT_TEXT_H

#include "analyzer/render/text.h"

void ct_environment_text(struct ct_text *text, const struct ct_report *report);

/* "0-3,6": ranks in order, at most `cap` bytes, "..." where that is not enough. */
void ct_text_ranks(char *to, size_t cap, const int *ranks, size_t n);

#endif
