/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of every kind, each with a few ops on it. */
#include <stdio.h>

#include "tests/mpi/matrix.h"

#define JOURNAL_MY_ROOT (-4)

static void use(MPI_Comm comm)
{
	fill();
	NOTE(.call = "MPI_Allreduce", .op = "AllReduce", .comm = comm, .count = 2, .dtype = "int32",
	     .bytes = 4, .redop = "sum");
	MPI_Allreduce(in_i, out_i, 2, MPI_INT, MPI_SUM, comm);
	fold_all();
}

static void use_up(MPI_Comm *comm, const char *name)
{
	if (*comm == MPI_COMM_NULL)
		return;
	name_comm(*comm, name);
	use(*comm);
	forget_comm(*comm);
	MPI_Comm_free(comm);
}

/* The same members several times: the keys have to distinguish them. Freed in another order than
 * made. */
static void copies(void)
{
	MPI_Request request;
	MPI_Comm a, b, c;

	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	name_comm(a, "dup1");
	MPI_Comm_dup(a, &b);
	name_comm(b, "dup2");
	use(a);
	MPI_Comm_idup(a, &c, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	name_comm(c, "idup");
	use(b);
	use(c);
	use(a);
	forget_comm(a);
	MPI_Comm_free(&a);
	MPI_Comm_dup_with_info(c, MPI_INFO_NULL, &a);
	name_comm(a, "dup_with_info");
	use(c);
	use(a);
	forget_comm(c);
	forget_comm(b);
	forget_comm(a);
	MPI_Comm_free(&c);
	MPI_Comm_free(&b);
	MPI_Comm_disconnect(&a);
}

static void splits(void)
{
	int odd = job.rank % 2;
	MPI_Comm half, again, node;

	MPI_Comm_split(MPI_COMM_WORLD, odd, -job.rank, &half);
	name_comm(half, odd ? "odd" : "even");
	MPI_Comm_split(half, 0, 0, &again);
	use_up(&again, odd ? "odd_again" : "even_again");
	use(half);
	forget_comm(half);
	MPI_Comm_free(&half);
	/* some get none */
	MPI_Comm_split(MPI_COMM_WORLD, job.rank == 1 ? MPI_UNDEFINED : 5, 0, &half);
	use_up(&half, "all_but_1");
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
	use_up(&node, "node");
}

static void of_groups(void)
{
	int first[2] = { 0, 1 }, last[2] = { job.size - 1, 0 };
	MPI_Group world, group;
	MPI_Comm comm = MPI_COMM_NULL;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, first, &group);
	MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
	use_up(&comm, "first_two");
	MPI_Group_free(&group);
	/* only the members call; in another order than in the world */
	if (job.rank == last[0] || job.rank == last[1]) {
		MPI_Group_incl(world, 2, last, &group);
		MPI_Comm_create_group(MPI_COMM_WORLD, group, 7, &comm);
		use_up(&comm, "last_and_first");
		MPI_Group_free(&group);
	}
	MPI_Group_free(&world);
}

static void topologies(void)
{
	const int dims[2] = { 2, job.size / 2 }, periods[2] = { 0, 1 }, rows[2] = { 0, 1 };
	int index[8], edges[16], degree = 1, neighbour = job.right, weight[1] = { 1 };
	MPI_Comm grid, row, graph;
	char name[16];

	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	if (grid != MPI_COMM_NULL) {
		name_comm(grid, "grid");
		MPI_Cart_sub(grid, rows, &row);
		snprintf(name, sizeof(name), "row%d", job.rank / (job.size / 2));
		use_up(&row, name);
		use(grid);
		forget_comm(grid);
		MPI_Comm_free(&grid);
	}
	for (int i = 0; i < job.size; i++) {
		index[i] = 2 * (i + 1);
		edges[2 * i] = (i + 1) % job.size;
		edges[2 * i + 1] = (i + job.size - 1) % job.size;
	}
	MPI_Graph_create(MPI_COMM_WORLD, job.size, index, edges, 0, &graph);
	use_up(&graph, "graph");
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &job.rank, &degree, &neighbour, weight,
			      MPI_INFO_NULL, 0, &graph);
	use_up(&graph, "dist_graph");
}

/* On an intercommunicator, peers and roots are ranks of the other group; MPI_ROOT and MPI_PROC_NULL
 * stand for one's own. JOURNAL_MY_ROOT stands for the former; of who passes the latter, no root is
 * known. */
static void across(MPI_Comm inter, int upper, int half)
{
	int me, other;
	MPI_Request requests[2];

	MPI_Comm_rank(inter, &me);
	other = me % half;
	fill();
	NOTE(.call = "MPI_Isend", .op = "Send", .comm = inter, .count = 3, .dtype = "int32",
	     .bytes = 4, .peer = other, .tag = 5);
	MPI_Isend(in_i, 3, MPI_INT, other, 5, inter, &requests[0]);
	NOTE(.call = "MPI_Irecv", .op = "Recv", .comm = inter, .count = 3, .dtype = "int32",
	     .bytes = 4, .peer = other, .tag = 5);
	MPI_Irecv(out_i, 3, MPI_INT, other, 5, inter, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	NOTE(.call = "MPI_Allgather", .op = "AllGather", .comm = inter, .count = 2,
	     .dtype = "int32", .bytes = 4);
	MPI_Allgather(in_i, 2, MPI_INT, out_i + 8, 2, MPI_INT, inter);
	/* from the lower group's first to all of the upper; the lower's others have no part in it */
	if (!upper && me != 0)
		NOTE(.call = "MPI_Bcast", .op = "Broadcast", .comm = inter);
	else
		NOTE(.call = "MPI_Bcast", .op = "Broadcast", .comm = inter, .count = 4,
		     .dtype = "int32", .bytes = 4, .root = upper ? 0 : JOURNAL_MY_ROOT);
	MPI_Bcast(upper ? out_i : in_i, 4, MPI_INT,
		  upper	    ? 0
		  : me == 0 ? MPI_ROOT
			    : MPI_PROC_NULL,
		  inter);
	fold_all();
}

static void intercommunicators(void)
{
	int half = job.size / 2, upper = job.rank >= half;
	MPI_Comm local, inter, copy, merged;

	MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &local);
	name_comm(local, upper ? "upper" : "lower");
	MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : half, 9, &inter);
	name_comm(inter, "inter");
	across(inter, upper, half);
	MPI_Comm_dup(inter, &copy);
	name_comm(copy, "inter_dup");
	across(copy, upper, half);
	MPI_Intercomm_merge(inter, !upper, &merged);
	use_up(&merged, "merged");
	forget_comm(copy);
	MPI_Comm_free(&copy);
	forget_comm(inter);
	MPI_Comm_free(&inter);
	use(local);
	forget_comm(local);
	MPI_Comm_free(&local);
}

void matrix_comms(void)
{
	copies();
	splits();
	of_groups();
	topologies();
	intercommunicators();
}
