/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "analyzer/join.h"
#include "analyzer/table.h"
#include "trace/ops.h"

/* Ops in one process that may be inside their calls at once: one a thread. */
#define CT_LOAD_MAX_OPEN 65536u

/* Receives from any peer that wait for their launch after they were told whose message it was; an older one
 * gives way to one 4096 launches later and stays without a peer. */
#define CT_LOAD_MATCHES 4096u

struct order {
	uint64_t enter_ns;
	uint32_t at;
};

struct ct_load {
	const struct ct_process_info *info;
	uint32_t index;
	struct ct_process_reader *reader;
	struct ct_load_sink sink;
	struct ct_op_names *names;
	struct ct_arena *memory;
	struct ct_table strings; /* id -> const char * */
	struct ct_table comms;	 /* id -> struct ct_load_comm */
	struct ct_join *join;
	struct ct_match_rec *matches; /* by launch modulo CT_LOAD_MATCHES */
	struct ct_load_facts facts;
	struct ct_open_op_rec *open; /* as the latest status told, less what came as an op since */
	uint32_t n_open, cap_open;
	struct order *order;
	uint32_t cap_order;
	uint64_t edge_err_ns; /* of host times in the current block */
	int ended;
};

const char *ct_op_names_get(const struct ct_op_names *names, unsigned op)
{
	const char *name = ct_op_name(op);

	if (!name && op < 256)
		name = names->names[op];
	return name ? name : "?";
}

static int joined(void *arg, const struct ct_op *op, const struct ct_launch *launch);

int ct_load_open(const struct ct_run *run, size_t index, const struct ct_load_sink *sink,
		 struct ct_op_names *names, struct ct_load **out, struct ct_err *err)
{
	struct ct_load *load = calloc(1, sizeof(*load));
	int st;

	*out = NULL;
	if (!load)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	load->info = &run->processes[index];
	load->index = (uint32_t)index;
	load->sink = *sink;
	load->names = names;
	load->memory = ct_arena_new();
	load->join = ct_join_new(joined, load);
	if (load->memory) {
		load->facts.notes = ct_arena_calloc(load->memory, CT_LOAD_NOTES,
						    sizeof(*load->facts.notes));
		load->matches = ct_arena_calloc(load->memory, CT_LOAD_MATCHES,
						sizeof(*load->matches));
	}
	if (!load->join || !load->facts.notes || !load->matches) {
		ct_load_close(load);
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	}
	st = ct_process_open(run, index, &load->reader, err);
	if (st != CT_OK) {
		ct_load_close(load);
		return st;
	}
	*out = load;
	return CT_OK;
}

void ct_load_close(struct ct_load *load)
{
	if (!load)
		return;
	if (load->reader)
		ct_process_close(load->reader);
	ct_join_free(load->join);
	ct_table_fini(&load->strings);
	ct_table_fini(&load->comms);
	ct_arena_free(load->memory);
	free(load->open);
	free(load->order);
	free(load);
}

const struct ct_load_facts *ct_load_facts(const struct ct_load *load)
{
	return &load->facts;
}

const struct ct_gaps *ct_load_gaps(const struct ct_load *load)
{
	return ct_process_gaps(load->reader);
}

static const char *string_of(const struct ct_load *load, uint32_t id)
{
	return id ? ct_table_get(&load->strings, id) : NULL;
}

/* ---- rare records ---- */

static int take_string(struct ct_load *load, const uint8_t *bytes, size_t len)
{
	const char *text;
	uint32_t id;

	if (len < sizeof(id))
		return CT_OK;
	memcpy(&id, bytes, sizeof(id));
	if (!id || string_of(load, id))
		return CT_OK;
	text = ct_arena_text(load->memory, (const char *)bytes + sizeof(id), len - sizeof(id));
	if (!text || ct_table_put(&load->strings, id, (void *)(uintptr_t)text) != CT_OK)
		return CT_NOMEM;
	return CT_OK;
}

static int take_name(struct ct_load *load, const uint8_t *bytes, size_t len)
{
	unsigned id;

	if (len < 4 || bytes[0] != 0)
		return CT_OK;
	id = bytes[2] | (unsigned)bytes[3] << 8;
	if (id >= 256 || ct_op_name(id) || load->names->names[id])
		return CT_OK;
	load->names->names[id] = ct_arena_text(load->names->memory, (const char *)bytes + 4,
					       len - 4);
	return load->names->names[id] ? CT_OK : CT_NOMEM;
}

