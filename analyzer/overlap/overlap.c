/* SPDX-License-Identifier: Apache-2.0 */
/* overlap.c — hands what is read to the processes, a block at a time, which other threads may work
 * on. */
#include "analyzer/overlap/overlap.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/stats.h"
#include "analyzer/model/op_classes.h"
#include "analyzer/overlap/overlap_private.h"
#include "trace/ops.h"

struct ct_overlap *ct_overlap_new(size_t n_processes, struct ct_tasks *tasks)
{
	struct ct_overlap *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->tasks = tasks;
	o->processes = calloc(n_processes + 1, sizeof(*o->processes));
	o->n_processes = n_processes;
	if (!o->processes) {
		free(o);
		return NULL;
	}
	for (size_t p = 0; p < n_processes; p++)
		o->processes[p].newest = &o->processes[p].oldest;
	for (unsigned b = 0; b < CT_OV_BLOCKS; b++)
		o->blocks[b].of = o;
	return o;
}

void ct_overlap_subscribe(struct ct_overlap *o, ct_overlap_fn fn, void *arg)
{
	o->on_launch = fn;
	o->arg = arg;
}

void ct_overlap_stalls(struct ct_overlap *o, ct_overlap_stall_fn fn, void *arg)
{
	o->stall = fn;
	o->stall_arg = arg;
}

/* ---- blocks ---- */

static int work(void *arg)
{
	struct ct_ov_block *block = arg;
	struct ct_ov_process *p = block->process;
	int st = CT_OK;

	for (uint32_t i = 0; i < block->n_waits && st == CT_OK; i++)
		st = ct_ov_wait_add(p, &block->waits[i]);
	for (uint32_t i = 0; i < block->n_launches && st == CT_OK; i++)
		st = ct_ov_launch_add(p, &block->launches[i], block);
	if (st != CT_OK)
		return st;
	p->is_blind |= block->is_blind;
	p->ended = block->is_last;
	p->blocks += !block->is_last;
	st = ct_ov_charge(p);
	return st == CT_OK && block->is_last ? ct_ov_process_end(p, block) : st;
}

/* It is worked on no more. */
static void await(struct ct_ov_block *block)
{
	if (!block->is_begun)
		return;
	block->is_begun = 0;
	block->process->under_way = NULL;
	block->status = ct_task_end(block->of->tasks, &block->task);
}

/* What has come of it, and it is free. 0, CT_NOMEM, or what an observer of stalls returned. */
static int hand_on(struct ct_overlap *o, struct ct_ov_block *block)
{
	struct ct_ov_process *p = block->process;
	int st;

	if (!p)
		return CT_OK;
	await(block);
	st = block->status;
	for (uint32_t i = 0; i < block->n_stalls && st == CT_OK; i++)
		st = o->stall(o->stall_arg, &block->stalls[i]);
	if (st == CT_OK && block->is_last) {
		st = ct_ov_sums_add(&o->sums, &p->sums);
		ct_ov_process_free(p);
	}
	block->process = NULL;
	block->n_launches = block->n_waits = block->n_stalls = 0;
	block->is_blind = 0;
	return st;
}

/* The block is complete: its process may go on, once it is done with the one before. */
static int start_block(struct ct_overlap *o, uint32_t process, int is_last)
{
	struct ct_ov_block *block = &o->blocks[o->filled];
	struct ct_ov_process *p = &o->processes[process];

	if (p->under_way)
		await(p->under_way);
	block->process = p;
	block->is_last = is_last;
	block->is_begun = 1;
	block->task = (struct ct_task){ .run = work, .arg = block };
	p->under_way = block;
	ct_task_begin(o->tasks, &block->task);
	if (!o->tasks)
		await(block);
	o->filled = (o->filled + 1) % CT_OV_BLOCKS;
	return hand_on(o, &o->blocks[o->filled]);
}

int ct_overlap_block(struct ct_overlap *o, uint32_t process)
{
	return start_block(o, process, 0);
}

int ct_overlap_end(struct ct_overlap *o, uint32_t process)
{
	return start_block(o, process, 1);
}

