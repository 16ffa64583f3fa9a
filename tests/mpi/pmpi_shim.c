/* SPDX-License-Identifier: Apache-2.0 */
/* pmpi_shim.c — another tool on MPI's profiling interface: counts what a program calls, by
 * function, and how many bytes it gave for sending or space for. As a preload, before the tracer's
 * or behind it, or linked into a program. In MPI_Finalize each rank writes $PMPI_SHIM_LOG.RANK, one
 * line a function: NAME CALLS BYTES. What goes to MPI_PROC_NULL is not counted. It is what the
 * tests hold the tracer's counts against, so it knows mpi.h and nothing of the tracer. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* It would wander to the right with each run: */
/* clang-format off */
#define FUNCTIONS \
	F(Send) F(Bsend) F(Ssend) F(Rsend) F(Isend) F(Ssend_init) F(Send_init) F(Recv) F(Irecv) \
	F(Recv_init) F(Sendrecv) F(Sendrecv_replace) F(Start) F(Startall) F(Wait) F(Waitall) \
	F(Barrier) F(Bcast) F(Reduce) F(Allreduce) F(Gather) F(Gatherv) F(Scatter) F(Allgather) \
	F(Allgatherv) F(Alltoall) F(Alltoallv) F(Reduce_scatter) F(Scan)
/* clang-format on */

enum function {
#define F(name) name,
	FUNCTIONS
#undef F
		COUNT
};
static const char *const names[COUNT] = {
#define F(name) #name,
	FUNCTIONS
#undef F
};
static struct {
	uint64_t calls, bytes;
} seen[COUNT];

static void note(enum function f, int64_t count, MPI_Datatype type, int peer)
{
	int size = 0;

	if (peer == MPI_PROC_NULL)
		return;
	if (type != MPI_DATATYPE_NULL)
		PMPI_Type_size(type, &size);
	seen[f].calls++;
	seen[f].bytes += (uint64_t)count * (uint64_t)size;
}

#define VISIBLE __attribute__((visibility("default")))
#define WRAP(name, params, args, count, type, peer)                                                \
	VISIBLE int MPI_##name params                                                              \
	{                                                                                          \
		note(name, count, type, peer);                                                     \
		return PMPI_##name args;                                                           \
	}

#define SEND(name)                                                                                 \
	WRAP(name, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),            \
	     (b, n, t, to, tag, c), n, t, to)
#define ISEND(name)                                                                                \
	WRAP(name,                                                                                 \
	     (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),  \
	     (b, n, t, to, tag, c, r), n, t, to)
#define IRECV(name)                                                                                \
	WRAP(name,                                                                                 \
	     (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request *r),      \
	     (b, n, t, from, tag, c, r), n, t, from)
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)
ISEND(Isend)
ISEND(Send_init)
ISEND(Ssend_init)
IRECV(Irecv)
IRECV(Recv_init)
WRAP(Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status *s),
     (b, n, t, from, tag, c, s), n, t, from)
WRAP(Sendrecv_replace,
     (void *b, int n, MPI_Datatype t, int to, int tag, int from, int rtag, MPI_Comm c,
      MPI_Status *s),
     (b, n, t, to, tag, from, rtag, c, s), n, t, to)
WRAP(Sendrecv,
     (const void *b, int n, MPI_Datatype t, int to, int tag, void *rb, int rn, MPI_Datatype rt,
      int from, int rtag, MPI_Comm c, MPI_Status *s),
     (b, n, t, to, tag, rb, rn, rt, from, rtag, c, s), n, t, to)
WRAP(Start, (MPI_Request * r), (r), 0, MPI_DATATYPE_NULL, 0)
WRAP(Startall, (int n, MPI_Request r[]), (n, r), 0, MPI_DATATYPE_NULL, 0)
WRAP(Wait, (MPI_Request * r, MPI_Status *s), (r, s), 0, MPI_DATATYPE_NULL, 0)
WRAP(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s), 0, MPI_DATATYPE_NULL, 0)
WRAP(Barrier, (MPI_Comm c), (c), 0, MPI_DATATYPE_NULL, 0)
WRAP(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c), n, t, 0)
WRAP(Reduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
     (b, rb, n, t, op, root, c), n, t, 0)
WRAP(Allreduce, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
     (b, rb, n, t, op, c), n, t, 0)
WRAP(Scan, (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
     (b, rb, n, t, op, c), n, t, 0)
WRAP(Reduce_scatter,
     (const void *b, void *rb, const int n[], MPI_Datatype t, MPI_Op op, MPI_Comm c),
     (b, rb, n, t, op, c), 0, MPI_DATATYPE_NULL, 0)
#define PARTS const void *b, int n, MPI_Datatype t, void *rb, int rn, MPI_Datatype rt
#define ROOTED(name)                                                                               \
	WRAP(name, (PARTS, int root, MPI_Comm c), (b, n, t, rb, rn, rt, root, c), 0,               \
	     MPI_DATATYPE_NULL, 0)
#define UNROOTED(name)                                                                             \
	WRAP(name, (PARTS, MPI_Comm c), (b, n, t, rb, rn, rt, c), 0, MPI_DATATYPE_NULL, 0)
ROOTED(Gather)
ROOTED(Scatter)
UNROOTED(Allgather)
UNROOTED(Alltoall)
WRAP(Gatherv,
     (const void *b, int n, MPI_Datatype t, void *rb, const int rn[], const int d[],
      MPI_Datatype rt, int root, MPI_Comm c),
     (b, n, t, rb, rn, d, rt, root, c), 0, MPI_DATATYPE_NULL, 0)
WRAP(Allgatherv,
     (const void *b, int n, MPI_Datatype t, void *rb, const int rn[], const int d[],
      MPI_Datatype rt, MPI_Comm c),
     (b, n, t, rb, rn, d, rt, c), 0, MPI_DATATYPE_NULL, 0)
WRAP(Alltoallv,
     (const void *b, const int n[], const int d[], MPI_Datatype t, void *rb, const int rn[],
      const int rd[], MPI_Datatype rt, MPI_Comm c),
     (b, n, d, t, rb, rn, rd, rt, c), 0, MPI_DATATYPE_NULL, 0)

VISIBLE int MPI_Finalize(void)
{
	const char *log = getenv("PMPI_SHIM_LOG");
	char path[4096];
	FILE *out;
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(path, sizeof(path), "%s.%d", log ? log : "/dev/null", rank);
	out = fopen(log ? path : "/dev/null", "w");
	for (int f = 0; out && f < COUNT; f++)
		fprintf(out, "%s %llu %llu\n", names[f], (unsigned long long)seen[f].calls,
			(unsigned long long)seen[f].bytes);
	if (out)
		fclose(out);
	return PMPI_Finalize();
}
