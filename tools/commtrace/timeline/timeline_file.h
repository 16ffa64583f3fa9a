/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_file.h — a timeline to be served: drawn from runs into a file without a name, or a file
 * that timeline wrote. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_TIMELINE_TIMELINE_FILE_H
#define CT_TOOLS_COMMTRACE_TIMELINE_TIMELINE_FILE_H

#include <stdint.h>

#include "analyzer/render/deep_link.h"
#include "analyzer/timeline/timeline.h"
#include "tools/commtrace/base/options.h"
#include "trace/reader.h"

struct ct_timeline_file {
	int fd; /* -1: none */
	uint64_t size;
	struct ct_deep_range bounds;  /* first and last time in it; from_ns CT_UNKNOWN: not known */
	struct ct_timeline *timeline; /* that it was drawn from; NULL: it was there */
};

/* Is it meant as a timeline, and not as a run? By its name. */
int ct_timeline_is_file(const char *path);

/* Take a file. 0, or an exit status after it was said why. */
int ct_timeline_file_take(struct ct_timeline_file *file, const char *path);

/* Draw the runs' timeline, of large ones the overview. The file is in $TMPDIR, private to this
 * user, and disappears with this process, however it ends. 0, or an exit status after a message. */
int ct_timeline_file_draw(struct ct_timeline_file *file, const struct ct_paths *paths,
			  const struct ct_run *run);

/* Releases the timeline, which reads the run. */
void ct_timeline_file_forget(struct ct_timeline_file *file);

void ct_timeline_file_close(struct ct_timeline_file *file);

#endif
