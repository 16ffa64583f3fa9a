/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/jsonl/dump_line.h"

#include <inttypes.h>
#include <string.h>

#include "tools/commtrace/jsonl/jsonl.h"
#include "trace/ops.h"

static const char *const key_names[] = {
#define KEY_NAME(name, type) #name,
	CT_JSONL_KEYS(KEY_NAME)
#undef KEY_NAME
};

static int is_p2p(const struct ct_op *op)
{
	return ct_op_class(op->op) == CT_CLASS_P2P;
}

/* The other rank of it is one it deals with, and no root: messages, and what is one-sided. */
static int has_peer(const struct ct_op *op)
{
	return is_p2p(op) || ct_op_class(op->op) == CT_CLASS_LOCAL;
}

/* ---- JSON: written by hand, since a tree or a printf per value costs more than reading the trace
 * ---- */

/* One line under way. Strings are cut to what fits, which is more than a trace holds. */
struct dump_line {
	size_t n;
	char text[32768];
};

#define LINE_TEXT_MAX 6000u /* size: bytes of one string in the line, of which few are long */

static void put_raw(struct dump_line *line, const char *text, size_t n)
{
	if (n > sizeof(line->text) - line->n)
		n = sizeof(line->text) - line->n;
	memcpy(line->text + line->n, text, n);
	line->n += n;
}

static void put_key(struct dump_line *line, enum ct_jsonl_key key)
{
	put_raw(line, key ? ",\"" : "{\"", 2);
	put_raw(line, key_names[key], strlen(key_names[key]));
	put_raw(line, "\":", 2);
}

static void put_int(struct dump_line *line, enum ct_jsonl_key key, int known, int64_t value)
{
	char digits[24];
	size_t at = sizeof(digits);
	uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

	put_key(line, key);
	if (!known) {
		put_raw(line, "null", 4);
		return;
	}
	do {
		digits[--at] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		digits[--at] = '-';
	put_raw(line, digits + at, sizeof(digits) - at);
}

/* NULL is null. The bytes of the analyzer's strings are UTF-8 and stay as they are. */
static void put_text(struct dump_line *line, enum ct_jsonl_key key, const char *text)
{
	size_t end = line->n + LINE_TEXT_MAX;
	char escaped[8];

	put_key(line, key);
	if (!text) {
		put_raw(line, "null", 4);
		return;
	}
	put_raw(line, "\"", 1);
	for (; *text && line->n < end; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ') {
			snprintf(escaped, sizeof(escaped), "\\u%04x", c);
			put_raw(line, escaped, 6);
			continue;
		}
		if (c == '"' || c == '\\')
			put_raw(line, "\\", 1);
		put_raw(line, text, 1);
	}
	put_raw(line, "\"", 1);
}

/* The host's name as the process wrote it: its bytes are unchecked. */
static void put_host(struct dump_line *line, const struct ct_process *id)
{
	char host[sizeof(id->host) + 1];
	size_t n = strnlen(id->host, sizeof(id->host));

	for (size_t i = 0; i < n; i++)
		host[i] = id->host[i] >= ' ' && id->host[i] < 0x7f ? id->host[i] : '?';
	host[n] = '\0';
	put_text(line, CT_JSONL_host, host);
}

static const char *timing_of(const struct ct_joined_op *op)
{
	/* what the host begins it times, also where it only looks when something is over */
	switch (op->end_source && op->start_source != CT_SOURCE_CALL ? op->end_source
								     : op->start_source) {
	case CT_SOURCE_CALL:
	case CT_SOURCE_WAIT:
		return "call";
	case CT_SOURCE_EVENT:
		return "events";
	case CT_SOURCE_POLL:
		return "host";
	case CT_SOURCE_PLUGIN:
		return "plugin";
	case CT_SOURCE_NONE:
		break;
	}
	return "off";
}

