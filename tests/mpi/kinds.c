/* SPDX-License-Identifier: Apache-2.0 */
/* kinds DIRECTORY — communicators of every kind and windows, each known by a number of the
 *program's own: on communicator N there is one all-reduce of N elements, and what makes or ends one
 *is a line of DIRECTORY/RANK: comm N PARENT INDEX SIZE NAME     (PARENT 0: none; NAME - : none) win
 *N PARENT INDEX SIZE NAME message N FROM TO COUNT TAG      FROM and TO as members of N rma N OP
 *TARGET COUNT call FUNCTION                     moves no data, may wait Four ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 128
#if MPI_VERSION >= 4
#define HAS_SESSIONS 1
#else
#define HAS_SESSIONS 0
#endif

static FILE *journal;
static int rank, size, numbers;
static int in[MOST], out[MOST];

static void called(const char *function)
{
	fprintf(journal, "call %s\n", function);
}

/* The next number, which all ranks take, whether they are members or not. */
static int next(void)
{
	return ++numbers;
}

static int name_and_tell(MPI_Comm comm, int number, int parent, const char *name)
{
	int index, n, inter, far = 0, base = 0;

	if (comm == MPI_COMM_NULL)
		return 0;
	MPI_Comm_rank(comm, &index);
	MPI_Comm_size(comm, &n);
	MPI_Comm_test_inter(comm, &inter);
	if (inter) {
		/* The group that has world rank 0 comes first in all that are made here. */
		int mine = rank == 0, has = 0;
		MPI_Comm local;

		MPI_Comm_remote_size(comm, &far);
		MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &local);
		called("MPI_Comm_split");
		fprintf(journal, "helper %d\n", rank % 2);
		MPI_Allreduce(&mine, &has, 1, MPI_INT, MPI_MAX, local);
		MPI_Comm_free(&local);
		called("MPI_Comm_free");
		base = has ? 0 : far;
	}
	if (name)
		MPI_Comm_set_name(comm, name);
	fprintf(journal, "comm %d %d %d %d %s\n", number, parent, base + index, n + far,
		name ? name : "-");
	return 1;
}

static void use(MPI_Comm comm, int number)
{
	MPI_Allreduce(in, out, number, MPI_INT, MPI_SUM, comm);
}

static int known(MPI_Comm comm, int parent, const char *name, const char *function)
{
	int number = next();

	if (function)
		called(function);
	if (name_and_tell(comm, number, parent, name))
		use(comm, number);
	return number;
}

/* One of two communicators that a call makes. */
static int known_half(MPI_Comm comm, int parent, int which, const char *name, const char *function)
{
	int number = next();

	next();
	called(function);
	if (name_and_tell(comm, number + which, parent, name))
		use(comm, number + which);
	return number + which;
}

static void drop(MPI_Comm *comm)
{
	if (*comm == MPI_COMM_NULL)
		return;
	MPI_Comm_free(comm);
	called("MPI_Comm_free");
}

/* Each member of one side with the one of the other that has its rank: one message each way. */
static void exchange(MPI_Comm inter, int number, int index)
{
	int mine, far, base, own;

	MPI_Comm_rank(inter, &mine);
	MPI_Comm_remote_size(inter, &far);
	base = index == mine ? 0 : far; /* where my group's members begin */
	MPI_Comm_size(inter, &own);
	MPI_Sendrecv(in, number, MPI_INT, mine, number, out, number, MPI_INT, mine, number, inter,
		     MPI_STATUS_IGNORE);
	fprintf(journal, "message %d %d %d %d %d\n", number, base + mine, (base ? 0 : own) + mine,
		number, number);
}

static void copies(void)
{
	MPI_Comm a, b, c[3], again;
	MPI_Request requests[3];
	int na;

	MPI_Comm_dup(MPI_COMM_WORLD, &a);
	na = known(a, 1, "a copy", "MPI_Comm_dup");
	MPI_Comm_dup_with_info(a, MPI_INFO_NULL, &b);
	known(b, na, NULL, "MPI_Comm_dup_with_info");
	drop(&b);
	/* The library may use a handle again. */
	for (int i = 0; i < 3; i++) {
		MPI_Comm_dup(a, &again);
		known(again, na, NULL, "MPI_Comm_dup");
		drop(&again);
	}
	/* Three at once, which are waited for in different order. */
	for (int i = 0; i < 3; i++) {
		MPI_Comm_idup(a, &c[i], &requests[i]);
		called("MPI_Comm_idup");
	}
	for (int i = 0; i < 3; i++)
		MPI_Wait(&requests[rank % 2 ? 2 - i : i], MPI_STATUS_IGNORE);
	for (int i = 2; i >= 0; i--) {
		known(c[i], na, NULL, NULL);
		drop(&c[i]);
	}
	drop(&a);
}

