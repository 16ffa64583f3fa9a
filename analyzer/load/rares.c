/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/grow.h"
#include "analyzer/load/load_private.h"
#include "trace/ops.h"

/* size: ops in one process that may be inside their calls at once: one a thread. */
#define CT_LOAD_MAX_OPEN 65536u

const char *ct_load_string(const struct ct_load *load, uint32_t id)
{
	return id ? ct_table_get(&load->strings, id) : NULL;
}

const struct ct_call_row *ct_load_call_row(struct ct_load *load, uint32_t id)
{
	struct ct_load_call *call = &load->calls[id % CT_LOAD_CALLS];

	if (!call->row || call->id != id)
		*call = (struct ct_load_call){ id, ct_call_row(ct_load_string(load, id)) };
	return call->row;
}

static int take_string(struct ct_load *load, const uint8_t *bytes, size_t len)
{
	const char *text;
	uint32_t id;

	if (len < sizeof(id))
		return CT_OK;
	memcpy(&id, bytes, sizeof(id));
	if (!id || ct_load_string(load, id))
		return CT_OK;
	text = ct_arena_text(load->memory, (const char *)bytes + sizeof(id), len - sizeof(id));
	if (ct_arena_failed(load->memory) ||
	    ct_table_put(&load->strings, id, (void *)(uintptr_t)text) != CT_OK)
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
	return ct_arena_failed(load->names->memory) ? CT_NOMEM : CT_OK;
}

static int take_note(struct ct_load *load, const uint8_t *bytes, size_t len)
{
	struct ct_process_facts *facts = &load->facts;
	const char *text;

	if (len <= 8 || facts->n_notes == CT_PROCESS_NOTES)
		return CT_OK;
	text = ct_arena_text(load->memory, (const char *)bytes + 8, len - 8);
	if (ct_arena_failed(load->memory))
		return CT_NOMEM;
	for (uint32_t i = 0; i < facts->n_notes; i++) {
		if (strcmp(facts->notes[i], text) == 0)
			return CT_OK;
	}
	facts->notes[facts->n_notes++] = text;
	return CT_OK;
}

/* Which of the process's ranks a member is: that of its GPU. */
static uint32_t local_rank(struct ct_load *load, const struct ct_comm_rec *rec)
{
	struct ct_load_rank *rank;
	uint32_t at = 0;

	if (rec->device) {
		while (at < load->n_ranks && load->ranks[at].device &&
		       load->ranks[at].device != rec->device)
			at++;
		if (at == CT_LOAD_RANKS)
			at = 0;
		if (at == load->n_ranks)
			load->n_ranks++;
	}
	rank = &load->ranks[at];
	if (rec->device && !rank->device)
		rank->device = rec->device;
	if (rec->nranks > rank->nranks) {
		rank->nranks = rec->nranks;
		rank->rank = rec->rank;
	}
	return at;
}

/* MPI's programs name communicators when they have them. */
static int take_comm_name(struct ct_load *load, struct ct_load_comm *comm, uint32_t id)
{
	const char *name = ct_load_string(load, id);

	if (!name || (comm->name && strcmp(name, comm->name) == 0))
		return CT_OK;
	comm->name = name;
	return load->sink.named ? load->sink.named(load->sink.arg, comm) : CT_OK;
}

static int take_comm(struct ct_load *load, const struct ct_comm_rec *rec)
{
	struct ct_load_comm *comm = ct_table_get(&load->comms, rec->id);

	if (!rec->id || !rec->key || !rec->nranks || rec->nranks > CT_COMM_MAX_RANKS ||
	    rec->rank < 0 || (uint32_t)rec->rank >= rec->nranks)
		return CT_OK;
	if (comm) {
		/* what the ring reports comes last, and may be older than what a segment reported */
		if (rec->ended_ns)
			comm->rec.ended_ns = rec->ended_ns;
		return take_comm_name(load, comm, rec->name);
	}
	comm = ct_arena_calloc(load->memory, 1, sizeof(*comm));
	if (!comm || ct_table_put(&load->comms, rec->id, comm) != CT_OK)
		return CT_NOMEM;
	comm->rec = *rec;
	comm->name = ct_load_string(load, rec->name);
	comm->local = local_rank(load, rec);
	/* the call that entered it may stand in a block that is left out */
	load->facts.in_library |= load->sink.from && rec->backend == CT_BACKEND_MPI;
	return load->sink.comm ? load->sink.comm(load->sink.arg, comm) : CT_OK;
}

