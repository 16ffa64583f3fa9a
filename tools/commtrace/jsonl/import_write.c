/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/base/table.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/progress.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/commtrace/jsonl/import.h"
#include "trace/block.h"
#include "trace/mix.h"
#include "trace/run_id.h"
#include "trace/segment.h"

/* size: processes are read side by side, a block of each at a time, so operations meet out of order
 * by up to the time that a block spans. The relation of clocks leaves out what is later than 10 s
 * (CT_EDGE_LATE_NS): a fifth of that leaves space for operations that take long themselves. The
 * number keeps what a reader holds of each process below 128 KiB. */
#define BLOCK_NS 2000000000ull
#define BLOCK_RECORDS 2048u
#define QUANTUM_NS 1u		     /* fact: times as in the lines */
#define HANG_AFTER_NS 30000000000ull /* fact: as a recorder has it by default */

/* One process being written. */
struct process_writer {
	const struct ct_import *import;
	struct ct_import_process *process;
	struct ct_segment_writer segment;
	struct ct_encoder *encoder;
	struct ct_block block;
	uint32_t n_blocks;
	uint64_t block_from_ns; /* entry of the first op or call of the block */
	size_t n_calls;		/* of its calls that are written */
	uint64_t lap;		/* made-up slots: one lap a run of ops of one thread */
	uint32_t edge_err_ns; /* error of every host time: a reader adds it to those of launches */
	uint8_t *used_calls, *used_sites; /* strings that this process's ops name, by index */
	struct ct_err err;
};

/* Hosts with one name are one host. Never 0. */
static uint64_t hash(const char *text)
{
	const uint64_t h = ct_fnv_text(CT_FNV_START, text);

	return h ? h : 1;
}

/* Write the block and begin the next one. */
static int flush(struct process_writer *w, enum ct_block_type next)
{
	const void *bytes;
	size_t n;
	int st;

	w->block.number = w->n_blocks++;
	w->block.quantum_ns = QUANTUM_NS;
	st = ct_block_encode(w->encoder, &w->block, &bytes, &n);
	if (st != CT_OK)
		return ct_fail(&w->err, st, "%s", ct_status_text(st));
	st = ct_segment_append(&w->segment, bytes, n, &w->err);
	ct_block_reset(&w->block, next);
	return st;
}

static int flush_if_full(struct process_writer *w)
{
	return ct_block_records(&w->block) < BLOCK_RECORDS ? CT_OK : flush(w, CT_BLOCK_DATA);
}

/* Before something that was entered then goes into the block. */
static int flush_if_long(struct process_writer *w, uint64_t enter_ns)
{
	int st = CT_OK;

	if (ct_block_records(&w->block) && enter_ns >= w->block_from_ns + BLOCK_NS)
		st = flush(w, CT_BLOCK_DATA);
	if (!ct_block_records(&w->block))
		w->block_from_ns = enter_ns;
	return st;
}

static uint64_t last_time(const struct ct_import_process *process)
{
	uint64_t last = 0;

	for (size_t i = 0; i < process->n_ops; i++) {
		const struct ct_import_op *op = &process->ops[i];
		const uint64_t times[] = { op->op.enter_ns, op->op.return_ns, op->launch.start_ns,
					   op->launch.end_ns };

		for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++)
			last = times[k] > last ? times[k] : last;
	}
	for (size_t i = 0; i < process->n_calls; i++) {
		const struct ct_import_call *call = &process->calls[i];

		last = call->enter_ns > last ? call->enter_ns : last;
		last = call->return_ns > last ? call->return_ns : last;
	}
	return last;
}

static int put_string(struct process_writer *w, uint32_t id, const char *text)
{
	int st = ct_block_add_text(&w->block, CT_KIND_STRING, &id, sizeof(id), text);

	return st == CT_OK ? flush_if_full(w) : st;
}

