/* SPDX-License-Identifier: Apache-2.0 */
/* coll.c — collectives as a kernel carries them out: in steps through slots, a slot for each rank
 * and step.
 *
 * A rank puts its part into its slot and adds to `begun`; others read it once it is there; a rank
 * that needs nothing more of a step adds to `ended`. A slot is used again when all ranks have ended
 * its last step, so no rank is more than SIM_SLOTS steps ahead. A message that does not fit into
 * slots goes round by round.
 */
#include <string.h>

#include "tools/sim/nccl/comm.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/reduce.h"

struct coll {
	struct ncclComm *comm;
	const struct sim_task *task;
	const struct sim_waiter *who;
	size_t size;	   /* of an element */
	size_t from, n;	   /* this round: first element, and how many (of each block) */
	uint64_t ended_ns; /* what this rank publishes about its steps */
	unsigned char scalar[8];
};

static unsigned char *slot(const struct coll *c, int rank)
{
	const struct ncclComm *comm = c->comm;

	return comm->view.slots +
	       ((size_t)rank * SIM_SLOTS + comm->step % SIM_SLOTS) * SIM_SLOT_BYTES;
}

/* The value of a counter over all ranks when every rank has added for this step. */
static uint32_t full(const struct ncclComm *comm)
{
	return (comm->step / SIM_SLOTS + 1) * (uint32_t)comm->n_ranks;
}

static bool slot_is_free(const struct coll *c)
{
	struct ncclComm *comm = c->comm;

	return sim_gate_wait(&comm->view.shared->ended[comm->step % SIM_SLOTS],
			     full(comm) - (uint32_t)comm->n_ranks, c->who);
}

static void begin_step(const struct coll *c)
{
	struct ncclComm *comm = c->comm;

	sim_gate_add(&comm->view.members[comm->rank].begun, 1);
	sim_gate_add(&comm->view.shared->begun[comm->step % SIM_SLOTS], (uint32_t)comm->n_ranks);
}

static bool all_began(const struct coll *c)
{
	struct ncclComm *comm = c->comm;

	return sim_gate_wait(&comm->view.shared->begun[comm->step % SIM_SLOTS], full(comm), c->who);
}

static bool root_began(const struct coll *c)
{
	return sim_gate_wait(&c->comm->view.members[c->task->root].begun, c->comm->step + 1,
			     c->who);
}

static void end_step(const struct coll *c)
{
	struct ncclComm *comm = c->comm;

	comm->view.members[comm->rank].ended_ns[comm->step % (2 * SIM_SLOTS)] = c->ended_ns;
	sim_gate_add(&comm->view.shared->ended[comm->step % SIM_SLOTS], (uint32_t)comm->n_ranks);
	comm->step++;
}

/* This round's elements of block `block` of what this rank sends, into its slot at element `at`. */
static void put(const struct coll *c, size_t block, size_t at)
{
	const unsigned char *from = c->task->send;
	unsigned char *to = slot(c, c->comm->rank) + at * c->size;

	memcpy(to, from + (block * c->task->count + c->from) * c->size, c->n * c->size);
	if (c->task->scaled)
		sim_scale(to, c->n, c->task->type, c->scalar);
}

/* n elements at element `at` of every rank's slot, reduced in the order of ranks. */
static void reduce(const struct coll *c, unsigned char *to, size_t at, size_t n)
{
	memcpy(to, slot(c, 0) + at * c->size, n * c->size);
	for (int r = 1; r < c->comm->n_ranks; r++)
		sim_reduce(to, slot(c, r) + at * c->size, n, c->task->type, c->task->redop);
	if (c->task->redop == ncclAvg)
		sim_divide(to, n, c->task->type, c->comm->n_ranks);
}

/* A rank's share of this round's elements. */
static size_t share(const struct coll *c, int rank)
{
	return c->n * (size_t)rank / (size_t)c->comm->n_ranks;
}

/* Each rank reduces its share, then gives it to all. */
static bool all_reduce(struct coll *c)
{
	unsigned char *to = (unsigned char *)c->task->recv + c->from * c->size;
	size_t first = share(c, c->comm->rank);
	size_t n = share(c, c->comm->rank + 1) - first;

	if (!all_began(c))
		return false;
	if (n)
		reduce(c, to + first * c->size, first, n);
	end_step(c);
	if (!slot_is_free(c))
		return false;
	memcpy(slot(c, c->comm->rank), to + first * c->size, n * c->size);
	begin_step(c);
	if (!all_began(c))
		return false;
	for (int r = 0; r < c->comm->n_ranks; r++)
		memcpy(to + share(c, r) * c->size, slot(c, r),
		       (share(c, r + 1) - share(c, r)) * c->size);
	return true;
}

/* The rest of a round, when the rank's part is in its slot; the caller ends its last step. */
static bool finish_round(struct coll *c)
{
	const struct sim_task *t = c->task;
	unsigned char *to = (unsigned char *)t->recv;
	size_t at = c->from * c->size;

	switch (t->func) {
	case SIM_ALL_REDUCE:
		return all_reduce(c);
	case SIM_REDUCE:
		if (c->comm->rank != t->root)
			return true;
		if (!all_began(c))
			return false;
		reduce(c, to + at, 0, c->n);
		return true;
	case SIM_BROADCAST:
		if (!root_began(c))
			return false;
		memcpy(to + at, slot(c, t->root), c->n * c->size);
		return true;
	case SIM_REDUCE_SCATTER:
		if (!all_began(c))
			return false;
		reduce(c, to + at, (size_t)c->comm->rank * c->n, c->n);
		return true;
	default: /* SIM_ALL_GATHER */
		if (!all_began(c))
			return false;
		for (int r = 0; r < c->comm->n_ranks; r++)
			memcpy(to + (size_t)r * t->count * c->size + at, slot(c, r),
			       c->n * c->size);
		return true;
	}
}

