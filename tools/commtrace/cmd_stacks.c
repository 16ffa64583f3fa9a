/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/render/hang.h"
#include "analyzer/render/json_value.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/stacks/pid_here.h"
#include "tools/commtrace/stacks/stacks_child.h"
#include "tools/commtrace/stacks/stacks_owner.h"
#include "tools/commtrace/stacks/stacks_read.h"
#include "tools/commtrace/stacks/stacks_text.h"

enum { FORMAT_TEXT, FORMAT_JSON };

/* What the program is to look at. */
struct targets {
	const char **words;
	size_t n;
	struct ct_arena *memory;
};

static int is_number(const char *word)
{
	size_t n = strspn(word, "0123456789");

	return n && !word[n];
}

static int add(struct targets *targets, const char *word)
{
	const char **words = reallocarray(targets->words, targets->n + 1, sizeof(*words));

	if (!words) {
		ct_say("cannot take stacks: %s", ct_status_text(CT_NOMEM));
		return CT_CODE_FAILED;
	}
	targets->words = words;
	targets->words[targets->n++] = word;
	return 0;
}

/* The processes of a run that live on this host. With cores beside it, the run only says which
 * ranks they were. */
static int add_run(struct targets *targets, struct ct_owners *owners, const char *dir,
		   int only_names)
{
	const struct ct_paths paths = { .path = &dir, .n = 1 };
	struct ct_err err = { .text = "" };
	struct ct_run *run = NULL;
	size_t before = targets->n;
	int code = ct_open_run("stacks", &paths, &run), st;

	if (code)
		return code;
	for (size_t i = 0; !only_names && i < run->n_processes && !code; i++) {
		const uint32_t pid = ct_pid_here(&run->processes[i].id);

		if (pid)
			code = add(targets, ct_arena_printf(targets->memory, "%" PRIu32, pid));
	}
	st = ct_owners_add(owners, dir, run, &err);
	if (st != CT_OK) {
		ct_say("cannot read the run: %s: %s", dir,
		       err.text[0] ? err.text : ct_status_text(st));
		return CT_CODE_FAILED;
	}
	if (!code && !only_names && targets->n == before) {
		ct_say("no process of the run lives on this host: %s", dir);
		ct_hint("'commtrace hang %s -v' has the stacks that were recorded", dir);
		code = CT_CODE_FAILED;
	}
	return code;
}

static int is_run(const char *word)
{
	struct stat st;

	return !is_number(word) && stat(word, &st) == 0 && S_ISDIR(st.st_mode);
}

static int choose(const struct ct_paths *paths, struct targets *targets, struct ct_owners *owners)
{
	size_t others = 0;
	int code = 0;

	if (!paths->n)
		return ct_usage("stacks", "'stacks' needs a PID, a core file, or a RUN");
	for (size_t i = 0; i < paths->n; i++)
		others += !is_run(paths->path[i]);
	for (size_t i = 0; i < paths->n && !code; i++)
		code = is_run(paths->path[i]) ? add_run(targets, owners, paths->path[i], others > 0)
					      : add(targets, paths->path[i]);
	return code;
}

/* ---- the result ---- */

static int failed(const struct ct_taken *taken, const char *word)
{
	if (!taken->error)
		return 0;
	if (taken->core)
		ct_say("cannot read the core: %s: %s", word, taken->error);
	else
		ct_say("no stacks of process %s: %s", word, taken->error);
	if (taken->hint)
		ct_hint("%s", taken->hint);
	return 1;
}

static struct ct_owner_of owner_of(struct ct_owners *owners, const struct ct_taken *taken)
{
	return ct_owners_find(owners, taken->pid, !taken->core);
}

static void write_text(FILE *out, const struct ct_taken *taken, const struct ct_owner_of *owner,
		       int is_first)
{
	const struct ct_text_style style = { .color = ct_color_wanted(out),
					     .unwrapped = !isatty(fileno(out)) };
	struct ct_text text = ct_text_to(out, &style);

	if (!is_first)
		ct_text_empty(&text);
	ct_stacks_text(&text, taken, owner->run ? owner->run->hang : NULL,
		       owner->process ? owner->process->id.rank : -1);
}

/* Null where it was not recorded. */
static json_t *recorded_of(const struct ct_owner_of *owner)
{
	json_t *rank;

	if (!owner->run)
		return json_null();
	rank = ct_hang_rank_json(owner->run->hang, owner->process->id.rank);
	if (!json_is_object(rank)) {
		json_decref(rank);
		rank = CT_JSON({ "rank", json_null() });
	}
	json_object_set_new(rank, "run", ct_json_text(owner->run->dir));
	return rank;
}

static int show(const struct ct_cli *args, int format, json_t *stacks, struct targets *targets,
		struct ct_owners *owners)
{
	json_t *processes = json_object_get(stacks, "processes");
	size_t n = json_array_size(processes), n_failed = 0, n_shown = 0;
	struct ct_out out;
	int code = ct_out_open(&out, ct_cli_text(args, CT_OPTION_OUTPUT),
			       ct_cli_has(args, CT_OPTION_FORCE));

	for (size_t i = 0; i < n && i < targets->n && !code; i++) {
		json_t *process = json_array_get(processes, i);
		struct ct_owner_of owner;
		struct ct_taken taken;

		if (ct_stacks_read(process, targets->memory, &taken) != CT_OK) {
			ct_say("cannot show stacks: %s", ct_status_text(CT_NOMEM));
			code = CT_CODE_FAILED;
			break;
		}
		owner = owner_of(owners, &taken);
		n_failed += (size_t)failed(&taken, targets->words[i]);
		if (format == FORMAT_JSON)
			json_object_set_new(process, "recorded", recorded_of(&owner));
		else if (!taken.error)
			write_text(out.file, &taken, &owner, !n_shown++);
	}
	if (!code && format == FORMAT_JSON)
		code = ct_out_json(&out, json_incref(stacks));
	if (!code)
		code = ct_out_close(&out);
	else
		ct_out_drop(&out);
	return code ? code : n_failed ? CT_CODE_FAILED : CT_CODE_DONE;
}

int ct_cmd_stacks(int argc, char **argv)
{
	struct targets targets = { .memory = ct_arena_new() };
	struct ct_owners owners = { .n = 0 };
	json_t *stacks = NULL;
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_stacks, argc, argv), format;

	if (code >= 0)
		goto out;
	format = ct_cli_format(&args);
	code = format < 0 ? CT_CODE_USAGE : 0;
	code = code ? code : choose(&args.paths, &targets, &owners);
	if (code)
		goto out;
	stacks = ct_stacks_child(targets.words, targets.n, 0);
	code = stacks ? show(&args, format, stacks, &targets, &owners) : CT_CODE_FAILED;
out:
	json_decref(stacks);
	ct_owners_fini(&owners);
	free(targets.words);
	ct_arena_free(targets.memory);
	ct_cli_fini(&args);
	return code;
}
