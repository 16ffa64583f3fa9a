/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/e2e/evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ring_dir.h"

/* Space for one more element behind the `n` that are there. The programs end when memory does. */
static void *grow(void *array, size_t n, size_t bytes)
{
	if (n & (n - 1))
		return array;
	array = reallocarray(array, n ? 2 * n : 1, bytes);
	if (!array) {
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	return array;
}

const struct ct_process_info *evidence_process(const struct ct_run *run, uint32_t pid)
{
	const struct ct_process_info *found = NULL;

	for (size_t i = 0; run && i < run->n_processes; i++) {
		const struct ct_process_info *p = &run->processes[i];

		if (p->id.pid == pid && (!found || p->id.start_ns > found->id.start_ns))
			found = p;
	}
	return found;
}

static void take_ops(struct evidence *e, const struct ct_block *block)
{
	struct ct_thread_ops of = { 0 };

	while (ct_thread_ops_next(block, block->n_ops, &of))
		for (uint32_t i = of.first; i < of.end; i++) {
			e->ops = grow(e->ops, e->n_ops, sizeof(*e->ops));
			e->ops[e->n_ops] = block->ops[i];
			e->ops[e->n_ops++].tid = of.tid;
		}
}

static void take_launches(struct evidence *e, const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_launches; i++) {
		e->launches = grow(e->launches, e->n_launches, sizeof(*e->launches));
		e->launches[e->n_launches++] = block->launches[i];
	}
}

/* Communicators are reported again in every checkpoint: the last word counts. */
static void take_comm(struct evidence *e, const struct ct_comm_rec *comm)
{
	size_t i = 0;

	while (i < e->n_comms && e->comms[i].id != comm->id)
		i++;
	if (i == e->n_comms)
		e->comms = grow(e->comms, e->n_comms++, sizeof(*e->comms));
	e->comms[i] = *comm;
}

/* A block that shows what is open shows all of it. */
static void take_opens(struct evidence *e, const struct ct_block *block)
{
	struct ct_open_launch_rec open;

	if (block->type != CT_BLOCK_DATA)
		e->n_opens = 0;
	for (uint32_t i = 0; i < block->n_rares; i++) {
		if (block->rares[i].kind == CT_KIND_STATUS)
			e->n_opens = 0;
	}
	for (uint32_t i = 0; i < block->n_rares; i++) {
		if (block->rares[i].kind != CT_KIND_OPEN_LAUNCH)
			continue;
		ct_rare_get(block, &block->rares[i], &open, sizeof(open));
		e->opens = grow(e->opens, e->n_opens, sizeof(*e->opens));
		e->opens[e->n_opens++] = (uint32_t)open.words[0];
	}
}

static void take_rares(struct evidence *e, const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_rares; i++) {
		const struct ct_rare *rare = &block->rares[i];
		struct ct_comm_rec comm;
		uint32_t id;

		switch (rare->kind) {
		case CT_KIND_COMM:
			ct_rare_get(block, rare, &comm, sizeof(comm));
			take_comm(e, &comm);
			break;
		case CT_KIND_STRING:
			ct_rare_get(block, rare, &id, sizeof(id));
			if (evidence_has_string(e, id))
				break;
			e->strings = grow(e->strings, e->n_strings, sizeof(*e->strings));
			e->strings[e->n_strings++] = id;
			break;
		case CT_KIND_HOST_BEGIN:
		case CT_KIND_HOST_END:
		case CT_KIND_VCOUNTS:
		case CT_KIND_MATCH:
			e->n_others++;
			break;
		default:
			break;
		}
	}
}

static int by_id(const void *a, const void *b)
{
	const struct ct_launch *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

int evidence_read(const struct ct_run *run, const struct ct_process_info *process,
		  struct evidence *e, struct ct_err *err)
{
	struct ct_process_reader *reader;
	const struct ct_block *block;
	int st = ct_process_open(run, (size_t)(process - run->processes), &reader, err);

	memset(e, 0, sizeof(*e));
	e->info = *process;
	if (st != CT_OK)
		return st;
	while ((st = ct_process_next(reader, &block, err)) > 0) {
		take_ops(e, block);
		take_launches(e, block);
		take_rares(e, block);
		take_opens(e, block);
	}
	if (st == 0)
		e->gaps = *ct_process_gaps(reader);
	ct_process_close(reader);
	if (e->n_launches)
		qsort(e->launches, e->n_launches, sizeof(*e->launches), by_id);
	return st;
}

void evidence_free(struct evidence *e)
{
	free(e->ops);
	free(e->launches);
	free(e->comms);
	free(e->strings);
	free(e->opens);
	memset(e, 0, sizeof(*e));
}

const struct ct_launch *evidence_launch(const struct evidence *e, uint32_t id)
{
	const struct ct_launch key = { .id = id };

	if (!e->n_launches)
		return NULL;
	return bsearch(&key, e->launches, e->n_launches, sizeof(*e->launches), by_id);
}

int evidence_is_open(const struct evidence *e, uint32_t launch)
{
	for (size_t i = 0; i < e->n_opens; i++) {
		if (e->opens[i] == launch)
			return 1;
	}
	return 0;
}

const struct ct_comm_rec *evidence_comm(const struct evidence *e, uint32_t id)
{
	for (size_t i = 0; i < e->n_comms; i++) {
		if (e->comms[i].id == id)
			return &e->comms[i];
	}
	return NULL;
}

int evidence_has_string(const struct evidence *e, uint32_t id)
{
	for (size_t i = 0; i < e->n_strings; i++) {
		if (e->strings[i] == id)
			return 1;
	}
	return 0;
}

uint64_t evidence_lost(const struct evidence *e)
{
	static const enum ct_loss records[] = {
		CT_LOSS_POOL_EMPTY, CT_LOSS_WRITE_FAILED, CT_LOSS_COMM_TABLE_FULL,
		CT_LOSS_MAX_BYTES,  CT_LOSS_NO_RING,	  CT_LOSS_STARTING,
	};
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++)
		sum += e->gaps.losses[records[i]];
	return sum;
}

struct ct_run *evidence_open(const char *program, const char *const *paths, size_t n_paths)
{
	const char *ring_dir = getenv("COMMTRACE_RING_DIR");
	const char *dirs[4];
	const struct ct_run_options options = { .ring_dirs = dirs };
	struct ct_err err = { 0 };
	struct ct_run *run;
	int st;

	ct_ring_dirs(ring_dir && ring_dir[0] ? ring_dir : "/dev/shm", getenv("TMPDIR"), dirs);
	st = ct_run_open(paths, n_paths, &options, &run, &err);
	if (st == CT_OK)
		return run;
	if (st == CT_EMPTY)
		return NULL;
	fprintf(stderr, "%s: %s: %s\n", program, paths[0], err.text);
	exit(2);
}
