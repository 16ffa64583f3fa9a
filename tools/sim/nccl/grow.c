/* SPDX-License-Identifier: Apache-2.0 */
/* grow.c — communicators with more ranks than the one they are grown from. A member of that makes a
 * unique id, which the new ranks get from the program; the other members wait for it in the
 * parent's file. */
#include <stdlib.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/hash.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/make.h"

struct grow {
	struct sim_job job;	 /* on behalf of the new communicator */
	struct ncclComm *parent; /* NULL: a new rank */
	ncclComm_t *newcomm;
	ncclUniqueId id;
	bool has_id;
	uint32_t turn; /* of the parent's growths, from 1 */
};

SIM_NCCL(ncclResult_t, ncclCommGetUniqueId, (ncclComm_t comm, ncclUniqueId *id))
{
	ncclResult_t result = sim_comm_ready(comm, __func__);
	struct sim_shared *shared;

	if (result)
		return result;
	if (!id) {
		sim_nccl_misuse(__func__, "uniqueId argument is NULL");
		return ncclInvalidArgument;
	}
	if (comm->n_grow_ids > comm->n_grows) {
		sim_nccl_misuse(__func__, "the last id was not used yet");
		return ncclInvalidUsage;
	}
	result = sim_shared_create_as(id, sim_hash_pair(comm->id_magic,
							(uint64_t)comm->n_children + 1));
	if (result)
		return result;
	comm->n_grow_ids = comm->n_grows + 1;
	shared = comm->view.shared;
	shared->grow_id[comm->n_grow_ids % 2] = *id;
	while ((int32_t)(atomic_load(&shared->grow_ids.value) - (uint32_t)comm->n_grow_ids) < 0)
		sim_gate_add(&shared->grow_ids, 1);
	return ncclSuccess;
}

static void leave_parent(struct grow *g)
{
	if (g->parent)
		sim_comm_drop(g->parent);
	g->parent = NULL;
}

static void undo_grow(struct sim_job *job)
{
	struct grow *g = (struct grow *)job;

	*g->newcomm = NULL;
	leave_parent(g);
	job->comm->magic = 0;
	sim_comm_drop(job->comm);
}

/* The parent's members have its file; the one that made the id has that, too. */
static ncclResult_t get_id(struct grow *g)
{
	struct sim_comm_wait wait;

	if (g->has_id)
		return ncclSuccess;
	sim_comm_waiter(&wait, g->parent, SIM_HOST);
	if (!sim_gate_wait(&g->parent->view.shared->grow_ids, g->turn, &wait.waiter))
		return ncclInternalError;
	g->id = g->parent->view.shared->grow_id[g->turn % 2];
	return ncclSuccess;
}

static ncclResult_t run_grow(struct sim_job *job)
{
	struct grow *g = (struct grow *)job;
	struct ncclComm *comm = job->comm;
	ncclResult_t result = get_id(g);

	if (!result) {
		comm->id_magic = sim_shared_magic(&g->id);
		comm->hash = sim_hash_pair(comm->id_magic, (uint64_t)comm->n_ranks);
		result = sim_comm_connect(comm, &g->id);
	}
	if (!result)
		sim_info(comm->device,
			 "ncclCommGrow comm %p rank %d nranks %d cudaDev %d nvmlDev %d commId "
			 "0x%llx - Init COMPLETE",
			 (void *)comm, comm->rank, comm->n_ranks, comm->device, comm->device,
			 (unsigned long long)comm->hash);
	leave_parent(g);
	if (result && comm->blocking) {
		*g->newcomm = NULL;
		comm->magic = 0;
		sim_comm_drop(comm);
	}
	return result;
}

static ncclResult_t check_grow(struct ncclComm *parent, int n_ranks, const ncclUniqueId *id,
			       int rank)
{
	const char *why = NULL;
	ncclResult_t result = parent ? sim_comm_ready(parent, "ncclCommGrow") : ncclSuccess;

	if (result)
		return result;
	if (parent && (rank != -1 || n_ranks <= parent->n_ranks))
		why = "a member of the parent has a rank already, or nothing grows";
	else if (!parent && (!id || rank < 0 || rank >= n_ranks))
		why = "a new rank needs an id and a rank";
	else if (n_ranks > SIM_RANKS_MAX)
		why = "too many ranks";
	if (!why)
		return ncclSuccess;
	sim_nccl_misuse("ncclCommGrow", why);
	return ncclInvalidArgument;
}

/* The new communicator of a rank, as far as the call makes it. */
static struct ncclComm *new_comm(const struct ncclComm *parent, int n_ranks, int rank)
{
	struct ncclComm *comm = sim_comm_new();

	if (!comm)
		abort();
	comm->blocking = parent ? parent->blocking : true;
	comm->n_ranks = n_ranks;
	comm->rank = parent ? parent->rank : rank;
	comm->self.global_rank = parent ? parent->self.global_rank : rank;
	if (parent) {
		comm->device = parent->device;
		comm->context = parent->context;
	}
	return comm;
}

static ncclResult_t add_grow(struct ncclComm *parent, int n_ranks, const ncclUniqueId *id, int rank,
			     ncclComm_t *newcomm, const ncclConfig_t *config)
{
	struct ncclComm *comm = new_comm(parent, n_ranks, rank);
	ncclResult_t result = parent ? ncclSuccess : sim_comm_take_device(comm);
	struct grow *g;

	if (!result)
		result = sim_config_apply(comm, config, "ncclCommGrow");
	if (result) {
		comm->magic = 0;
		sim_comm_drop(comm);
		return result;
	}
	g = calloc(1, sizeof(*g));
	if (!g)
		abort();
	g->job = (struct sim_job){ run_grow, undo_grow, comm, ncclSuccess, NULL };
	g->newcomm = newcomm;
	g->parent = parent;
	g->has_id = id != NULL;
	if (id)
		g->id = *id;
	if (parent) {
		g->turn = (uint32_t)++parent->n_grows;
		parent->n_children++;
		sim_comm_keep(parent);
	}
	*newcomm = comm;
	return sim_group_job(&g->job);
}

SIM_NCCL(ncclResult_t, ncclCommGrow,
	 (ncclComm_t comm, int nranks, const ncclUniqueId *id, int rank, ncclComm_t *newcomm,
	  ncclConfig_t *config))
{
	ncclResult_t result, ended;

	if (!newcomm) {
		sim_nccl_misuse(__func__, "newcomm argument is NULL");
		return ncclInvalidArgument;
	}
	*newcomm = NULL;
	sim_stall(__func__);
	sim_group_start();
	result = check_grow(comm, nranks, id, rank);
	if (!result)
		result = add_grow(comm, nranks, id, rank, newcomm, config);
	sim_group_error(result);
	ended = sim_group_end(false);
	return result ? result : ended;
}
