/* SPDX-License-Identifier: Apache-2.0 */
/* transport_text.h — what the hosts' network ports carried, as text. */
#ifndef CT_RENDER_TRANSPORT_TEXT_H
#define CT_RENDER_TRANSPORT_TEXT_H

#include "analyzer/render/text.h"

/* A part of `commtrace info`: hosts, ports, what they counted. */
void ct_transport_text(struct ct_text *text, const struct ct_report *report);

/* A line of the report; nothing if no host's ports were sampled, or of one host without errors. */
void ct_transport_line(struct ct_text *text, const struct ct_report *report);

#endif