/* Strings that only comms name have the ids behind the sites. */
static uint32_t comm_name_id(const struct process_writer *w, uint32_t comm)
{
	return w->import->comms[comm].name
		       ? CT_IMPORT_FIRST_SITE + (uint32_t)w->import->n_sites + comm
		       : 0;
}

static int put_strings(struct process_writer *w)
{
	const struct ct_import *import = w->import;
	int st = CT_OK;

	memset(w->used_calls, 0, import->n_calls);
	memset(w->used_sites, 0, import->n_sites);
	for (size_t i = 0; i < w->process->n_calls; i++) {
		if (w->process->calls[i].call)
			w->used_calls[w->process->calls[i].call - 1] = 1;
		if (w->process->calls[i].site)
			w->used_sites[w->process->calls[i].site - CT_IMPORT_FIRST_SITE] = 1;
	}
	for (size_t i = 0; i < w->process->n_ops; i++) {
		const struct ct_op *op = &w->process->ops[i].op;

		if (op->call)
			w->used_calls[op->call - 1] = 1;
		if (op->site)
			w->used_sites[op->site - CT_IMPORT_FIRST_SITE] = 1;
	}
	for (size_t i = 0; i < import->n_calls && st == CT_OK; i++) {
		if (w->used_calls[i])
			st = put_string(w, (uint32_t)i + 1, import->calls[i]);
	}
	for (size_t i = 0; i < import->n_sites && st == CT_OK; i++) {
		if (w->used_sites[i])
			st = put_string(w, (uint32_t)i + CT_IMPORT_FIRST_SITE, import->sites[i]);
	}
	return st;
}

/* Rank in a communicator that no line has: the index among the processes seen on it. */
static int32_t rank_in_comm(const struct ct_import_comm *comm, int32_t rank)
{
	for (size_t i = 0; i < comm->n_seen; i++) {
		if (comm->seen[i] == rank)
			return (int32_t)i;
	}
	return 0;
}

static int put_comms(struct process_writer *w)
{
	int st = CT_OK;

	for (size_t i = 0; i < w->process->n_members && st == CT_OK; i++) {
		const struct ct_import_member *member = &w->process->members[i];
		const struct ct_import_comm *comm = &w->import->comms[member->comm];
		struct ct_comm_rec rec = {
			.id = member->comm + 1,
			.nranks = comm->nranks > comm->n_seen ? comm->nranks
							      : (uint32_t)comm->n_seen,
			.rank = member->rank >= 0 ? member->rank
						  : rank_in_comm(comm, w->process->rank),
			.name = comm_name_id(w, member->comm),
			.key = comm->hash,
			.backend = (uint8_t)comm->backend,
		};

		if (rec.nranks <= (uint32_t)rec.rank)
			rec.nranks = (uint32_t)rec.rank + 1;
		if (rec.name)
			st = put_string(w, rec.name, comm->name);
		st = st ?: ct_block_add_rare(&w->block, CT_KIND_COMM, &rec, sizeof(rec));
		st = st ?: flush_if_full(w);
	}
	return st;
}

/* size: launches in flight are in the last tracer heartbeat, as many as fit; the older ones, which
 * are unlikely to have been in flight, become launches without times. */
#define MOST_OPEN 8192u

static int put_open_launch(struct process_writer *w, const struct ct_import_op *op)
{
	const struct ct_launch *launch = &op->launch;
	struct ct_open_launch_rec rec;
	struct ct_ring_open open = { .tag = (uint64_t)op->op.launch | 1ull << 32 };

	open.opened_ns = op->op.enter_ns;
	open.start_ns = launch->start_ns || !op->started ? launch->start_ns : op->op.enter_ns;
	open.comm_op = (uint64_t)op->op.comm << 32 | (uint64_t)op->group_ops << 8 | op->op.op;
	open.seq = op->op.seq;
	open.stream = (uint64_t)launch->stream << 32 | launch->device;
	open.peer = (uint64_t)op->op.tag << 32 | (uint32_t)op->op.peer;
	open.bytes = op->op.count;
	_Static_assert(sizeof(rec) == sizeof(open), "a record is the entry");
	memcpy(&rec, &open, sizeof(rec));
	return ct_block_add_rare(&w->block, CT_KIND_OPEN_LAUNCH, &rec, sizeof(rec));
}