static void put_process(struct dump_line *line, const struct ct_joined_op *joined, uint32_t lane)
{
	const struct ct_process *id = &joined->process->id;

	put_int(line, CT_JSONL_rank, joined->rank >= 0, joined->rank);
	put_host(line, id);
	put_int(line, CT_JSONL_pid, 1, id->pid);
	put_int(line, CT_JSONL_restart, 1, id->restart);
	put_int(line, CT_JSONL_world_size, id->world_size >= 0, id->world_size);
	put_int(line, CT_JSONL_clock_offset_ns, 1, (int64_t)(id->start_unix_ns - id->start_ns));
	put_int(line, CT_JSONL_tid, 1, joined->op->tid);
	put_int(line, CT_JSONL_lane, 1, lane);
}

static void put_what(struct dump_line *line, const struct ct_joined_op *joined)
{
	const struct ct_op *op = joined->op;
	int p2p = is_p2p(op);
	char comm[20];

	snprintf(comm, sizeof(comm), "%016" PRIx64, joined->comm_hash);
	put_text(line, CT_JSONL_backend, ct_backend_name(joined->backend));
	put_text(line, CT_JSONL_call, joined->call);
	put_text(line, CT_JSONL_op, joined->op_name);
	put_text(line, CT_JSONL_comm, joined->comm_hash ? comm : NULL);
	put_text(line, CT_JSONL_comm_name, joined->comm_name);
	put_int(line, CT_JSONL_nranks, joined->nranks > 0, joined->nranks);
	put_int(line, CT_JSONL_comm_rank, joined->comm_rank >= 0, joined->comm_rank);
	put_int(line, CT_JSONL_seq, !p2p && joined->op_name, (int64_t)op->seq);
	put_int(line, CT_JSONL_peer, has_peer(op) && op->peer >= 0, op->peer);
	put_int(line, CT_JSONL_peer_seq, p2p, (int64_t)op->seq);
	put_int(line, CT_JSONL_tag, p2p || op->op == CT_OP_GraphLaunch,
		p2p ? ct_op_program_tag(joined->backend, op->tag) : op->tag);
	put_int(line, CT_JSONL_root, !has_peer(op) && op->peer >= 0, op->peer);
	put_int(line, CT_JSONL_count, joined->op_name && !(op->flags & CT_OP_UNSIZED),
		(int64_t)op->count);
	put_text(line, CT_JSONL_dtype, ct_dtype_name(op->dtype));
	put_text(line, CT_JSONL_redop, ct_redop_name(op->redop));
	put_int(line, CT_JSONL_bytes,
		joined->op_name && joined->bytes != UINT64_MAX &&
			(op->op != CT_OP_GraphLaunch || joined->graph),
		(int64_t)joined->bytes);
}

