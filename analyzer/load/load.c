/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/load.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/load/load_private.h"
#include "trace/ops.h"

static int joined(void *arg, const struct ct_op *ops, uint32_t n, const struct ct_launch *launch);

struct ct_load_memory *ct_load_memory_new(void)
{
	struct ct_load_memory *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->decoding = ct_decoding_new();
	if (memory->decoding)
		return memory;
	free(memory);
	return NULL;
}

void ct_load_memory_free(struct ct_load_memory *memory)
{
	if (!memory)
		return;
	ct_decoding_free(memory->decoding);
	ct_pool_fini(&memory->entries);
	free(memory->order);
	free(memory);
}

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
	load->n_ranks = 1;
	load->memory = ct_arena_new();
	load->graphs.memory = load->memory;
	load->own = sink->shared ? NULL : ct_load_memory_new();
	load->shared = sink->shared ? sink->shared : load->own;
	if (load->shared)
		load->join = ct_join_new(joined, load, &load->shared->entries);
	if (load->memory) {
		load->facts.notes = ct_arena_calloc(load->memory, CT_PROCESS_NOTES,
						    sizeof(*load->facts.notes));
	}
	if (!load->join || !load->facts.notes) {
		ct_load_close(load);
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	}
	st = ct_process_open_in(run, index, load->shared->decoding, &load->reader, err);
	if (st != CT_OK) {
		ct_load_close(load);
		return st;
	}
	if (sink->skims || sink->from)
		ct_process_skim(load->reader, sink->skims ? CT_SKIM_ALL : sink->from);
	if (sink->is_tail)
		ct_process_read_tail(load->reader, sink->segment);
	if (sink->follows)
		ct_process_follow(load->reader);
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
	ct_table_fini(&load->syncs);
	ct_facts_fini(&load->environment);
	ct_graphs_fini(&load->graphs);
	ct_port_sums_free(load->ports);
	ct_table_fini(&load->details);
	ct_table_fini(&load->matches);
	ct_table_fini(&load->submits);
	ct_table_fini(&load->traffic_by_key);
	ct_arena_free(load->memory);
	free(load->open);
	free(load->launches);
	ct_load_memory_free(load->own);
	free(load);
}

void ct_load_lend(struct ct_load *load, struct ct_load_memory *memory, struct ct_op_names *names)
{
	load->shared = memory;
	load->names = names;
	ct_join_lend(load->join, &memory->entries);
	ct_process_decode_in(load->reader, memory->decoding);
}

const struct ct_environment_facts *ct_load_environment(const struct ct_load *load)
{
	return &load->environment;
}

struct ct_port_sums *ct_load_ports(struct ct_load *load)
{
	struct ct_port_sums *ports = load->ports;

	load->ports = NULL;
	ct_port_sums_end(ports);
	return ports;
}

const struct ct_process_facts *ct_load_facts(const struct ct_load *load)
{
	return &load->facts;
}

uint64_t ct_load_position(const struct ct_load *load)
{
	return ct_process_position(load->reader);
}

const struct ct_gaps *ct_load_gaps(const struct ct_load *load)
{
	return ct_process_gaps(load->reader);
}

uint32_t ct_load_ranks(const struct ct_load *load, const struct ct_load_rank **ranks)
{
	*ranks = load->ranks;
	return load->n_ranks;
}

int ct_load_rank(const struct ct_load *load, uint32_t local)
{
	const struct ct_load_rank *rank = &load->ranks[local];

	if (load->n_ranks == 1)
		return load->info->id.rank;
	return (int64_t)rank->nranks >= load->info->id.world_size ? rank->rank : -1;
}

/* ---- ops ---- */

static int is_failure(int result, unsigned backend)
{
	const int nccl_in_progress = 7; /* nccl.h: ncclInProgress is not a failure */

	return result != 0 && !(backend == CT_BACKEND_NCCL && result == nccl_in_progress);
}

/* Nothing for the GPU to do: NCCL drops empty collectives. */
static int is_nothing(const struct ct_op *op, unsigned backend)
{
	return backend == CT_BACKEND_NCCL && !(op->flags & CT_OP_CAPTURED) &&
	       (!op->launch || ct_op_is_empty_collective(op));
}

static enum ct_op_state state_of(const struct ct_op *op, const struct ct_joined_op *j,
				 const struct ct_launch *launch)
{
	if (!op->return_ns)
		return CT_STATE_ENTERED;
	if (is_failure(op->result, j->backend))
		return CT_STATE_ERROR;
	if (launch && launch->result == CT_RESULT_ABORTED)
		return CT_STATE_ABORTED;
	if (launch && is_failure(launch->result, j->backend))
		return CT_STATE_ERROR;
	if (is_nothing(op, j->backend))
		return CT_STATE_FINISHED;
	if (j->end_source != CT_SOURCE_NONE)
		return CT_STATE_FINISHED;
	return launch && launch->start_ns && !launch->end_ns ? CT_STATE_STARTED : CT_STATE_RETURNED;
}

