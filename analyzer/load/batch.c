/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/batch.h"

#include <stdlib.h>
#include <string.h>

/* size: large enough to forget malloc(), little enough for a block of few records. */
#define PAGE_BYTES (256u << 10)

enum batch_kind { OP, COMM, NAMED, HOST, ERROR, WAIT, NVTX, REACHED, STACK };

struct ct_batch_page {
	struct ct_batch_page *next;
	size_t used, size;
	_Alignas(16) char bytes[];
};

struct ct_batch_event {
	enum batch_kind kind;
	uint32_t size; /* with what follows it */
	_Alignas(16) char what[];
};

/* A communicator may change in the block after it was reported. */
struct comm_event {
	struct ct_load_comm *comm;
	const char *name;
	struct ct_comm_rec rec;
};

struct call_event {
	const char *call, *text; /* the latter also the call site */
	union {
		struct ct_host_rec host;
		struct ct_error_rec error;
	} rec;
};

struct reached_event {
	struct comm_event comm;
	struct ct_comm_status_rec rec;
};

struct stack_event {
	size_t len;
	uint8_t bytes[];
};

void ct_batch_fini(struct ct_batch *batch)
{
	while (batch->first) {
		struct ct_batch_page *next = batch->first->next;

		free(batch->first);
		batch->first = next;
	}
	*batch = (struct ct_batch){ 0 };
}

void ct_batch_clear(struct ct_batch *batch)
{
	for (struct ct_batch_page *page = batch->first; page; page = page->next)
		page->used = 0;
	batch->at = batch->first;
	batch->launch = NULL;
}

/* The next page that has space; pages behind the one that is being filled are empty. */
static struct ct_batch_page *page_for(struct ct_batch *batch, size_t size)
{
	struct ct_batch_page **at = batch->at ? &batch->at : &batch->first, *page;
	size_t cap = size > PAGE_BYTES ? size : PAGE_BYTES;

	while (*at && (*at)->size - (*at)->used < size)
		at = &(*at)->next;
	if (!*at) {
		page = malloc(sizeof(*page) + cap);
		if (!page)
			return NULL;
		*page = (struct ct_batch_page){ .size = cap };
		*at = page;
	}
	return batch->at = *at;
}

/* Space for an event, not zeroed; NULL: out of memory. */
static void *add(struct ct_batch *batch, enum batch_kind kind, size_t bytes)
{
	size_t size = (sizeof(struct ct_batch_event) + bytes + 15) & ~(size_t)15;
	struct ct_batch_page *page = batch->at;
	struct ct_batch_event *event;

	if (!page || page->size - page->used < size)
		page = page_for(batch, size);
	if (!page)
		return NULL;
	event = (struct ct_batch_event *)(page->bytes + page->used);
	page->used += size;
	event->kind = kind;
	event->size = (uint32_t)size;
	return event->what;
}

/* ---- take ---- */

/* The operations of a launch come one behind the other and share a copy, which lies behind the
 * first of them. */
int ct_batch_op(void *arg, const struct ct_load_op *op)
{
	struct ct_batch *batch = arg;
	const struct ct_load_launch *launch = op->launch;
	uint32_t at = op->joined.launch_at;
	int is_first = launch && !at, is_own = !launch || op->joined.op != &launch->ops[at];
	size_t n_ops = (is_first ? launch->n : 0) + (size_t)is_own;
	struct ct_load_op *copy = add(batch, OP,
				      sizeof(*copy) + (is_first ? sizeof(*launch) : 0) +
					      n_ops * sizeof(struct ct_op));
	struct ct_load_launch *all;
	struct ct_op *ops;

	if (!copy)
		return CT_NOMEM;
	*copy = *op;
	all = (struct ct_load_launch *)(copy + 1);
	ops = (struct ct_op *)(all + is_first);
	if (is_first) {
		memcpy(ops, launch->ops, launch->n * sizeof(*ops));
		*all = (struct ct_load_launch){ ops, launch->n, launch->n_ops };
		batch->launch = all;
		ops += launch->n;
	}
	if (launch)
		copy->launch = batch->launch;
	if (is_own)
		*ops = *op->joined.op;
	copy->joined.op = is_own ? ops : &batch->launch->ops[at];
	return CT_OK;
}

static struct comm_event as_it_is(struct ct_load_comm *comm)
{
	return (struct comm_event){ comm, comm->name, comm->rec };
}

static int add_comm(struct ct_batch *batch, enum batch_kind kind, struct ct_load_comm *comm)
{
	struct comm_event *event = add(batch, kind, sizeof(*event));

	if (!event)
		return CT_NOMEM;
	*event = as_it_is(comm);
	return CT_OK;
}

