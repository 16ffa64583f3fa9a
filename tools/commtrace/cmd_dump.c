/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commtrace/cmd.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/dump_line.h"
#include "tools/commtrace/open_run.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/progress.h"
#include "tools/commtrace/say.h"

#define FORMATS "text jsonl"
enum { FORMAT_TEXT, FORMAT_JSONL };
enum { STOP_LIMIT = 1, STOP_WRITE = 2, STOP_MEMORY = 3 }; /* of a callback */

struct dump {
	/* as asked for */
	struct ct_paths paths;
	const char *out_path, *format_word;
	int force, format, calls;
	long long rank, limit; /* -1: all */
	uint64_t comm;	       /* 0: all */

	/* under way */
	const struct ct_run *run;
	struct ct_out *out;
	long long written;
	int is_there; /* the rank that was asked for */
	int has_head;
	uint64_t *zero_ns; /* of each process: when the first one of its host started */
	uint32_t process;  /* whose threads these are */
	uint32_t *tids;
	size_t n_tids, cap_tids;
};

static const struct argp_option table[] = {
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, in the format of its extension (.txt, .jsonl); - is standard output", 0 },
	{ "format", CT_KEY_FORMAT, "FORMAT", 0, "text (default) or jsonl: an object a line", 0 },
	{ "force", CT_KEY_FORCE, 0, 0, "Replace FILE if it is already there", 0 },
	{ "rank", CT_KEY_RANK, "R", 0, "Only ops of this rank", 0 },
	{ "comm", CT_KEY_COMM, "KEY", 0, "Only ops on this communicator", 0 },
	{ "calls", CT_KEY_CALLS, 0, 0,
	  "Also calls that move no data and block the host, such as MPI_Waitall", 0 },
	{ "limit", CT_KEY_LIMIT, "N", 0, "Stop after N lines", 0 },
	{ 0 }
};

static int take_comm(struct dump *dump, const char *arg)
{
	char *end;

	errno = 0;
	dump->comm = strtoull(arg, &end, 16);
	if (!errno && end != arg && !*end && dump->comm && arg[0] != '-')
		return 0;
	ct_say("bad value '%s' of option '--comm' of 'dump': not the key of a communicator", arg);
	ct_hint("a key is 16 hexadecimal digits; 'commtrace info' lists them");
	return CT_CODE_USAGE;
}

static int take(void *into, int key, const char *arg)
{
	struct dump *dump = into;

	switch (key) {
	case CT_KEY_COMM:
		return take_comm(dump, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Number of a thread within its process, in the order in which threads appear; -1 when memory is out. */
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

static int each_op(const struct ct_joined_op *op, void *arg)
{
	struct dump *dump = arg;
	int64_t lane = lane_of(dump, op);

	ct_progress_at(op->process_index, dump->run->n_processes);
	if (lane < 0)
		return STOP_MEMORY;
	if (dump->rank >= 0 && op->rank != dump->rank)
		return 0;
	dump->is_there = 1;
	if (dump->comm && op->comm_key != dump->comm)
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

/* After all was read: is there a trace of the rank that was asked for? It may have no operation. */
static int has_rank(const struct dump *dump)
{
	int is_there = dump->rank < 0 || dump->is_there;

	for (size_t i = 0; i < dump->run->n_processes; i++)
		is_there |= dump->run->processes[i].id.rank == dump->rank;
	return is_there;
}

static int write_all(struct dump *dump)
{
	struct ct_err err = { .text = "" };
	struct ct_out out;
	int code = ct_out_open(&out, dump->out_path, dump->force), stop;

	if (code)
		return code;
	dump->out = &out;
	if (find_zeros(dump) < 0) {
		ct_say("cannot dump %s: %s", dump->paths.path[0], ct_status_text(CT_NOMEM));
		ct_out_drop(&out);
		return CT_CODE_FAILED;
	}
	/* On a terminal the lines themselves are the progress. */
	if (out.path)
		ct_progress_begin("dumping");
	stop = (dump->calls ? ct_calls_each : ct_ops_each)(dump->run, each_op, dump, &err);
	ct_progress_end();
	if (stop < 0 || stop == STOP_MEMORY) {
		/* What was read so far stays: a damaged file is no reason to keep it back. */
		ct_say("cannot dump %s: %s", dump->paths.path[0],
		       stop < 0 && err.text[0] ? err.text
					       : ct_status_text(stop < 0 ? stop : CT_NOMEM));
		code = CT_CODE_FAILED;
	} else if (!has_rank(dump)) {
		ct_say("cannot dump %s: rank %lld left no trace", dump->paths.path[0], dump->rank);
		ct_hint("'commtrace info' lists the ranks");
		ct_out_drop(&out);
		return CT_CODE_FAILED;
	}
	write_head(dump);
	stop = ct_out_close(&out);
	return code ? code : stop;
}

int ct_cmd_dump(int argc, char **argv)
{
	struct dump dump = { .rank = -1, .limit = -1, .process = UINT32_MAX };
	const struct ct_option_put puts[] = {
		{ 'o', .text = &dump.out_path },
		{ CT_KEY_FORMAT, .text = &dump.format_word },
		{ CT_KEY_FORCE, .flag = &dump.force },
		{ CT_KEY_CALLS, .flag = &dump.calls },
		{ CT_KEY_RANK, .number = &dump.rank, .most = INT32_MAX },
		{ CT_KEY_LIMIT, .number = &dump.limit, .most = INT64_MAX },
		{ 0 },
	};
	const struct ct_options options = {
		.command = "dump",
		.table = table,
		.puts = puts,
		.paths = &dump.paths,
		.take = take,
		.into = &dump,
		.example = "  commtrace dump run1 --rank 3 --limit 20\n"
			   "  commtrace dump run1 -o run1.jsonl",
	};
	struct ct_run *run = NULL;
	int code = ct_options_parse(&options, argc, argv);

	if (code >= 0)
		goto out;
	dump.format = ct_out_format("dump", FORMATS, "txt jsonl", dump.format_word, dump.out_path);
	code = CT_CODE_USAGE;
	if (dump.format < 0)
		goto out;
	code = ct_open_run("dump", &dump.paths, &run);
	if (code)
		goto out;
	dump.run = run;
	code = write_all(&dump);
	ct_run_close(run);
out:
	free(dump.zero_ns);
	free(dump.tids);
	ct_paths_fini(&dump.paths);
	return code;
}