static int take_comm_status(struct ct_load *load, const struct ct_comm_status_rec *rec)
{
	struct ct_load_comm *comm = ct_table_get(&load->comms, rec->comm);

	return comm && load->sink.reached ? load->sink.reached(load->sink.arg, comm, rec) : CT_OK;
}

static int take_open_op(struct ct_load *load, const struct ct_open_op_rec *rec)
{
	if (load->n_open == CT_LOAD_MAX_OPEN)
		return CT_OK;
	if (ct_grow(&load->open, &load->cap_open, load->n_open + 1, sizeof(*load->open)))
		return CT_NOMEM;
	load->open[load->n_open++] = *rec;
	return CT_OK;
}

static int take_open_launch(struct ct_load *load, const struct ct_open_launch_rec *rec)
{
	load->facts.open_launches++;
	if (load->n_launches == CT_LOAD_MAX_OPEN)
		return CT_OK;
	if (ct_grow(&load->launches, &load->cap_launches, load->n_launches + 1,
		    sizeof(*load->launches)))
		return CT_NOMEM;
	load->launches[load->n_launches++] = *rec;
	return CT_OK;
}

/* Another thread records the begin of such a call than its end, which may come first. */
static int is_over(struct ct_load *load, const struct ct_host_rec *rec)
{
	const uint64_t *ended_ns = ct_table_get(&load->syncs, rec->tid);

	return ended_ns && rec->enter_ns <= *ended_ns;
}

static int note_over(struct ct_load *load, const struct ct_host_rec *rec)
{
	uint64_t *ended_ns = ct_table_get(&load->syncs, rec->tid);

	if (!ended_ns) {
		ended_ns = ct_arena_calloc(load->memory, 1, sizeof(*ended_ns));
		if (!ended_ns || ct_table_put(&load->syncs, rec->tid, ended_ns) != CT_OK)
			return CT_NOMEM;
	}
	ct_load_seen_at(ended_ns, rec->enter_ns);
	return CT_OK;
}

/* How a process is about to end. */
static void note_ending(struct ct_process_facts *facts, const struct ct_host_rec *rec,
			unsigned traits)
{
	facts->in_library |= (traits & CT_CALL_ENTERS_LIBRARY) && rec->return_ns;
	facts->left_library |= (traits & CT_CALL_LEAVES_LIBRARY) != 0;
	if (traits & CT_CALL_ENDS_JOB)
		facts->aborts_ns = rec->return_ns ? 0 : rec->enter_ns;
}

static int take_host(struct ct_load *load, const struct ct_host_rec *rec)
{
	unsigned traits = ct_load_call_row(load, rec->call)->traits;
	int is_sync = (traits & CT_CALL_WAITS_FOR_GPU) != 0;

	/* A time that no clock shows, in three centuries: sums of such would not end where they
	 * begin. */
	if (rec->enter_ns > INT64_MAX || rec->return_ns > INT64_MAX)
		return CT_OK;
	note_ending(&load->facts, rec, traits);
	if (is_sync && !rec->return_ns && is_over(load, rec))
		return CT_OK;
	if (is_sync && rec->return_ns && note_over(load, rec) != CT_OK)
		return CT_NOMEM;
	if (!load->sink.host)
		return CT_OK;
	return load->sink.host(load->sink.arg, rec, ct_load_string(load, rec->call),
			       ct_load_string(load, ct_host_site(rec)));
}

