/* SPDX-License-Identifier: Apache-2.0 */
/* child.c — communicators made from others: split, in which all ranks take part, and shrink, in
 * which only those do that stay. One rank of each child creates its file and informs the others
 * through the parent's. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/hash.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/make.h"

struct child {
	struct sim_job job; /* on behalf of the parent */
	const char *call;
	struct ncclComm *comm; /* the child; NULL without a colour */
	ncclComm_t *newcomm;
	int count, color, key; /* count: of the parent's splits or shrinks, this one included */
	int nth;	       /* child by splitting or growing; 0: shrunk */
	int *excluded, n_excluded;
};

static void drop_child(struct child *c)
{
	if (!c->comm)
		return;
	c->comm->magic = 0;
	sim_comm_drop(c->comm);
	c->comm = NULL;
}

static void undo_child(struct sim_job *job)
{
	struct child *c = (struct child *)job;

	drop_child(c);
	free(c->excluded);
}

/* The members of this rank's child in their order, as ranks of the parent. */
static int by_key(const struct ncclComm *parent, const struct child *c, int *ranks)
{
	int n = 0, turn = c->count % 2;

	for (int r = 0; r < parent->n_ranks; r++) {
		int i = n;

		if (parent->view.members[r].color[turn] != c->color)
			continue;
		while (i && parent->view.members[ranks[i - 1]].key[turn] >
				    parent->view.members[r].key[turn]) {
			ranks[i] = ranks[i - 1];
			i--;
		}
		ranks[i] = r;
		n++;
	}
	return n;
}

static bool is_excluded(const struct child *c, int rank)
{
	for (int i = 0; i < c->n_excluded; i++)
		if (c->excluded[i] == rank)
			return true;
	return false;
}

static int who_stays(const struct ncclComm *parent, const struct child *c, int *ranks)
{
	int n = 0;

	for (int r = 0; r < parent->n_ranks; r++)
		if (!is_excluded(c, r))
			ranks[n++] = r;
	return n;
}

/* The child's id: made by its first member, fetched by the others. */
static ncclResult_t share_id(struct child *c, int first, ncclUniqueId *id,
			     const struct sim_waiter *who)
{
	struct ncclComm *parent = c->job.comm;
	struct sim_member *m = &parent->view.members[first];
	ncclUniqueId *shared = c->excluded ? &m->shrunk : &m->child[c->count % 2];
	struct sim_gate *gate = c->excluded ? &m->shrinks : &m->children;
	uint32_t turn = (uint32_t)c->count;
	ncclResult_t result;

	if (first != parent->rank) {
		if (!sim_gate_wait(gate, turn, who))
			return ncclInternalError;
		*id = *shared;
		return ncclSuccess;
	}
	result = sim_shared_create(id);
	if (result)
		return result;
	*shared = *id;
	/* It may have been no first one before: the number is that of the child, not of its turns. */
	while ((int32_t)(atomic_load(&gate->value) - turn) < 0)
		sim_gate_add(gate, 1);
	return ncclSuccess;
}

static ncclResult_t connect_child(struct child *c, const int *ranks, int n,
				  const struct sim_waiter *who)
{
	struct ncclComm *comm = c->comm, *parent = c->job.comm;
	ncclUniqueId id;
	ncclResult_t result;

	comm->n_ranks = n;
	while (ranks[comm->rank] != parent->rank)
		comm->rank++;
	comm->self.global_rank = parent->self.global_rank;
	comm->hash = sim_hash_child(parent->hash, c->nth, c->excluded ? 0 : c->color);
	comm->id_magic = comm->hash;
	sim_info(comm->device,
		 "%s comm %p rank %d nranks %d cudaDev %d nvmlDev %d parent %p splitCount %d color "
		 "%d key %d- Init START",
		 c->call + 1, (void *)comm, comm->rank, comm->n_ranks, comm->device, comm->device,
		 (void *)parent, c->count, c->color, c->key);
	result = share_id(c, ranks[0], &id, who);
	if (!result)
		result = sim_comm_connect(comm, &id);
	if (!result)
		sim_info(comm->device,
			 "%s comm %p rank %d nranks %d cudaDev %d nvmlDev %d parent %p splitCount "
			 "%d color %d key %d commId 0x%llx - Init COMPLETE",
			 c->call + 1, (void *)comm, comm->rank, comm->n_ranks, comm->device,
			 comm->device, (void *)parent, c->count, c->color, c->key,
			 (unsigned long long)comm->hash);
	return result;
}

/* Every rank publishes color and key, waits for the others', and finds its rank. There are two
 * buffers: a rank that writes the next but one has read all of the one before. */
static ncclResult_t say_color(struct child *c, const struct sim_waiter *who)
{
	struct ncclComm *parent = c->job.comm;
	struct sim_member *me = &parent->view.members[parent->rank];
	struct sim_gate *said = &parent->view.shared->splits[c->count % 2];
	uint32_t n = (uint32_t)parent->n_ranks;

	me->color[c->count % 2] = c->color;
	me->key[c->count % 2] = c->key;
	sim_gate_add(said, n);
	/* Odd ones are the 1st, 3rd, ...; even ones the 2nd, 4th, ... */
	return sim_gate_wait(said, (uint32_t)(c->count + 1) / 2 * n, who) ? ncclSuccess
									  : ncclInternalError;
}