int ct_overlap_close(struct ct_overlap *o)
{
	int st = CT_OK;

	for (unsigned b = 1; b < CT_OV_BLOCKS && st == CT_OK; b++)
		st = hand_on(o, &o->blocks[(o->filled + b) % CT_OV_BLOCKS]);
	return st;
}

void ct_overlap_free(struct ct_overlap *o)
{
	if (!o)
		return;
	for (unsigned b = 0; b < CT_OV_BLOCKS; b++) {
		struct ct_ov_block *block = &o->blocks[b];

		if (block->is_begun && !ct_task_cancel(o->tasks, &block->task))
			ct_task_end(o->tasks, &block->task);
		free(block->launches);
		free(block->waits);
		free(block->stalls);
	}
	for (size_t p = 0; p < o->n_processes; p++)
		ct_ov_process_free(&o->processes[p]);
	ct_ov_sums_fini(&o->sums);
	ct_ov_host_free(o->host);
	free(o->processes);
	free(o);
}

/* ---- what they hold ---- */

int ct_overlap_add(struct ct_overlap *o, const struct ct_overlap_op *op)
{
	struct ct_ov_block *block = &o->blocks[o->filled];
	const struct ct_joined_op *j = &op->op->joined;
	struct ct_ov_read *read;
	int is_alone = !op->op->launch || op->op->launch->n_ops <= 1;

	if (j->backend != CT_BACKEND_NCCL || j->state != CT_STATE_FINISHED || !j->op->launch ||
	    !j->stream || !j->start_ns || j->end_ns < j->start_ns)
		return CT_OK;
	if (ct_grow(&block->launches, &block->cap_launches, block->n_launches + 1,
		    sizeof(*block->launches)))
		return CT_NOMEM;
	read = &block->launches[block->n_launches++];
	*read = (struct ct_ov_read){
		.id = j->op->launch,
		.stream = j->stream,
		.device = j->device,
		.slot = op->slot,
		.comm = op->comm,
		.size_range = is_alone ? ct_size_range(op->bytes) : 0,
		.start_ns = j->start_ns,
		.end_ns = j->end_ns,
		.start_err_ns = (uint32_t)ct_min(j->start_err_ns, UINT32_MAX),
		.end_err_ns = (uint32_t)ct_min(j->end_err_ns, UINT32_MAX),
		.op = is_alone ? (uint8_t)j->op->op : 0,
		.dtype = is_alone ? (uint8_t)j->op->dtype : 0,
		.is_from_nccl = j->start_source == CT_SOURCE_PLUGIN,
	};
	return CT_OK;
}

int ct_overlap_wait(struct ct_overlap *o, const struct ct_wait_rec *rec)
{
	struct ct_ov_block *block = &o->blocks[o->filled];

	if (ct_grow(&block->waits, &block->cap_waits, block->n_waits + 1, sizeof(*block->waits)))
		return CT_NOMEM;
	block->waits[block->n_waits++] = *rec;
	return CT_OK;
}

void ct_overlap_blind(struct ct_overlap *o)
{
	o->blocks[o->filled].is_blind = 1;
}

/* ---- sums ---- */

const struct ct_overlap_row *ct_overlap_rows(const struct ct_overlap *o, size_t *n)
{
	*n = o->sums.n_rows;
	return o->sums.rows;
}

static const struct ct_overlap_row *row_at(const struct ct_overlap *o, size_t at)
{
	return at ? &o->sums.rows[at - 1] : NULL;
}

const struct ct_overlap_row *ct_overlap_of_slot(const struct ct_overlap *o, uint32_t slot)
{
	return row_at(o, (size_t)(uintptr_t)ct_table_get(&o->sums.of_slot, slot));
}

const struct ct_overlap_row *ct_overlap_next(const struct ct_overlap *o,
					     const struct ct_overlap_row *row)
{
	return row_at(o, row->next);
}

const struct ct_overlap_class *ct_overlap_classes(const struct ct_overlap *o, size_t *n)
{
	*n = o->sums.n_classes;
	return o->sums.classes;
}