int ct_batch_comm(void *batch, struct ct_load_comm *comm)
{
	return add_comm(batch, COMM, comm);
}

int ct_batch_named(void *batch, struct ct_load_comm *comm)
{
	return add_comm(batch, NAMED, comm);
}

int ct_batch_reached(void *batch, struct ct_load_comm *comm, const struct ct_comm_status_rec *rec)
{
	struct reached_event *event = add(batch, REACHED, sizeof(*event));

	if (!event)
		return CT_NOMEM;
	*event = (struct reached_event){ as_it_is(comm), *rec };
	return CT_OK;
}

int ct_batch_host(void *batch, const struct ct_host_rec *rec, const char *call, const char *site)
{
	struct call_event *event = add(batch, HOST, sizeof(*event));

	if (!event)
		return CT_NOMEM;
	*event = (struct call_event){ .call = call, .text = site, .rec.host = *rec };
	return CT_OK;
}

int ct_batch_error(void *batch, const struct ct_error_rec *rec, const char *call, const char *text)
{
	struct call_event *event = add(batch, ERROR, sizeof(*event));

	if (!event)
		return CT_NOMEM;
	*event = (struct call_event){ .call = call, .text = text, .rec.error = *rec };
	return CT_OK;
}

static int add_bytes(struct ct_batch *batch, enum batch_kind kind, const void *rec, size_t len)
{
	void *event = add(batch, kind, len);

	if (!event)
		return CT_NOMEM;
	memcpy(event, rec, len);
	return CT_OK;
}

int ct_batch_wait(void *batch, const struct ct_wait_rec *rec)
{
	return add_bytes(batch, WAIT, rec, sizeof(*rec));
}

int ct_batch_nvtx(void *batch, const struct ct_nvtx_rec *rec)
{
	return add_bytes(batch, NVTX, rec, sizeof(*rec));
}

int ct_batch_stack(void *batch, const uint8_t *bytes, size_t len)
{
	struct stack_event *event = add(batch, STACK, sizeof(*event) + len);

	if (!event)
		return CT_NOMEM;
	event->len = len;
	memcpy(event->bytes, bytes, len);
	return CT_OK;
}

/* ---- report ---- */

/* With the communicator as it was then. */
static int pass_comm(const struct comm_event *event, const struct ct_load_sink *sink,
		     enum batch_kind kind, const struct ct_comm_status_rec *reached)
{
	struct ct_load_comm *comm = event->comm;
	const struct comm_event now = as_it_is(comm);
	int st;

	comm->name = event->name;
	comm->rec = event->rec;
	if (kind == COMM)
		st = sink->comm(sink->arg, comm);
	else if (kind == NAMED)
		st = sink->named(sink->arg, comm);
	else
		st = sink->reached(sink->arg, comm, reached);
	comm->name = now.name;
	comm->rec = now.rec;
	return st;
}

static int pass_event(struct ct_batch_event *event, const struct ct_load_sink *sink,
		      const struct ct_op_names *names)
{
	void *what = event->what;
	struct ct_load_op *op = what;
	const struct call_event *call = what;
	const struct reached_event *reached = what;
	const struct stack_event *stack = what;

	switch (event->kind) {
	case OP:
		op->joined.op_name = ct_op_names_get(names, op->joined.op->op);
		return sink->op(sink->arg, op);
	case COMM:
	case NAMED:
		return pass_comm(what, sink, event->kind, NULL);
	case REACHED:
		return pass_comm(&reached->comm, sink, event->kind, &reached->rec);
	case HOST:
		return sink->host(sink->arg, &call->rec.host, call->call, call->text);
	case ERROR:
		return sink->error(sink->arg, &call->rec.error, call->call, call->text);
	case WAIT:
		return sink->wait(sink->arg, what);
	case NVTX:
		return sink->nvtx(sink->arg, what);
	case STACK:
		return sink->stack(sink->arg, stack->bytes, stack->len);
	}
	return CT_OK;
}

int ct_batch_replay(const struct ct_batch *batch, const struct ct_load_sink *sink,
		    const struct ct_op_names *names)
{
	int st = CT_OK;

	for (struct ct_batch_page *page = batch->first; page && st == CT_OK; page = page->next) {
		size_t at = 0;

		while (at < page->used && st == CT_OK) {
			struct ct_batch_event *event = (void *)(page->bytes + at);

			st = pass_event(event, sink, names);
			at += event->size;
		}
	}
	return st;
}
