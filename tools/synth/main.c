/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — commtrace-synth. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tools/synth/attempt.h"
#include "tools/synth/options.h"

enum { FAILED = 1, USAGE = 2 };

static int say(int code, const char *what, const char *which, const char *why)
{
	fprintf(stderr, "commtrace-synth: %s: %s%s%s\n", what, which, why ? ": " : "",
		why ? why : "");
	return code;
}

/* Besides those of the processes: streams, the directory, the truth, and what libraries open. */
#define OTHER_FILES 32u

/* Each process of the job has a file open: better to know before a minute's work. */
static int raise_limit(const struct ct_synth_options *o)
{
	rlim_t needed = (rlim_t)(o->job.ranks / o->per_process) + OTHER_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed)
		return 0;
	fprintf(stderr,
		"commtrace-synth: each process of the job has a file open, %llu in all, and the "
		"limit is %llu\n"
		"hint: raise the limit (ulimit -Hn %llu), or take fewer hosts or GPUs\n",
		(unsigned long long)needed, (unsigned long long)limit.rlim_cur,
		(unsigned long long)needed);
	return FAILED;
}

/* The run, and then the truth about it. */
static int write_it(const struct ct_synth_command *command, int dirfd,
		    struct ct_synth_outcome *outcome)
{
	struct ct_synth_comparison *comparison = ct_synth_compare_begin(&command->options);
	struct ct_err err = { 0 };
	int st = ct_synth_write(&command->options, dirfd, outcome, &err), code = 0;

	if (st == CT_RANGE)
		code = say(USAGE, "no such job", err.text, NULL);
	else if (st)
		code = say(FAILED, "cannot write the run", command->run, err.text);
	st = ct_synth_compare_end(comparison, code ? NULL : outcome, &err);
	if (!code && (st || ct_synth_truth(&command->options, outcome, command->truth, &err)))
		code = say(FAILED, "cannot write the truth", err.text, NULL);
	return code;
}

int main(int argc, char **argv)
{
	struct ct_synth_command command;
	struct ct_synth_outcome outcome = { 0 };
	struct ct_err err = { 0 };
	int dirfd, code;

	ct_synth_command(&command, argc, argv);
	code = raise_limit(&command.options);
	if (!code && ct_attempt_begin(command.run, command.truth, &dirfd, &err))
		code = say(FAILED, "cannot make the run", command.run, err.text);
	if (!code) {
		code = write_it(&command, dirfd, &outcome);
		close(dirfd);
		ct_attempt_end(code == 0);
	}
	ct_synth_outcome_free(&outcome);
	ct_synth_command_free(&command);
	return code;
}
