/* SPDX-License-Identifier: Apache-2.0 */
/* check_journal.c — hold a run against the journals (tests/interpose/journal.h) of the processes in
 * it.
 *
 * Every call that a journal has as returned must be read back: in order, with its operation, its
 * bytes and its return. One that was begun may be there or not. What was never begun must not be
 * there, and nothing may be there twice or half. Prints one line that says how much was compared;
 * the first difference is reported in words and is exit status 1. 2: usage, or no run. */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/evidence.h"
#include "tests/interpose/journal.h"
#include "trace/ops.h"

static const char usage
	[] = "usage: check_journal [options] -r RUN [-r RUN...] JOURNAL...\n"
	     "  --by-process   the journal has one lane, whatever thread called\n"
	     "  --torch        the same, and a send or recv in it includes its wait\n"
	     "  --nccl         journals of commtrace-simjob: what was launched on a GPU ends "
	     "later, or has not\n"
	     "  --allow-lost   records may be lost if they were counted: found + lost = issued\n"
	     "  --may-be-empty a process of which nothing is found is no difference\n";

enum { MAX_RUNS = 64, MAX_COMMS = 64 };

static struct {
	const char *runs[MAX_RUNS];
	size_t n_runs;
	int by_process, torch, nccl, allow_lost, cut_at_exit, cut, may_be_empty;
} opt;

static struct {
	uint64_t processes, not_recorded, calls, waits, in_flight, in_flight_found, missing, lost,
		cut, open;
} total;

/* What a transfer that has been begun became in the trace. */
struct transfer {
	uint32_t launch;
	int open; /* its end has not been looked for */
};

/* One lane of a journal beside the ops that its thread has in the trace. */
struct lane {
	const char *path;
	const struct evidence *e;
	const struct ct_journal *journal;
	const struct ct_journal_lane *counts;
	unsigned id;
	const struct ct_op **ops;
	size_t n_ops, next;
	uint64_t entry; /* the one being looked at */
	struct transfer send, recv;
	uint64_t lost_ops, lost_launches, may_be_lost;
	int may_be_cut; /* the thread may have gone on after the end of recording */
};

static int is_cut(const struct lane *l)
{
	return l->may_be_cut && l->next == l->n_ops;
}

static void __attribute__((noreturn, format(printf, 2, 3)))
differ(const struct lane *l, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr,
		"check_journal: %s: rank %d, pid %d, lane %u (thread %u, %" PRIu64
		" calls entered, %" PRIu64 " returned, %zu ops in the trace, %" PRIu64
		" records counted as lost): call %" PRIu64 ": ",
		l->path, l->journal->rank, l->journal->pid, l->id, l->counts->tid,
		l->counts->entered, l->counts->returned, l->n_ops, evidence_lost(l->e), l->entry);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static const char *op_name(unsigned op)
{
	const char *name = ct_op_name(op);

	return name ? name : "an unknown operation";
}

static int is_wait(const struct ct_journal_entry *entry)
{
	return entry->op == CT_JOURNAL_WAIT_SEND || entry->op == CT_JOURNAL_WAIT_RECV;
}

static uint64_t op_bytes(const struct ct_op *op)
{
	return op->count * ct_dtype_bytes(op->dtype);
}

static int is_same(const struct lane *l, const struct ct_journal_entry *entry,
		   const struct ct_op *op)
{
	uint64_t bytes = op_bytes(op);

	/* The trace has what goes to one peer, the journal what goes to all. */
	if (entry->op == CT_JOURNAL_ALLTOALL && !opt.nccl)
		bytes *= (uint64_t)l->journal->size;
	return op->op == entry->op % 100 && bytes == entry->bytes;
}

