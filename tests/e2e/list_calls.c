/* SPDX-License-Identifier: Apache-2.0 */
/* list_calls.c — what a run of one process holds, one line for each call, in the order in which
 * they were entered.
 *
 * list_calls RUN
 *   host NAME RESULT KEY NRANKS RANK     a host call that has returned
 *   op NAME RESULT COUNT PEER            a data-moving one
 * Exits 1 if the run has not exactly one process, or a call in it did not return. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/evidence.h"

#define MOST_STRINGS 4096
#define MOST_CALLS 4096

struct call {
	uint64_t enter_ns;
	struct ct_host_rec host;
	struct ct_op op;
	int is_op;
};

static char *names[MOST_STRINGS];
static struct call calls[MOST_CALLS];
static size_t n_calls;
static int n_begun;

static void add(const struct call *call)
{
	if (n_calls == MOST_CALLS) {
		fprintf(stderr, "list_calls: too many calls\n");
		exit(2);
	}
	calls[n_calls++] = *call;
}

static void take_string(const struct ct_block *block, const struct ct_rare *rare)
{
	const uint8_t *bytes = block->bytes + rare->at;
	uint32_t id;

	ct_rare_get(block, rare, &id, sizeof(id));
	if (id < MOST_STRINGS && rare->len >= sizeof(id) && !names[id])
		names[id] = strndup((const char *)bytes + sizeof(id), rare->len - sizeof(id));
}

static void take_block(const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_rares; i++) {
		const struct ct_rare *rare = &block->rares[i];
		struct call call = { .is_op = 0 };

		if (rare->kind == CT_KIND_STRING)
			take_string(block, rare);
		n_begun += rare->kind == CT_KIND_HOST_BEGIN;
		if (rare->kind != CT_KIND_HOST_END)
			continue;
		ct_rare_get(block, rare, &call.host, sizeof(call.host));
		call.enter_ns = call.host.enter_ns;
		n_begun--;
		add(&call);
	}
	for (uint32_t i = 0; i < block->n_ops; i++) {
		struct call call = { .op = block->ops[i], .is_op = 1 };

		call.enter_ns = call.op.enter_ns;
		n_begun += call.op.return_ns == 0;
		add(&call);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return (x->enter_ns > y->enter_ns) - (x->enter_ns < y->enter_ns);
}

static const char *name_of(uint32_t id)
{
	return id < MOST_STRINGS && names[id] ? names[id] : "?";
}

static void print(const struct call *call)
{
	if (call->is_op)
		printf("op %s %d %" PRIu64 " %d\n", name_of(call->op.call), call->op.result,
		       call->op.count, call->op.peer);
	else
		printf("host %s %d %016" PRIx64 " %u %d\n", name_of(call->host.call),
		       call->host.result, call->host.key, call->host.nranks, call->host.rank);
}

int main(int argc, char **argv)
{
	const char *const paths[] = { argv[1] };
	struct ct_run *run = argc == 2 ? evidence_open("list_calls", paths, 1) : NULL;
	struct ct_process_reader *reader;
	const struct ct_block *block;
	struct ct_err err = { 0 };
	int st;

	if (!run || run->n_processes != 1) {
		fprintf(stderr, "list_calls: %zu processes\n", run ? run->n_processes : 0);
		return 1;
	}
	st = ct_process_open(run, 0, &reader, &err);
	if (st == CT_OK) {
		while ((st = ct_process_next(reader, &block, &err)) > 0)
			take_block(block);
		ct_process_close(reader);
	}
	if (st != CT_OK) {
		fprintf(stderr, "list_calls: %s\n", err.text);
		return 2;
	}
	qsort(calls, n_calls, sizeof(*calls), by_time);
	for (size_t i = 0; i < n_calls; i++)
		print(&calls[i]);
	ct_run_close(run);
	return n_begun ? 1 : 0;
}
