/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/read_ahead.h"

#include <stdlib.h>

#include "analyzer/load/batch.h"

/* What a thread needs to read a block for another one. */
struct read_ahead_buffer {
	struct read_ahead_buffer *next; /* free */
	struct ct_load_memory *memory;
	struct ct_op_names names; /* learnt from the block */
	struct ct_batch batch;
};

struct ct_ahead {
	struct ct_tasks *tasks;
	struct ct_op_names *names;
	struct ct_load_memory *memory; /* the caller's thread's */
	struct read_ahead_buffer *rooms, *spare;
	unsigned n_rooms;
};

struct ct_ahead_load {
	struct ct_ahead *ahead;
	struct ct_load *load;
	struct ct_load_sink sink;
	struct read_ahead_buffer
		*room; /* where its next block is read; NULL: it was not asked for */
	struct ct_task task;
	struct ct_err err;
};

/* ---- what goes through to the sink or into the batch ---- */

#define PASS(arg, function, ...)                                                                   \
	do {                                                                                       \
		struct ct_ahead_load *l_ = (arg);                                                  \
                                                                                                   \
		return l_->room ? ct_batch_##function(&l_->room->batch, __VA_ARGS__)               \
				: l_->sink.function(l_->sink.arg, __VA_ARGS__);                    \
	} while (0)

static int on_op(void *arg, const struct ct_load_op *op)
{
	PASS(arg, op, op);
}

static int on_comm(void *arg, struct ct_load_comm *comm)
{
	PASS(arg, comm, comm);
}

static int on_named(void *arg, struct ct_load_comm *comm)
{
	PASS(arg, named, comm);
}

static int on_host(void *arg, const struct ct_host_rec *rec, const char *call, const char *site)
{
	PASS(arg, host, rec, call, site);
}

static int on_error(void *arg, const struct ct_error_rec *rec, const char *call, const char *text)
{
	PASS(arg, error, rec, call, text);
}

static int on_wait(void *arg, const struct ct_wait_rec *rec)
{
	PASS(arg, wait, rec);
}

static int on_nvtx(void *arg, const struct ct_nvtx_rec *rec)
{
	PASS(arg, nvtx, rec);
}

static int on_reached(void *arg, struct ct_load_comm *comm, const struct ct_comm_status_rec *rec)
{
	PASS(arg, reached, comm, rec);
}

static int on_stack(void *arg, const uint8_t *bytes, size_t len)
{
	PASS(arg, stack, bytes, len);
}

/* What the sink does not want is not reported: the load leaves out its work, too. */
static struct ct_load_sink between(struct ct_ahead_load *load)
{
	const struct ct_load_sink *to = &load->sink;

	return (struct ct_load_sink){
		.op = on_op,
		.comm = to->comm ? on_comm : NULL,
		.named = to->named ? on_named : NULL,
		.host = to->host ? on_host : NULL,
		.error = to->error ? on_error : NULL,
		.wait = to->wait ? on_wait : NULL,
		.nvtx = to->nvtx ? on_nvtx : NULL,
		.reached = to->reached ? on_reached : NULL,
		.stack = to->stack ? on_stack : NULL,
		.follows = to->follows,
		.skims = to->skims,
		.from = to->from,
		.arg = load,
	};
}

/* ---- rooms ---- */

static void free_room(struct read_ahead_buffer *room)
{
	ct_load_memory_free(room->memory);
	ct_arena_free(room->names.memory);
	ct_batch_fini(&room->batch);
}

static int make_rooms(struct ct_ahead *ahead, unsigned n)
{
	ahead->rooms = calloc(n, sizeof(*ahead->rooms));
	if (!ahead->rooms)
		return CT_NOMEM;
	ahead->n_rooms = n;
	for (unsigned i = 0; i < n; i++) {
		struct read_ahead_buffer *room = &ahead->rooms[i];

		room->memory = ct_load_memory_new();
		room->names.memory = ct_arena_new();
		if (!room->memory || !room->names.memory)
			return CT_NOMEM;
		room->next = ahead->spare;
		ahead->spare = room;
	}
	return CT_OK;
}

struct ct_ahead *ct_ahead_new(struct ct_tasks *tasks, struct ct_op_names *names)
{
	struct ct_ahead *ahead = calloc(1, sizeof(*ahead));
	int st = CT_NOMEM;

	if (!ahead)
		return NULL;
	ahead->tasks = tasks;
	ahead->names = names;
	ahead->memory = ct_load_memory_new();
	if (ahead->memory)
		st = tasks ? make_rooms(ahead, ct_tasks_threads(tasks) + 1) : CT_OK;
	if (st == CT_OK)
		return ahead;
	ct_ahead_free(ahead);
	return NULL;
}

