/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/copy/write_part.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/new_run.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "trace/segment.h"

int ct_part_keep(const struct ct_cli *args, uint64_t *keep_ns)
{
	*keep_ns = (uint64_t)ct_cli_number(args, CT_OPTION_KEEP_OPS, 0) * 1000000000u;
	if (!ct_cli_has(args, CT_OPTION_EXACT))
		return 0;
	*keep_ns = UINT64_MAX;
	return ct_cli_has(args, CT_OPTION_KEEP_OPS)
		       ? ct_usage(args->command->name, "'--exact' and '--keep' exclude each other")
		       : 0;
}

static int is_wanted(const struct ct_part_wish *wish, const struct ct_process *process)
{
	return ct_share_has(&wish->share, process) &&
	       (!wish->host || strcmp(wish->host, process->host) == 0);
}

/* The host of a file that belongs to no process is known by its name, as ct_segment_name() and the
 * archive of a ring have it: HOST.BOOT.PID.START.NUMBER.seg. */
static int is_wanted_file(const struct ct_part_wish *wish, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct ct_process process = { .rank = -1 };
	char stem[CT_SEGMENT_NAME_MAX];
	size_t host, dots = 0;

	if (!ct_share_has_file(&wish->share, path))
		return 0;
	if (!wish->host)
		return 1;
	snprintf(process.host, sizeof(process.host), "%s", wish->host);
	ct_segment_stem(stem, &process);
	host = strlen(stem) - strlen(".0000.0.0");
	if (strncmp(name, stem, host) != 0 || name[host] != '.')
		return 0;
	for (const char *c = name + host + 1; *c; c++)
		dots += *c == '.';
	return dots == 4;
}

static int fill(struct ct_partial *part, const struct ct_run *run, const struct ct_part_wish *wish)
{
	struct ct_err err = { .text = "" };
	int st = CT_OK;

	for (size_t p = 0; p < run->n_processes && st == CT_OK && !ct_signals_deferred(); p++) {
		if (is_wanted(wish, &run->processes[p].id))
			st = ct_partial_add(part, run, p, &err);
	}
	for (size_t i = 0; i < run->n_skipped && st == CT_OK && !ct_signals_deferred(); i++) {
		if (is_wanted_file(wish, run->skipped[i].path))
			st = ct_partial_add_skipped(part, run, i, &err);
	}
	if (st == CT_OK)
		return ct_signals_deferred();
	ct_say("cannot write the part: %s", err.text[0] ? err.text : ct_status_text(st));
	return CT_CODE_FAILED;
}

int ct_write_part(const struct ct_run *run, const struct ct_part_wish *wish, char **line)
{
	struct ct_partial part = { .path = wish->path, .keep_ns = wish->keep_ns };
	struct ct_new_run to;
	int code = ct_new_run_open(&to, wish->path, wish->force);

	*line = NULL;
	if (code)
		return code;
	ct_signals_defer();
	part.dirfd = to.dirfd;
	code = ct_new_run_close(&to, fill(&part, run, wish));
	if (!code && asprintf(line,
			      "%s: %" PRIu32 " of %zu processes, %" PRIu32 " files, %s, %" PRIu64
			      " operations left out",
			      wish->path, part.processes, run->n_processes, part.files,
			      ct_prose_bytes(part.bytes).s, part.left_out) < 0)
		*line = NULL;
	return code;
}
