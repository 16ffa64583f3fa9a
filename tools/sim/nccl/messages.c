/* SPDX-License-Identifier: Apache-2.0 */
/* messages.c — sends and receives as a kernel carries them out: all of one group at the same time,
 * those between the same two ranks one after the other.
 *
 * A message goes through the bounded FIFO of its pair. What fits into it is sent without the
 * receiver; a larger one ends on both sides together. The kernel looks at all of its messages in
 * turn and sleeps on its rank's bell when none can get on. A pair whose ends do not agree on the
 * size stays stuck.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl/comm.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/reduce.h"

struct message {
	const struct sim_task *task;
	struct message *before; /* the one that must be done first, NULL if none */
	uint64_t bytes, moved;
	uint32_t index; /* in its pair */
	uint64_t arrival_ns, end_ns;
	bool posted, is_done;
};

struct kernel {
	struct ncclComm *comm;
	struct message *list;
	size_t n;
	uint64_t start_ns;
	const struct sim_waiter *who;
	bool timed;
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static size_t pair_index(const struct ncclComm *comm, int from, int to)
{
	return (size_t)from * (size_t)comm->n_ranks + (size_t)to;
}

static void ring(const struct ncclComm *comm, int rank)
{
	sim_gate_add(&comm->view.members[rank].bell, 1);
}

/* n bytes into a FIFO at offset `at`, around its end; and out of it. */
static void fill(unsigned char *fifo, uint64_t at, const unsigned char *from, size_t n)
{
	size_t offset = at % SIM_FIFO_BYTES;
	size_t first = n < SIM_FIFO_BYTES - offset ? n : SIM_FIFO_BYTES - offset;

	memcpy(fifo + offset, from, first);
	memcpy(fifo, from + first, n - first);
}

static void drain(const unsigned char *fifo, uint64_t at, unsigned char *to, size_t n)
{
	size_t offset = at % SIM_FIFO_BYTES;
	size_t first = n < SIM_FIFO_BYTES - offset ? n : SIM_FIFO_BYTES - offset;

	memcpy(to, fifo + offset, first);
	memcpy(to + first, fifo, n - first);
}

/* How many messages of the pair must have been received before the next one, of `bytes`, can be
 * put: so many that there is a descriptor for it and space for all of it; before a long one, all. */
static uint32_t must_be_taken(const struct sim_peer *peer, uint64_t bytes)
{
	uint32_t n = peer->sent >= SIM_MESSAGES ? peer->sent - SIM_MESSAGES + 1 : 0;
	uint64_t total = peer->total + bytes;

	while (n < peer->sent &&
	       total > SIM_FIFO_BYTES + (n ? peer->sent_bytes[(n - 1) % SIM_MESSAGES] : 0))
		n++;
	return n;
}

static bool post_send(const struct kernel *k, struct message *m)
{
	struct ncclComm *comm = k->comm;
	struct sim_peer *peer = &comm->peers[m->task->root];
	struct sim_pair *pair = &comm->view.pairs[pair_index(comm, comm->rank, m->task->root)];
	uint32_t first = must_be_taken(peer, m->bytes);
	unsigned i = peer->sent % SIM_MESSAGES;

	if ((int32_t)(atomic_load(&pair->n_taken) - first) < 0)
		return false;
	if (first && m->bytes <= SIM_FIFO_BYTES)
		m->arrival_ns = later(m->arrival_ns, pair->taken_ns[(first - 1) % SIM_MESSAGES]);
	pair->sent[i].bytes = m->bytes;
	pair->sent[i].arrival_ns = m->arrival_ns;
	pair->sent[i].work_ns = m->task->work_ns;
	m->index = peer->sent++;
	peer->total += m->bytes;
	peer->sent_bytes[i] = peer->total;
	atomic_store(&pair->n_sent, m->index + 1);
	ring(comm, m->task->root);
	return true;
}

static bool send_some(const struct kernel *k, struct message *m)
{
	struct ncclComm *comm = k->comm;
	size_t index = pair_index(comm, comm->rank, m->task->root);
	struct sim_pair *pair = &comm->view.pairs[index];
	uint64_t in = atomic_load(&pair->in);
	uint64_t room = SIM_FIFO_BYTES - (in - atomic_load(&pair->out));
	uint64_t n = m->bytes - m->moved < room ? m->bytes - m->moved : room;

	if (!n)
		return false;
	fill(comm->view.fifos + index * SIM_FIFO_BYTES, in,
	     (const unsigned char *)m->task->send + m->moved, n);
	m->moved += n;
	atomic_store(&pair->in, in + n);
	ring(comm, m->task->root);
	return true;
}

static bool sent_all(const struct kernel *k, struct message *m)
{
	const struct sim_pair
		*pair = &k->comm->view.pairs[pair_index(k->comm, k->comm->rank, m->task->root)];
	unsigned i = m->index % SIM_MESSAGES;

	if (m->moved < m->bytes)
		return false;
	if (m->bytes > SIM_FIFO_BYTES) {
		if ((int32_t)(atomic_load(&pair->n_wanted) - m->index) <= 0)
			return false;
		m->arrival_ns = later(m->arrival_ns, pair->wanted[i].arrival_ns);
	}
	m->end_ns = m->arrival_ns + (k->timed ? m->task->work_ns : 0);
	return true;
}

static bool post_receive(const struct kernel *k, struct message *m)
{
	struct ncclComm *comm = k->comm;
	struct sim_pair *pair = &comm->view.pairs[pair_index(comm, m->task->root, comm->rank)];

	m->index = comm->peers[m->task->root].received++;
	pair->wanted[m->index % SIM_MESSAGES].bytes = m->bytes;
	pair->wanted[m->index % SIM_MESSAGES].arrival_ns = m->arrival_ns;
	atomic_store(&pair->n_wanted, m->index + 1);
	ring(comm, m->task->root);
	return true;
}

/* Has the message come, and is it the one that is wanted? */
static bool is_there(const struct sim_pair *pair, const struct message *m)
{
	return (int32_t)(atomic_load(&pair->n_sent) - m->index) > 0 &&
	       pair->sent[m->index % SIM_MESSAGES].bytes == m->bytes;
}

static bool receive_some(const struct kernel *k, struct message *m)
{
	struct ncclComm *comm = k->comm;
	size_t index = pair_index(comm, m->task->root, comm->rank);
	struct sim_pair *pair = &comm->view.pairs[index];
	uint64_t out = atomic_load(&pair->out);
	uint64_t there = atomic_load(&pair->in) - out;
	uint64_t n = m->bytes - m->moved < there ? m->bytes - m->moved : there;

	if (!n || !is_there(pair, m))
		return false;
	drain(comm->view.fifos + index * SIM_FIFO_BYTES, out,
	      (unsigned char *)m->task->recv + m->moved, n);
	m->moved += n;
	atomic_store(&pair->out, out + n);
	ring(comm, m->task->root);
	return true;
}

static bool received_all(const struct kernel *k, struct message *m)
{
	struct ncclComm *comm = k->comm;
	struct sim_pair *pair = &comm->view.pairs[pair_index(comm, m->task->root, comm->rank)];
	unsigned i = m->index % SIM_MESSAGES;

	if (m->moved < m->bytes || !is_there(pair, m))
		return false;
	m->end_ns = later(m->arrival_ns, pair->sent[i].arrival_ns) +
		    (k->timed ? pair->sent[i].work_ns : 0);
	pair->taken_ns[i] = m->end_ns;
	atomic_store(&pair->n_taken, m->index + 1);
	ring(comm, m->task->root);
	return true;
}

/* Does what can be done for one message now; true if that was something. */
static bool advance(const struct kernel *k, struct message *m)
{
	bool sends = m->task->func == SIM_SEND;
	bool moved = false;

	if (m->is_done || (m->before && !m->before->is_done))
		return false;
	if (!m->posted) {
		m->arrival_ns = later(k->start_ns, m->before ? m->before->end_ns : 0);
		m->posted = sends ? post_send(k, m) : post_receive(k, m);
		moved = m->posted;
	}
	if (!m->posted)
		return false;
	while (sends ? send_some(k, m) : receive_some(k, m))
		moved = true;
	m->is_done = sends ? sent_all(k, m) : received_all(k, m);
	return moved || m->is_done;
}

/* To itself: the i-th send is for the i-th receive; the launch made sure that there are as many. */
static bool copy_to_self(struct kernel *k)
{
	size_t r = 0;

	for (size_t s = 0; s < k->n; s++) {
		struct message *from = &k->list[s], *to;

		if (from->task->root != k->comm->rank || from->task->func != SIM_SEND)
			continue;
		while (k->list[r].task->root != k->comm->rank || k->list[r].task->func != SIM_RECV)
			r++;
		to = &k->list[r++];
		if (from->bytes != to->bytes) {
			sim_hang(k->who);
			return false;
		}
		if (from->bytes)
			memmove(to->task->recv, from->task->send, from->bytes);
		from->is_done = to->is_done = true;
		from->end_ns = to->end_ns = k->start_ns + (k->timed ? from->task->work_ns : 0);
	}
	return true;
}

static bool run_all(struct kernel *k)
{
	struct sim_gate *bell = &k->comm->view.members[k->comm->rank].bell;
	size_t left = k->n;

	if (!copy_to_self(k))
		return false;
	while (left) {
		uint32_t rung = atomic_load(&bell->value);
		bool moved = false;

		left = 0;
		for (size_t i = 0; i < k->n; i++) {
			moved |= advance(k, &k->list[i]);
			left += !k->list[i].is_done;
		}
		if (left && !moved && !sim_gate_change(bell, rung, k->who))
			return false;
		if (k->who->stopped(k->who))
			return false;
	}
	return true;
}

/* The kernel ends with its last message, and not before its own links could carry all of them. */
static uint64_t end_of(const struct kernel *k)
{
	uint64_t end = k->start_ns, ready[2] = { 0 }, transfer[2] = { 0 };

	for (size_t i = 0; i < k->n; i++) {
		const struct message *m = &k->list[i];
		bool sends = m->task->func == SIM_SEND;

		end = later(end, m->end_ns);
		if (!k->timed)
			continue;
		ready[sends] = later(ready[sends], m->end_ns - m->task->transfer_ns);
		transfer[sends] += m->task->transfer_ns;
	}
	return later(end, later(ready[0] + transfer[0], ready[1] + transfer[1]));
}

/* Messages of one pair and direction follow one another. */
static bool list_messages(struct kernel *k, const struct sim_tasks *tasks)
{
	size_t n_ranks = (size_t)k->comm->n_ranks;
	struct message **last = calloc(2 * n_ranks, sizeof(struct message *));

	k->list = calloc(tasks->n, sizeof(*k->list));
	if (!k->list || !last) {
		free(last);
		return false;
	}
	for (size_t i = 0; i < tasks->n; i++) {
		const struct sim_task *t = &tasks->list[i];
		struct message *m = &k->list[k->n++];
		struct message **before = &last[(size_t)t->root * 2 + (t->func == SIM_SEND)];

		m->task = t;
		m->bytes = t->count * sim_type_bytes(t->type);
		m->before = *before;
		*before = m;
	}
	free(last);
	return true;
}

uint64_t sim_run_messages(struct sim_launch *launch, uint64_t start_ns,
			  const struct sim_comm_wait *wait)
{
	struct kernel k = {
		.comm = launch->comm,
		.start_ns = start_ns,
		.who = &wait->waiter,
		.timed = sim_driver()->simTiming(),
	};
	uint64_t end = 0;

	if (list_messages(&k, &launch->tasks) && run_all(&k))
		end = end_of(&k);
	free(k.list);
	return end;
}
