/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyzer/base/union_find.h"
#include "analyzer/model/model.h"
#include "analyzer/model/report_rows.h"
#include "analyzer/steps/roles.h"
#include "analyzer/stream/instance_log.h"
#include "trace/ops.h"
#include "trace/status.h"

static uint32_t slot_at(const struct ct_comm *comm, uint32_t rank)
{
	return comm->slots[rank] ? comm->slots[rank] - 1 : UINT32_MAX;
}

/* The same step from each member's global rank to the next one's; 0: it is not. */
static uint32_t stride_of(const struct ct_model *model, const struct ct_comm *comm)
{
	int64_t stride = 0, last = -1;

	for (uint32_t r = 0; r < comm->nranks; r++) {
		uint32_t slot = slot_at(comm, r);
		int64_t rank = slot == UINT32_MAX ? -1 : model->slots[slot].rank;

		if (rank < 0 || (r && rank <= last) || (r > 1 && rank - last != stride))
			return 0;
		stride = rank - last;
		last = rank;
	}
	return comm->nranks > 1 ? (uint32_t)stride : 0;
}

static int is_on_one_host(const struct ct_model *model, const struct ct_comm *comm)
{
	uint32_t first = slot_at(comm, 0);

	for (uint32_t r = 0; r < comm->nranks; r++) {
		uint32_t slot = slot_at(comm, r);

		if (slot == UINT32_MAX || model->slots[slot].host != model->slots[first].host)
			return 0;
	}
	return 1;
}

static void set_shape(const struct ct_model *model, const struct ct_comm *comm,
		      struct ct_role_facts *f)
{
	f->name = comm->name;
	f->n = comm->nranks;
	/* a size that no other member confirms may come from a damaged file */
	if (comm->n_known < comm->nranks || comm->clash || comm->shared_slot)
		return;
	f->stride = stride_of(model, comm);
	f->one_host = is_on_one_host(model, comm);
	f->has_all_ranks = comm->nranks == model->n_slots;
}

/* Of several that hold all ranks: the one that is split from none, else the first to be made. */
static void find_first(const struct ct_model *model, struct ct_role_facts *facts)
{
	uint32_t first = UINT32_MAX;

	for (uint32_t c = 0; c < model->comms.n; c++) {
		if (!facts[c].has_all_ranks)
			continue;
		if (first == UINT32_MAX ||
		    (model->comms.all[first]->parent && !model->comms.all[c]->parent))
			first = c;
	}
	if (first != UINT32_MAX)
		facts[first].is_first = 1;
}

static void add_size(struct ct_role_facts *f, unsigned op, uint64_t bytes)
{
	uint32_t k = 0;

	while (k < f->n_sizes && (f->sizes[k].op != op || f->sizes[k].bytes != bytes))
		k++;
	if (k == CT_ROLE_SIZES)
		return;
	if (k == f->n_sizes)
		f->sizes[f->n_sizes++] = (struct ct_role_size){ .bytes = bytes, .op = (uint8_t)op };
	f->sizes[k].n++;
}

/* What is not known shows no role. */
static uint64_t bytes_of(const struct ct_log_instance *i)
{
	return i->bytes == UINT64_MAX ? 0 : i->bytes;
}

static void add_message(struct ct_role_facts *f, const struct ct_log_instance *i)
{
	uint32_t apart = i->src > i->dst ? (uint32_t)(i->src - i->dst)
					 : (uint32_t)(i->dst - i->src);

	f->messages++;
	f->message_bytes += bytes_of(i);
	f->to_self += apart == 0;
	/* round the ends too: stages that are interleaved */
	f->neighbours += apart == 1 || apart + 1 == f->n;
}

static void add_instance(struct ct_role_facts *f, const struct ct_log_instance *i)
{
	f->bytes += bytes_of(i);
	if (i->src >= 0) {
		add_message(f, i);
	} else if (i->is_swap) {
		f->swaps++;
	} else if (i->op == CT_OP_AllToAll) {
		f->exchanges++;
		f->exchanged_bytes += bytes_of(i);
	} else if (ct_op_class(i->op) == CT_CLASS_SYNC) {
		f->collectives++;
		add_size(f, i->op, bytes_of(i));
	} else {
		f->collectives++;
	}
}

static void set_content(const struct ct_model *model, const struct ct_instance_log *log,
			const struct ct_steps *steps, struct ct_role_facts *facts)
{
	for (uint32_t k = 0; k < log->n_instances; k++) {
		const struct ct_log_instance *i = &log->instances[k];
		uint32_t step = ct_step_at(steps, i->at_ns);

		if (!steps->n || (step != CT_NO_STEP && steps->kept[step]))
			add_instance(&facts[i->comm->index], i);
	}
	for (uint32_t c = 0; c < model->comms.n; c++)
		facts[c].steps = steps->n ? steps->n_kept : 0;
}

