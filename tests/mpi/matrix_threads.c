/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads that call at once, each on a communicator of its own, each with a lane of the
 * journal. */
#include <pthread.h>

#include "tests/mpi/matrix.h"
#include "tests/mpi/matrix_journal.h"

struct work {
	MPI_Comm comm;
	int lane;
	int sum;
};

static void *run(void *arg)
{
	struct work *w = arg;
	int from, to;

	lane = w->lane;
	for (int i = 0; i < 20; i++) {
		from = i * w->lane + job.rank;
		NOTE(.call = "MPI_Allreduce", .op = "AllReduce", .comm = w->comm, .count = 1,
		     .dtype = "int32", .bytes = 4, .redop = "sum");
		MPI_Allreduce(&from, &to, 1, MPI_INT, MPI_SUM, w->comm);
		w->sum += to;
		NOTE(.call = "MPI_Sendrecv", .op = "Send", .comm = w->comm, .count = 1,
		     .dtype = "int32", .bytes = 4, .peer = job.right, .tag = w->lane);
		NOTE(.call = "MPI_Sendrecv", .op = "Recv", .comm = w->comm, .count = 1,
		     .dtype = "int32", .bytes = 4, .peer = job.left, .tag = w->lane);
		MPI_Sendrecv(&from, 1, MPI_INT, job.right, w->lane, &to, 1, MPI_INT, job.left,
			     w->lane, w->comm, MPI_STATUS_IGNORE);
		w->sum += to;
	}
	return NULL;
}

void matrix_threads(void)
{
	struct work work[2] = { { .lane = 1 }, { .lane = 2 } };
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &work[i].comm);
		name_comm(work[i].comm, i ? "thread2" : "thread1");
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, &work[i]);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		fold(&work[i].sum, sizeof(work[i].sum));
		forget_comm(work[i].comm);
		MPI_Comm_free(&work[i].comm);
	}
}
