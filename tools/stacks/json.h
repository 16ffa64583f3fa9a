/* SPDX-License-Identifier: Apache-2.0 */
/* json.h — the stacks of a target as JSON: an element of `processes` of "commtrace.stacks/1"
 * (docs/reference/JSON.md). */
#ifndef CT_TOOLS_STACKS_JSON_H
#define CT_TOOLS_STACKS_JSON_H

#include <jansson.h>

#include "tools/stacks/target.h"

/* A new reference; NULL: out of memory. */
json_t *ct_stacks_json(struct ct_target *target);

#endif
