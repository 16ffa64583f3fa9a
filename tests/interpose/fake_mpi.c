/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interpose/fake_mpi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interpose/abi/mpi.h"

#pragma GCC visibility push(default)

struct fake_mpi fake_mpi;

void fake_mpi_is(const char *text, int abi_major, uintptr_t mask, uintptr_t world)
{
	fake_mpi = (struct fake_mpi){
		.text = text, .abi_major = abi_major, .mask = mask, .world = world
	};
}

/* All functions of MPI that are declared here are this library's own. */
#define MPI_HELPER(name, params) int PMPI_##name params;
#define MPI_HELPER_OPTIONAL(name, params) int PMPI_##name params;
#include "interpose/abi/mpi_helpers.def"

static int ask(void)
{
	__atomic_fetch_add(&fake_mpi.asked, 1, __ATOMIC_RELAXED);
	if (!fake_mpi.is_initialised || fake_mpi.is_finalised)
		__atomic_fetch_add(&fake_mpi.asked_wrongly, 1, __ATOMIC_RELAXED);
	return 0;
}

static int ask_of(ct_mpi_handle handle, ct_mpi_handle known)
{
	if ((handle & fake_mpi.mask) != known)
		__atomic_fetch_add(&fake_mpi.asked_wrongly, 1, __ATOMIC_RELAXED);
	return ask();
}

int PMPI_Initialized(int *flag)
{
	*flag = fake_mpi.is_initialised;
	return 0;
}

int PMPI_Finalized(int *flag)
{
	*flag = fake_mpi.is_finalised;
	return 0;
}

int PMPI_Get_library_version(char *text, int *len)
{
	*len = snprintf(text, 8192, "%s", fake_mpi.text);
	return ask();
}

int PMPI_Abi_get_version(int *major, int *minor)
{
	*major = fake_mpi.abi_major;
	*minor = 0;
	return ask();
}

/* MPICH's codes have the class in their lowest bits. */
int PMPI_Error_class(int code, int *class)
{
	*class = code & 0x7f;
	return ask();
}

int PMPI_Error_string(int code, char *text, int *len)
{
	*len = snprintf(text, 256, "error %d", code);
	return ask();
}

int PMPI_Comm_rank(ct_mpi_handle comm, int *rank)
{
	*rank = FAKE_RANK;
	return ask_of(comm, fake_mpi.world);
}

int PMPI_Comm_size(ct_mpi_handle comm, int *size)
{
	*size = FAKE_SIZE;
	return ask_of(comm, fake_mpi.world);
}

int PMPI_Comm_remote_size(ct_mpi_handle comm, int *size)
{
	*size = 0;
	return ask_of(comm, 0);
}

int PMPI_Comm_test_inter(ct_mpi_handle comm, int *flag)
{
	*flag = 0;
	return ask_of(comm, fake_mpi.world);
}

#define GROUP 0x48000007u
static void give(void *at)
{
	if (fake_mpi.mask == UINT32_MAX)
		*(uint32_t *)at = GROUP;
	else
		*(uintptr_t *)at = GROUP;
}

int PMPI_Comm_group(ct_mpi_handle comm, void *group)
{
	give(group);
	return ask_of(comm, fake_mpi.world);
}

int PMPI_Comm_remote_group(ct_mpi_handle comm, void *group)
{
	give(group);
	return ask_of(comm, 0);
}

int PMPI_Win_get_group(ct_mpi_handle win, void *group)
{
	give(group);
	return ask_of(win, 0);
}

int PMPI_Group_size(ct_mpi_handle group, int *size)
{
	*size = FAKE_SIZE;
	return ask_of(group, GROUP);
}

int PMPI_Group_rank(ct_mpi_handle group, int *rank)
{
	*rank = FAKE_RANK;
	return ask_of(group, GROUP);
}

int PMPI_Group_translate_ranks(ct_mpi_handle from, int n, const int *ranks, ct_mpi_handle to,
			       int *translated)
{
	memcpy(translated, ranks, (size_t)n * sizeof(*ranks));
	ask_of(from, GROUP);
	return ask_of(to, GROUP);
}

int PMPI_Group_free(void *group)
{
	(void)group;
	return ask();
}

int PMPI_Comm_get_name(ct_mpi_handle comm, char *name, int *len)
{
	name[0] = '\0';
	*len = 0;
	return ask_of(comm, fake_mpi.world);
}

int PMPI_Win_get_name(ct_mpi_handle win, char *name, int *len)
{
	name[0] = '\0';
	*len = 0;
	return ask_of(win, 0);
}

int PMPI_Comm_get_parent(void *comm)
{
	if (fake_mpi.mask == UINT32_MAX)
		*(uint32_t *)comm = 0x04000000;
	else
		*(uintptr_t *)comm = 0x100;
	return ask();
}

/* Predefined types: MPICH has the size in the handle, the standard has it nearly so; 0x4c00080b and
 * 0x214 are double. */
