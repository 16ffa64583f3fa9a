/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_child.h — runs commtrace-stacks, the program that attaches to processes and reads cores.
 * It is apart since it needs libunwind, which a build may lack. One thread. */
#ifndef CT_TOOLS_COMMTRACE_STACKS_STACKS_CHILD_H
#define CT_TOOLS_COMMTRACE_STACKS_STACKS_CHILD_H

#include <jansson.h>
#include <stddef.h>

/* The stacks of the targets, process numbers and paths of cores: object "commtrace.stacks/1"
 * (docs/reference/JSON.md) as a new reference. After `limit_s` the program is killed, which leaves
 * no process paused; 0: no limit. NULL after it was said why. */
json_t *ct_stacks_child(const char *const *targets, size_t n, unsigned limit_s);

#endif
