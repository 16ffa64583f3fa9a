/* SPDX-License-Identifier: Apache-2.0 */
/* import_read.c — what one line says. The model it goes into is filled by import_model.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/base/nearest.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/progress.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/commtrace/jsonl/import.h"
#include "tools/commtrace/jsonl/import_model.h"
#include "tools/commtrace/jsonl/jsonl.h"
#include "trace/ops.h"

enum json_type { TYPE_INT, TYPE_TEXT, TYPE_BOOL, TYPE_ANY };

static const struct {
	const char *name;
	enum json_type type;
} keys[] = {
#define KEY(name, type) { #name, TYPE_##type },
	CT_JSONL_KEYS(KEY)
#undef KEY
};

/* One line under way. */
struct import_line {
	struct ct_import *import;
	const char *text;
	json_t *value[CT_JSONL_N_KEYS]; /* borrowed; NULL: missing or null */
	int is_call;			/* "op":null, not missing: a call that moves no data */
	int code;			/* first failure, after it was said */
};

static int fail_at(struct import_line *line, size_t column, const char *key, const char *why)
{
	if (!line->code) {
		ct_say("cannot import: %s:%lu:%zu: %s%s%s", line->import->file, line->import->line,
		       column, key ? key : "", key ? ": " : "", why);
		ct_hint("a line is a JSON object, as 'commtrace dump --json' writes it; "
			"docs/reference/INTERFACES.md lists its keys");
	}
	line->code = CT_CODE_FAILED;
	return line->code;
}

/* jansson does not keep the position of a value: search for its key. */
static int fail(struct import_line *line, enum ct_jsonl_key key, const char *why)
{
	char quoted[40];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\"%s\"", keys[key].name);
	at = strstr(line->text, quoted);
	return fail_at(line, at ? (size_t)(at - line->text) + 1 : 1, keys[key].name, why);
}

static int has(const struct import_line *line, enum ct_jsonl_key key)
{
	return line->value[key] != NULL;
}

static int64_t integer(struct import_line *line, enum ct_jsonl_key key, int64_t min, int64_t max,
		       int64_t missing)
{
	int64_t value;
	char why[96];

	if (!has(line, key))
		return missing;
	value = json_integer_value(line->value[key]);
	if (value >= min && value <= max)
		return value;
	snprintf(why, sizeof(why), "%" PRId64 " is not between %" PRId64 " and %" PRId64, value,
		 min, max);
	fail(line, key, why);
	return missing;
}

/* Times are 1 or later: 0 is how a record says that there is none. */
static uint64_t time_ns(struct import_line *line, enum ct_jsonl_key key)
{
	return (uint64_t)integer(line, key, 1, INT64_MAX, 0);
}

static const char *text(const struct import_line *line, enum ct_jsonl_key key)
{
	return has(line, key) ? json_string_value(line->value[key]) : NULL;
}

/* A word of one of the tables of trace/; 0 if it is missing. */
static unsigned word(struct import_line *line, enum ct_jsonl_key key,
		     unsigned (*by_name)(const char *))
{
	const char *name = text(line, key);
	unsigned id = name ? by_name(name) : 0;
	char why[96];

	if (name && !id) {
		snprintf(why, sizeof(why), "'%.64s' is not known", name);
		fail(line, key, why);
	}
	return id;
}

/* Is the text one of some words? Missing is fine. */
static void check_word(struct import_line *line, enum ct_jsonl_key key, const char *words)
{
	const char *name = text(line, key);
	char why[160];

	if (!name || ct_word_find(words, name) >= 0)
		return;
	snprintf(why, sizeof(why), "'%.32s' is none of: %s", name, words);
	fail(line, key, why);
}

static const char *type_name(enum json_type type)
{
	return type == TYPE_INT	   ? "not a whole number"
	       : type == TYPE_TEXT ? "not a string"
				   : "not true or false";
}