void ct_dump_json(const struct ct_joined_op *joined, uint32_t lane, FILE *out)
{
	const struct ct_op *op = joined->op;
	struct dump_line line;
	int started = joined->start_source != CT_SOURCE_NONE,
	    ended = joined->end_source != CT_SOURCE_NONE;

	line.n = 0;
	put_process(&line, joined, lane);
	put_what(&line, joined);
	put_int(&line, CT_JSONL_stream, joined->launch_ops > 0, joined->stream);
	put_int(&line, CT_JSONL_device, joined->launch_ops > 0, joined->device);
	put_int(&line, CT_JSONL_group, op->launch != 0, op->launch);
	put_text(&line, CT_JSONL_state, ct_op_state_name(joined->state));
	put_int(&line, CT_JSONL_result, op->return_ns != 0, op->result);
	put_int(&line, CT_JSONL_enter_ns, 1, (int64_t)op->enter_ns);
	put_int(&line, CT_JSONL_return_ns, op->return_ns != 0, (int64_t)op->return_ns);
	put_int(&line, CT_JSONL_start_ns, started, (int64_t)joined->start_ns);
	put_int(&line, CT_JSONL_start_err_ns, started, (int64_t)joined->start_err_ns);
	put_int(&line, CT_JSONL_end_ns, ended, (int64_t)joined->end_ns);
	put_int(&line, CT_JSONL_end_err_ns, ended, (int64_t)joined->end_err_ns);
	put_text(&line, CT_JSONL_timing, timing_of(joined));
	put_key(&line, CT_JSONL_captured);
	if (op->flags & CT_OP_CAPTURED)
		put_raw(&line, "true", 4);
	else
		put_raw(&line, "false", 5);
	put_text(&line, CT_JSONL_site, joined->site);
	put_text(&line, CT_JSONL_stack, NULL); /* stacks are not recorded yet */
	put_text(&line, CT_JSONL_seen_by, op->flags & CT_OP_PLUGIN ? "plugin" : "wrapper");
	put_text(&line, CT_JSONL_algo, joined->algo);
	put_text(&line, CT_JSONL_proto, joined->proto);
	put_int(&line, CT_JSONL_channels, joined->channels > 0, joined->channels);
	put_int(&line, CT_JSONL_warps, joined->warps > 0, joined->warps);
	put_int(&line, CT_JSONL_submit_ns, joined->submit_ns != 0, (int64_t)joined->submit_ns);
	put_int(&line, CT_JSONL_submit_tid, joined->submit_ns != 0, joined->submit_tid);
	if (joined->error)
		put_text(&line, CT_JSONL_error, joined->error);
	put_raw(&line, "}\n", 2);
	fwrite(line.text, 1, line.n, out);
}

/* ---- text ---- */

void ct_dump_text_head(FILE *out)
{
	fputs("# rank          at_s       took op                 comm              seq peer_root  "
	      "      bytes"
	      " state    call\n",
	      out);
}

/* Three digits and a unit, as wide as the column. */
static void put_duration(uint64_t ns, FILE *out)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
	size_t u = 0;
	double value;

	while (u < 3 && (double)ns < units[u].ns)
		u++;
	value = (double)ns / units[u].ns;
	fprintf(out, " %7.*f %-2s",
		value < 9.995	? 2
		: value < 99.95 ? 1
				: 0,
		value, units[u].unit);
}

void ct_dump_text(const struct ct_joined_op *joined, uint64_t zero_ns, FILE *out)
{
	const struct ct_op *op = joined->op;
	int64_t at = (int64_t)(op->enter_ns - zero_ns);

	fprintf(out, "%6d %13.6f", joined->rank, (double)at / 1e9);
	if (joined->start_source != CT_SOURCE_NONE && joined->end_source != CT_SOURCE_NONE &&
	    joined->end_ns >= joined->start_ns)
		put_duration(joined->end_ns - joined->start_ns, out);
	else
		fprintf(out, " %10s", "n/a");
	if (!joined->op_name) {
		fprintf(out, " %-18s %16s %4s %9s %12s %-8s %s", "-", "-", "-", "-", "-",
			ct_op_state_name(joined->state), joined->call ? joined->call : "?");
		if (joined->state == CT_STATE_ERROR)
			fprintf(out, ": result %d", op->result);
		fprintf(out, joined->error ? ", \"%s\"\n" : "\n", joined->error);
		return;
	}
	fprintf(out, " %-18s %016" PRIx64 " %4" PRIu64, joined->op_name, joined->comm_hash,
		op->seq);
	if (op->peer >= 0)
		fprintf(out, " %9d", op->peer);
	else
		fprintf(out, " %9s", "-");
	if (joined->bytes != UINT64_MAX)
		fprintf(out, " %12" PRIu64, joined->bytes);
	else
		fprintf(out, " %12s", "n/a");
	fprintf(out, " %-8s %s", ct_op_state_name(joined->state),
		joined->call ? joined->call : "?");
	if (joined->algo && joined->proto)
		fprintf(out, " %s/%s", joined->algo, joined->proto);
	if (joined->channels)
		fprintf(out, " %u channels", joined->channels);
	fputs(op->flags & CT_OP_PLUGIN ? " (plugin)\n" : "\n", out);
}