int PMPI_Type_size_x(ct_mpi_handle type, ct_mpi_count *bytes)
{
	uintptr_t t = type & fake_mpi.mask;

	*bytes = t == 0x4c00080b || t == 0x214 ? 8 : t == 0x8c0000ff ? 24 : 1;
	if (t != 0x8c0000ff && t >> 24 != 0x4c && t >> 24 != 0x8c && (t < 0x201 || t > 0x2ff))
		__atomic_fetch_add(&fake_mpi.asked_wrongly, 1, __ATOMIC_RELAXED);
	return ask();
}

int PMPI_Type_size(ct_mpi_handle type, int *bytes)
{
	ct_mpi_count wide;
	int status = PMPI_Type_size_x(type, &wide);

	*bytes = (int)wide;
	return status;
}

int PMPI_Get_count(const void *status, ct_mpi_handle type, int *count)
{
	(void)status;
	*count = 0;
	return ask_of(type, 0);
}

int PMPI_Test_cancelled(const void *status, int *flag)
{
	(void)status;
	*flag = 0;
	return ask();
}

int PMPI_Topo_test(ct_mpi_handle comm, int *kind)
{
	*kind = 0;
	return ask_of(comm, fake_mpi.world);
}

int PMPI_Cartdim_get(ct_mpi_handle comm, int *dimensions)
{
	*dimensions = 0;
	return ask_of(comm, 0);
}

int PMPI_Graph_neighbors_count(ct_mpi_handle comm, int rank, int *n)
{
	*n = rank;
	return ask_of(comm, 0);
}

int PMPI_Dist_graph_neighbors_count(ct_mpi_handle comm, int *in, int *out, int *weighted)
{
	*in = *out = *weighted = 0;
	return ask_of(comm, 0);
}

/* Those that have wrappers. As in many libraries, MPI_X calls PMPI_X through the same table as
 * every caller. */
int MPI_Init(int *argc, char ***argv);
int MPI_Finalize(void);
int MPI_Allreduce(const void *send, void *recv, int n, uintptr_t type, uintptr_t op,
		  uintptr_t comm);
int PMPI_Allreduce(const void *send, void *recv, int n, uintptr_t type, uintptr_t op,
		   uintptr_t comm);
int MPI_Gather(const void *send, int n, uintptr_t type, void *recv, int m, uintptr_t recv_type,
	       int root, uintptr_t comm);

int MPI_Init(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fake_mpi.is_initialised = 1;
	return 0;
}

int MPI_Finalize(void)
{
	fake_mpi.is_finalised = 1;
	return 0;
}

int MPI_Allreduce(const void *send, void *recv, int n, uintptr_t type, uintptr_t op, uintptr_t comm)
{
	/* a wrapper that sends PMPI_X here would go round forever */
	if (__atomic_fetch_add(&fake_mpi.data_calls, 1, __ATOMIC_RELAXED) > 1000)
		return fake_mpi.result;
	return PMPI_Allreduce(send, recv, n, type, op, comm);
}

int PMPI_Allreduce(const void *send, void *recv, int n, uintptr_t type, uintptr_t op,
		   uintptr_t comm)
{
	(void)send;
	(void)recv;
	(void)n;
	(void)type;
	(void)op;
	(void)comm;
	__atomic_fetch_add(&fake_mpi.pdata_calls, 1, __ATOMIC_RELAXED);
	errno = 77;
	return fake_mpi.result;
}

int MPI_Gather(const void *send, int n, uintptr_t type, void *recv, int m, uintptr_t recv_type,
	       int root, uintptr_t comm)
{
	(void)send;
	(void)n;
	(void)type;
	(void)recv;
	(void)m;
	(void)recv_type;
	(void)root;
	(void)comm;
	__atomic_fetch_add(&fake_mpi.data_calls, 1, __ATOMIC_RELAXED);
	return fake_mpi.result;
}

int MPI_Alltoallv_init(const void *send, const int *counts, const int *at, uintptr_t type,
		       void *recv, const int *recv_counts, const int *recv_at, uintptr_t recv_type,
		       uintptr_t comm, uintptr_t info, void *request);
int MPI_Start(void *request);
int MPI_Request_free(void *request);

int MPI_Alltoallv_init(const void *send, const int *counts, const int *at, uintptr_t type,
		       void *recv, const int *recv_counts, const int *recv_at, uintptr_t recv_type,
		       uintptr_t comm, uintptr_t info, void *request)
{
	static uint32_t last = 0x98000000;

	(void)send;
	(void)counts;
	(void)at;
	(void)type;
	(void)recv;
	(void)recv_counts;
	(void)recv_at;
	(void)recv_type;
	(void)comm;
	(void)info;
	*(uint32_t *)request = ++last;
	return fake_mpi.result;
}

int MPI_Start(void *request)
{
	(void)request;
	return fake_mpi.result;
}

int MPI_Request_free(void *request)
{
	*(uint32_t *)request = 0x2c000000;
	return fake_mpi.result;
}
