/* SPDX-License-Identifier: Apache-2.0 */
/* commtrace-stacks — the stacks of processes and of cores as JSON on standard output. `commtrace
 * stacks` runs it beside itself: it needs libunwind, and rights that no other part of commtrace
 * needs. Exit status 0, also where targets could not be looked at: each says why. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/stacks/core.h"
#include "tools/stacks/json.h"
#include "tools/stacks/live.h"
#include "tools/stacks/native_frames.h"
#include "tools/stacks/need.h"
#include "tools/stacks/pause.h"
#include "tools/stacks/python_frames.h"

#define PAUSES                                                                                     \
	3 /* size: of a thread: the stacks of a signal handler and a coroutine take one each */

static void take_live(struct ct_target *target)
{
	const struct ct_pause_visit visit = { ct_python_visit, target };
	struct ct_pages moment = target->pages;
	int refused = 0;

	moment.table = NULL;
	moment.n = 0;
	ct_python_of(target);
	ct_python_list(target, &moment);
	for (size_t i = 0; i < target->n_samples && !refused; i++) {
		struct ct_stack_sample *sample = &target->samples[i];
		uint64_t longest = 0;

		for (int pauses = 0; pauses < PAUSES; pauses++) {
			refused = ct_pause_take(target, sample, &visit);
			longest = sample->paused_ns > longest ? sample->paused_ns : longest;
			if (refused || sample->not_taken)
				break;
			ct_native_frames(target, sample);
			if (!sample->lacked)
				break;
		}
		sample->paused_ns = longest;
	}
	ct_pages_fini(&moment);
	if (refused)
		ct_live_refused(target);
}

static void take_core(struct ct_target *target)
{
	ct_python_of(target);
	ct_python_list(target, &target->pages);
	for (size_t i = 0; i < target->n_samples; i++) {
		ct_python_visit(target, &target->samples[i], &target->pages);
		ct_native_frames(target, &target->samples[i]);
	}
}

static int is_number(const char *word)
{
	for (const char *c = word; *c; c++)
		if (!isdigit((unsigned char)*c))
			return 0;
	return *word && strlen(word) < 11 && strtoul(word, NULL, 10) <= INT_MAX;
}

static json_t *stacks_of(const char *word)
{
	struct ct_target target;
	json_t *stacks;

	if (is_number(word)) {
		ct_live_open(&target, (pid_t)strtoul(word, NULL, 10));
		if (!target.error)
			take_live(&target);
	} else {
		ct_core_open(&target, word);
		if (!target.error)
			take_core(&target);
	}
	stacks = ct_stacks_json(&target);
	ct_pages_fini(&target.pages);
	if (target.core)
		ct_core_close(&target);
	return stacks;
}

int main(int argc, char **argv)
{
	json_t *processes = json_array(), *all;
	int failed;

	if (argc < 2 || argv[1][0] == '-') {
		int asked = argc > 1 &&
			    (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0);

		fputs("usage: commtrace-stacks PID|CORE...\n"
		      "JSON for `commtrace stacks`, which is the command to use\n",
		      asked ? stdout : stderr);
		return asked ? 0 : 2;
	}
	for (int i = 1; i < argc; i++)
		json_array_append_new(processes, stacks_of(argv[i]));
	all = json_pack("{s:s, s:o}", "schema", "commtrace.stacks/1", "processes", processes);
	failed = !all || json_dumpf(all, stdout, JSON_COMPACT) != 0 || putchar('\n') == EOF ||
		 fflush(stdout) != 0;
	json_decref(all);
	if (failed)
		fprintf(stderr, "commtrace-stacks: cannot write: %s\n", strerror(errno));
	return failed;
}
