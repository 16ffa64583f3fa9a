/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/analyze.h"
#include "analyzer/load.h"

/* No status of the map: the callback wanted to stop. */
#define CT_STOPPED (-1000)

struct each {
	int (*each)(const struct ct_joined_op *op, void *arg);
	void *arg;
	int result;
};

static int one(void *arg, const struct ct_load_op *op)
{
	struct each *e = arg;

	e->result = e->each(&op->joined, e->arg);
	return e->result ? CT_STOPPED : CT_OK;
}

int ct_ops_each(const struct ct_run *run, int (*each)(const struct ct_joined_op *op, void *arg),
		void *arg, struct ct_err *err)
{
	struct each e = { .each = each, .arg = arg };
	struct ct_load_sink sink = { .op = one, .arg = &e };
	struct ct_op_names names = { .memory = ct_arena_new() };
	int st = names.memory ? CT_OK : ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));

	for (size_t i = 0; i < run->n_processes && st == CT_OK; i++) {
		struct ct_load *load;

		st = ct_load_open(run, i, &sink, &names, &load, err);
		if (st != CT_OK)
			break;
		do {
			st = ct_load_next(load, err);
		} while (st == 1);
		ct_load_close(load);
	}
	ct_arena_free(names.memory);
	return st == CT_STOPPED ? e.result : st;
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