static int take_note(struct ct_load *load, const uint8_t *bytes, size_t len)
{
	struct ct_load_facts *facts = &load->facts;
	const char *text;

	if (len <= 8 || facts->n_notes == CT_LOAD_NOTES)
		return CT_OK;
	text = ct_arena_text(load->memory, (const char *)bytes + 8, len - 8);
	if (!text)
		return CT_NOMEM;
	for (uint32_t i = 0; i < facts->n_notes; i++) {
		if (strcmp(facts->notes[i], text) == 0)
			return CT_OK;
	}
	facts->notes[facts->n_notes++] = text;
	return CT_OK;
}

static int take_comm(struct ct_load *load, const struct ct_comm_rec *rec)
{
	struct ct_load_comm *comm = ct_table_get(&load->comms, rec->id);

	if (!rec->id || !rec->key || !rec->nranks || rec->nranks > CT_COMM_MAX_RANKS ||
	    rec->rank < 0 || (uint32_t)rec->rank >= rec->nranks)
		return CT_OK;
	if (comm) {
		comm->rec.ended_ns = rec->ended_ns;
		if (!comm->name)
			comm->name = string_of(load, rec->name);
		return CT_OK;
	}
	comm = ct_arena_calloc(load->memory, 1, sizeof(*comm));
	if (!comm || ct_table_put(&load->comms, rec->id, comm) != CT_OK)
		return CT_NOMEM;
	comm->rec = *rec;
	comm->name = string_of(load, rec->name);
	return load->sink.comm ? load->sink.comm(load->sink.arg, comm) : CT_OK;
}

static int take_open_op(struct ct_load *load, const struct ct_open_op_rec *rec)
{
	if (load->n_open == CT_LOAD_MAX_OPEN)
		return CT_OK;
	if (load->n_open == load->cap_open) {
		uint32_t cap = load->cap_open ? 2 * load->cap_open : 16;
		struct ct_open_op_rec *open = realloc(load->open, cap * sizeof(*open));

		if (!open)
			return CT_NOMEM;
		load->open = open;
		load->cap_open = cap;
	}
	load->open[load->n_open++] = *rec;
	return CT_OK;
}

static void seen_at(uint64_t *latest, uint64_t ns)
{
	if (ns > *latest)
		*latest = ns;
}

static void take_loss(struct ct_load *load, const struct ct_loss_rec *rec)
{
	struct ct_load_loss *loss;

	if (rec->reason >= CT_LOSS_MAX)
		return;
	loss = &load->facts.losses[rec->reason];
	if (rec->records > loss->records)
		loss->records = rec->records;
	if (rec->begin_ns && (!loss->begin_ns || rec->begin_ns < loss->begin_ns))
		loss->begin_ns = rec->begin_ns;
	seen_at(&loss->end_ns, rec->end_ns);
}

static int take_rare(struct ct_load *load, const struct ct_block *block, const struct ct_rare *rare)
{
	const uint8_t *bytes = block->bytes + rare->at;
	union {
		struct ct_comm_rec comm;
		struct ct_loss_rec loss;
		struct ct_status_rec status;
		struct ct_open_op_rec open_op;
		struct ct_cost_rec cost;
		struct ct_end_rec end;
		struct ct_match_rec match;
	} u;

	switch (rare->kind) {
	case CT_KIND_STRING:
		return CT_OK; /* taken before the others, which name them */
	case CT_KIND_NAME:
		return take_name(load, bytes, rare->len);
	case CT_KIND_NOTE:
		return take_note(load, bytes, rare->len);
	case CT_KIND_COMM:
		ct_rare_get(block, rare, &u.comm, sizeof(u.comm));
		return take_comm(load, &u.comm);
	case CT_KIND_LOSS:
		ct_rare_get(block, rare, &u.loss, sizeof(u.loss));
		take_loss(load, &u.loss);
		return CT_OK;
	case CT_KIND_STATUS:
		ct_rare_get(block, rare, &u.status, sizeof(u.status));
		seen_at(&load->facts.beat_ns, u.status.beat_ns);
		return CT_OK;
	case CT_KIND_OPEN_OP:
		ct_rare_get(block, rare, &u.open_op, sizeof(u.open_op));
		return take_open_op(load, &u.open_op);
	case CT_KIND_OPEN_LAUNCH:
		load->facts.open_launches++;
		return CT_OK;
	case CT_KIND_COST:
		ct_rare_get(block, rare, &u.cost, sizeof(u.cost));
		load->facts.cost = u.cost;
		load->facts.has_cost = 1;
		return CT_OK;
	case CT_KIND_MATCH:
		ct_rare_get(block, rare, &u.match, sizeof(u.match));
		load->matches[u.match.launch % CT_LOAD_MATCHES] = u.match;
		return CT_OK;
	case CT_KIND_END:
		ct_rare_get(block, rare, &u.end, sizeof(u.end));
		load->facts.end = u.end;
		load->facts.has_end = 1;
		seen_at(&load->facts.last_ns, u.end.end_ns);
		return CT_OK;
	default:
		return CT_OK;
	}
}

