/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/comm_spec.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/progress.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/selection.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/jsonl/dump_line.h"

enum { FORMAT_TEXT, FORMAT_JSONL };
enum { STOP_LIMIT = 1, STOP_WRITE = 2, STOP_MEMORY = 3 }; /* of a callback */

struct dump {
	/* as asked for */
	const struct ct_paths *paths;
	struct ct_selection selection;
	const char *comm; /* NULL: all */
	int format, calls;
	long long limit; /* -1: none */

	/* under way */
	const struct ct_run *run;
	struct ct_out *out;
	long long written;
	int has_head;
	char *has_trace;      /* of each selected rank */
	uint64_t judged_comm; /* the last communicator seen ... */
	int fits_comm;	      /* ... and is it the one of --comm? */
	int has_comm;	      /* that one was seen */
	uint64_t *zero_ns;    /* of each process: when the first one of its host started */
	uint32_t process;     /* whose threads these are */
	uint32_t *tids;
	size_t n_tids, cap_tids;
};

/* Number of a thread within its process, in the order in which threads appear; -1 when memory is
 * out. */
static int64_t lane_of(struct dump *dump, const struct ct_joined_op *op)
{
	if (dump->process != op->process_index) {
		dump->process = op->process_index;
		dump->n_tids = 0;
	}
	for (size_t i = dump->n_tids; i > 0; i--) {
		if (dump->tids[i - 1] == op->op->tid)
			return (int64_t)i - 1;
	}
	if (dump->n_tids == dump->cap_tids) {
		size_t cap = dump->cap_tids ? 2 * dump->cap_tids : 64;
		uint32_t *grown = reallocarray(dump->tids, cap, sizeof(*grown));

		if (!grown)
			return -1;
		dump->tids = grown;
		dump->cap_tids = cap;
	}
	dump->tids[dump->n_tids] = op->op->tid;
	return (int64_t)dump->n_tids++;
}

static void write_head(struct dump *dump)
{
	if (dump->format == FORMAT_TEXT && !dump->has_head)
		ct_dump_text_head(dump->out->file);
	dump->has_head = 1;
}

/* Was it under way in the window? An unfinished operation was to the end of the run. */
static int is_in_window(const struct dump *dump, const struct ct_joined_op *op)
{
	const struct ct_selection *selection = &dump->selection;
	uint64_t zero_ns = dump->zero_ns[op->process_index];
	uint64_t end_ns = op->end_ns > op->op->return_ns ? op->end_ns : op->op->return_ns;
	int has_ended = op->op->return_ns && op->state != CT_STATE_STARTED;

	return op->op->enter_ns - zero_ns <= selection->to_ns &&
	       (!has_ended || end_ns - zero_ns >= selection->from_ns);
}

/* Is it on the communicator of --comm? The text is compared once for a row of operations on one. */
static int is_on_comm(struct dump *dump, const struct ct_joined_op *op)
{
	if (!dump->comm)
		return 1;
	if (!op->comm_hash || op->comm_hash != dump->judged_comm)
		dump->fits_comm = ct_comm_spec_fits(dump->comm, op->comm_name, op->comm_hash);
	dump->judged_comm = op->comm_hash;
	dump->has_comm |= dump->fits_comm;
	return dump->fits_comm;
}

static int each_op(const struct ct_joined_op *op, void *arg)
{
	struct dump *dump = arg;
	int64_t lane = lane_of(dump, op);
	ptrdiff_t at = ct_selection_find(&dump->selection, op->rank);

	ct_progress_at(op->process_index, dump->run->n_processes);
	if (lane < 0)
		return STOP_MEMORY;
	if (at >= 0 && dump->has_trace)
		dump->has_trace[at] = 1;
	if (!is_on_comm(dump, op) || at < 0 || !is_in_window(dump, op))
		return 0;
	if (dump->limit >= 0 && dump->written >= dump->limit)
		return STOP_LIMIT;
	write_head(dump);
	if (dump->format == FORMAT_JSONL)
		ct_dump_json(op, (uint32_t)lane, dump->out->file);
	else
		ct_dump_text(op, dump->zero_ns[op->process_index], dump->out->file);
	dump->written++;
	if (!ferror(dump->out->file))
		return 0;
	dump->out->error = errno;
	return STOP_WRITE;
}