static ncclResult_t run_child(struct sim_job *job)
{
	struct child *c = (struct child *)job;
	struct ncclComm *parent = job->comm;
	struct sim_comm_wait wait;
	int *ranks = malloc((size_t)parent->n_ranks * sizeof(*ranks));
	ncclResult_t result = ranks ? ncclSuccess : ncclSystemError;
	int n;

	sim_comm_waiter(&wait, parent, SIM_HOST);
	if (!result && !c->excluded)
		result = say_color(c, &wait.waiter);
	if (!result && c->comm) {
		n = c->excluded ? who_stays(parent, c, ranks) : by_key(parent, c, ranks);
		result = connect_child(c, ranks, n, &wait.waiter);
	}
	if (result)
		drop_child(c);
	if (!result)
		*c->newcomm = c->comm;
	free(c->excluded);
	free(ranks);
	return result;
}

static ncclResult_t add_child(struct child *c, const ncclConfig_t *config)
{
	struct ncclComm *parent = c->job.comm;
	ncclResult_t result;

	c->job.run = run_child;
	c->job.undo = undo_child;
	*c->newcomm = NULL;
	if (c->excluded || c->color != NCCL_SPLIT_NOCOLOR) {
		c->comm = sim_comm_new();
		if (!c->comm)
			abort();
		c->comm->blocking = parent->blocking;
		c->comm->device = parent->device;
		c->comm->context = parent->context;
		result = sim_config_apply(c->comm, config, c->call);
		if (result) {
			undo_child(&c->job);
			free(c);
			return result;
		}
	}
	return sim_group_job(&c->job);
}

/* What is to be done in a group of its own, or in the program's. */
static ncclResult_t in_group(struct child *c, const ncclConfig_t *config, ncclResult_t result)
{
	ncclResult_t ended;

	if (!result)
		result = add_child(c, config);
	sim_group_error(result);
	ended = sim_group_end(false);
	return result ? result : ended;
}

static ncclResult_t check_parent(ncclComm_t comm, ncclComm_t *newcomm, const char *call)
{
	ncclResult_t result = sim_comm_ready(comm, call);

	if (!result && !newcomm) {
		sim_nccl_misuse(call, "newcomm argument is NULL");
		result = ncclInvalidArgument;
	}
	return result;
}

SIM_NCCL(ncclResult_t, ncclCommSplit,
	 (ncclComm_t comm, int color, int key, ncclComm_t *newcomm, ncclConfig_t *config))
{
	ncclResult_t result;
	struct child *c = NULL;

	sim_stall(__func__);
	sim_group_start();
	result = check_parent(comm, newcomm, __func__);
	if (!result && color < 0 && color != NCCL_SPLIT_NOCOLOR) {
		sim_nccl_misuse(__func__, "Invalid color");
		result = ncclInvalidArgument;
	}
	if (!result) {
		c = calloc(1, sizeof(*c));
		if (!c)
			abort();
		c->call = __func__;
		c->job.comm = comm;
		c->newcomm = newcomm;
		c->color = color;
		c->key = key;
		c->count = ++comm->n_splits;
		c->nth = ++comm->n_children;
	}
	return in_group(c, config, result);
}

static ncclResult_t check_excluded(const struct ncclComm *comm, const int *excluded, int n)
{
	bool bad = !excluded || n < 1 || n >= comm->n_ranks;

	for (int i = 0; !bad && i < n; i++)
		bad = excluded[i] < 0 || excluded[i] >= comm->n_ranks || excluded[i] == comm->rank;
	if (!bad)
		return ncclSuccess;
	sim_nccl_misuse("ncclCommShrink",
			"excludeRanksList names no ranks, or not such as are others");
	return ncclInvalidArgument;
}

SIM_NCCL(ncclResult_t, ncclCommShrink,
	 (ncclComm_t comm, int *excluded, int n_excluded, ncclComm_t *newcomm, ncclConfig_t *config,
	  int flags))
{
	ncclResult_t result;
	struct child *c = NULL;

	sim_group_start();
	result = check_parent(comm, newcomm, __func__);
	if (!result)
		result = check_excluded(comm, excluded, n_excluded);
	if (!result) {
		if (flags & NCCL_SHRINK_ABORT)
			sim_comm_cancel(comm, comm->launches, false);
		c = calloc(1, sizeof(*c));
		if (!c)
			abort();
		c->excluded = malloc((size_t)n_excluded * sizeof(int));
		if (!c->excluded)
			abort();
		memcpy(c->excluded, excluded, (size_t)n_excluded * sizeof(int));
		c->n_excluded = n_excluded;
		c->call = __func__;
		c->job.comm = comm;
		c->newcomm = newcomm;
		c->count = ++comm->n_shrinks;
	}
	return in_group(c, config, result);
}