/* Are its members in as many different ones of role tp? tensor_of[slot]: communicator + 1. */
static int has_tensor_peer(const struct ct_comm *comm, const uint32_t *tensor_of)
{
	for (uint32_t r = 0; r < comm->nranks; r++) {
		uint32_t slot = slot_at(comm, r);

		if (slot == UINT32_MAX || !tensor_of[slot])
			return 0;
		for (uint32_t q = 0; q < r; q++) {
			if (tensor_of[slot_at(comm, q)] == tensor_of[slot])
				return 0;
		}
	}
	return comm->nranks > 1;
}

static int fill_one(const struct ct_comm *comm, const struct ct_role_facts *f,
		    struct ct_report *report, struct ct_role *role)
{
	struct ct_report_comm *row = ct_report_row_of_comm(report, comm->hash, comm->nranks);

	if (ct_role_of(f, report->memory, role) != CT_OK)
		return CT_NOMEM;
	if (!row)
		return CT_OK;
	row->role = ct_role_name(role->id);
	row->role_confidence = role->confidence;
	row->role_evidence = role->evidence;
	return CT_OK;
}

/* ---- which ranks are in one pipeline, by communicators of role pp, of all stages or of two
 * neighbours each
 * ---- */

static void add_pipe(uint32_t *pipes, const struct ct_comm *comm)
{
	for (uint32_t r = 0; r < comm->nranks; r++) {
		if (slot_at(comm, 0) != UINT32_MAX && slot_at(comm, r) != UINT32_MAX)
			pipes[ct_group_of(pipes, slot_at(comm, r))] = ct_group_of(pipes,
										  slot_at(comm, 0));
	}
}

/* Are all its members stages of one pipeline? 2: they are its first and its last one. */
static int in_one_pipe(const struct ct_model *model, const struct ct_comm *comm, uint32_t *pipes)
{
	uint32_t pipe = slot_at(comm, 0) == UINT32_MAX ? UINT32_MAX
						       : ct_group_of(pipes, slot_at(comm, 0));
	uint32_t first = 0, last = 0, stages = 0;

	for (uint32_t r = 0; r < comm->nranks; r++) {
		if (pipe == UINT32_MAX || slot_at(comm, r) == UINT32_MAX ||
		    ct_group_of(pipes, slot_at(comm, r)) != pipe)
			return 0;
	}
	for (uint32_t s = 0; s < model->n_slots; s++) {
		if (ct_group_of(pipes, s) != pipe)
			continue;
		if (!stages++)
			first = last = s;
		first = model->slots[s].rank < model->slots[first].rank ? s : first;
		last = model->slots[s].rank > model->slots[last].rank ? s : last;
	}
	if (stages < 2)
		return 0;
	return comm->nranks == 2 && ((slot_at(comm, 0) == first && slot_at(comm, 1) == last) ||
				     (slot_at(comm, 0) == last && slot_at(comm, 1) == first))
		       ? 2
		       : 1;
}

/* Twice: what is tensor or pipeline parallel shows others that are orthogonal to it, or are not. */
static int fill_all(const struct ct_model *model, struct ct_role_facts *facts, uint32_t *tensor_of,
		    uint32_t *pipes, struct ct_report *report)
{
	struct ct_role role;

	for (uint32_t s = 0; s < model->n_slots; s++)
		pipes[s] = s;

	for (int again = 0; again < 2; again++) {
		for (uint32_t c = 0; c < model->comms.n; c++) {
			const struct ct_comm *comm = model->comms.all[c];

			/* large ones: pairs of members would take too long, and nothing is so wide */
			if (again && comm->n_known == comm->nranks && comm->nranks <= 4096)
				facts[c].has_tensor_peer = has_tensor_peer(comm, tensor_of);
			if (again)
				facts[c].in_one_pipe = in_one_pipe(model, comm, pipes);
			if (fill_one(comm, &facts[c], report, &role) != CT_OK)
				return CT_NOMEM;
			for (uint32_t r = 0; role.id == CT_IS_TP && r < comm->nranks; r++) {
				if (slot_at(comm, r) != UINT32_MAX)
					tensor_of[slot_at(comm, r)] = c + 1;
			}
			if (!again && role.id == CT_IS_PP)
				add_pipe(pipes, comm);
		}
	}
	return CT_OK;
}

int ct_roles_fill(const struct ct_model *model, const struct ct_instance_log *log,
		  const struct ct_steps *steps, struct ct_report *report)
{
	struct ct_role_facts *facts = calloc(model->comms.n + 1u, sizeof(*facts));
	uint32_t *tensor_of = calloc(model->n_slots + 1u, sizeof(*tensor_of));
	uint32_t *pipes = calloc(model->n_slots + 1u, sizeof(*pipes));
	int st = facts && tensor_of && pipes ? CT_OK : CT_NOMEM;

	if (st == CT_OK) {
		for (uint32_t c = 0; c < model->comms.n; c++)
			set_shape(model, model->comms.all[c], &facts[c]);
		find_first(model, facts);
		set_content(model, log, steps, facts);
		st = fill_all(model, facts, tensor_of, pipes, report);
	}
	free(facts);
	free(tensor_of);
	free(pipes);
	return st;
}