static void note_unknown(struct ct_import *import, const json_t *object, size_t known)
{
	const char *name;
	json_t *value;
	size_t total = json_object_size(object);

	if (total == known)
		return;
	import->n_unknown_keys += total - known;
	if (import->unknown_line)
		return;
	import->unknown_line = import->line;
	json_object_foreach((json_t *)(uintptr_t)object, name, value)
	{
		size_t i = 0;

		while (i < CT_JSONL_N_KEYS && strcmp(keys[i].name, name) != 0)
			i++;
		if (i == CT_JSONL_N_KEYS) {
			snprintf(import->unknown_key, sizeof(import->unknown_key), "%s", name);
			return;
		}
	}
}

static void spread(struct import_line *line, const json_t *object)
{
	size_t known = 0;

	for (size_t i = 0; i < CT_JSONL_N_KEYS; i++) {
		json_t *value = json_object_get(object, keys[i].name);
		enum json_type type = keys[i].type;

		known += value != NULL;
		line->value[i] = json_is_null(value) ? NULL : value;
		line->is_call |= i == CT_JSONL_op && json_is_null(value);
		if (!line->value[i])
			continue;
		if ((type == TYPE_INT && !json_is_integer(value)) ||
		    (type == TYPE_TEXT && !json_is_string(value)) ||
		    (type == TYPE_BOOL && !json_is_boolean(value))) {
			fail(line, (enum ct_jsonl_key)i, type_name(type));
			return;
		}
	}
	note_unknown(line->import, object, known);
}

static void read_comm(struct import_line *line, struct ct_import_process *process, struct ct_op *op)
{
	const char *key = text(line, CT_JSONL_comm);
	char *end = NULL;
	struct ct_import_comm comm = { .backend = word(line, CT_JSONL_backend,
						       ct_backend_by_name) };
	int64_t rank;

	if (!key)
		return;
	if (strlen(key) == 16 && strspn(key, "0123456789abcdef") == 16)
		comm.hash = strtoull(key, &end, 16);
	if (!comm.hash) {
		fail(line, CT_JSONL_comm, "not 16 lower-case hexadecimal digits");
		return;
	}
	if (!comm.backend)
		comm.backend = CT_BACKEND_IMPORT;
	comm.nranks = (uint32_t)integer(line, CT_JSONL_nranks, 1, INT32_MAX, 0);
	rank = integer(line, CT_JSONL_comm_rank, 0, INT32_MAX, -1);
	if (comm.nranks && rank >= (int64_t)comm.nranks)
		fail(line, CT_JSONL_comm_rank, "not below nranks");
	if (line->code)
		return;
	op->comm = ct_import_comm(line->import, process, &comm, text(line, CT_JSONL_comm_name),
				  (int32_t)rank);
	if (!op->comm)
		line->code = CT_CODE_FAILED;
}

/* The record has it in the tag (CT_TAG_PARTITIONED), a line in the name of the call. */
static int is_partitioned(const struct import_line *line)
{
	static const char *const calls[] = { "MPI_Psend_init", "MPI_Precv_init" };
	const char *call = text(line, CT_JSONL_call);

	for (size_t i = 0; call && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(call, calls[i]) == 0)
			return 1;
	return 0;
}

/* For the others a line cannot omit a size. */
static int moves_data(unsigned op)
{
	switch (op) {
	case CT_OP_Barrier:
	case CT_OP_Fence:
	case CT_OP_Signal:
	case CT_OP_WaitSignal:
	case CT_OP_GraphLaunch:
		return 0;
	default:
		return 1;
	}
}

