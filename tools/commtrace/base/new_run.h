/* SPDX-License-Identifier: Apache-2.0 */
/* new_run.h — a directory of a run that appears once it is complete: written under a hidden
 * temporary name beside it. Only a directory that holds nothing but a recording is ever replaced.
 * What fails is reported. One thread. */
#ifndef CT_TOOLS_COMMTRACE_BASE_NEW_RUN_H
#define CT_TOOLS_COMMTRACE_BASE_NEW_RUN_H

struct ct_new_run {
	char *path; /* without slashes at its end */
	char *temp; /* the directory until then, open as ... */
	int dirfd;
	int force;
};

/* `force` nonzero: a recording that is there is replaced, at the end. 0, or an exit status; then
 * there is nothing to close. */
int ct_new_run_open(struct ct_new_run *run, const char *path, int force);

/* With `code` 0 the directory gets its name; otherwise it is removed. Returns `code`, or an exit
 * status. */
int ct_new_run_close(struct ct_new_run *run, int code);

#endif
