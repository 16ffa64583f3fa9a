/* SPDX-License-Identifier: Apache-2.0 */
/* path.h — parts of paths, and whether two paths name one file.
 *
 * Stateless, allocates nothing; any thread.
 */
#ifndef CT_TRACE_PATH_H
#define CT_TRACE_PATH_H

#include <stddef.h>

/* Length without the slashes at the end, which the completion of shells adds. "/" keeps its own. */
size_t ct_path_len(const char *path);

/* The part after the last slash. */
const char *ct_path_name(const char *path);

/* 1 if `path` is longer than `end`, and ends so. */
int ct_path_ends_with(const char *path, const char *end);

/* 1 if both exist and are the same file or directory. Follows links. */
int ct_path_is_same(const char *one, const char *other);

#endif