/* What must hold for every op, whichever call it is. */
static void check_whole(const struct lane *l, const struct ct_op *op)
{
	const struct ct_comm_rec *comm = evidence_comm(l->e, op->comm);

	if (op->enter_ns == 0 || (op->return_ns && op->return_ns < op->enter_ns))
		differ(l, "torn: entered at %" PRIu64 ", returned at %" PRIu64, op->enter_ns,
		       op->return_ns);
	if (!evidence_has_string(l->e, op->call))
		differ(l, "the name of the function called (string %u) is not in the trace",
		       op->call);
	if (!comm)
		differ(l, "its communicator %u is not in the trace", op->comm);
	if (!opt.torch && !opt.nccl &&
	    (comm->nranks != (uint32_t)l->journal->size || comm->rank != l->journal->rank))
		differ(l, "its communicator says rank %d of %u, the journal rank %d of %d",
		       comm->rank, comm->nranks, l->journal->rank, l->journal->size);
	if (op->peer >= (int32_t)comm->nranks)
		differ(l, "torn: peer or root %d of %u ranks", op->peer, comm->nranks);
}

/* A transfer whose wait is over has an end of its own. */
static void check_transfer(struct lane *l, struct transfer *t)
{
	const struct ct_launch *launch = t->open && t->launch ? evidence_launch(l->e, t->launch)
							      : NULL;

	if (!t->open)
		return;
	t->open = 0;
	total.waits++;
	if (launch && launch->end_ns >= launch->start_ns && launch->end_source == CT_SOURCE_WAIT)
		return;
	if (is_cut(l) && !launch) {
		total.cut++;
		return;
	}
	if (opt.allow_lost && !launch) {
		l->lost_launches++;
		return;
	}
	if (!launch)
		differ(l, "the wait returned, and the trace has no launch record %u", t->launch);
	differ(l,
	       "the wait returned, and launch %u goes from %" PRIu64 " to %" PRIu64 " (source %u)",
	       t->launch, launch->start_ns, launch->end_ns, launch->end_source);
}

/* The op in the trace for the journal's entry, or NULL: it is not there. */
static const struct ct_op *take_op(struct lane *l, const struct ct_journal_entry *entry, int over)
{
	const struct ct_op *op = l->next < l->n_ops ? l->ops[l->next] : NULL;

	if (op && is_same(l, entry, op) && (!over || op->return_ns)) {
		l->next++;
		return op;
	}
	if (op && is_same(l, entry, op) && l->may_be_cut && l->next + 1 == l->n_ops) {
		l->next++;
		total.cut++;
		return op;
	}
	if (!op && (!over || is_cut(l))) {
		total.cut += (unsigned)over;
		return NULL;
	}
	if (opt.allow_lost) {
		l->lost_ops += (unsigned)over;
		return NULL;
	}
	if (!op)
		differ(l, "%s of %" PRIu64 " bytes returned, and is not in the trace",
		       op_name(entry->op % 100), entry->bytes);
	if (!is_same(l, entry, op))
		differ(l,
		       "the journal has %s of %" PRIu64 " bytes, the trace has %s of %" PRIu64
		       " bytes (seq %" PRIu64 ")",
		       op_name(entry->op % 100), entry->bytes, op_name(op->op), op_bytes(op),
		       op->seq);
	differ(l, "it returned, and the trace has no return of it");
}

/* How far the call that launches entry `i` came: itself, or the end of the outermost group around
 * it. */
enum progress { NOT_BEGUN, IN_FLIGHT, OVER };

static enum progress launched(const struct lane *l, uint64_t i)
{
	const struct ct_journal_entry *entries = l->journal->entry[l->id];
	int depth = 0;

	for (uint64_t before = 0; before < i; before++)
		depth += (entries[before].op == CT_JOURNAL_GROUP_START) -
			 (entries[before].op == CT_JOURNAL_GROUP_END);
	while (depth > 0 && ++i < l->counts->entered)
		depth += (entries[i].op == CT_JOURNAL_GROUP_START) -
			 (entries[i].op == CT_JOURNAL_GROUP_END);
	if (i >= l->counts->entered)
		return NOT_BEGUN;
	return i < l->counts->returned ? OVER : IN_FLIGHT;
}