static void parts(void)
{
	int evens[2] = { 0, 2 }, all_backward[4] = { 3, 2, 1, 0 };
	MPI_Group world, group;
	MPI_Comm comm, sub;
	int n;

	MPI_Comm_split(MPI_COMM_WORLD, rank == 3 ? MPI_UNDEFINED : 7, -rank, &comm);
	n = known(comm, 1, "all but 3, backward", "MPI_Comm_split");
	if (comm != MPI_COMM_NULL) {
		MPI_Comm_split(comm, rank == 0, 0, &sub);
		known_half(sub, n, rank == 0, NULL, "MPI_Comm_split");
		drop(&sub);
	} else {
		next();
		next();
	}
	drop(&comm);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
	known(comm, 1, "node", "MPI_Comm_split_type");
	drop(&comm);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 2, evens, &group);
	MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
	known(comm, 1, "evens", "MPI_Comm_create");
	drop(&comm);
	if (rank % 2 == 0) {
		MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
		known(comm, 1, "evens again", "MPI_Comm_create_group");
		drop(&comm);
	} else {
		next();
	}
	MPI_Group_free(&group);
	MPI_Group_incl(world, 4, all_backward, &group);
	MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
	known(comm, 1, NULL, "MPI_Comm_create");
	drop(&comm);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
}

static void grids(void)
{
	int dims[2] = { 2, 2 }, periods[2] = { 1, 0 }, remain[2] = { 1, 0 };
	int index[4] = { 1, 2, 3, 4 }, edges[4] = { 1, 0, 3, 2 };
	int left = (rank + 3) % 4, right = (rank + 1) % 4, one = 1;
	MPI_Comm grid, row, comm;
	int n;

	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	n = known(grid, 1, "grid", "MPI_Cart_create");
	MPI_Cart_sub(grid, remain, &row);
	known_half(row, n, rank % 2, NULL, "MPI_Cart_sub");
	drop(&row);
	drop(&grid);
	MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &comm);
	known(comm, 1, "graph", "MPI_Graph_create");
	drop(&comm);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, &one, 1, &right, &one,
				       MPI_INFO_NULL, 0, &comm);
	known(comm, 1, "ring", "MPI_Dist_graph_create_adjacent");
	drop(&comm);
	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &right, &one, MPI_INFO_NULL, 0,
			      &comm);
	known(comm, 1, "ring again", "MPI_Dist_graph_create");
	drop(&comm);
	/* Not all ranks are in it. */
	dims[0] = 3;
	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &grid);
	known(grid, 1, "line of three", "MPI_Cart_create");
	drop(&grid);
}

/* Odd ranks on one side, even ones on the other; what the odd ones call first is not what the even
 * ones do. */
static void between(void)
{
	int odd = rank % 2, number, copy, index;
	MPI_Comm half, inter, again, merged;

	MPI_Comm_split(MPI_COMM_WORLD, odd, odd ? -rank : rank, &half);
	number = known_half(half, 1, odd, odd ? "odd, backward" : "even", "MPI_Comm_split");
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, odd ? 0 : 3, 9, &inter);
	number = known(inter, -1, "between", "MPI_Intercomm_create");
	MPI_Comm_rank(half, &index);
	exchange(inter, number, odd ? 2 + index : index);
	MPI_Comm_dup(inter, &again);
	copy = known(again, number, NULL, "MPI_Comm_dup");
	exchange(again, copy, odd ? 2 + index : index);
	MPI_Intercomm_merge(again, odd, &merged);
	known(merged, copy, NULL, "MPI_Intercomm_merge");
	drop(&merged);
	MPI_Intercomm_merge(inter, !odd, &merged);
	known(merged, number, "merged", "MPI_Intercomm_merge");
	drop(&merged);
	drop(&again);
	drop(&inter);
	MPI_Comm_disconnect(&half);
	called("MPI_Comm_disconnect");
}

static void rma(int number, const char *op, int target, int count)
{
	fprintf(journal, "rma %d %s %d %d\n", number, op, target, count);
}

static void moves(MPI_Win win, int number)
{
	int right = (rank + 1) % 4, far = (rank + 2) % 4, one = 1, old, zero = 0;
	MPI_Request requests[4];
	MPI_Status statuses[4];

	MPI_Win_fence(0, win);
	MPI_Put(in, 3, MPI_INT, right, 0, 3, MPI_INT, win);
	rma(number, "Put", right, 3);
	MPI_Put(in, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win);
	MPI_Get(out, 2, MPI_INT, far, 8, 2, MPI_INT, win);
	rma(number, "Get", far, 2);
	MPI_Win_fence(0, win);
	MPI_Accumulate(in, 4, MPI_INT, right, 0, 4, MPI_INT, MPI_SUM, win);
	rma(number, "Accumulate", right, 4);
	MPI_Win_fence(0, win);
	MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
	MPI_Get_accumulate(in, 1, MPI_INT, out, 1, MPI_INT, right, 12, 1, MPI_INT, MPI_SUM, win);
	rma(number, "Accumulate", right, 1);
	MPI_Win_flush(right, win);
	MPI_Fetch_and_op(&one, &old, MPI_INT, right, 12, MPI_SUM, win);
	rma(number, "Accumulate", right, 1);
	MPI_Win_flush_local(right, win);
	MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, right, 13, win);
	rma(number, "Accumulate", right, 1);
	MPI_Win_unlock(right, win);
	for (int i = 0; i < 4; i++)
		called(i == 0	? "MPI_Win_lock"
		       : i == 1 ? "MPI_Win_flush"
		       : i == 2 ? "MPI_Win_flush_local"
				: "MPI_Win_unlock");
	MPI_Win_lock_all(0, win);
	MPI_Rput(in, 5, MPI_INT, far, 0, 5, MPI_INT, win, &requests[0]);
	rma(number, "Put", far, 5);
	MPI_Rget(out, 6, MPI_INT, right, 20, 6, MPI_INT, win, &requests[1]);
	rma(number, "Get", right, 6);
	MPI_Raccumulate(in, 7, MPI_INT, far, 30, 7, MPI_INT, MPI_SUM, win, &requests[2]);
	rma(number, "Accumulate", far, 7);
	MPI_Rget_accumulate(in, 8, MPI_INT, out + 20, 8, MPI_INT, far, 40, 8, MPI_INT, MPI_SUM, win,
			    &requests[3]);
	rma(number, "Accumulate", far, 8);
	MPI_Waitall(4, requests, statuses);
	MPI_Win_flush_all(win);
	MPI_Win_flush_local_all(win);
	MPI_Win_sync(win);
	MPI_Win_unlock_all(win);
	called("MPI_Win_lock_all");
	called("MPI_Win_flush_all");
	called("MPI_Win_flush_local_all");
	called("MPI_Win_unlock_all");
}

