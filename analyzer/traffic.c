/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/pass.h"
#include "trace/ops.h"

struct ct_traffic_pair {
	struct ct_traffic_pair *next;
	const struct ct_comm *comm;
	uint32_t from, to; /* ranks in it */
	uint64_t bytes;
};

/* A process's member of a communicator. */
struct ct_traffic_member {
	struct ct_traffic_member *next;
	int counts; /* it did what its backend counts inside ... */
	int told;   /* ... and has counted something */
};

static void give_up(struct ct_traffic *t, const char *why)
{
	if (!t->why)
		t->why = why;
}

static struct ct_traffic_member *member(struct ct_traffic *t, uint32_t process, uint32_t comm)
{
	uint64_t key = ct_mix((uint64_t)process << 32 | comm);
	struct ct_traffic_member *m = ct_table_get(&t->by_member, key);

	if (m)
		return m;
	m = ct_arena_calloc(t->memory, 1, sizeof(*m));
	if (!m || ct_table_put(&t->by_member, key, m) != CT_OK)
		return NULL;
	m->next = t->members;
	t->members = m;
	return m;
}

static int add(struct ct_traffic *t, const struct ct_comm *comm, uint32_t from, uint32_t to,
	       uint64_t bytes)
{
	uint64_t key = ct_mix(ct_mix(comm->index) ^ ((uint64_t)from << 32 | to));
	struct ct_traffic_pair *pair = ct_table_get(&t->by_pair, key);

	if (pair && (pair->comm != comm || pair->from != from || pair->to != to)) {
		give_up(t, "two pairs of ranks could not be told apart");
		return CT_OK;
	}
	if (!pair) {
		pair = ct_arena_calloc(t->memory, 1, sizeof(*pair));
		if (!pair || ct_table_put(&t->by_pair, key, pair) != CT_OK)
			return CT_NOMEM;
		*pair = (struct ct_traffic_pair){ t->pairs, comm, from, to, 0 };
		t->pairs = pair;
	}
	if (__builtin_add_overflow(pair->bytes, bytes, &pair->bytes))
		give_up(t, "more bytes than can be added up");
	return CT_OK;
}

static int add_send(struct ct_traffic *t, const struct ct_load_op *op, const struct ct_comm *comm)
{
	int32_t to = op->joined.op->peer;

	if (op->joined.state == CT_STATE_ERROR)
		return CT_OK;
	if (to < 0 || (uint32_t)to >= comm->nranks || op->joined.comm_rank < 0) {
		give_up(t, "a message to nobody knows whom");
		return CT_OK;
	}
	return add(t, comm, (uint32_t)op->joined.comm_rank, (uint32_t)to, op->joined.bytes);
}

int ct_traffic_op(struct ct_traffic *t, uint32_t process, const struct ct_load_op *op,
		  const struct ct_comm *comm)
{
	const struct ct_op *o = op->joined.op;
	struct ct_traffic_member *m;

	if (!comm) {
		give_up(t, "operations on communicators whose making was not recorded");
		return CT_OK;
	}
	if (comm->nranks < 2 || o->op == CT_OP_Recv)
		return CT_OK;
	if (o->op == CT_OP_Send)
		return add_send(t, op, comm);
	if (op->joined.backend != CT_BACKEND_GLOO) {
		/* what only meets moves none of the program's bytes */
		if (o->count || o->op == CT_OP_GraphLaunch)
			give_up(t, "how collectives and one-sided operations of NCCL and MPI move "
				   "their data is not recorded");
		return CT_OK;
	}
	m = member(t, process, o->comm);
	if (!m)
		return CT_NOMEM;
	/* whoever has been through one has sent or received something */
	m->counts |= op->joined.state == CT_STATE_FINISHED;
	return CT_OK;
}

