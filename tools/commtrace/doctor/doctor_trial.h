/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_trial.h — a short program that is started to see what the loader does, in bounded time and
 * with bounded output. */
#ifndef CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_TRIAL_H
#define CT_TOOLS_COMMTRACE_DOCTOR_DOCTOR_TRIAL_H

struct ct_trial {
	const char *const *argv;   /* NULL-terminated */
	int (*prepare)(void *arg); /* in the child before exec: its environment; nonzero: give up */
	void *arg;
	int seconds;

	/* filled */
	char *said;  /* its stdout and stderr, at most 1 MB; free() it. Never NULL after success */
	int status;  /* as waitpid gives it */
	int is_late; /* it was killed when its time was over */
};

/* 0, or -1 with errno if it could not be started. Standard input is empty. */
int ct_trial(struct ct_trial *trial);

#endif
