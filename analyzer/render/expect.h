/* SPDX-License-Identifier: Apache-2.0 */
/* expect.h — expectations and what became of them, as text; as JSON: json_value.h. */
#ifndef CT_RENDER_EXPECT_H
#define CT_RENDER_EXPECT_H

#include "analyzer/render/text.h"

/* A line each, "EXPECT key=value ...", and an empty one; nothing if nothing was expected. */
void ct_expect_text(struct ct_text *text, const struct ct_report *report);

#endif