/* What a library puts on a GPU has the span of its launch or none; elsewhere an op without launch
 * took as long as its call. Nothing is known of when captured work runs. */
static void set_span(struct ct_load *load, struct ct_joined_op *j, const struct ct_launch *launch)
{
	const struct ct_op *op = j->op;
	uint64_t edge = load->edge_err_ns;

	if (op->launch && launch) {
		int timed = !(op->flags & CT_OP_CAPTURED);

		j->start_source = launch->start_ns && timed ? launch->start_source : CT_SOURCE_NONE;
		j->end_source = launch->end_ns && timed ? launch->end_source : CT_SOURCE_NONE;
		j->start_ns = j->start_source ? launch->start_ns : 0;
		j->end_ns = j->end_source ? launch->end_ns : 0;
		j->start_err_ns = j->start_source ? launch->start_err_ns + edge : 0;
		j->end_err_ns = j->end_source ? launch->end_err_ns + edge : 0;
		j->stream = launch->stream;
		j->device = launch->device;
	} else if (!op->launch && !(op->flags & CT_OP_CAPTURED) && j->backend != CT_BACKEND_NCCL) {
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

/* The launch that an op still waited for at the end. */
static const struct ct_open_launch_rec *open_launch(const struct ct_load *load, uint32_t id)
{
	for (uint32_t i = 0; load->ended && i < load->n_launches; i++) {
		if ((uint32_t)CT_OPEN_WORD(&load->launches[i], tag) == id)
			return &load->launches[i];
	}
	return NULL;
}

/* Of what is captured `launch` is the list that it is in. */
static int has_launch(const struct ct_op *op)
{
	return op->launch && !(op->flags & (CT_OP_UNTIMED | CT_OP_CAPTURED));
}

static int give(struct ct_load *load, const struct ct_op *op, const struct ct_launch *launch,
		const struct ct_load_launch *all)
{
	struct ct_load_op out = { .comm = ct_table_get(&load->comms, op->comm),
				  .launch = all,
				  .open = has_launch(op) ? open_launch(load, op->launch) : NULL };
	struct ct_joined_op *j = &out.joined;
	struct ct_op copy;

	if (all) {
		j->launch_ops = all->n_ops;
		j->launch_at = (uint32_t)(op - all->ops);
	}
	out.from_any = op->op == CT_OP_Recv && (op->peer < 0 || op->tag == CT_TAG_ANY);
	/* few processes have any of these records */
	if (load->matches.n)
		op = ct_load_give_match(load, op, &copy);
	j->op = op;
	j->process = load->info;
	j->process_index = load->index;
	j->op_name = ct_op_names_get(load->names, op->op);
	j->call = ct_load_string(load, op->call);
	j->site = ct_load_string(load, op->site);
	j->comm_rank = -1;
	if (out.comm) {
		j->comm_name = out.comm->name;
		j->comm_hash = out.comm->rec.key;
		j->nranks = out.comm->rec.nranks;
		j->comm_rank = out.comm->rec.rank;
		j->backend = out.comm->rec.backend;
	} else {
		load->facts.orphans++;
	}
	j->rank = ct_load_rank(load, out.comm ? out.comm->local : 0);
	if (__builtin_mul_overflow(ct_op_count(op), ct_dtype_bytes(op->dtype), &j->bytes))
		j->bytes = UINT64_MAX;
	if (op->op == CT_OP_GraphLaunch) {
		j->graph = ct_graphs_get(&load->graphs, op->tag, op->comm, j->nranks);
		j->bytes = j->graph ? j->graph->bytes : 0;
	}
	if (load->details.n)
		ct_load_give_detail(load, j);
	if (load->submits.n)
		ct_load_give_submit(load, j);
	set_span(load, j, launch);
	j->state = state_of(op, j, launch);
	if (out.comm)
		ct_load_look_back(load, out.comm, j);
	load->facts.ops++;
	return load->sink.op(load->sink.arg, &out);
}

static int joined(void *arg, const struct ct_op *ops, uint32_t n, const struct ct_launch *launch)
{
	struct ct_load *load = arg;
	struct ct_load_launch all = { ops, n, n };
	int st = CT_OK;

	if (launch && launch->n_ops > n)
		all.n_ops = launch->n_ops;
	for (uint32_t i = 0; i < n && st == CT_OK; i++)
		st = give(load, &ops[i], launch, launch || n > 1 ? &all : NULL);
	return st;
}

static int give_op(struct ct_load *load, const struct ct_op *op)
{
	struct ct_process_facts *facts = &load->facts;

	if (op->enter_ns && (!facts->first_ns || op->enter_ns < facts->first_ns))
		facts->first_ns = op->enter_ns;
	ct_load_seen_at(&facts->last_ns, op->enter_ns);
	ct_load_seen_at(&facts->last_ns, op->return_ns);
	return has_launch(op) ? ct_join_op(load->join, op) : give(load, op, NULL, NULL);
}

CT_SORT_BY(by_enter, struct ct_load_order, CT_UP(enter_ns) ?: CT_UP(at))

/* A block holds the ops thread by thread; what follows wants them about as they came. */
static int give_ops(struct ct_load *load, const struct ct_block *block)
{
	struct ct_load_memory *memory = load->shared;
	int sorted = 1;
	int st = CT_OK;

	for (uint32_t i = 1; i < block->n_ops && sorted; i++)
		sorted = block->ops[i - 1].enter_ns <= block->ops[i].enter_ns;
	if (sorted) {
		for (uint32_t i = 0; i < block->n_ops && st == CT_OK; i++)
			st = give_op(load, &block->ops[i]);
		return st;
	}
	if (ct_grow(&memory->order, &memory->cap_order, block->n_ops, sizeof(*memory->order)))
		return CT_NOMEM;
	for (uint32_t i = 0; i < block->n_ops; i++)
		memory->order[i] = (struct ct_load_order){ block->ops[i].enter_ns, i };
	qsort(memory->order, block->n_ops, sizeof(*memory->order), by_enter);
	for (uint32_t i = 0; i < block->n_ops && st == CT_OK; i++)
		st = give_op(load, &block->ops[memory->order[i].at]);
	return st;
}

/* Operations that are not read. */
static void take_skimmed(struct ct_load *load, const struct ct_block *block)
{
	struct ct_process_facts *facts = &load->facts;

	facts->ops += block->skimmed_ops;
	if (block->is_left_out) {
		facts->left_out_ops += block->skimmed_ops;
		ct_load_seen_at(&facts->left_out_ns, block->end_ns);
	}
	if (block->begin_ns && (!facts->first_ns || block->begin_ns < facts->first_ns))
		facts->first_ns = block->begin_ns;
	ct_load_seen_at(&facts->last_ns, block->end_ns);
}

static int take_block(struct ct_load *load, const struct ct_block *block)
{
	int st;

	load->edge_err_ns = load->info->id.clock_res_ns + block->quantum_ns;
	st = ct_load_rares(load, block);
	/* Launches first: most of their ops came blocks ago, the others follow at once. */
	for (uint32_t i = 0; i < block->n_launches && st == CT_OK; i++) {
		ct_load_seen_at(&load->facts.last_ns, block->launches[i].end_ns);
		st = ct_join_launch(load->join, &block->launches[i]);
	}
	st = st ?: give_ops(load, block);
	take_skimmed(load, block);
	ct_load_forget_open(load, block);
	ct_load_seen_at(&load->facts.position_ns, load->facts.last_ns);
	ct_load_seen_at(&load->facts.position_ns, load->facts.beat_ns);
	return st;
}

/* Launches that were under way at the last tracer heartbeat: where they run, and whether they had
 * begun. When is not reported: the error of that time is not on record. */
static int give_open_launches(struct ct_load *load)
{
	int st = CT_OK;

	for (uint32_t i = 0; i < load->n_launches && st == CT_OK; i++) {
		const struct ct_open_launch_rec *open = &load->launches[i];
		uint64_t comm_op = CT_OPEN_WORD(open, comm_op);
		const struct ct_launch launch = {
			.id = (uint32_t)CT_OPEN_WORD(open, tag),
			.comm = (uint32_t)(comm_op >> 32),
			.n_ops = (uint32_t)(comm_op >> 8) & 0xffffff,
			.start_ns = CT_OPEN_WORD(open, start_ns),
			.stream = (uint32_t)(CT_OPEN_WORD(open, stream) >> 32),
			.device = (uint32_t)CT_OPEN_WORD(open, stream),
		};

		st = ct_join_launch(load->join, &launch);
	}
	return st;
}

/* No more blocks: what is known from the last status only, and ops whose launch never ended. */
static int finish(struct ct_load *load)
{
	int st;

	if (load->sink.skims)
		return CT_OK;
	st = give_open_launches(load);
	st = st ?: ct_join_finish(load->join);

	for (uint32_t i = 0; i < load->n_open && st == CT_OK; i++) {
		struct ct_op op;

		ct_op_unpack(load->open[i].words, &op);
		op.tid = load->open[i].tid;
		op.return_ns = 0;
		op.launch = 0;
		op.flags |= CT_OP_UNRETURNED;
		st = give_op(load, &op);
	}
	return st == CT_OK ? ct_load_report_backwards(load) : st;
}

int ct_load_next(struct ct_load *load, struct ct_err *err)
{
	const struct ct_block *block;
	int got, st;

	if (load->ended)
		return 0;
	got = ct_process_next(load->reader, &block, err);
	if (got < 0 || got == CT_PROCESS_WAITS)
		return got;
	load->ended = got == 0;
	st = got ? take_block(load, block) : finish(load);
	if (st != CT_OK)
		return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
	return got;
}
