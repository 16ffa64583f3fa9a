/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/pass.h"

#include <stdlib.h>
#include <string.h>

#include "trace/ops.h"

/* Members that may wait for the others: some blocks of every process, and never less than the first figure. */
#define CT_PASS_MIN_BYTES (64ull << 20)
#define CT_PASS_BLOCK_BYTES (CT_BLOCK_MAX_RECORDS * (uint64_t)sizeof(struct ct_member))

/* In-flight ops that are kept for the report. */
#define CT_PASS_MAX_UNRETURNED 4096u

/* A process while it is being read. */
struct reading {
	struct ct_pass *pass;
	struct ct_load *load;
	uint32_t process;
	uint32_t seat;
	uint64_t position_ns; /* how far, since the run began */
	int begun;
};

uint64_t ct_pass_at(const struct ct_pass *pass, uint32_t process, uint64_t mono_ns)
{
	uint64_t at = mono_ns + pass->shift[pass->attempts->places[process].host];

	/* Before the beginning by a hair: the host's clocks were read one after the other. */
	return (int64_t)at < 0 ? 0 : at;
}

static int on_comm(void *arg, struct ct_load_comm *comm)
{
	struct reading *reading = arg;
	struct ct_comm *registered;
	int st = ct_comms_add(&reading->pass->comms, &comm->rec, comm->name, reading->seat,
			      &registered);

	comm->user = registered;
	return st;
}

/* ---- one op ---- */

/* How long the seat had been in no other communication when it started this: since the latest end of an
 * operation of another communicator, or of one that did not bring all members together. */
static uint64_t free_before(const struct ct_history *history, uint32_t comm, uint64_t start_ns)
{
	uint64_t latest = 0;

	for (unsigned i = 0; i < CT_HISTORY; i++) {
		uint64_t end = history->ops[i].end_ns;

		if ((history->ops[i].comm == comm && history->ops[i].synchronising) ||
		    end > start_ns)
			continue;
		latest = end > latest ? end : latest;
	}
	return latest ? start_ns - latest : UINT64_MAX;
}

static void remember(struct ct_history *history, uint32_t comm, unsigned op, uint64_t end_ns)
{
	unsigned at = history->next++ % CT_HISTORY;

	history->ops[at].end_ns = end_ns;
	history->ops[at].comm = comm;
	history->ops[at].synchronising = ct_op_class(op) == CT_CLASS_SYNC;
}

/* v-collectives carry it at the end of their names: gloo::allgatherv, MPI_Alltoallv. */
static int is_varying(const char *call)
{
	size_t len = call ? strlen(call) : 0;

	return len > 0 && call[len - 1] == 'v';
}

static enum ct_timing timing_of(const struct ct_joined_op *j)
{
	switch (j->end_source) {
	case CT_SOURCE_CALL:
	case CT_SOURCE_WAIT:
		return CT_TIMING_CALL;
	case CT_SOURCE_POLL:
		return CT_TIMING_HOST;
	case CT_SOURCE_PLUGIN:
		return CT_TIMING_PLUGIN;
	case CT_SOURCE_EVENT:
		return CT_TIMING_EVENTS;
	case CT_SOURCE_NONE:
		break;
	}
	return CT_TIMING_OFF;
}

static uint32_t error_of(uint64_t err_ns)
{
	return err_ns < UINT32_MAX ? (uint32_t)err_ns : UINT32_MAX;
}

static int keep_unreturned(struct ct_pass *pass, const struct ct_load_op *op)
{
	struct ct_unreturned *kept;

	if (pass->n_unreturned == CT_PASS_MAX_UNRETURNED)
		return CT_OK;
	if (pass->n_unreturned == pass->cap_unreturned) {
		uint32_t cap = pass->cap_unreturned ? 2 * pass->cap_unreturned : 16;

		kept = realloc(pass->unreturned, cap * sizeof(*kept));
		if (!kept)
			return CT_NOMEM;
		pass->unreturned = kept;
		pass->cap_unreturned = cap;
	}
	kept = &pass->unreturned[pass->n_unreturned++];
	kept->op = *op->joined.op;
	kept->process = op->joined.process_index;
	kept->comm = op->comm ? op->comm->user : NULL;
	kept->call = NULL;
	if (op->joined.call) {
		kept->call = ct_arena_printf(pass->memory, "%s", op->joined.call);
		if (!kept->call)
			return CT_NOMEM;
	}
	return CT_OK;
}

