/* SPDX-License-Identifier: Apache-2.0 */
/* preload_path.h — where libcommtrace.so is: searched relative to this program, never to the
 * current directory, so that a build tree, an installation and an unpacked tarball all work. */
#ifndef CT_TOOLS_COMMTRACE_RUN_PRELOAD_PATH_H
#define CT_TOOLS_COMMTRACE_RUN_PRELOAD_PATH_H

#include <limits.h>

/* Absolute path into `path`. 0, or -1 after it was said where it was looked for. */
int ct_preload_path(char path[PATH_MAX]);

#endif