/* A launch has a record once it is over or came to nothing, and stands in the open table before. */
static void check_launch(const struct lane *l, const struct ct_op *op)
{
	const struct ct_comm_rec *comm = evidence_comm(l->e, op->comm);
	const struct ct_launch *launch = evidence_launch(l->e, op->launch);
	int is_open = evidence_is_open(l->e, op->launch);
	/* those that NCCL launches at once, or not at all */
	enum progress progress = comm->nranks == 1 || op->count == 0 ? IN_FLIGHT
								     : launched(l, l->entry);

	if (op->launch == 0)
		differ(l, "an op on a GPU that has no launch id");
	if (op->flags & CT_OP_UNTIMED) /* by what it received to cost or to sample */
		return;
	total.open += is_open && !launch;
	if (progress == OVER && !launch && !is_open)
		differ(l, "launch %u of a call that returned is neither open nor recorded",
		       op->launch);
	if (progress == NOT_BEGUN && (is_open || (launch && launch->end_ns)))
		differ(l, "launch %u is %s, and the group of its op had not ended", op->launch,
		       launch ? "over" : "open");
	if (launch && launch->start_ns && launch->end_ns && launch->end_ns < launch->start_ns)
		differ(l, "launch %u ends at %" PRIu64 ", before it starts at %" PRIu64, op->launch,
		       launch->end_ns, launch->start_ns);
	if (launch && launch->start_ns &&
	    launch->start_ns + launch->start_err_ns + CT_BLOCK_QUANTUM_NS < op->enter_ns &&
	    launch->n_ops == 1)
		differ(l, "launch %u starts at %" PRIu64 ", before its call at %" PRIu64,
		       op->launch, launch->start_ns, op->enter_ns);
}

static void check_entry(struct lane *l)
{
	const struct ct_journal_entry *entry = &l->journal->entry[l->id][l->entry];
	int over = l->entry < l->counts->returned;
	struct transfer *t = entry->op % 100 == CT_JOURNAL_SEND ? &l->send : &l->recv;
	const struct ct_op *op;

	if (opt.nccl && entry->op % 100 == 0)
		return; /* it moves no data */
	if (is_wait(entry)) {
		if (over)
			check_transfer(l, t);
		t->open = 0;
		return;
	}
	op = take_op(l, entry, over);
	total.calls += (unsigned)over;
	total.in_flight += !over;
	total.in_flight_found += !over && op;
	if (entry->op == CT_JOURNAL_ALLTOALLV)
		l->may_be_lost += (uint64_t)(l->journal->size + 7) / 8;
	if (op)
		check_whole(l, op);
	if (op && opt.nccl) {
		check_launch(l, op);
		return;
	}
	if (entry->op != CT_JOURNAL_SEND && entry->op != CT_JOURNAL_RECV)
		return;
	l->may_be_lost++; /* a match, where it is received from anyone */
	t->launch = op ? op->launch : 0;
	t->open = op != NULL;
	if (op && op->launch == 0)
		differ(l, "a transfer that has no launch id");
	if (opt.torch && over)
		check_transfer(l, t);
}

/* One communicator after the other in time, and its collectives in sequence. */
static void check_order(struct lane *l)
{
	struct {
		uint32_t comm;
		uint64_t next;
	} seq[MAX_COMMS] = { 0 };
	const struct ct_op *before = NULL;

	for (size_t i = 0; i < l->n_ops; i++) {
		const struct ct_op *op = l->ops[i];
		size_t c = 0;

		/* Times are cut to the block's quantum. */
		if (before && op->enter_ns + CT_BLOCK_QUANTUM_NS < before->return_ns)
			differ(l, "op %zu of the trace was entered before the one before returned",
			       i);
		before = op;
		if (ct_op_class(op->op) == CT_CLASS_P2P)
			continue;
		while (c < MAX_COMMS && seq[c].comm && seq[c].comm != op->comm)
			c++;
		if (c == MAX_COMMS)
			differ(l, "more than %d communicators", MAX_COMMS);
		if (seq[c].comm && op->seq < seq[c].next)
			differ(l,
			       "op %zu of the trace: seq %" PRIu64
			       " on communicator %u after %" PRIu64,
			       i, op->seq, op->comm, seq[c].next - 1);
		seq[c].comm = op->comm;
		seq[c].next = op->seq + 1;
	}
}