static void read_what(struct import_line *line, struct ct_op *op)
{
	int p2p;

	op->op = (uint8_t)word(line, CT_JSONL_op, ct_op_by_name);
	if (!has(line, CT_JSONL_op))
		fail(line, CT_JSONL_op, "is missing");
	p2p = ct_op_class(op->op) == CT_CLASS_P2P;
	op->dtype = (uint8_t)word(line, CT_JSONL_dtype, ct_dtype_by_name);
	op->redop = (uint8_t)word(line, CT_JSONL_redop, ct_redop_by_name);
	op->count = (uint64_t)integer(line, CT_JSONL_count, 0, INT64_MAX, 0);
	if (!has(line, CT_JSONL_count) && has(line, CT_JSONL_bytes)) {
		/* Only the bytes are given: elements of one byte. */
		op->dtype = 0;
		op->count = (uint64_t)integer(line, CT_JSONL_bytes, 0, INT64_MAX, 0);
	} else if (!has(line, CT_JSONL_count) && moves_data(op->op)) {
		op->flags |= CT_OP_UNSIZED;
	}
	op->peer = (int32_t)integer(
		line, p2p || ct_op_class(op->op) == CT_CLASS_LOCAL ? CT_JSONL_peer : CT_JSONL_root,
		0, INT32_MAX, -1);
	op->tag = p2p || op->op == CT_OP_GraphLaunch
			  ? (uint32_t)integer(line, CT_JSONL_tag, 0, UINT32_MAX, 0)
			  : 0;
	if (p2p && is_partitioned(line))
		op->tag |= CT_TAG_PARTITIONED;
	/* negative: the number of a transfer that stays unmatched */
	op->seq = (uint64_t)integer(line, p2p ? CT_JSONL_peer_seq : CT_JSONL_seq,
				    p2p ? INT64_MIN : 0, INT64_MAX, 0);
	if (op->comm && !has(line, p2p ? CT_JSONL_peer_seq : CT_JSONL_seq))
		fail(line, p2p ? CT_JSONL_peer_seq : CT_JSONL_seq,
		     "is missing: operations of different ranks are matched by it");
	if (has(line, CT_JSONL_captured) && json_is_true(line->value[CT_JSONL_captured]))
		op->flags |= CT_OP_CAPTURED;
	check_word(line, CT_JSONL_seen_by, "wrapper plugin");
	if (has(line, CT_JSONL_seen_by) && strcmp(text(line, CT_JSONL_seen_by), "plugin") == 0)
		op->flags |= CT_OP_PLUGIN;
	if (has(line, CT_JSONL_call))
		op->call = (uint16_t)ct_import_call(line->import, text(line, CT_JSONL_call));
	if (has(line, CT_JSONL_site))
		op->site = ct_import_site(line->import, text(line, CT_JSONL_site));
}

static void read_times(struct import_line *line, struct ct_op *op)
{
	op->enter_ns = time_ns(line, CT_JSONL_enter_ns);
	op->return_ns = time_ns(line, CT_JSONL_return_ns);
	op->result = (int16_t)integer(line, CT_JSONL_result, INT16_MIN, INT16_MAX, 0);
	if (!has(line, CT_JSONL_enter_ns))
		fail(line, CT_JSONL_enter_ns, "is missing");
	if (op->return_ns && op->return_ns < op->enter_ns)
		fail(line, CT_JSONL_return_ns, "before enter_ns");
	if (op->return_ns && op->return_ns - op->enter_ns > CT_OP_MAX_DURATION_NS)
		fail(line, CT_JSONL_return_ns, "more than 78 hours after enter_ns");
	if (!op->return_ns)
		op->flags |= CT_OP_UNRETURNED;
	check_word(line, CT_JSONL_state,
		   "not_entered entered returned started finished aborted error");
}

static int word_is(const struct import_line *line, enum ct_jsonl_key key, const char *expected)
{
	const char *name = text(line, key);

	return name && strcmp(name, expected) == 0;
}

/* What measured start and end: a line has one word for both. */
static void read_sources(struct import_line *line, struct ct_launch *launch)
{
	enum ct_source start = CT_SOURCE_CALL, end = CT_SOURCE_WAIT;

	check_word(line, CT_JSONL_timing, "events host plugin call off");
	if (word_is(line, CT_JSONL_timing, "events"))
		start = end = CT_SOURCE_EVENT;
	else if (word_is(line, CT_JSONL_timing, "plugin"))
		start = end = CT_SOURCE_PLUGIN;
	else if (word_is(line, CT_JSONL_timing, "host"))
		start = end = CT_SOURCE_POLL;
	launch->start_source = (uint8_t)(launch->start_ns ? start : CT_SOURCE_NONE);
	launch->end_source = (uint8_t)(launch->end_ns ? end : CT_SOURCE_NONE);
}