/* Operations without partners of their own: a row, nothing to match. */
static int add_local(struct ct_pass *pass, struct ct_comm *comm, const struct ct_member *m)
{
	struct ct_class *class = ct_classes_get(&pass->classes, comm, m->op, m->dtype, m->bytes);

	if (!class)
		return CT_NOMEM;
	class->instances++;
	class->bytes += m->bytes;
	return m->start_ns && m->end_ns >= m->start_ns
		       ? ct_hist_add(&class->span, m->end_ns - m->start_ns)
		       : CT_OK;
}

static int match(struct ct_pass *pass, const struct ct_load_op *op, struct ct_member *m)
{
	struct ct_comm *comm = op->comm->user;
	const struct ct_op *o = op->joined.op;
	int32_t me = op->comm->rec.rank;

	switch (ct_op_class(o->op)) {
	case CT_CLASS_SYNC:
	case CT_CLASS_ROOTED:
		m->index = (uint32_t)me;
		return ct_match_collective(pass->match, comm, o->seq, m);
	case CT_CLASS_P2P:
		if (o->peer < 0 || (uint32_t)o->peer >= comm->nranks)
			return add_local(pass, comm, m);
		m->index = o->op == CT_OP_Recv;
		return ct_match_message(pass->match, comm, m->index ? o->peer : me,
					m->index ? me : o->peer, o->tag, o->seq, m);
	case CT_CLASS_LOCAL:
	case CT_CLASS_UNKNOWN:
		break;
	}
	return add_local(pass, comm, m);
}

static int on_op(void *arg, const struct ct_load_op *op)
{
	struct reading *reading = arg;
	struct ct_pass *pass = reading->pass;
	struct ct_seat *seat = &pass->seats[reading->seat];
	const struct ct_joined_op *j = &op->joined;
	struct ct_comm *comm = op->comm ? op->comm->user : NULL;
	enum ct_timing timing = timing_of(j);
	struct ct_member m = {
		.count = j->op->count,
		.seat = reading->seat,
		.root = j->op->peer,
		.tid = j->op->tid,
		.op = j->op->op,
		.dtype = j->op->dtype,
		.redop = j->op->redop,
		.varying = (uint8_t)is_varying(j->call),
		.returned = j->state != CT_STATE_ENTERED,
		.free_ns = UINT64_MAX,
	};

	pass->ops++;
	seat->ops++;
	seat->bytes += j->bytes;
	seat->timing = timing > seat->timing ? timing : seat->timing;
	if (pass->options && pass->options->progress && pass->ops % 65536 == 0)
		pass->options->progress(pass->options->progress_arg, pass->ops);
	if (j->state == CT_STATE_ENTERED && keep_unreturned(pass, op) != CT_OK)
		return CT_NOMEM;
	/* What failed took as long as it took to fail. */
	if (j->state == CT_STATE_FINISHED && j->start_ns && j->end_ns >= j->start_ns) {
		m.start_ns = j->start_ns;
		m.end_ns = j->end_ns;
		m.start_err_ns = error_of(j->start_err_ns);
		m.end_err_ns = error_of(j->end_err_ns);
		ct_cover_add(&seat->busy, m.start_ns, m.end_ns);
	} else if (j->state == CT_STATE_FINISHED) {
		seat->unmeasured++;
	}
	if (!comm || (j->op->flags & CT_OP_CAPTURED))
		return CT_OK;
	/* an all-to-all's count is what goes to one peer, that of its v-form what goes to all of them */
	m.bytes = ct_op_total_bytes(m.op, m.count, m.dtype,
				    m.varying && m.op == CT_OP_AllToAll ? 1 : comm->nranks);
	if (m.start_ns) {
		m.free_ns = free_before(&seat->history, comm->index, m.start_ns);
		remember(&seat->history, comm->index, m.op, m.end_ns);
	}
	return match(pass, op, &m);
}

/* ---- all processes ---- */