static void check_lane(struct lane *l)
{
	const struct ct_journal_lane *c = l->counts;

	l->entry = c->entered;
	check_order(l);
	if (c->entered - c->returned > 1)
		differ(l, "the journal itself is wrong: more than one call in flight");
	for (l->entry = 0; l->entry < c->entered; l->entry++)
		check_entry(l);
	if (l->next < l->n_ops && !(c->flags & CT_JOURNAL_FULL))
		differ(l, "never begun, but the trace has %zu more: %s of %" PRIu64 " bytes",
		       l->n_ops - l->next, op_name(l->ops[l->next]->op), op_bytes(l->ops[l->next]));
	total.missing += l->lost_ops + l->lost_launches;
}

static int by_enter(const void *a, const void *b)
{
	const struct ct_op *x = *(const struct ct_op *const *)a,
			   *y = *(const struct ct_op *const *)b;

	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	return x < y ? -1 : 1; /* they lie in one array, in the order of reading */
}

static void pick_ops(struct lane *l)
{
	l->ops = calloc(l->e->n_ops + 1, sizeof(*l->ops));
	if (!l->ops)
		exit(2);
	for (size_t i = 0; i < l->e->n_ops; i++) {
		if (opt.by_process || l->e->ops[i].tid == l->counts->tid)
			l->ops[l->n_ops++] = &l->e->ops[i];
	}
	if (opt.by_process)
		qsort(l->ops, l->n_ops, sizeof(*l->ops), by_enter);
}

/* Bounds for what was not found: each counted loss is one record, of whatever kind. */
static void check_losses(const char *path, const struct evidence *e, uint64_t least, uint64_t most)
{
	uint64_t lost = evidence_lost(e);

	total.lost += lost;
	if (least <= lost && lost <= most)
		return;
	fprintf(stderr,
		"check_journal: %s: pid %u: %" PRIu64 " records are missing (%" PRIu64
		" at most), and %" PRIu64 " are counted as lost\n",
		path, e->info.id.pid, least, most, lost);
	exit(1);
}

static void check_damage(const char *path, const struct evidence *e)
{
	const struct ct_gaps *g = &e->gaps;

	/* A block that was being written when the process died is torn; its records are in the
	 * ring. */
	if (g->damage.damaged_blocks == 0 && g->damage.skipped_bytes == 0 && g->missing_blocks == 0)
		return;
	fprintf(stderr,
		"check_journal: %s: pid %u: %" PRIu64 " blocks missing, %u damaged, %" PRIu64
		" bytes skipped: %s\n",
		path, e->info.id.pid, g->missing_blocks, g->damage.damaged_blocks,
		g->damage.skipped_bytes, g->damage.first_why);
	exit(1);
}

static void check_process(const char *path, const struct ct_journal *journal,
			  const struct evidence *e)
{
	uint64_t least = 0, most = 0;
	size_t used = 0, known = 0;

	check_damage(path, e);
	for (unsigned i = 0; i < CT_JOURNAL_LANES; i++) {
		struct lane l = { .path = path,
				  .e = e,
				  .journal = journal,
				  .counts = &journal->lane[i],
				  .may_be_cut = opt.cut || (opt.cut_at_exit &&
							    e->info.end.how == CT_END_CLEAN),
				  .id = i };

		if (l.counts->tid == 0)
			continue;
		if (opt.by_process && used)
			differ(&l, "a second lane, against --by-process");
		used++;
		pick_ops(&l);
		known += l.n_ops;
		check_lane(&l);
		free(l.ops);
		least += l.lost_ops + l.lost_launches;
		/* A call in flight, and the making of the communicator, may be what was lost. */
		most += l.lost_ops + l.lost_launches + l.may_be_lost + 4;
		if (l.counts->flags & CT_JOURNAL_FULL)
			most = UINT64_MAX / 2;
	}
	if (known != e->n_ops) {
		fprintf(stderr, "check_journal: %s: pid %u: %zu ops of threads that have no lane\n",
			path, e->info.id.pid, e->n_ops - known);
		exit(1);
	}
	check_losses(path, e, least, opt.allow_lost ? most : 0);
}

