/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi_comm.h"

#include "interpose/hash.h"

#define GROUPS 1024u
#define RANKS_AT_ONCE 256

/* How many communicators of just these members this process has seen. */
static struct {
	_Atomic uint64_t members; /* their hash, 0: free */
	_Atomic uint32_t made;
} groups[GROUPS];

void ct_mpi_comm_init(void)
{
	memset(groups, 0, sizeof(groups));
}

/* Collisions of the 64-bit hash are as good as impossible, a full table is not: then its last place serves all. */
static uint32_t ordinal(uint64_t members)
{
	uint32_t at = (uint32_t)members % GROUPS;

	for (uint32_t tries = 1; tries < GROUPS; tries++, at = (at + 1) % GROUPS) {
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(&groups[at].members, &there, members) ||
		    there == members)
			break;
	}
	return atomic_fetch_add_explicit(&groups[at].made, 1, memory_order_relaxed);
}

/* Hash of the members' ranks in the world, 0: they cannot be told. */
static uint64_t members_of(ct_mpi_handle comm, uint32_t n)
{
	int ranks[RANKS_AT_ONCE], in_world[RANKS_AT_ONCE];
	uintptr_t group = 0, world = 0;
	uint64_t hash = ct_hash_mix(CT_HASH_START, n);
	int status;

	if (ct_mpi.call.Comm_group(ct_mpi.is.COMM_WORLD, &world) != CT_MPI_SUCCESS)
		return 0;
	status = ct_mpi.call.Comm_group(comm, &group);
	for (uint32_t first = 0; status == CT_MPI_SUCCESS && first < n; first += RANKS_AT_ONCE) {
		int part = n - first < RANKS_AT_ONCE ? (int)(n - first) : RANKS_AT_ONCE;

		for (int i = 0; i < part; i++)
			ranks[i] = (int)first + i;
		status = ct_mpi.call.Group_translate_ranks(ct_mpi_handle_at(&group, 0), part, ranks,
							   ct_mpi_handle_at(&world, 0), in_world);
		hash = ct_hash_bytes(hash, in_world, (size_t)part * sizeof(in_world[0]));
	}
	if (group)
		ct_mpi.call.Group_free(&group);
	ct_mpi.call.Group_free(&world);
	return status == CT_MPI_SUCCESS ? hash : 0;
}

static uint64_t key_of(ct_mpi_handle handle, uint32_t n)
{
	const struct ct_process *process = &ct_recorder.process;
	uint64_t members = members_of(handle, n);

	if (!members)
		return 0;
	return ct_hash_mix(ct_hash_bytes(members, process->job, strlen(process->job)),
			   ordinal(members));
}

struct ct_comm *ct_mpi_comm_new(ct_mpi_handle handle)
{
	struct ct_comm_spec spec = {
		.handle = { ct_mpi_key(handle), NULL },
		.source = CT_KEY_LIBRARY,
		.backend = CT_BACKEND_MPI,
	};
	int size = 0, rank = 0, is_inter = 0;

	if (ct_mpi_is(handle, ct_mpi.is.COMM_NULL) ||
	    ct_mpi.call.Comm_test_inter(handle, &is_inter) != CT_MPI_SUCCESS || is_inter ||
	    ct_mpi.call.Comm_size(handle, &size) != CT_MPI_SUCCESS ||
	    ct_mpi.call.Comm_rank(handle, &rank) != CT_MPI_SUCCESS || size < 1)
		return NULL;
	spec.nranks = (uint32_t)size;
	spec.rank = rank;
	spec.key = key_of(handle, spec.nranks);
	if (!spec.key)
		spec.source = CT_KEY_GUESSED;
	ct_self.comm = ct_comms_create(&spec);
	return ct_self.comm;
}

void ct_mpi_comm_world(void)
{
	ct_mpi_comm(ct_mpi.is.COMM_WORLD);
}