static void read_span(struct import_line *line, struct ct_import_op *op)
{
	struct ct_launch *launch = &op->launch;
	int by_call = word_is(line, CT_JSONL_timing, "call");

	op->op.launch = (uint32_t)integer(line, CT_JSONL_group, 1, UINT32_MAX, 0);
	launch->start_ns = time_ns(line, CT_JSONL_start_ns);
	launch->end_ns = time_ns(line, CT_JSONL_end_ns);
	if (launch->start_ns && launch->end_ns && launch->end_ns < launch->start_ns)
		fail(line, CT_JSONL_end_ns, "before start_ns");
	launch->start_err_ns = (uint32_t)integer(line, CT_JSONL_start_err_ns, 0, UINT32_MAX, 0);
	launch->end_err_ns = (uint32_t)integer(line, CT_JSONL_end_err_ns, 0, UINT32_MAX, 0);
	launch->stream = (uint32_t)integer(line, CT_JSONL_stream, 0, UINT32_MAX, 0);
	launch->device = (uint32_t)integer(line, CT_JSONL_device, 0, UINT32_MAX, 0);
	launch->comm = op->op.comm;
	launch->result = op->op.result;
	read_sources(line, launch);
	if (op->op.launch) {
		op->has_launch = 1;
	} else if (word_is(line, CT_JSONL_backend, "nccl") && !launch->start_ns &&
		   !launch->end_ns) {
		op->has_launch = 0; /* nothing for the GPU to do */
	} else if (by_call && (!launch->start_ns || launch->start_ns == op->op.enter_ns) &&
		   (!launch->end_ns || launch->end_ns == op->op.return_ns)) {
		op->has_launch = 0; /* the call is the span */
	} else {
		op->has_launch = op->op.return_ns || launch->start_ns || launch->end_ns;
	}
	op->started = word_is(line, CT_JSONL_state, "started");
	op->open = !launch->end_ns && !word_is(line, CT_JSONL_state, "finished") &&
		   !word_is(line, CT_JSONL_state, "error") &&
		   !word_is(line, CT_JSONL_state, "aborted");
}

static void read_process(struct import_line *line, struct ct_import_process *id)
{
	const char *host = text(line, CT_JSONL_host);

	id->rank = (int32_t)integer(line, CT_JSONL_rank, 0, INT32_MAX, -1);
	id->pid = (uint32_t)integer(line, CT_JSONL_pid, 0, UINT32_MAX, (int64_t)id->rank + 1);
	id->restart = (uint32_t)integer(line, CT_JSONL_restart, 0, INT32_MAX, 0);
	id->world_size = (uint32_t)integer(line, CT_JSONL_world_size, 1, INT32_MAX, 0);
	id->clock_offset_ns = integer(line, CT_JSONL_clock_offset_ns, INT64_MIN, INT64_MAX, 0);
	if (host && (strlen(host) >= sizeof(id->host) || strpbrk(host, "/\n") || !host[0]))
		fail(line, CT_JSONL_host, "no name of a host");
	snprintf(id->host, sizeof(id->host), "%s", host ? host : "import");
}

/* What blocked the host and moved no data has a name, a thread and times. */
static int read_call(struct import_line *line, struct ct_import_process *process, struct ct_op *op)
{
	struct ct_import_call call = { .tid = op->tid };

	if (!has(line, CT_JSONL_call))
		fail(line, CT_JSONL_call, "is missing: a line without op describes a call");
	else
		call.call = ct_import_call(line->import, text(line, CT_JSONL_call));
	if (has(line, CT_JSONL_site))
		call.site = ct_import_site(line->import, text(line, CT_JSONL_site));
	read_comm(line, process, op);
	read_times(line, op);
	call.comm = op->comm;
	call.enter_ns = op->enter_ns;
	call.return_ns = op->return_ns;
	call.result = op->result;
	if (!line->code && ct_import_add_call(line->import, process, &call) < 0)
		line->code = CT_CODE_FAILED;
	return line->code;
}