static int put_open_launches(struct process_writer *w)
{
	int st = CT_OK;

	for (size_t i = 0; i < w->process->n_ops && st == CT_OK; i++) {
		if (w->process->ops[i].group_ops && w->process->ops[i].open)
			st = put_open_launch(w, &w->process->ops[i]);
	}
	return st;
}

/* Which op is the first of each launch, and how many share it: they need not be adjacent. */
static int count_groups(struct process_writer *w)
{
	struct ct_import_op *ops = w->process->ops;
	struct ct_table first = { 0 };
	uint32_t next = 1;
	size_t open = 0;
	int st = CT_OK;

	for (size_t i = 0; i < w->process->n_ops && st == CT_OK; i++) {
		struct ct_import_op *leader = ct_table_get(&first, ops[i].op.launch);

		/* what was captured is in a list, not in a launch */
		if (!ops[i].op.launch || ops[i].op.flags & CT_OP_CAPTURED)
			continue;
		if (leader)
			leader->group_ops++;
		else
			st = ct_table_put(&first, ops[i].op.launch, &ops[i]);
		ops[i].group_ops += !leader;
	}
	/* Launches without a number get those that are free. */
	for (size_t i = 0; i < w->process->n_ops && st == CT_OK; i++) {
		if (!ops[i].has_launch || ops[i].op.launch || ops[i].op.flags & CT_OP_CAPTURED)
			continue;
		while (ct_table_get(&first, next))
			next++;
		ops[i].op.launch = next++;
		ops[i].group_ops = 1;
	}
	for (size_t i = w->process->n_ops; i-- > 0;) {
		if (ops[i].group_ops && ops[i].open)
			ops[i].open = open++ < MOST_OPEN;
	}
	ct_table_fini(&first);
	return st;
}

/* An op goes to the run of its thread; ops of a group share the launch of its first op. */
static int put_op(struct process_writer *w, size_t index)
{
	const struct ct_import_op *in = &w->process->ops[index];
	struct ct_op op = in->op;
	struct ct_launch launch = in->launch;
	struct ct_extent *run = w->block.n_extents ? &w->block.extents[w->block.n_extents - 1]
						   : NULL;
	int st = CT_OK;

	if (!run || run->tid != op.tid || run->n_slots >= CT_CHUNK_SLOTS) {
		const struct ct_extent next = { .lap = ++w->lap, .tid = op.tid };

		st = ct_block_add_extent(&w->block, &next);
		run = &w->block.extents[w->block.n_extents - 1];
	}
	st = st ?: ct_block_add_op(&w->block, &op);
	if (st != CT_OK)
		return st;
	run->n_slots++;
	run->n_ops++;
	if (!in->group_ops || in->open)
		return CT_OK;
	launch.id = op.launch;
	if (in->started && !launch.start_ns)
		launch.start_ns = op.enter_ns; /* by no source: that it began, not when */
	launch.start_err_ns -= launch.start_err_ns < w->edge_err_ns ? launch.start_err_ns
								    : w->edge_err_ns;
	launch.end_err_ns -= launch.end_err_ns < w->edge_err_ns ? launch.end_err_ns
								: w->edge_err_ns;
	launch.n_ops = in->group_ops;
	run->n_slots++;
	run->n_launches++;
	return ct_block_add_launch(&w->block, &launch);
}