static int take_error(struct ct_load *load, const struct ct_error_rec *rec)
{
	/* as in take_host() */
	if (!load->sink.error || rec->reported_ns > INT64_MAX)
		return CT_OK;
	return load->sink.error(load->sink.arg, rec, ct_load_string(load, rec->call),
				ct_load_string(load, rec->text));
}

static int take_loss(struct ct_load *load, const struct ct_loss_rec *rec)
{
	struct ct_process_loss *loss;

	if (rec->reason >= CT_LOSS_MAX)
		return CT_OK;
	loss = &load->facts.losses[rec->reason];
	if (rec->records > loss->records)
		loss->records = rec->records;
	if (rec->begin_ns && (!loss->begin_ns || rec->begin_ns < loss->begin_ns))
		loss->begin_ns = rec->begin_ns;
	ct_load_seen_at(&loss->end_ns, rec->end_ns);
	return CT_OK;
}

/* fact: adjtimex(2): nothing sets the clock, or the call failed. */
#define STATUS_UNSYNC 0x40u

static int take_clock(struct ct_load *load, const struct ct_clock_rec *rec)
{
	struct ct_process_facts *facts = &load->facts;

	facts->clocks++;
	if (rec->maxerror_ns == UINT64_MAX || rec->status & STATUS_UNSYNC)
		facts->wall_unset = 1;
	else if (rec->maxerror_ns > facts->wall_err_ns)
		facts->wall_err_ns = rec->maxerror_ns;
	return CT_OK;
}

/* Of a block whose rare records are all empty there are none. */
static const uint8_t *bytes_of(const struct ct_block *block, const struct ct_rare *rare)
{
	return block->bytes ? block->bytes + rare->at : (const uint8_t *)"";
}

static int take_status(struct ct_load *load, const struct ct_status_rec *rec)
{
	ct_load_seen_at(&load->facts.beat_ns, rec->beat_ns);
	return CT_OK;
}

static int take_cost(struct ct_load *load, const struct ct_cost_rec *rec)
{
	/* written before anything was measured: the write thread itself costs something */
	if (!rec->write_cpu_ns)
		return CT_OK;
	load->facts.cost = *rec;
	load->facts.has_cost = 1;
	return CT_OK;
}

static int take_wait(struct ct_load *load, const struct ct_wait_rec *rec)
{
	return load->sink.wait ? load->sink.wait(load->sink.arg, rec) : CT_OK;
}

static int take_stream(struct ct_load *load, const struct ct_stream_rec *rec)
{
	const struct ct_wait_rec state = {
		.waiter = rec->stream,
		.flags = CT_WAIT_STREAM | (rec->flags & CT_STREAM_FED ? CT_WAIT_FED : 0),
	};

	return take_wait(load, &state);
}

static int take_graph(struct ct_load *load, const struct ct_graph_rec *rec)
{
	return ct_graphs_add(&load->graphs, rec);
}

static int take_nvtx(struct ct_load *load, struct ct_nvtx_rec *rec)
{
	if (rec->how != CT_NVTX_STEP)
		rec->name[sizeof(rec->name) - 1] = '\0';
	return load->sink.nvtx ? load->sink.nvtx(load->sink.arg, rec) : CT_OK;
}

static int take_end(struct ct_load *load, const struct ct_end_rec *rec)
{
	load->facts.end = *rec;
	load->facts.has_end = 1;
	ct_load_seen_at(&load->facts.last_ns, rec->end_ns);
	return CT_OK;
}

static int take_fact(struct ct_load *load, const uint8_t *bytes, uint32_t len)
{
	return ct_facts_take(&load->environment, load->memory, bytes, len);
}

static int take_invisible(struct ct_load *load, const uint8_t *bytes, uint32_t len)
{
	return ct_facts_take_unseen(&load->environment, load->memory, bytes, len);
}

static int take_port(struct ct_load *load, const uint8_t *bytes, uint32_t len)
{
	return ct_port_sums_port(&load->ports, bytes, len);
}