static int has_returned(const struct ct_journal *journal)
{
	for (unsigned i = 0; i < CT_JOURNAL_LANES; i++) {
		if (journal->lane[i].returned)
			return 1;
	}
	return 0;
}

static void check_one(const struct ct_run *run, const char *path, const struct ct_journal *journal)
{
	const struct ct_process_info *process;
	struct ct_err err = { 0 };
	struct evidence e;

	process = journal ? evidence_process(run, (uint32_t)journal->pid) : NULL;
	if (!process) {
		if (journal && has_returned(journal) && !opt.may_be_empty) {
			fprintf(stderr,
				"check_journal: %s: pid %d made calls and is not in the run\n",
				path, journal->pid);
			exit(1);
		}
		total.not_recorded++;
		return;
	}
	if (evidence_read(run, process, &e, &err) != CT_OK) {
		fprintf(stderr, "check_journal: %s: pid %d: %s\n", path, journal->pid, err.text);
		exit(1);
	}
	total.processes++;
	check_process(path, journal, &e);
	evidence_free(&e);
}

/* One journal after the other, as many as there are. */
static void check_file(const struct ct_run *run, const char *path)
{
	const struct ct_journal *journal;
	unsigned i = 0;

	do {
		journal = ct_journal_open_nth(path, i);
		if (!journal && errno != EINVAL) {
			fprintf(stderr, "check_journal: %s: %s\n", path, strerror(errno));
			exit(2);
		}
		check_one(run, path, journal);
		ct_journal_close(journal);
	} while (ct_journal_is_there(path, ++i));
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "by-process", 0, &opt.by_process, 1 },
		{ "torch", 0, &opt.torch, 1 },
		{ "nccl", 0, &opt.nccl, 1 },
		{ "allow-lost", 0, &opt.allow_lost, 1 },
		{ "cut-at-exit", 0, &opt.cut_at_exit, 1 },
		{ "cut", 0, &opt.cut, 1 },
		{ "may-be-empty", 0, &opt.may_be_empty, 1 },
		{ NULL, 0, NULL, 0 },
	};
	struct ct_run *run;
	int c;

	while ((c = getopt_long(argc, argv, "r:", known, NULL)) != -1) {
		if (c == 'r' && opt.n_runs < MAX_RUNS) {
			opt.runs[opt.n_runs++] = optarg;
		} else if (c != 0) {
			fputs(usage, stderr);
			return 2;
		}
	}
	if (!opt.n_runs || optind == argc) {
		fputs(usage, stderr);
		return 2;
	}
	opt.by_process |= opt.torch;
	run = evidence_open("check_journal", opt.runs, opt.n_runs);
	for (int i = optind; i < argc; i++)
		check_file(run, argv[i]);
	if (run)
		ct_run_close(run);
	printf("check_journal: %" PRIu64 " processes (and %" PRIu64
	       " that recorded nothing), %" PRIu64 " calls, %" PRIu64 " waits, %" PRIu64
	       " in flight (%" PRIu64 " of them recorded), %" PRIu64 " missing, %" PRIu64
	       " counted as lost, %" PRIu64 " after the end of recording, %" PRIu64
	       " launches open\n",
	       total.processes, total.not_recorded, total.calls, total.waits, total.in_flight,
	       total.in_flight_found, total.missing, total.lost, total.cut, total.open);
	return 0;
}