static void identify(const struct process_writer *w, int dirfd, const char *run_dir,
		     struct ct_process *id)
{
	const struct ct_import_process *process = w->process;
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < process->n_ops; i++)
		first = process->ops[i].op.enter_ns < first ? process->ops[i].op.enter_ns : first;
	if (process->n_calls && process->calls[0].enter_ns < first)
		first = process->calls[0].enter_ns;
	/* Files are named by pid and start: ranks that shared a process differ by some ns. */
	for (const struct ct_import_process *other = w->import->processes; other < process; other++)
		first -= other->pid == process->pid && strcmp(other->host, process->host) == 0;
	*id = (struct ct_process){
		.hostkey = hash(process->host),
		.start_ns = first,
		.start_unix_ns = first + (uint64_t)process->clock_offset_ns,
		.hang_after_ns = HANG_AFTER_NS,
		.clock_res_ns = w->edge_err_ns - QUANTUM_NS, /* a reader adds the quantum */
		.pid = process->pid,
		.uid = getuid(),
		.rank = process->rank,
		.world_size = process->world_size ? (int32_t)process->world_size : -1,
		.local_rank = -1,
		.restart = process->restart,
		.ring_kind = CT_RING_NONE,
	};
	ct_run_id_get(dirfd, "", &id->run);
	memcpy(id->host, process->host, sizeof(id->host));
	snprintf(id->job, sizeof(id->job), "import");
	snprintf(id->boot_id, sizeof(id->boot_id), "%016llx", (unsigned long long)id->hostkey);
	snprintf(id->version, sizeof(id->version), "%s", CT_RELEASE);
	snprintf(id->run_dir, sizeof(id->run_dir), "%s", run_dir);
}

/* A process has one error for all times that calls measured: the largest given, so that none
 * becomes too small. Launches have their own. */
static uint32_t edge_error(const struct ct_import_process *process)
{
	uint32_t largest = 0, least = UINT32_MAX;

	for (size_t i = 0; i < process->n_ops; i++) {
		const struct ct_launch *launch = &process->ops[i].launch;
		const uint32_t errors[] = { launch->start_err_ns, launch->end_err_ns };

		for (int k = 0; k < 2; k++) {
			if (!process->ops[i].has_launch)
				largest = errors[k] > largest ? errors[k] : largest;
			else if (errors[k])
				least = errors[k] < least ? errors[k] : least;
		}
	}
	if (largest)
		return largest;
	return least < UINT32_MAX ? least : QUANTUM_NS;
}

static int put_call(struct process_writer *w, const struct ct_import_call *call)
{
	const struct ct_import_comm *comm = call->comm ? &w->import->comms[call->comm - 1] : NULL;
	struct ct_host_rec rec = {
		.enter_ns = call->enter_ns,
		.tid = call->tid,
		.call = call->call,
		.rank = -1,
		.result = (int32_t)call->site, /* as HOST_BEGIN has it */
	};
	int st = ct_block_add_rare(&w->block, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));

	if (st != CT_OK || !call->return_ns)
		return st;
	rec.return_ns = call->return_ns;
	rec.result = call->result;
	for (size_t i = 0; comm && i < w->process->n_members; i++) {
		const struct ct_import_member *member = &w->process->members[i];

		if (member->comm != call->comm - 1)
			continue;
		rec.comm = call->comm;
		rec.key = comm->hash;
		rec.nranks = comm->nranks;
		rec.rank = member->rank >= 0 ? member->rank : rank_in_comm(comm, w->process->rank);
	}
	return ct_block_add_rare(&w->block, CT_KIND_HOST_END, &rec, sizeof(rec));
}

/* Calls that were entered up to then: a reader has them before what ended in them. */
static int put_calls(struct process_writer *w, uint64_t until_ns)
{
	const struct ct_import_process *process = w->process;
	int st = CT_OK;

	while (w->n_calls < process->n_calls && st == CT_OK &&
	       process->calls[w->n_calls].enter_ns <= until_ns) {
		st = flush_if_long(w, process->calls[w->n_calls].enter_ns);
		st = st ?: put_call(w, &process->calls[w->n_calls++]);
		st = st ?: flush_if_full(w);
	}
	return st;
}

