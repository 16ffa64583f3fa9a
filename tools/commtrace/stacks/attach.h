/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h — stacks of the ranks that a verdict names, taken now: those whose processes live on
 * this host. They replace recorded ones in the result; the verdict stays as it is. One
 * thread. */
#ifndef CT_TOOLS_COMMTRACE_STACKS_ATTACH_H
#define CT_TOOLS_COMMTRACE_STACKS_ATTACH_H

#include <jansson.h>
#include <stdio.h>

#include "analyzer/hang/hang_run.h"
#include "trace/reader.h"

/* The stacks as "commtrace.stacks/1", a new reference, with `rank` in each process. NULL: there are
 * none, after it was said why. `memory` is that of the result; after limit_s it is given up, 0:
 * never. */
json_t *ct_attach(const struct ct_run *run, struct ct_hang_run *hang, struct ct_arena *memory,
		  unsigned limit_s);

/* What ct_attach() returned as text, as `commtrace stacks` has it. */
void ct_attach_text(const json_t *stacks, const struct ct_hang_run *hang, struct ct_arena *memory,
		    FILE *out);

#endif
