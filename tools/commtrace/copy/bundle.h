/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.h — the evidence of a verdict as one tar file: what is needed to judge it again on another
 * machine.
 *
 * In this order, so that what is cut off at the limit is the least: verdict.json, verdict.txt,
 * stacks of --attach, environment.txt, copies of the rings of this host, the segments of the run
 * (the latest first), report.html. The file is whole or absent: it is written under another name
 * and renamed. Nothing of the run is changed. */
#ifndef CT_TOOLS_COMMTRACE_COPY_BUNDLE_H
#define CT_TOOLS_COMMTRACE_COPY_BUNDLE_H

#include <stddef.h>

#include "trace/reader.h"

struct ct_bundle_text {
	const char *name;
	const char *bytes;
	size_t n;
};

/* Write `path`: the texts, and the files of the run in the directory `dir`. An existing bundle is
 * replaced in one step. Files of more than CT_BUNDLE_MOST bytes in all are left out, and
 * left_out.txt lists them. 0, or a status with *err filled. */
int ct_bundle_write(const char *path, const char *dir, const struct ct_run *run,
		    const struct ct_bundle_text *texts, size_t n_texts, struct ct_err *err);

/* size: bytes of files of the run in a bundle: what a job can write in the 2 s that some launchers
 * leave it */
#define CT_BUNDLE_MOST (256ull << 20)

#endif