static int write_ops(struct process_writer *w)
{
	int st = CT_OK;

	w->n_calls = 0;
	for (size_t i = 0; i < w->process->n_ops && st == CT_OK; i++) {
		const struct ct_import_op *op = &w->process->ops[i];

		st = put_calls(w, op->launch.end_ns > op->op.enter_ns ? op->launch.end_ns
								      : op->op.enter_ns);
		st = st ?: flush_if_long(w, op->op.enter_ns);
		st = st ?: put_op(w, i);
		st = st ?: flush_if_full(w);
	}
	return st == CT_OK ? put_calls(w, UINT64_MAX) : st;
}

static int write_process(struct process_writer *w, int dirfd, const char *run_dir)
{
	const struct ct_status_rec status = { .beat_ns = last_time(w->process) };
	struct ct_process id;
	int st;

	w->edge_err_ns = edge_error(w->process);
	identify(w, dirfd, run_dir, &id);
	w->n_blocks = 0;
	w->lap = 0;
	ct_segment_init(&w->segment, &id, dirfd);
	st = ct_segment_next(&w->segment, &w->err);
	ct_block_reset(&w->block, CT_BLOCK_CHECKPOINT);
	st = st ?: count_groups(w);
	st = st ?: put_strings(w);
	st = st ?: put_comms(w);
	st = st ?: flush(w, CT_BLOCK_DATA);
	st = st ?: write_ops(w);
	if (st == CT_OK && ct_block_records(&w->block))
		st = flush(w, CT_BLOCK_STATUS);
	w->block.type = CT_BLOCK_STATUS;
	st = st ?: ct_block_add_rare(&w->block, CT_KIND_STATUS, &status, sizeof(status));
	st = st ?: put_open_launches(w);
	st = st ?: flush(w, CT_BLOCK_DATA);
	ct_segment_close(&w->segment);
	return st;
}

/* The given one; else as many as the ranks and communicators seen need. */
static void settle_world(struct ct_import *import)
{
	uint32_t world = 0;

	for (size_t i = 0; i < import->n_processes; i++) {
		uint32_t rank = (uint32_t)import->processes[i].rank + 1; /* unknown: 0 */

		world = rank > world ? rank : world;
	}
	for (size_t i = 0; i < import->n_comms; i++)
		world = import->comms[i].nranks > world ? import->comms[i].nranks : world;
	/* a process holds it as a signed number */
	world = world > INT32_MAX ? INT32_MAX : world;
	for (size_t i = 0; i < import->n_processes; i++) {
		if (!import->processes[i].world_size)
			import->processes[i].world_size = world;
	}
}

int ct_import_write(struct ct_import *import, int dirfd, const char *run_dir)
{
	struct process_writer w = { .import = import };
	int code = CT_CODE_FAILED, st = CT_NOMEM;

	settle_world(import);
	w.encoder = ct_encoder_new();
	w.used_calls = calloc(import->n_calls + 1, 1);
	w.used_sites = calloc(import->n_sites + 1, 1);
	if (!w.encoder || !w.used_calls || !w.used_sites)
		goto out;
	st = CT_OK;
	ct_progress_begin("writing");
	for (size_t i = 0; i < import->n_processes && st == CT_OK; i++) {
		ct_progress_at(i, import->n_processes);
		w.process = &import->processes[i];
		st = write_process(&w, dirfd, run_dir);
		if (ct_signals_deferred())
			break;
	}
	ct_progress_end();
	code = ct_signals_deferred();
out:
	if (st != CT_OK) {
		ct_say("cannot write the run: %s: %s", run_dir,
		       w.err.text[0] ? w.err.text : ct_status_text(st));
		code = CT_CODE_FAILED;
	}
	ct_encoder_free(w.encoder);
	ct_block_fini(&w.block);
	free(w.used_calls);
	free(w.used_sites);
	return code;
}
