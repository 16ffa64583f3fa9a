/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — commtrace-synth. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/synth/options.h"

enum { FAILED = 1, USAGE = 2 };

static int say(int code, const char *what, const char *which, const char *why)
{
	fprintf(stderr, "commtrace-synth: %s: %s%s%s\n", what, which, why ? ": " : "",
		why ? why : "");
	return code;
}

/* Each process of the job has a file open. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int main(int argc, char **argv)
{
	struct ct_synth_command command;
	struct ct_synth_outcome outcome = { 0 };
	struct ct_synth_comparison *comparison = NULL;
	struct ct_err err = { 0 };
	int dirfd, st, code = 0;

	ct_synth_command(&command, argc, argv);
	raise_limit();
	if (mkdir(command.run, 0777)) {
		code = say(FAILED, "cannot make the run", command.run, strerror(errno));
		goto out;
	}
	dirfd = open(command.run, O_RDONLY | O_DIRECTORY);
	comparison = ct_synth_compare_begin(&command.options);
	st = dirfd < 0 ? ct_fail(&err, CT_IO, "%s", strerror(errno))
		       : ct_synth_write(&command.options, dirfd, &outcome, &err);
	if (st == CT_RANGE) {
		rmdir(command.run);
		code = say(USAGE, "no such job", err.text, NULL);
	} else if (st) {
		code = say(FAILED, "cannot write the run", command.run, err.text);
	}
	st = ct_synth_compare_end(comparison, code ? NULL : &outcome, &err);
	if (!code && (st || ct_synth_truth(&command.options, &outcome, command.truth, &err)))
		code = say(FAILED, "cannot write the truth", err.text, NULL);
	if (dirfd >= 0)
		close(dirfd);
out:
	ct_synth_outcome_free(&outcome);
	ct_synth_command_free(&command);
	return code;
}