/* Times are shown from the moment at which the first process of the same host started. */
static int find_zeros(struct dump *dump)
{
	const struct ct_process_info *processes = dump->run->processes;

	dump->zero_ns = calloc(dump->run->n_processes + 1, sizeof(*dump->zero_ns));
	if (!dump->zero_ns)
		return -1;
	/* Processes are sorted by host. */
	for (size_t from = 0, to; from < dump->run->n_processes; from = to) {
		uint64_t zero = UINT64_MAX;

		for (to = from; to < dump->run->n_processes &&
				processes[to].id.hostkey == processes[from].id.hostkey;
		     to++) {
			if (processes[to].id.start_ns < zero)
				zero = processes[to].id.start_ns;
		}
		for (size_t i = from; i < to; i++)
			dump->zero_ns[i] = zero;
	}
	return 0;
}

/* The first rank of --ranks that left no trace, which is not one without operations; -1: none. */
static int missing_rank(const struct dump *dump)
{
	for (size_t i = 0; i < dump->run->n_processes; i++) {
		ptrdiff_t at = ct_selection_find(&dump->selection, dump->run->processes[i].id.rank);

		if (at >= 0 && dump->has_trace)
			dump->has_trace[at] = 1;
	}
	for (size_t r = 0; r < dump->selection.n_ranks; r++) {
		if (!dump->has_trace[r])
			return dump->selection.ranks[r];
	}
	return -1;
}

/* After all was read: is there what --ranks and --comm name? Reports what is not. */
static int is_all_there(const struct dump *dump)
{
	int missing = missing_rank(dump);

	if (missing >= 0) {
		ct_say("cannot dump %s: rank %d left no trace", dump->paths->path[0], missing);
		ct_hint("'commtrace info' lists the ranks");
		return 0;
	}
	if (dump->comm && !dump->has_comm && dump->limit != 0) {
		ct_say("cannot dump %s: no operation on a communicator '%s'", dump->paths->path[0],
		       dump->comm);
		ct_hint("'commtrace info' lists the communicators: give a name, or at least "
			"the first %u digits of a hash",
			CT_COMM_SPEC_DIGITS);
		return 0;
	}
	return 1;
}

static int write_all(struct dump *dump, const char *path, int force)
{
	struct ct_err err = { .text = "" };
	struct ct_out out;
	int code = ct_out_open(&out, path, force), stop;

	if (code)
		return code;
	dump->out = &out;
	if (dump->selection.ranks)
		dump->has_trace = calloc(dump->selection.n_ranks, 1);
	if ((dump->selection.ranks && !dump->has_trace) || find_zeros(dump) < 0) {
		ct_say("cannot dump %s: %s", dump->paths->path[0], ct_status_text(CT_NOMEM));
		ct_out_drop(&out);
		return CT_CODE_FAILED;
	}
	/* On a terminal the lines themselves are the progress. */
	if (out.path)
		ct_progress_begin("dumping");
	stop = (dump->calls ? ct_calls_each : ct_ops_each)(dump->run, each_op, dump, &err);
	ct_progress_end();
	if (stop < 0 || stop == STOP_MEMORY) {
		/* What was read so far is kept, even from a damaged file. */
		ct_say("cannot dump %s: %s", dump->paths->path[0],
		       stop < 0 && err.text[0] ? err.text
					       : ct_status_text(stop < 0 ? stop : CT_NOMEM));
		code = CT_CODE_FAILED;
	} else if (!is_all_there(dump)) {
		ct_out_drop(&out);
		return CT_CODE_FAILED;
	}
	write_head(dump);
	stop = ct_out_close(&out);
	return code ? code : stop;
}

int ct_cmd_dump(int argc, char **argv)
{
	struct dump dump = { .process = UINT32_MAX };
	struct ct_run *run = NULL;
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_dump, argc, argv);

	if (code >= 0)
		goto out;
	dump.paths = &args.paths;
	dump.comm = ct_cli_text(&args, CT_OPTION_COMM);
	dump.calls = ct_cli_has(&args, CT_OPTION_CALLS);
	dump.limit = ct_cli_number(&args, CT_OPTION_LIMIT, -1);
	dump.format = ct_cli_format(&args);
	code = dump.format < 0 ? CT_CODE_USAGE : ct_selection_read(&dump.selection, &args);
	if (!code)
		code = ct_open_run("dump", &args.paths, &run);
	dump.run = run;
	if (!code)
		code = write_all(&dump, ct_cli_text(&args, CT_OPTION_OUTPUT),
				 ct_cli_has(&args, CT_OPTION_FORCE));
	ct_run_close(run);
out:
	ct_selection_fini(&dump.selection);
	free(dump.has_trace);
	free(dump.zero_ns);
	free(dump.tids);
	ct_cli_fini(&args);
	return code;
}