static void give(const struct coll *c)
{
	const struct sim_task *t = c->task;

	if (t->func == SIM_REDUCE_SCATTER)
		for (size_t r = 0; r < (size_t)c->comm->n_ranks; r++)
			put(c, r, r * c->n);
	else if (t->func != SIM_BROADCAST || c->comm->rank == t->root)
		put(c, 0, 0);
}

/* Does this rank look at what all others do? Short rooted ones let ranks leave as soon as they have
 * done their part. */
static bool needs_all(const struct coll *c)
{
	bool rooted = c->task->func == SIM_REDUCE || c->task->func == SIM_BROADCAST;

	if (!rooted || c->task->count * c->size > SIM_EARLY_BYTES)
		return true;
	return c->task->func == SIM_REDUCE && c->comm->rank == c->task->root;
}

static bool same(const struct sim_deed *a, const struct sim_deed *b)
{
	return a->func == b->func && a->type == b->type && a->redop == b->redop &&
	       a->root == b->root && a->count == b->count;
}

/* Every rank's deed of the step that has begun: when the last one came and how long it takes. A rank
 * that does something else stops this one for good, as a kernel that waits for the wrong bytes. */
static bool agree(struct coll *c, struct sim_deed *mine)
{
	struct ncclComm *comm = c->comm;
	unsigned i = comm->step % SIM_SLOTS;
	bool all = needs_all(c);
	bool root = !all && c->task->func == SIM_BROADCAST;

	if (all ? !all_began(c) : root && !root_began(c))
		return false;
	for (int r = 0; r < comm->n_ranks; r++) {
		const struct sim_deed *theirs = &comm->view.members[r].deeds[i];

		if (!all && !(root && r == c->task->root))
			continue;
		if (!same(mine, theirs)) {
			sim_hang(c->who);
			return false;
		}
		if (theirs->arrival_ns > mine->arrival_ns)
			mine->arrival_ns = theirs->arrival_ns;
		if (theirs->work_ns > mine->work_ns)
			mine->work_ns = theirs->work_ns;
	}
	return true;
}

/* All have ended the step that used the slot before: a rank that runs ahead starts no earlier than
 * that. Some may have ended this one too by now, so the times go back twice as far as the slots. */
static uint64_t slot_free_since(const struct coll *c)
{
	const struct ncclComm *comm = c->comm;
	unsigned before = (comm->step + SIM_SLOTS) % (2 * SIM_SLOTS);
	uint64_t ns = 0;

	for (int r = 0; r < comm->n_ranks; r++) {
		uint64_t ended = comm->view.members[r].ended_ns[before];

		ns = ended > ns ? ended : ns;
	}
	return ns;
}

/* The first step, in which the ranks exchange their operations; returns the end, 0 if stopped. */
static uint64_t meet(struct coll *c, uint64_t start_ns)
{
	struct ncclComm *comm = c->comm;
	const struct sim_task *t = c->task;
	struct sim_deed deed = { t->func,	    t->type,  t->redop + 16 * t->scaled,
				 (uint32_t)t->root, t->count, start_ns,
				 t->work_ns };
	uint64_t since = slot_free_since(c);

	if (since > start_ns)
		deed.arrival_ns = since;
	comm->view.members[comm->rank].deeds[comm->step % SIM_SLOTS] = deed;
	give(c);
	begin_step(c);
	if (!agree(c, &deed))
		return 0;
	if (!sim_driver()->simTiming())
		deed.work_ns = 0;
	return deed.arrival_ns + deed.work_ns;
}

static uint64_t run_coll(struct coll *c, uint64_t start_ns)
{
	size_t blocks = c->task->func == SIM_REDUCE_SCATTER ? (size_t)c->comm->n_ranks : 1;
	size_t room = SIM_SLOT_BYTES / c->size / blocks;

	for (c->from = 0; c->from < c->task->count; c->from += c->n) {
		c->n = c->task->count - c->from < room ? c->task->count - c->from : room;
		if (!slot_is_free(c))
			return 0;
		if (c->from) {
			give(c);
			begin_step(c);
		} else {
			c->ended_ns = meet(c, start_ns);
			if (!c->ended_ns)
				return 0;
		}
		if (!finish_round(c))
			return 0;
		end_step(c);
	}
	return c->ended_ns;
}

uint64_t sim_run_colls(struct sim_launch *launch, uint64_t start_ns,
		       const struct sim_comm_wait *wait)
{
	for (size_t i = 0; i < launch->tasks.n && start_ns; i++) {
		struct sim_task *t = &launch->tasks.list[i];
		struct coll c = { .comm = launch->comm, .task = t, .who = &wait->waiter };

		c.size = sim_type_bytes(t->type);
		if (t->scaled)
			memcpy(c.scalar, t->device_scalar ? t->device_scalar : t->scalar, c.size);
		start_ns = run_coll(&c, start_ns);
	}
	return start_ns;
}