static int prepare(struct ct_pass *pass, struct ct_attempts *attempts, const uint8_t *in_set)
{
	const struct ct_run *run = pass->run;
	uint64_t limit = run->n_processes * CT_PASS_BLOCK_BYTES;
	int *ranks = NULL;

	pass->memory = ct_arena_new();
	if (!pass->memory || ct_comms_init(&pass->comms) || ct_classes_init(&pass->classes))
		return CT_NOMEM;
	if (ct_attempts_seats(run, attempts, pass->attempt, &ranks, &pass->n_seats) != CT_OK)
		return CT_NOMEM;
	pass->names.memory = pass->memory;
	ct_mismatches_init(&pass->mismatches, pass->memory);
	pass->match = ct_match_new(limit > CT_PASS_MIN_BYTES ? limit : CT_PASS_MIN_BYTES,
				   ct_pass_judge, pass);
	pass->seats = calloc(pass->n_seats + 1, sizeof(*pass->seats));
	pass->host_of = calloc(pass->n_seats + 1, sizeof(*pass->host_of));
	pass->shift = calloc(attempts->n_hosts + 1, sizeof(*pass->shift));
	pass->processes = calloc(run->n_processes + 1, sizeof(*pass->processes));
	for (uint32_t s = 0; pass->seats && s < pass->n_seats; s++)
		pass->seats[s].rank = ranks[s];
	free(ranks);
	if (!pass->match || !pass->seats || !pass->host_of || !pass->shift || !pass->processes)
		return CT_NOMEM;
	pass->begin_unix_ns = UINT64_MAX;
	for (size_t p = 0; p < run->n_processes; p++) {
		const struct ct_place *place = &attempts->places[p];

		if (place->attempt != pass->attempt)
			continue;
		pass->seats[place->seat].host = place->host;
		pass->host_of[place->seat] = place->host;
		if (run->processes[p].id.start_unix_ns < pass->begin_unix_ns)
			pass->begin_unix_ns = run->processes[p].id.start_unix_ns;
	}
	for (uint32_t h = 0; h < attempts->n_hosts; h++)
		pass->shift[h] = attempts->hosts[h].unix_minus_mono - pass->begin_unix_ns;
	return ct_blame_init(&pass->blame, pass->n_seats, attempts->n_hosts, in_set);
}

/* Keep what the process told, close its files. */
static int end_reading(struct reading *reading)
{
	struct ct_pass *pass = reading->pass;
	struct ct_pass_process *kept = &pass->processes[reading->process];
	int st = CT_OK;

	kept->facts = *ct_load_facts(reading->load);
	kept->gaps = *ct_load_gaps(reading->load);
	kept->read = 1;
	kept->notes = ct_arena_calloc(pass->memory, CT_LOAD_NOTES, sizeof(*kept->notes));
	for (uint32_t n = 0; kept->notes && n < kept->facts.n_notes; n++) {
		kept->notes[n] = ct_arena_printf(pass->memory, "%s", kept->facts.notes[n]);
		if (!kept->notes[n])
			st = CT_NOMEM;
	}
	kept->facts.notes = NULL;
	pass->open_launches += kept->facts.open_launches;
	ct_load_close(reading->load);
	reading->load = NULL;
	return kept->notes ? st : CT_NOMEM;
}

static struct reading *furthest_behind(struct reading *readings, size_t n)
{
	struct reading *behind = NULL;

	for (size_t i = 0; i < n; i++) {
		struct reading *r = &readings[i];

		if (r->load &&
		    (!behind || r->begun < behind->begun ||
		     (r->begun == behind->begun && r->position_ns < behind->position_ns)))
			behind = r;
	}
	return behind;
}

static int read_all(struct ct_pass *pass, struct reading *readings, size_t n, struct ct_err *err)
{
	struct reading *r;
	int st;

	while ((r = furthest_behind(readings, n))) {
		st = ct_load_next(r->load, err);
		if (st < 0)
			return st;
		r->begun = 1;
		r->position_ns = ct_pass_at(pass, r->process, ct_load_facts(r->load)->position_ns);
		if (st == 0) {
			st = end_reading(r);
			if (st != CT_OK)
				return st;
		}
	}
	return ct_match_finish(pass->match);
}

