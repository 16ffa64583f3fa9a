/* SPDX-License-Identifier: Apache-2.0 */
/* work_dir.h — a directory in TMPDIR for files of a recording that goes away with this process,
 * also if that is killed: a process of its own, in a session of its own, makes and removes it.
 * Before MPI_Init, which may start threads. */
#ifndef CT_TOOLS_MPI_WORK_DIR_H
#define CT_TOOLS_MPI_WORK_DIR_H

#include <sys/types.h>

struct ct_work_dir {
	char path[4096];
	int alive; /* a socket: closed when this process ends */
	pid_t cleaner;
};

/* 0, or -1 with errno; then path is what could not be made. */
int ct_work_dir_open(struct ct_work_dir *dir);

/* From now on the end of this process means nothing. Before that, an end without
 * ct_work_dir_close() is reported: there is no result. */
void ct_work_dir_done(const struct ct_work_dir *dir);

/* Removes it, and the files of a recording in it. */
void ct_work_dir_close(struct ct_work_dir *dir);

#endif
