/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "analyzer/load/load.h"
#include "analyzer/load/ops_each.h"

/* code: no status of the map: the callback wanted to stop. */
#define CT_STOPPED (-1000)

/* size: calls of a process that may be under way at once: one a thread. */
#define MOST_OPEN 4096u

struct each {
	int (*each)(const struct ct_joined_op *op, void *arg);
	void *arg;
	int result;
	int with_calls;
	const struct ct_run *run;
	uint32_t process;
	struct open_call {
		struct ct_host_rec rec;
		const char *name, *site;
	} * open;
	uint32_t n_open;
};

static int give(struct each *e, const struct ct_joined_op *op)
{
	e->result = e->each(op, e->arg);
	return e->result ? CT_STOPPED : CT_OK;
}

static int one(void *arg, const struct ct_load_op *op)
{
	return give(arg, &op->joined);
}

static int give_call(struct each *e, const struct ct_host_rec *rec, const char *name,
		     const char *site)
{
	const struct ct_process_info *process = &e->run->processes[e->process];
	const struct ct_op op = {
		.enter_ns = rec->enter_ns,
		.return_ns = rec->return_ns,
		.tid = rec->tid,
		.result = rec->return_ns ? (int16_t)rec->result : 0,
		.peer = -1,
	};
	const struct ct_joined_op call = {
		.op = &op,
		.process = process,
		.process_index = e->process,
		.call = name,
		.site = site,
		.comm_hash = rec->key,
		.nranks = rec->key ? rec->nranks : 0,
		.comm_rank = rec->key ? rec->rank : -1,
		.rank = process->id.rank,
		.start_ns = rec->enter_ns,
		.end_ns = rec->return_ns,
		.start_source = CT_SOURCE_CALL,
		.end_source = rec->return_ns ? CT_SOURCE_CALL : CT_SOURCE_NONE,
		.state = rec->return_ns ? CT_STATE_FINISHED : CT_STATE_ENTERED,
	};

	return give(e, &call);
}

/* Entry and return have a record each, with the thread and the time of entry in common. */
static int one_call(void *arg, const struct ct_host_rec *rec, const char *name, const char *site)
{
	struct each *e = arg;
	uint32_t i = 0;

	while (i < e->n_open &&
	       (e->open[i].rec.tid != rec->tid || e->open[i].rec.enter_ns != rec->enter_ns))
		i++;
	if (rec->return_ns) {
		if (i < e->n_open) {
			site = e->open[i].site;
			e->open[i] = e->open[--e->n_open];
		}
		return give_call(e, rec, name, site);
	}
	if (i == e->n_open && i < MOST_OPEN)
		e->open[e->n_open++] = (struct open_call){ *rec, name, site };
	return CT_OK;
}

static int one_error(void *arg, const struct ct_error_rec *rec, const char *name, const char *text)
{
	struct each *e = arg;
	const struct ct_process_info *process = &e->run->processes[e->process];
	const struct ct_op op = {
		.enter_ns = rec->reported_ns,
		.return_ns = rec->reported_ns,
		.tid = rec->tid,
		.result = (int16_t)rec->result,
		.peer = -1,
	};
	const struct ct_joined_op passed = {
		.op = &op,
		.process = process,
		.process_index = e->process,
		.call = name,
		.error = text,
		.comm_hash = rec->key,
		.comm_rank = -1,
		.backend = rec->backend,
		.rank = process->id.rank,
		.state = CT_STATE_ERROR,
	};

	return give(e, &passed);
}

static int read_process(struct each *e, const struct ct_load_sink *sink, struct ct_op_names *names,
			struct ct_err *err)
{
	struct ct_load *load;
	int st = ct_load_open(e->run, e->process, sink, names, &load, err);

	if (st != CT_OK)
		return st;
	e->n_open = 0;
	do {
		st = ct_load_next(load, err);
	} while (st == 1);
	/* names live as long as the load */
	for (uint32_t i = 0; i < e->n_open && st == CT_OK; i++)
		st = give_call(e, &e->open[i].rec, e->open[i].name, e->open[i].site);
	ct_load_close(load);
	return st;
}

static int read_all(struct each *e, struct ct_err *err)
{
	const struct ct_load_sink sink = { .op = one,
					   .host = e->with_calls ? one_call : NULL,
					   .error = e->with_calls ? one_error : NULL,
					   .arg = e };
	struct ct_op_names names = { .memory = ct_arena_new() };
	int st = names.memory ? CT_OK : ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));

	for (size_t i = 0; i < e->run->n_processes && st == CT_OK; i++) {
		e->process = (uint32_t)i;
		st = read_process(e, &sink, &names, err);
	}
	ct_arena_free(names.memory);
	return st == CT_STOPPED ? e->result : st;
}

int ct_ops_each(const struct ct_run *run, int (*each)(const struct ct_joined_op *op, void *arg),
		void *arg, struct ct_err *err)
{
	struct each e = { .each = each, .arg = arg, .run = run };

	return read_all(&e, err);
}

int ct_calls_each(const struct ct_run *run, int (*each)(const struct ct_joined_op *op, void *arg),
		  void *arg, struct ct_err *err)
{
	struct each e = { .each = each, .arg = arg, .run = run, .with_calls = 1 };
	int st;

	e.open = calloc(MOST_OPEN, sizeof(*e.open));
	if (!e.open)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	st = read_all(&e, err);
	free(e.open);
	return st;
}

const char *ct_op_state_name(enum ct_op_state state)
{
	switch (state) {
	case CT_STATE_ENTERED:
		return "entered";
	case CT_STATE_RETURNED:
		return "returned";
	case CT_STATE_FINISHED:
		return "finished";
	case CT_STATE_ERROR:
		return "error";
	case CT_STATE_STARTED:
		return "started";
	case CT_STATE_ABORTED:
		return "aborted";
	}
	return "unknown";
}