static int take_counters(struct ct_load *load, const uint8_t *bytes, uint32_t len)
{
	return ct_port_sums_sample(&load->ports, bytes, len);
}

static int take_stack(struct ct_load *load, const uint8_t *bytes, uint32_t len)
{
	return load->sink.stack ? load->sink.stack(load->sink.arg, bytes, len) : CT_OK;
}

/* What is taken of which kind: a row each. Of a fixed struct a copy is passed, which fills up with
 * zeros what an older version did not write; of any length the bytes. Strings are not here: they
 * are taken before the others, which name them. */
#define FIXED(X)                                                                                   \
	X(COMM, comm, take_comm)                                                                   \
	X(LOSS, loss, take_loss)                                                                   \
	X(STATUS, status, take_status)                                                             \
	X(COMM_STATUS, comm_status, take_comm_status)                                              \
	X(OPEN_OP, open_op, take_open_op)                                                          \
	X(OPEN_LAUNCH, open_launch, take_open_launch)                                              \
	X(HOST_BEGIN, host, take_host)                                                             \
	X(HOST_END, host, take_host)                                                               \
	X(CLOCK, clock, take_clock)                                                                \
	X(COST, cost, take_cost)                                                                   \
	X(MATCH, match, ct_load_take_match)                                                        \
	X(WAIT, wait, take_wait)                                                                   \
	X(STREAM, stream, take_stream)                                                             \
	X(GRAPH, graph, take_graph)                                                                \
	X(DETAIL, detail, ct_load_take_detail)                                                     \
	X(SUBMIT, submit, ct_load_take_submit)                                                     \
	X(NVTX, nvtx, take_nvtx)                                                                   \
	X(ERROR, error, take_error)                                                                \
	X(TRAFFIC, traffic, ct_load_take_traffic)                                                  \
	X(END, end, take_end)
#define VARIABLE(X)                                                                                \
	X(NAME, take_name)                                                                         \
	X(NOTE, take_note)                                                                         \
	X(ENV, take_fact)                                                                          \
	X(INVISIBLE, take_invisible)                                                               \
	X(PORT, take_port)                                                                         \
	X(COUNTERS, take_counters)                                                                 \
	X(STACK, take_stack)

static int take_rare(struct ct_load *load, const struct ct_block *block, const struct ct_rare *rare)
{
	switch (rare->kind) {
#define X(KIND, type, take)                                                                        \
	case CT_KIND_##KIND: {                                                                     \
		struct ct_##type##_rec rec;                                                        \
		ct_rare_get(block, rare, &rec, sizeof(rec));                                       \
		return take(load, &rec);                                                           \
	}
		FIXED(X)
#undef X
#define X(KIND, take)                                                                              \
	case CT_KIND_##KIND:                                                                       \
		return take(load, bytes_of(block, rare), rare->len);
		VARIABLE(X)
#undef X
	default:
		return CT_OK;
	}
}

int ct_load_rares(struct ct_load *load, const struct ct_block *block)
{
	int has_open_ops = block->type == CT_BLOCK_CHECKPOINT || block->type == CT_BLOCK_STATUS ||
			   block->type == CT_BLOCK_END;
	int st = CT_OK;

	for (uint32_t i = 0; i < block->n_rares && st == CT_OK; i++) {
		const struct ct_rare *rare = &block->rares[i];

		has_open_ops |= rare->kind == CT_KIND_OPEN_OP || rare->kind == CT_KIND_STATUS;
		if (rare->kind == CT_KIND_STRING)
			st = take_string(load, bytes_of(block, rare), rare->len);
	}
	/* Each record lists all that is open; it replaces the one before. */
	if (has_open_ops) {
		load->n_open = 0;
		load->n_launches = 0;
		load->facts.open_launches = 0;
	}
	for (uint32_t i = 0; i < block->n_rares && st == CT_OK; i++)
		st = take_rare(load, block, &block->rares[i]);
	return st;
}

void ct_load_forget_open(struct ct_load *load, const struct ct_block *block)
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