/* Into the model; 0 or an exit status. */
static int read_op(struct import_line *line)
{
	struct ct_import_process id = { 0 }, *process;
	struct ct_import_op op = { 0 };

	read_process(line, &id);
	if (line->code)
		return line->code;
	process = ct_import_process(line->import, &id);
	if (!process)
		return CT_CODE_FAILED;
	op.op.tid = (uint32_t)integer(line, CT_JSONL_tid, 0, UINT32_MAX, process->pid);
	/* An error that a library reported is known from its call, too. */
	if (line->is_call && word_is(line, CT_JSONL_state, "error"))
		return line->code;
	if (line->is_call)
		return read_call(line, process, &op.op);
	read_comm(line, process, &op.op);
	read_what(line, &op.op);
	read_times(line, &op.op);
	read_span(line, &op);
	if (!line->code && ct_import_add(line->import, process, &op) < 0)
		line->code = CT_CODE_FAILED;
	return line->code;
}

static int read_line(struct ct_import *import, const char *text_of_line, size_t len)
{
	struct import_line line = { .import = import, .text = text_of_line };
	json_error_t error;
	json_t *object;

	if (strspn(text_of_line, " \t\r\n") == len)
		return 0;
	object = json_loadb(text_of_line, len, JSON_REJECT_DUPLICATES, &error);
	if (!object)
		return fail_at(&line, error.position > 0 ? (size_t)error.position : 1, NULL,
			       error.text);
	if (!json_is_object(object)) {
		fail_at(&line, 1, NULL, "not an object in braces");
	} else {
		spread(&line, object);
		if (!line.code)
			read_op(&line);
	}
	json_decref(object);
	return line.code;
}

/* Read as text a compressed file would only be a wrong byte in line 1. */
static int check_plain(const struct ct_import *import, const char *first, size_t len)
{
	static const struct {
		const char *magic, *unpack;
	} packed[] = {
		{ "\x1f\x8b", "gzip -dc" },
		{ "\x28\xb5\x2f\xfd", "zstd -dc" },
		{ "\xfd\x37zXZ", "xz -dc" },
		{ "BZh", "bzip2 -dc" },
	};

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		size_t n = strlen(packed[i].magic);

		if (len < n || memcmp(first, packed[i].magic, n) != 0)
			continue;
		ct_say("cannot import: %s: the file is compressed, import reads plain lines",
		       import->file);
		ct_hint("%s FILE | commtrace import jsonl - -o RUN", packed[i].unpack);
		return CT_CODE_FAILED;
	}
	return 0;
}

int ct_import_read(struct ct_import *import, FILE *in)
{
	struct stat st = { 0 };
	uint64_t done = 0;
	char *text_of_line = NULL;
	size_t cap = 0;
	ssize_t len = 0;
	int code = 0;

	fstat(fileno(in), &st);
	ct_progress_begin("reading");
	while (!code && (len = getline(&text_of_line, &cap, in)) >= 0) {
		import->line++;
		done += (uint64_t)len;
		ct_progress_at(done, (uint64_t)st.st_size);
		code = import->line == 1 ? check_plain(import, text_of_line, (size_t)len) : 0;
		if (!code)
			code = read_line(import, text_of_line, (size_t)len);
		if (ct_signals_deferred())
			code = ct_signals_deferred();
	}
	ct_progress_end();
	free(text_of_line);
	if (!code && ferror(in)) {
		if (import->line)
			ct_say("cannot import: %s: after line %lu: %s", import->file, import->line,
			       strerror(errno));
		else
			ct_say("cannot import: %s: %s", import->file, strerror(errno));
		return CT_CODE_FAILED;
	}
	ct_import_settle(import);
	return code;
}
