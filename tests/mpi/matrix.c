/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c — usage: matrix JOURNAL_DIRECTORY [threads]. Rank 0 prints `result checksum=HEX`, of
 * what all ranks got. Everything but threads is done by one: Open MPI 4.1 has no windows for
 * several without the help of the network's. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/matrix.h"
#include "tests/mpi/matrix_journal.h"

struct job job;
int in_i[N_NUMBERS], out_i[N_NUMBERS];
double in_d[N_NUMBERS], out_d[N_NUMBERS];
static uint64_t checksum = 14695981039346656037u;
static unsigned step;

void fill(void)
{
	step++;
	for (int i = 0; i < N_NUMBERS; i++) {
		in_i[i] = (int)(step * 7 + (unsigned)i * 3) % 1000 + job.rank;
		out_i[i] = in_i[i] + 11;
		in_d[i] = in_i[i] * 0.5;
		out_d[i] = in_d[i] + 11;
	}
}

void fold(const void *data, size_t bytes)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < bytes; i++)
		checksum = (checksum ^ p[i]) * 1099511628211u;
}

void fold_all(void)
{
	fold(out_i, sizeof(out_i));
	fold(out_d, sizeof(out_d));
}

/* Until `flag` is set by the test that the next argument makes. */
#define UNTIL(flag, ...)                                                                           \
	do {                                                                                       \
		int flag = 0;                                                                      \
		while (!flag)                                                                      \
			__VA_ARGS__;                                                               \
	} while (0)

static void complete_some(int n, MPI_Request *requests, MPI_Status *statuses, int test)
{
	int at[64], got, left = n;
	MPI_Status some[64];

	while (left > 0) {
		if (test)
			MPI_Testsome(n, requests, &got, at, some);
		else
			MPI_Waitsome(n, requests, &got, at, some);
		for (int i = 0; i < got; i++)
			statuses[at[i]] = some[i];
		left -= got == MPI_UNDEFINED ? left : got;
	}
}

static void complete_any(int n, MPI_Request *requests, MPI_Status *statuses, int test)
{
	int left = n, at, flag = 1;
	MPI_Status status;

	while (left > 0) {
		if (test)
			MPI_Testany(n, requests, &at, &flag, &status);
		else
			MPI_Waitany(n, requests, &at, &status);
		if (!flag)
			continue;
		statuses[at] = status;
		left--;
	}
}

void complete(int n, MPI_Request *requests, MPI_Status *statuses)
{
	static int way;
	MPI_Status own[64];

	if (!statuses)
		statuses = own;
	switch (way++ % 9) {
	case 0:
		for (int i = 0; i < n; i++)
			MPI_Wait(&requests[i], &statuses[i]);
		break;
	case 1:
		for (int i = 0; i < n; i++)
			UNTIL(done, MPI_Test(&requests[i], &done, &statuses[i]));
		break;
	case 2:
		MPI_Waitall(n, requests, statuses);
		break;
	case 3:
		UNTIL(done, MPI_Testall(n, requests, &done, statuses));
		break;
	case 4:
		complete_any(n, requests, statuses, 0);
		break;
	case 5:
		complete_any(n, requests, statuses, 1);
		break;
	case 6:
		complete_some(n, requests, statuses, 0);
		break;
	case 7:
		complete_some(n, requests, statuses, 1);
		break;
	default:
		/* looked at, and then completed from the last to the first */
		for (int i = n; i-- > 0;) {
			UNTIL(done, MPI_Request_get_status(requests[i], &done, &statuses[i]));
			MPI_Wait(&requests[i], &statuses[i]);
		}
	}
}

static void everything(void)
{
	matrix_collectives(MPI_COMM_WORLD);
	matrix_neighbours();
	matrix_types();
	matrix_messages();
	matrix_requests();
	matrix_comms();
	matrix_windows();
	matrix_mpi4();
}

int main(int argc, char **argv)
{
	int threads = argc == 3 && !strcmp(argv[2], "threads"), provided;
	uint64_t all = 0;

	if (argc < 2 || argc - 2 != threads)
		return 2;
	if (threads)
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	else
		MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &job.size);
	job.right = (job.rank + 1) % job.size;
	job.left = (job.rank + job.size - 1) % job.size;
	journal_open(argv[1]);
	name_comm(MPI_COMM_WORLD, "world");
	if (threads)
		matrix_threads();
	else
		everything();

	NOTE(.call = "MPI_Reduce", .op = "Reduce", .comm = MPI_COMM_WORLD, .count = 1,
	     .dtype = "uint64", .bytes = 8, .redop = "sum", .root = 0);
	MPI_Reduce(&checksum, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (job.rank == 0)
		printf("result checksum=%016" PRIx64 "\n", all);
	journal_close();
	MPI_Finalize();
	return 0;
}