/* Even ranks write to the odd one beside them. */
static void generations(MPI_Win win, int number)
{
	int other = rank ^ 1, done = 0;
	MPI_Group world, group;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &other, &group);
	for (int round = 0; round < 2; round++) {
		if (rank % 2 == 0) {
			MPI_Win_start(group, 0, win);
			MPI_Put(in, 1, MPI_INT, other, 0, 1, MPI_INT, win);
			rma(number, "Put", other, 1);
			MPI_Win_complete(win);
			called("MPI_Win_start");
			called("MPI_Win_complete");
		} else {
			MPI_Win_post(group, 0, win);
			called("MPI_Win_post");
			if (round == 0) {
				MPI_Win_wait(win);
				called("MPI_Win_wait");
			}
			for (done = round == 0; !done;)
				MPI_Win_test(win, &done);
		}
	}
	MPI_Group_free(&group);
	MPI_Group_free(&world);
}

static int window(MPI_Win win, int parent, const char *name, const char *function)
{
	int number = next();

	called(function);
	if (name)
		MPI_Win_set_name(win, name);
	fprintf(journal, "win %d %d %d %d %s\n", number, parent, rank, size, name ? name : "-");
	MPI_Win_fence(0, win);
	MPI_Put(in, number, MPI_INT, rank, 0, number, MPI_INT, win);
	rma(number, "Put", rank, number);
	MPI_Win_fence(0, win);
	return number;
}

static void unwindow(MPI_Win *win)
{
	MPI_Win_free(win);
	called("MPI_Win_free");
}

static void windows(void)
{
	static int memory[4 * MOST];
	int *base, number;
	MPI_Aint address;
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	number = window(win, 1, "the window", "MPI_Win_create");
	moves(win, number);
	generations(win, number);
	unwindow(&win);
	MPI_Win_allocate(sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	window(win, 1, NULL, "MPI_Win_allocate");
	unwindow(&win);
	MPI_Win_allocate_shared(sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
				&win);
	window(win, 1, NULL, "MPI_Win_allocate_shared");
	unwindow(&win);
	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	called("MPI_Win_create_dynamic");
	number = next();
	fprintf(journal, "win %d 1 %d %d -\n", number, rank, size);
	MPI_Win_attach(win, memory, sizeof(memory));
	MPI_Get_address(memory, &address);
	MPI_Win_fence(0, win);
	MPI_Put(in, number, MPI_INT, rank, address, number, MPI_INT, win);
	rma(number, "Put", rank, number);
	MPI_Win_fence(0, win);
	MPI_Win_detach(win, memory);
	unwindow(&win);
}

#if HAS_SESSIONS
static void sessions(void)
{
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	called("MPI_Session_init");
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "kinds", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	known(comm, 0, "of a session", "MPI_Comm_create_from_group");
	drop(&comm);
	MPI_Group_free(&group);
	MPI_Session_finalize(&session);
	called("MPI_Session_finalize");
}
#endif

/* Before the world is there, if at all. */
static void open_journal(const char *directory, int of)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%d", directory, of);
	journal = fopen(path, "w");
	if (!journal)
		exit(1);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	open_journal(argv[1], rank);
	called("MPI_Init");
	known(MPI_COMM_WORLD, 0, NULL, NULL);
	/* Met, not made; alone in it, each rank for itself. */
	numbers += 4;
	fprintf(journal, "comm %d 0 0 1 -\n", 2 + rank);
	use(MPI_COMM_SELF, 2 + rank);
	copies();
	parts();
	grids();
	between();
	windows();
#if HAS_SESSIONS
	sessions();
#endif
	MPI_Comm_set_name(MPI_COMM_WORLD, "everybody");
	called("MPI_Finalize");
	fclose(journal);
	MPI_Finalize();
	printf("rank %d: done\n", rank);
	return 0;
}