static int take_rares(struct ct_load *load, const struct ct_block *block)
{
	int tells_open = block->type == CT_BLOCK_CHECKPOINT || block->type == CT_BLOCK_STATUS ||
			 block->type == CT_BLOCK_END;
	int st = CT_OK;

	for (uint32_t i = 0; i < block->n_rares && st == CT_OK; i++) {
		const struct ct_rare *rare = &block->rares[i];

		tells_open |= rare->kind == CT_KIND_OPEN_OP || rare->kind == CT_KIND_STATUS;
		if (rare->kind == CT_KIND_STRING)
			st = take_string(load, block->bytes + rare->at, rare->len);
	}
	/* What is open is told anew each time, not added to. */
	if (tells_open) {
		load->n_open = 0;
		load->facts.open_launches = 0;
	}
	for (uint32_t i = 0; i < block->n_rares && st == CT_OK; i++)
		st = take_rare(load, block, &block->rares[i]);
	return st;
}

/* An open op that a block holds is no longer known from the status alone. */
static void forget_open(struct ct_load *load, const struct ct_block *block)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < load->n_open; i++) {
		const struct ct_open_op_rec *open = &load->open[i];
		int covered = 0;

		for (uint32_t e = 0; e < block->n_extents && !covered; e++) {
			const struct ct_extent *extent = &block->extents[e];

			covered = extent->lap == open->lap && open->slot >= extent->first &&
				  open->slot - extent->first < extent->n_slots;
		}
		if (!covered)
			load->open[kept++] = *open;
	}
	load->n_open = kept;
}

/* ---- ops ---- */

static enum ct_op_state state_of(const struct ct_op *op, const struct ct_joined_op *j)
{
	const int nccl_in_progress = 7; /* nccl.h: ncclInProgress is no failure */

	if (!op->return_ns)
		return CT_STATE_ENTERED;
	if (op->result == CT_RESULT_EXCEPTION ||
	    (op->result != 0 && !(j->backend == CT_BACKEND_NCCL && op->result == nccl_in_progress)))
		return CT_STATE_ERROR;
	return j->end_source == CT_SOURCE_NONE ? CT_STATE_RETURNED : CT_STATE_FINISHED;
}

static void set_span(struct ct_load *load, struct ct_joined_op *j, const struct ct_launch *launch)
{
	const struct ct_op *op = j->op;
	uint64_t edge = load->edge_err_ns;

	if (op->launch && launch) {
		j->start_source = launch->start_ns ? launch->start_source : CT_SOURCE_NONE;
		j->end_source = launch->end_ns ? launch->end_source : CT_SOURCE_NONE;
		j->start_ns = j->start_source ? launch->start_ns : 0;
		j->end_ns = j->end_source ? launch->end_ns : 0;
		j->start_err_ns = j->start_source ? launch->start_err_ns + edge : 0;
		j->end_err_ns = j->end_source ? launch->end_err_ns + edge : 0;
		j->stream = launch->stream;
		j->device = launch->device;
	} else if (!op->launch && !(op->flags & CT_OP_CAPTURED)) {
		j->start_source = CT_SOURCE_CALL;
		j->start_ns = op->enter_ns;
		j->start_err_ns = edge;
		if (op->return_ns) {
			j->end_source = CT_SOURCE_CALL;
			j->end_ns = op->return_ns;
			j->end_err_ns = edge;
		}
	}
}

/* A receive from any peer, once its message has come. */
static const struct ct_op *with_peer(const struct ct_load *load, const struct ct_op *op,
				     struct ct_op *copy)
{
	const struct ct_match_rec *match = &load->matches[op->launch % CT_LOAD_MATCHES];

	if (op->op != CT_OP_Recv || op->peer >= 0 || !op->launch || match->launch != op->launch)
		return op;
	*copy = *op;
	copy->peer = match->peer;
	copy->seq = match->seq;
	return copy;
}

