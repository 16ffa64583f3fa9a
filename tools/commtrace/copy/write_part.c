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

uint64_t ct_part_keep_ns(const struct ct_cli *args)
{
	return ct_cli_has(args, CT_OPTION_EXACT)
		       ? UINT64_MAX
		       : (uint64_t)ct_cli_number(args, CT_OPTION_KEEP_OPS, 0) * 1000000000u;
}

static int is_wanted(const struct ct_part_wish *wish, const struct ct_process *process)
{
	return ct_share_has(&wish->share, process) &&
	       (!wish->host || strcmp(wish->host, process->host) == 0);
}

static int fill(struct ct_partial *part, const struct ct_run *run, const struct ct_part_wish *wish)
{
	struct ct_err err = { .text = "" };
	int st = CT_OK;

	for (size_t p = 0; p < run->n_processes && st == CT_OK && !ct_signals_deferred(); p++) {
		if (is_wanted(wish, &run->processes[p].id))
			st = ct_partial_add(part, run, p, &err);
	}
	if (st == CT_OK)
		return ct_signals_deferred();
	ct_say("cannot write the part: %s", err.text[0] ? err.text : ct_status_text(st));
	return CT_CODE_FAILED;
}

int ct_write_part(const struct ct_run *run, const struct ct_part_wish *wish, char **line)
{
	struct ct_partial part = { .place = wish->path, .keep_ns = wish->keep_ns };
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