static int read_processes(struct ct_pass *pass, struct ct_err *err)
{
	const struct ct_run *run = pass->run;
	struct reading *readings = calloc(run->n_processes + 1, sizeof(*readings));
	size_t n = 0;
	int st = readings ? CT_OK : CT_NOMEM;

	for (size_t p = 0; p < run->n_processes && st == CT_OK; p++) {
		struct reading *r = &readings[n];
		struct ct_load_sink sink = { .op = on_op, .comm = on_comm, .arg = r };

		if (pass->attempts->places[p].attempt != pass->attempt)
			continue;
		r->pass = pass;
		r->process = (uint32_t)p;
		r->seat = pass->attempts->places[p].seat;
		st = ct_load_open(run, p, &sink, &pass->names, &r->load, err);
		n++;
	}
	if (st == CT_OK)
		st = read_all(pass, readings, n, err);
	for (size_t i = 0; i < n; i++)
		ct_load_close(readings[i].load);
	free(readings);
	return st;
}

/* Recording began .. last record, on the host where that is longest: no clocks are compared across hosts. */
static uint64_t duration(const struct ct_pass *pass)
{
	uint64_t longest = 0;

	for (uint32_t h = 0; h < pass->attempts->n_hosts; h++) {
		uint64_t begin = UINT64_MAX, end = 0;

		for (size_t p = 0; p < pass->run->n_processes; p++) {
			const struct ct_pass_process *kept = &pass->processes[p];
			uint64_t start = pass->run->processes[p].id.start_ns;

			if (!kept->read || pass->attempts->places[p].host != h)
				continue;
			begin = start < begin ? start : begin;
			end = kept->facts.last_ns > end ? kept->facts.last_ns : end;
		}
		if (end > begin && end - begin > longest)
			longest = end - begin;
	}
	return longest;
}

/* A process that was told no global rank has the one it has in the largest communicator, if it is free. */
static void guess_ranks(struct ct_pass *pass)
{
	for (uint32_t s = 0; s < pass->n_seats; s++) {
		const struct ct_comm *largest = NULL;
		int rank = -1;

		if (pass->seats[s].rank >= 0)
			continue;
		for (uint32_t c = 0; c < pass->comms.n; c++) {
			const struct ct_comm *comm = pass->comms.all[c];

			if (comm->shared_seat || comm->clash ||
			    (largest && comm->nranks <= largest->nranks))
				continue;
			for (uint32_t r = 0; r < comm->nranks; r++) {
				if (comm->seats[r] == s + 1) {
					largest = comm;
					rank = (int)r;
					break;
				}
			}
		}
		for (uint32_t o = 0; o < pass->n_seats && rank >= 0; o++) {
			if (pass->seats[o].rank == rank)
				rank = -1;
		}
		pass->seats[s].rank = rank;
	}
}

/* An op without return kept its rank busy up to the last sign of life. */
static void add_unreturned(struct ct_pass *pass)
{
	for (uint32_t i = 0; i < pass->n_unreturned; i++) {
		const struct ct_unreturned *u = &pass->unreturned[i];
		const struct ct_load_facts *facts = &pass->processes[u->process].facts;
		uint64_t until = facts->beat_ns > facts->last_ns ? facts->beat_ns : facts->last_ns;

		ct_cover_add(&pass->seats[pass->attempts->places[u->process].seat].busy,
			     u->op.enter_ns, until);
	}
}

int ct_pass_run(struct ct_pass *pass, const struct ct_run *run, struct ct_attempts *attempts,
		int attempt, const uint8_t *in_set, const struct ct_analyze_options *options,
		struct ct_err *err)
{
	int st;

	*pass = (struct ct_pass){
		.run = run, .attempts = attempts, .attempt = attempt, .options = options
	};
	st = prepare(pass, attempts, in_set);
	if (st == CT_OK)
		st = read_processes(pass, err);
	if (st == CT_NOMEM)
		return ct_fail(err, st, "%s", ct_status_text(st));
	if (st != CT_OK)
		return st;
	pass->duration_ns = duration(pass);
	guess_ranks(pass);
	add_unreturned(pass);
	return CT_OK;
}

void ct_pass_fini(struct ct_pass *pass)
{
	ct_match_free(pass->match);
	ct_blame_fini(&pass->blame);
	ct_waits_fini(&pass->waits);
	ct_mismatches_fini(&pass->mismatches);
	ct_classes_fini(&pass->classes);
	ct_comms_fini(&pass->comms);
	ct_arena_free(pass->memory);
	free(pass->seats);
	free(pass->host_of);
	free(pass->shift);
	free(pass->processes);
	free(pass->unreturned);
	*pass = (struct ct_pass){ 0 };
}