static int joined(void *arg, const struct ct_op *op, const struct ct_launch *launch)
{
	struct ct_load *load = arg;
	struct ct_load_op out = { .comm = ct_table_get(&load->comms, op->comm) };
	struct ct_joined_op *j = &out.joined;
	struct ct_op copy;

	op = with_peer(load, op, &copy);
	j->op = op;
	j->process = load->info;
	j->process_index = load->index;
	j->op_name = ct_op_names_get(load->names, op->op);
	j->call = string_of(load, op->call);
	j->site = string_of(load, op->site);
	j->comm_rank = -1;
	if (out.comm) {
		j->comm_name = out.comm->name;
		j->comm_key = out.comm->rec.key;
		j->nranks = out.comm->rec.nranks;
		j->comm_rank = out.comm->rec.rank;
		j->backend = out.comm->rec.backend;
	} else {
		load->facts.orphans++;
	}
	if (__builtin_mul_overflow(op->count, ct_dtype_bytes(op->dtype), &j->bytes))
		j->bytes = UINT64_MAX;
	set_span(load, j, launch);
	j->state = state_of(op, j);
	load->facts.ops++;
	return load->sink.op(load->sink.arg, &out);
}

static int give_op(struct ct_load *load, const struct ct_op *op)
{
	struct ct_load_facts *facts = &load->facts;

	if (op->enter_ns && (!facts->first_ns || op->enter_ns < facts->first_ns))
		facts->first_ns = op->enter_ns;
	seen_at(&facts->last_ns, op->enter_ns);
	seen_at(&facts->last_ns, op->return_ns);
	return op->launch ? ct_join_op(load->join, op) : joined(load, op, NULL);
}

static int by_enter(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* A block holds the ops thread by thread; what follows wants them about as they came. */
static int give_ops(struct ct_load *load, const struct ct_block *block)
{
	int sorted = 1;
	int st = CT_OK;

	for (uint32_t i = 1; i < block->n_ops && sorted; i++)
		sorted = block->ops[i - 1].enter_ns <= block->ops[i].enter_ns;
	if (sorted) {
		for (uint32_t i = 0; i < block->n_ops && st == CT_OK; i++)
			st = give_op(load, &block->ops[i]);
		return st;
	}
	if (block->n_ops > load->cap_order) {
		free(load->order);
		load->cap_order = 0;
		load->order = malloc(block->n_ops * sizeof(*load->order));
		if (!load->order)
			return CT_NOMEM;
		load->cap_order = block->n_ops;
	}
	for (uint32_t i = 0; i < block->n_ops; i++)
		load->order[i] = (struct order){ block->ops[i].enter_ns, i };
	qsort(load->order, block->n_ops, sizeof(*load->order), by_enter);
	for (uint32_t i = 0; i < block->n_ops && st == CT_OK; i++)
		st = give_op(load, &block->ops[load->order[i].at]);
	return st;
}

static int take_block(struct ct_load *load, const struct ct_block *block)
{
	int st;

	load->edge_err_ns = load->info->id.clock_res_ns + block->quantum_ns;
	st = take_rares(load, block);
	/* Launches first: most of their ops came blocks ago, the others follow at once. */
	for (uint32_t i = 0; i < block->n_launches && st == CT_OK; i++) {
		seen_at(&load->facts.last_ns, block->launches[i].end_ns);
		st = ct_join_launch(load->join, &block->launches[i]);
	}
	if (st == CT_OK)
		st = give_ops(load, block);
	forget_open(load, block);
	seen_at(&load->facts.position_ns, load->facts.last_ns);
	seen_at(&load->facts.position_ns, load->facts.beat_ns);
	return st;
}

/* No more blocks: what is known from the last status only, and ops whose launch never ended. */
static int finish(struct ct_load *load)
{
	int st = ct_join_finish(load->join);

	for (uint32_t i = 0; i < load->n_open && st == CT_OK; i++) {
		struct ct_op op;

		ct_op_unpack(load->open[i].words, &op);
		op.tid = load->open[i].tid;
		op.return_ns = 0;
		op.launch = 0;
		op.flags |= CT_OP_UNRETURNED;
		st = give_op(load, &op);
	}
	return st;
}

int ct_load_next(struct ct_load *load, struct ct_err *err)
{
	const struct ct_block *block;
	int got, st;

	if (load->ended)
		return 0;
	got = ct_process_next(load->reader, &block, err);
	if (got < 0)
		return got;
	load->ended = got == 0;
	st = got ? take_block(load, block) : finish(load);
	if (st != CT_OK)
		return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
	return got;
}
