/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided communication: every kind of window, of transfer and of epoch. */
#include <stdio.h>
#include <string.h>

#include "tests/mpi/matrix.h"

static int memory[N_NUMBERS];
static const char *on; /* the window's name */

#define MOVE(call_, op_, n, target, ...)                                                           \
	NOTE(.call = "MPI_" call_, .op = op_, .on = on, .count = n, .dtype = "int32", .bytes = 4,  \
	     .peer = target, __VA_ARGS__)

static void fence(MPI_Win win)
{
	NOTE(.call = "MPI_Win_fence", .op = "Fence", .on = on);
	MPI_Win_fence(0, win);
}

static void open_win(MPI_Win win, const char *name)
{
	on = name;
	name_win(win, name);
	memset(memory, 0, sizeof(memory));
	fill();
	fence(win);
}

static void close_win(MPI_Win *win)
{
	fence(*win);
	fold(memory, sizeof(memory));
	fold_all();
	MPI_Win_free(win);
}

/* Each transfer between two fences. */
static void fenced(void)
{
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	open_win(win, "created");
	MOVE("Put", "Put", 3, job.right);
	MPI_Put(in_i, 3, MPI_INT, job.right, 0, 3, MPI_INT, win);
	MPI_Put(in_i, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win);
	fence(win);
	MOVE("Get", "Get", 2, job.left);
	MPI_Get(out_i, 2, MPI_INT, job.left, 0, 2, MPI_INT, win);
	fence(win);
	MOVE("Accumulate", "Accumulate", 4, 0, .redop = "sum");
	MPI_Accumulate(in_i, 4, MPI_INT, 0, 8, 4, MPI_INT, MPI_SUM, win);
	close_win(&win);
}

/* The target takes part in nothing. */
static void locked(void)
{
	int before = 0, one = 1, zero = 0, *base;
	MPI_Win win;

	MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	memset(base, 0, 16 * sizeof(int));
	open_win(win, "allocated");
	fence(win);
	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, job.right, 0, win);
	MOVE("Put", "Put", 2, job.right);
	MPI_Put(in_i, 2, MPI_INT, job.right, 2, 2, MPI_INT, win);
	MPI_Win_flush(job.right, win);
	MOVE("Get", "Get", 2, job.right);
	MPI_Get(out_i, 2, MPI_INT, job.right, 2, 2, MPI_INT, win);
	MPI_Win_flush_local(job.right, win);
	MPI_Win_unlock(job.right, win);
	MPI_Win_lock_all(0, win);
	MOVE("Fetch_and_op", "Accumulate", 1, 0, .redop = "sum");
	MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, win);
	MPI_Win_flush_all(win);
	MOVE("Compare_and_swap", "Accumulate", 1, job.right);
	MPI_Compare_and_swap(&one, &zero, &out_i[8], MPI_INT, job.right, 5, win);
	MPI_Win_flush_local_all(win);
	MOVE("Get_accumulate", "Accumulate", 2, job.left, .redop = "sum");
	MPI_Get_accumulate(in_i, 2, MPI_INT, out_i + 10, 2, MPI_INT, job.left, 6, 2, MPI_INT,
			   MPI_SUM, win);
	MPI_Win_sync(win);
	MPI_Win_unlock_all(win);
	memory[0] = before >= 0 && before < job.size; /* who was when is open */
	fence(win);
	memcpy(memory + 1, base, 16 * sizeof(int));
	close_win(&win);
}

/* With requests. */
static void requested(void)
{
	MPI_Request requests[4];
	MPI_Win win;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	open_win(win, "requested");
	fence(win);
	MPI_Win_lock_all(0, win);
	MOVE("Rput", "Put", 3, job.right);
	MPI_Rput(in_i, 3, MPI_INT, job.right, 0, 3, MPI_INT, win, &requests[0]);
	MOVE("Rget", "Get", 2, job.right);
	MPI_Rget(out_i, 2, MPI_INT, job.right, 16, 2, MPI_INT, win, &requests[1]);
	MOVE("Raccumulate", "Accumulate", 2, job.right, .redop = "max");
	MPI_Raccumulate(in_i, 2, MPI_INT, job.right, 20, 2, MPI_INT, MPI_MAX, win, &requests[2]);
	MOVE("Rget_accumulate", "Accumulate", 1, job.left, .redop = "sum");
	MPI_Rget_accumulate(in_i, 1, MPI_INT, out_i + 8, 1, MPI_INT, job.left, 24, 1, MPI_INT,
			    MPI_SUM, win, &requests[3]);
	complete(4, requests, NULL);
	MPI_Win_unlock_all(win);
	close_win(&win);
}

/* Origin and target agree who is whose. */
static void posted(void)
{
	MPI_Group world, left, right;
	MPI_Win win;
	int done = 0;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &job.left, &left);
	MPI_Group_incl(world, 1, &job.right, &right);
	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	open_win(win, "posted");
	for (int i = 0; i < 2; i++) {
		MPI_Win_post(left, 0, win);
		MPI_Win_start(right, 0, win);
		MOVE("Put", "Put", 2, job.right);
		MPI_Put(in_i, 2, MPI_INT, job.right, 2 * i, 2, MPI_INT, win);
		MPI_Win_complete(win);
		if (i == 0)
			MPI_Win_wait(win);
		while (i == 1 && !done)
			MPI_Win_test(win, &done);
	}
	close_win(&win);
	MPI_Group_free(&left);
	MPI_Group_free(&right);
	MPI_Group_free(&world);
}

/* Memory that comes later, and memory that all have. */
static void other_windows(void)
{
	MPI_Aint at, of_right;
	int *base;
	MPI_Win win;

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_attach(win, memory, sizeof(memory));
	MPI_Get_address(memory, &at);
	NOTE(.call = "MPI_Sendrecv", .op = "Send", .comm = MPI_COMM_WORLD, .count = 1,
	     .dtype = "int64", .bytes = 8, .peer = job.left, .tag = 110);
	NOTE(.call = "MPI_Sendrecv", .op = "Recv", .comm = MPI_COMM_WORLD, .count = 1,
	     .dtype = "int64", .bytes = 8, .peer = job.right, .tag = 110);
	MPI_Sendrecv(&at, 1, MPI_AINT, job.left, 110, &of_right, 1, MPI_AINT, job.right, 110,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	open_win(win, "dynamic");
	MOVE("Put", "Put", 2, job.right);
	MPI_Put(in_i, 2, MPI_INT, job.right, of_right, 2, MPI_INT, win);
	fence(win);
	MPI_Win_detach(win, memory);
	close_win(&win);

	MPI_Win_allocate_shared(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
				&win);
	memset(base, 0, 4 * sizeof(int));
	open_win(win, "shared");
	fence(win);
	MOVE("Put", "Put", 2, job.right);
	MPI_Put(in_i, 2, MPI_INT, job.right, 1, 2, MPI_INT, win);
	fence(win);
	memcpy(memory, base, 4 * sizeof(int));
	close_win(&win);
}

void matrix_windows(void)
{
	fenced();
	locked();
	requested();
	posted();
	other_windows();
}
