/* SPDX-License-Identifier: Apache-2.0 */
/* overlap_text.h — lines of the text report about communication against computing. */
#ifndef CT_OVERLAP_TEXT_H
#define CT_OVERLAP_TEXT_H

#include "analyzer/model/report.h"
#include "analyzer/render/text.h"

/* How much of a cycle the median rank stands waiting for communication; nothing where that is not known. */
void ct_share_line(struct ct_text *text, const struct ct_report *report);

/* Why streams of communication stood idle, on the rank where they did so longest; nothing where that is not known. */
void ct_gaps_line(struct ct_text *text, const struct ct_report *report);

/* The bubble of the pipelines: of the stage that waits longest, against the ideal; nothing without pipelines. */
void ct_pipeline_line(struct ct_text *text, const struct ct_report *report);

#endif
