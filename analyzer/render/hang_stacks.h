/* SPDX-License-Identifier: Apache-2.0 */
/* hang_stacks.h — what the threads of the ranks of a verdict were doing, for people and for programs. */
#ifndef CT_RENDER_HANG_STACKS_H
#define CT_RENDER_HANG_STACKS_H

#include <jansson.h>

#include "analyzer/hang/hang.h"
#include "analyzer/render/text.h"

/* Of the first ranks of a verdict the most telling thread: how it is, and its frames; Python's where it has such. */
void ct_hang_stacks_text(struct ct_text *text, const struct ct_hang_run *run,
			 const struct ct_hang_verdict *verdict);

/* Of all its ranks a few threads each, with all frames. A new reference, NULL when out of memory. */
json_t *ct_hang_stacks_json(const struct ct_hang_run *run, const struct ct_hang_verdict *verdict);

#endif
