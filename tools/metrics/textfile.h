/* SPDX-License-Identifier: Apache-2.0 */
/* textfile.h — the same text as a file, for the textfile collector of node_exporter: it appears
 * whole, or not at all. */
#ifndef CT_TOOLS_METRICS_TEXTFILE_H
#define CT_TOOLS_METRICS_TEXTFILE_H

#include <stddef.h>

#include "trace/status.h"

/* Replace the file at `path`. CT_OK, or CT_IO. */
int ct_textfile_write(const char *path, const char *text, size_t len, struct ct_err *err);

#endif
