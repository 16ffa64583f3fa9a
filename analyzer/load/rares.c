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

	/* A time that no clock shows, in three centuries: sums of such would not end where they begin. */
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

static void take_loss(struct ct_load *load, const struct ct_loss_rec *rec)
{
	struct ct_process_loss *loss;

	if (rec->reason >= CT_LOSS_MAX)
		return;
	loss = &load->facts.losses[rec->reason];
	if (rec->records > loss->records)
		loss->records = rec->records;
	if (rec->begin_ns && (!loss->begin_ns || rec->begin_ns < loss->begin_ns))
		loss->begin_ns = rec->begin_ns;
	ct_load_seen_at(&loss->end_ns, rec->end_ns);
}

/* fact: adjtimex(2): nothing sets the clock, or the call failed. */
#define STATUS_UNSYNC 0x40u

static void take_clock(struct ct_process_facts *facts, const struct ct_clock_rec *rec)
{
	facts->clocks++;
	if (rec->maxerror_ns == UINT64_MAX || rec->status & STATUS_UNSYNC)
		facts->wall_unset = 1;
	else if (rec->maxerror_ns > facts->wall_err_ns)
		facts->wall_err_ns = rec->maxerror_ns;
}

/* Of a block whose rare records are all empty there are none. */
static const uint8_t *bytes_of(const struct ct_block *block, const struct ct_rare *rare)
{
	return block->bytes ? block->bytes + rare->at : (const uint8_t *)"";
}

static int take_rare(struct ct_load *load, const struct ct_block *block, const struct ct_rare *rare)
{
	const uint8_t *bytes = bytes_of(block, rare);
	union {
		struct ct_comm_rec comm;
		struct ct_loss_rec loss;
		struct ct_status_rec status;
		struct ct_comm_status_rec comm_status;
		struct ct_open_op_rec open_op;
		struct ct_open_launch_rec open_launch;
		struct ct_host_rec host;
		struct ct_clock_rec clock;
		struct ct_cost_rec cost;
		struct ct_end_rec end;
		struct ct_graph_rec graph;
		struct ct_match_rec match;
		struct ct_wait_rec wait;
		struct ct_detail_rec detail;
		struct ct_traffic_rec traffic;
		struct ct_submit_rec submit;
		struct ct_nvtx_rec nvtx;
		struct ct_error_rec error;
	} u;

	switch (rare->kind) {
	case CT_KIND_STRING:
		return CT_OK; /* taken before the others, which name them */
	case CT_KIND_NAME:
		return take_name(load, bytes, rare->len);
	case CT_KIND_NOTE:
		return take_note(load, bytes, rare->len);
	case CT_KIND_ENV:
		return ct_facts_take(&load->environment, load->memory, bytes, rare->len);
	case CT_KIND_INVISIBLE:
		return ct_facts_take_unseen(&load->environment, load->memory, bytes, rare->len);
	case CT_KIND_PORT:
		return ct_port_sums_port(&load->ports, bytes, rare->len);
	case CT_KIND_COUNTERS:
		return ct_port_sums_sample(&load->ports, bytes, rare->len);
	case CT_KIND_COMM:
		ct_rare_get(block, rare, &u.comm, sizeof(u.comm));
		return take_comm(load, &u.comm);
	case CT_KIND_LOSS:
		ct_rare_get(block, rare, &u.loss, sizeof(u.loss));
		take_loss(load, &u.loss);
		return CT_OK;
	case CT_KIND_STATUS:
		ct_rare_get(block, rare, &u.status, sizeof(u.status));
		ct_load_seen_at(&load->facts.beat_ns, u.status.beat_ns);
		return CT_OK;
	case CT_KIND_COMM_STATUS:
		ct_rare_get(block, rare, &u.comm_status, sizeof(u.comm_status));
		return take_comm_status(load, &u.comm_status);
	case CT_KIND_OPEN_OP:
		ct_rare_get(block, rare, &u.open_op, sizeof(u.open_op));
		return take_open_op(load, &u.open_op);
	case CT_KIND_OPEN_LAUNCH:
		ct_rare_get(block, rare, &u.open_launch, sizeof(u.open_launch));
		return take_open_launch(load, &u.open_launch);
	case CT_KIND_HOST_BEGIN:
	case CT_KIND_HOST_END:
		ct_rare_get(block, rare, &u.host, sizeof(u.host));
		return take_host(load, &u.host);
	case CT_KIND_CLOCK:
		ct_rare_get(block, rare, &u.clock, sizeof(u.clock));
		take_clock(&load->facts, &u.clock);
		return CT_OK;
	case CT_KIND_COST:
		ct_rare_get(block, rare, &u.cost, sizeof(u.cost));
		/* written before anything was measured: the write thread itself costs something */
		if (!u.cost.write_cpu_ns)
			return CT_OK;
		load->facts.cost = u.cost;
		load->facts.has_cost = 1;
		return CT_OK;
	case CT_KIND_MATCH:
		ct_rare_get(block, rare, &u.match, sizeof(u.match));
		return ct_load_take_got(load, &u.match);
	case CT_KIND_WAIT:
		if (!load->sink.wait)
			return CT_OK;
		ct_rare_get(block, rare, &u.wait, sizeof(u.wait));
		return load->sink.wait(load->sink.arg, &u.wait);
	case CT_KIND_GRAPH:
		ct_rare_get(block, rare, &u.graph, sizeof(u.graph));
		return ct_graphs_add(&load->graphs, &u.graph);
	case CT_KIND_DETAIL:
		ct_rare_get(block, rare, &u.detail, sizeof(u.detail));
		return ct_load_take_detail(load, &u.detail);
	case CT_KIND_SUBMIT:
		ct_rare_get(block, rare, &u.submit, sizeof(u.submit));
		return ct_load_take_submit(load, &u.submit);
	case CT_KIND_NVTX:
		ct_rare_get(block, rare, &u.nvtx, sizeof(u.nvtx));
		if (u.nvtx.how != CT_NVTX_STEP)
			u.nvtx.name[sizeof(u.nvtx.name) - 1] = '\0';
		return load->sink.nvtx ? load->sink.nvtx(load->sink.arg, &u.nvtx) : CT_OK;
	case CT_KIND_ERROR:
		ct_rare_get(block, rare, &u.error, sizeof(u.error));
		return take_error(load, &u.error);
	case CT_KIND_STACK:
		return load->sink.stack ? load->sink.stack(load->sink.arg, bytes, rare->len)
					: CT_OK;
	case CT_KIND_TRAFFIC:
		ct_rare_get(block, rare, &u.traffic, sizeof(u.traffic));
		return ct_load_take_traffic(load, &u.traffic);
	case CT_KIND_END:
		ct_rare_get(block, rare, &u.end, sizeof(u.end));
		load->facts.end = u.end;
		load->facts.has_end = 1;
		ct_load_seen_at(&load->facts.last_ns, u.end.end_ns);
		return CT_OK;
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