void ct_ahead_free(struct ct_ahead *ahead)
{
	if (!ahead)
		return;
	for (unsigned i = 0; i < ahead->n_rooms; i++)
		free_room(&ahead->rooms[i]);
	free(ahead->rooms);
	ct_load_memory_free(ahead->memory);
	free(ahead);
}

/* ---- loads ---- */

static int read_block(void *arg)
{
	struct ct_ahead_load *load = arg;

	return ct_load_next(load->load, &load->err);
}

int ct_ahead_open(struct ct_ahead *ahead, const struct ct_run *run, size_t index,
		  const struct ct_load_sink *sink, struct ct_ahead_load **out, struct ct_err *err)
{
	struct ct_ahead_load *load = calloc(1, sizeof(*load));
	struct ct_load_sink mine;
	int st;

	*out = NULL;
	if (!load)
		return ct_fail(err, CT_NOMEM, "%s", ct_status_text(CT_NOMEM));
	load->ahead = ahead;
	load->sink = *sink;
	load->task = (struct ct_task){ .run = read_block, .arg = load };
	mine = ahead->tasks ? between(load) : *sink;
	mine.shared = ahead->memory;
	st = ct_load_open(run, index, &mine, ahead->names, &load->load, err);
	if (st == CT_OK)
		*out = load;
	else
		free(load);
	return st;
}

/* The space is free again, the load the caller's. */
static void leave_room(struct ct_ahead_load *load)
{
	struct ct_ahead *ahead = load->ahead;
	struct read_ahead_buffer *room = load->room;

	ct_batch_clear(&room->batch);
	room->next = ahead->spare;
	ahead->spare = room;
	load->room = NULL;
	ct_load_lend(load->load, ahead->memory, ahead->names);
}

void ct_ahead_close(struct ct_ahead_load *load)
{
	if (!load)
		return;
	if (load->room && !ct_task_cancel(load->ahead->tasks, &load->task))
		ct_task_end(load->ahead->tasks, &load->task);
	ct_load_close(load->load);
	free(load);
}

int ct_ahead_has_room(const struct ct_ahead *ahead)
{
	return ahead->spare != NULL;
}

void ct_ahead_ask(struct ct_ahead_load *load)
{
	struct ct_ahead *ahead = load->ahead;

	if (load->room || !ahead->spare)
		return;
	load->room = ahead->spare;
	ahead->spare = load->room->next;
	ct_load_lend(load->load, load->room->memory, &load->room->names);
	ct_task_begin(ahead->tasks, &load->task);
}

int ct_ahead_is_asked(const struct ct_ahead_load *load)
{
	return load->room != NULL;
}

/* What the block taught, as if the caller's thread had read it. */
static int learn_names(struct ct_op_names *to, struct ct_op_names *from)
{
	int learnt = 0;

	for (unsigned op = 0; op < 256; op++) {
		const char *name = from->names[op];

		if (!name)
			continue;
		from->names[op] = NULL;
		learnt = 1;
		if (to->names[op])
			continue;
		to->names[op] = ct_arena_printf(to->memory, "%s", name);
		if (ct_arena_failed(to->memory))
			return CT_NOMEM;
	}
	if (!learnt)
		return CT_OK;
	ct_arena_free(from->memory);
	from->memory = ct_arena_new();
	return from->memory ? CT_OK : CT_NOMEM;
}

/* 0, CT_NOMEM, or what the sink returned. */
static int replay_batch(struct ct_ahead_load *load)
{
	int st = learn_names(load->ahead->names, &load->room->names);

	return st == CT_OK ? ct_batch_replay(&load->room->batch, &load->sink, load->ahead->names)
			   : st;
}

int ct_ahead_next(struct ct_ahead_load *load, struct ct_err *err)
{
	int got, st;

	if (load->room && ct_task_cancel(load->ahead->tasks, &load->task))
		leave_room(load);
	if (!load->room)
		return ct_load_next(load->load, err);
	got = ct_task_end(load->ahead->tasks, &load->task);
	st = replay_batch(load);
	leave_room(load);
	if (st != CT_OK)
		return st == CT_NOMEM ? ct_fail(err, st, "%s", ct_status_text(st)) : st;
	if (got < 0 && err)
		*err = load->err;
	return got;
}

struct ct_load *ct_ahead_load(struct ct_ahead_load *load)
{
	return load->load;
}