int ct_traffic_process(struct ct_traffic *t, uint32_t process, const struct ct_load *load)
{
	const struct ct_load_traffic *told = ct_load_traffic(load);

	for (; told; told = told->next) {
		const struct ct_load_comm *comm = told->comm;
		const struct ct_traffic_rec *rec = &told->rec;
		const struct ct_comm *known = comm ? comm->user : NULL;
		struct ct_traffic_member *m = member(t, process, rec->comm);

		if (!m)
			return CT_NOMEM;
		m->told = 1;
		/* the sender's account is the one that counts */
		if (rec->received)
			continue;
		if (!known || rec->peer < 0 || (uint32_t)rec->peer >= known->nranks) {
			give_up(t, "bytes were sent to nobody knows whom");
			continue;
		}
		if (add(t, known, (uint32_t)comm->rec.rank, (uint32_t)rec->peer, rec->bytes) !=
		    CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

void ct_traffic_fini(struct ct_traffic *t)
{
	ct_table_fini(&t->by_pair);
	ct_table_fini(&t->by_member);
	*t = (struct ct_traffic){ 0 };
}

/* ---- the matrix ---- */

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

/* What passes unseen may have moved data; these do not. */
static int moves_nothing(const char *id)
{
	return strcmp(id, "CUDART_STATIC") == 0 || strcmp(id, "OTHER_DLSYM_HOOK") == 0 ||
	       strcmp(id, "DLSYM_OFF") == 0;
}

static int has_unseen(const struct ct_pass *pass)
{
	for (size_t p = 0; p < pass->run->n_processes; p++) {
		const struct ct_environment_facts *facts = &pass->processes[p].environment;

		for (uint32_t i = 0; pass->processes[p].read && i < facts->n_unseen; i++)
			if (!moves_nothing(facts->unseen[i].name))
				return 1;
	}
	return 0;
}

/* Losses of which no number of records tells that bytes may be missing. */
static int has_lost(const struct ct_report *report)
{
	static const char *const reasons[] = { "TRAFFIC_FULL", "STARTING", "NOT_INTERPOSABLE" };

	for (size_t i = 0; i < report->n_losses; i++) {
		if (report->losses[i].is_loss_of_records)
			return 1;
		for (size_t r = 0; r < sizeof(reasons) / sizeof(reasons[0]); r++)
			if (strcmp(report->losses[i].reason, reasons[r]) == 0)
				return 1;
	}
	return 0;
}

/* The ranks of the matrix, in order. */
static const char *list_ranks(const struct ct_pass *pass, struct ct_report *report)
{
	struct ct_report_traffic *out = &report->traffic;

	for (uint32_t s = 0; s < pass->n_seats; s++) {
		if (pass->seats[s].rank < 0 || pass->seats[s].muddled)
			return "which ranks there are is not known";
		out->ranks[out->n_ranks++] = pass->seats[s].rank;
	}
	qsort(out->ranks, out->n_ranks, sizeof(*out->ranks), by_number);
	for (size_t i = 1; i < out->n_ranks; i++)
		if (out->ranks[i] == out->ranks[i - 1])
			return "which ranks there are is not known";
	return NULL;
}

/* Place of a member's rank in the matrix; -1: no trace tells. */
static int64_t place_of(const struct ct_pass *pass, const struct ct_report_traffic *out,
			const struct ct_comm *comm, uint32_t member)
{
	uint32_t seat = comm->seats[member];
	const int *found;

	if (!seat || comm->clash || comm->shared_seat)
		return -1;
	found = bsearch(&pass->seats[seat - 1].rank, out->ranks, out->n_ranks, sizeof(*out->ranks),
			by_number);
	return found ? found - out->ranks : -1;
}

static const char *fill_matrix(const struct ct_pass *pass, struct ct_report_traffic *out)
{
	for (const struct ct_traffic_pair *p = pass->traffic.pairs; p; p = p->next) {
		int64_t from = place_of(pass, out, p->comm, p->from);
		int64_t to = place_of(pass, out, p->comm, p->to);
		uint64_t *cell;

		if (from < 0 || to < 0)
			return "bytes were sent to nobody knows whom";
		cell = &out->matrix[(size_t)from * out->n_ranks + (size_t)to];
		if (__builtin_add_overflow(*cell, p->bytes, cell))
			return "more bytes than can be added up";
	}
	return NULL;
}

/* The first reason for which the bytes are not known exactly; NULL: they are. */
static const char *find_why(const struct ct_pass *pass, const struct ct_report *report)
{
	if (pass->traffic.why)
		return pass->traffic.why;
	for (const struct ct_traffic_member *m = pass->traffic.members; m; m = m->next)
		if (m->counts && !m->told)
			return "what collectives of Gloo moved was not seen";
	if (!report->run.complete)
		return "ranks or records are missing";
	if (has_lost(report))
		return "operations or transfers were not recorded";
	if (has_unseen(pass))
		return "something communicates that passes unseen";
	if (pass->n_seats > CT_TRAFFIC_RANKS)
		return "too many ranks for a matrix";
	return NULL;
}

int ct_fill_traffic(const struct ct_pass *pass, struct ct_report *report)
{
	struct ct_report_traffic *out = &report->traffic;

	out->why = find_why(pass, report);
	if (!out->why && !pass->traffic.pairs)
		out->why = "nothing was sent";
	if (out->why)
		return CT_OK;
	out->ranks = ct_arena_calloc(report->memory, pass->n_seats, sizeof(*out->ranks));
	out->matrix = ct_arena_calloc(report->memory, (size_t)pass->n_seats * pass->n_seats,
				      sizeof(*out->matrix));
	if (!out->ranks || !out->matrix)
		return CT_NOMEM;
	out->why = list_ranks(pass, report);
	if (!out->why)
		out->why = fill_matrix(pass, out);
	if (out->why)
		out->n_ranks = 0;
	return CT_OK;
}
