/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that MPI refuses with an error class: NULL for what it reads or writes. One rank, which
 * gets its errors back; a line for each call with what it returned, and what lies where it might
 * have written. The request that the calls were about is still there afterwards. */
#include <mpi.h>
#include <stdio.h>

#pragma GCC diagnostic ignored                                                                     \
	"-Wstringop-overflow" /* what MPICH's header says of MPI_STATUSES_IGNORE */

static MPI_Request request;
static MPI_Request four[4] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
			       MPI_REQUEST_NULL };
static MPI_Message message;
static MPI_Status status;
static int data, counts[64], flag = 77, at = 5;

static int refused;

static void told(const char *call, int result)
{
	int class = -1;

	MPI_Error_class(result, &class);
	refused += result != MPI_SUCCESS;
	printf("%s: class %d flag %d at %d\n", call, class, flag, at);
	fflush(stdout);
}
#define TELL(call) told(#call, MPI_##call)

static void of_requests(void)
{
	four[0] = request;
	TELL(Wait(NULL, &status));
	TELL(Test(NULL, &flag, &status));
	TELL(Test(&request, NULL, &status));
	TELL(Start(NULL));
	TELL(Startall(2, NULL));
	TELL(Request_free(NULL));
	TELL(Cancel(NULL));
	TELL(Request_get_status(request, NULL, &status));
	TELL(Waitall(2, NULL, MPI_STATUSES_IGNORE));
	TELL(Waitall(-1, four, MPI_STATUSES_IGNORE));
	TELL(Waitany(2, NULL, &at, &status));
	TELL(Waitany(1, four, NULL, &status));
	TELL(Waitsome(1, four, NULL, counts, MPI_STATUSES_IGNORE));
	TELL(Testany(1, four, &at, NULL, &status));
	TELL(Testany(1, four, NULL, &flag, &status));
	TELL(Testsome(1, four, NULL, counts, MPI_STATUSES_IGNORE));
	TELL(Testall(1, four, NULL, MPI_STATUSES_IGNORE));
}

static void of_messages(void)
{
	TELL(Isend(&data, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, NULL));
	TELL(Send_init(&data, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, NULL));
	TELL(Bcast(&data, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
	TELL(Barrier(MPI_COMM_NULL));
#ifdef MPICH
	TELL(Ibarrier(MPI_COMM_WORLD, NULL));
	TELL(Mrecv(&data, 1, MPI_INT, NULL, &status));
	TELL(Imrecv(&data, 1, MPI_INT, NULL, &request));
	TELL(Iprobe(0, 0, MPI_COMM_WORLD, NULL, &status));
	TELL(Improbe(0, 0, MPI_COMM_WORLD, NULL, &message, &status));
	TELL(Comm_free(NULL));
	TELL(Win_free(NULL));
	TELL(Comm_set_name(MPI_COMM_WORLD, NULL));
	TELL(Comm_dup(MPI_COMM_WORLD, NULL));
	TELL(Wait(&request, NULL));
#else
	TELL(Alltoallv(&data, NULL, NULL, MPI_INT, &data, counts, counts, MPI_INT, MPI_COMM_WORLD));
	TELL(Alltoallw(&data, NULL, NULL, NULL, &data, counts, counts, NULL, MPI_COMM_WORLD));
	TELL(Reduce_scatter(&data, &data + 1, NULL, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	TELL(Gatherv(MPI_IN_PLACE, 0, MPI_INT, &data, NULL, NULL, MPI_INT, 0, MPI_COMM_SELF));
	TELL(Allgatherv(MPI_IN_PLACE, 0, MPI_INT, &data, NULL, NULL, MPI_INT, MPI_COMM_WORLD));
	TELL(Scatterv(&data, NULL, NULL, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 0, MPI_COMM_SELF));
#endif
	(void)message;
}

int main(void)
{
	MPI_Init(NULL, NULL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Irecv(&data, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, &request);
	of_requests();
	of_messages();
	/* nothing was done: the receive is still to come */
	MPI_Send(&counts[63], 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
	TELL(Wait(&request, &status));
	printf("%d refused\n", refused);
	MPI_Finalize();
	return 0;
}
