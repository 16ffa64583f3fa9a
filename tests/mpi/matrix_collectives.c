/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives, blocking and nonblocking, of all and among neighbours. */
#include "tests/mpi/matrix_forms.h"

static void blocking(MPI_Comm comm)
{
	FORM_VARIABLES(int, int, comm, 0);
#define X FORM_BLOCKING
#include "tests/mpi/collectives.def"
#undef X
}

static void nonblocking(MPI_Comm comm)
{
	FORM_VARIABLES(int, int, comm, 0);
#define X FORM_NONBLOCKING
#include "tests/mpi/collectives.def"
#undef X
}

/* Several under way at once, completed together. */
static void overlapping(MPI_Comm comm)
{
	int from[4] = { 1, 2, 3, 4 + job.rank }, to[4];
	MPI_Request requests[4];

	for (int i = 0; i < 4; i++) {
		NOTE(.call = "MPI_Iallreduce", .op = "AllReduce", .comm = comm, .count = 1,
		     .dtype = "int32", .bytes = 4, .redop = "prod");
		MPI_Iallreduce(&from[i], &to[i], 1, MPI_INT, MPI_PROD, comm, &requests[i]);
	}
	complete(4, requests, NULL);
	fold(to, sizeof(to));
}

void matrix_collectives(MPI_Comm comm)
{
	blocking(comm);
	nonblocking(comm);
	overlapping(comm);
}

static void neighbours(MPI_Comm comm, int n_)
{
	FORM_VARIABLES(int, int, comm, n_);
#define X FORM_BLOCKING
#include "tests/mpi/neighbours.def"
#undef X
#define X FORM_NONBLOCKING
#include "tests/mpi/neighbours.def"
#undef X
}

void matrix_neighbours(void)
{
	const int periodic = 1, sources[1] = { job.left }, targets[1] = { job.right },
		  weight[1] = { 1 };
	MPI_Comm ring, one_way;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &job.size, &periodic, 0, &ring);
	name_comm(ring, "ring");
	neighbours(ring, 2);
	forget_comm(ring);
	MPI_Comm_free(&ring);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weight, 1, targets, weight,
				       MPI_INFO_NULL, 0, &one_way);
	name_comm(one_way, "one_way");
	neighbours(one_way, 1);
	forget_comm(one_way);
	MPI_Comm_free(&one_way);
}

/* Types and reductions as trace/dtypes.def and redops.def know them. */
static void one_type(MPI_Datatype type, int bytes, const char *dtype)
{
	char data[64] = { 0 };

	if (type == MPI_DATATYPE_NULL)
		return;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(job.rank + 1);
	NOTE(.call = "MPI_Bcast", .op = "Broadcast", .comm = MPI_COMM_WORLD, .count = 2,
	     .dtype = dtype, .bytes = bytes, .root = 0);
	MPI_Bcast(data, 2, type, 0, MPI_COMM_WORLD);
	fold(data, sizeof(data));
}

static void one_redop(MPI_Op op, const char *redop)
{
	NOTE(.call = "MPI_Allreduce", .op = "AllReduce", .comm = MPI_COMM_WORLD, .count = 3,
	     .dtype = "int32", .bytes = 4, .redop = redop);
	fill();
	MPI_Allreduce(in_i, out_i, 3, MPI_INT, op, MPI_COMM_WORLD);
	fold_all();
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

static void derived(void)
{
	MPI_Datatype pair, vector;

	MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
	MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
	MPI_Type_commit(&pair);
	MPI_Type_commit(&vector);
	fill();
	NOTE(.call = "MPI_Bcast", .op = "Broadcast", .comm = MPI_COMM_WORLD, .count = 2 * 16,
	     .dtype = "elem1", .bytes = 1, .root = 2);
	MPI_Bcast(out_d, 2, pair, 2, MPI_COMM_WORLD);
	NOTE(.call = "MPI_Allgather", .op = "AllGather", .comm = MPI_COMM_WORLD, .count = 12,
	     .dtype = "elem1", .bytes = 1);
	MPI_Allgather(in_i, 1, vector, out_i, 3, MPI_INT, MPI_COMM_WORLD);
	fold_all();
	MPI_Type_free(&pair);
	MPI_Type_free(&vector);
}

void matrix_types(void)
{
	MPI_Op own;

	one_type(MPI_CHAR, 1, "int8");
	one_type(MPI_SIGNED_CHAR, 1, "int8");
	one_type(MPI_UNSIGNED_CHAR, 1, "uint8");
	one_type(MPI_BYTE, 1, "elem1");
	one_type(MPI_SHORT, 2, "int16");
	one_type(MPI_UNSIGNED_SHORT, 2, "uint16");
	one_type(MPI_INT, 4, "int32");
	one_type(MPI_UNSIGNED, 4, "uint32");
	one_type(MPI_LONG, 8, "int64");
	one_type(MPI_UNSIGNED_LONG, 8, "uint64");
	one_type(MPI_LONG_LONG, 8, "int64");
	one_type(MPI_UNSIGNED_LONG_LONG, 8, "uint64");
	one_type(MPI_FLOAT, 4, "float32");
	one_type(MPI_DOUBLE, 8, "float64");
	one_type(MPI_LONG_DOUBLE, 16, "elem16");
	one_type(MPI_INT8_T, 1, "int8");
	one_type(MPI_INT16_T, 2, "int16");
	one_type(MPI_INT32_T, 4, "int32");
	one_type(MPI_INT64_T, 8, "int64");
	one_type(MPI_UINT8_T, 1, "uint8");
	one_type(MPI_UINT16_T, 2, "uint16");
	one_type(MPI_UINT32_T, 4, "uint32");
	one_type(MPI_UINT64_T, 8, "uint64");
	one_type(MPI_C_FLOAT_COMPLEX, 8, "complex64");
	one_type(MPI_C_DOUBLE_COMPLEX, 16, "complex128");
	one_type(MPI_2INT, 8, "elem8");
	one_type(MPI_AINT, 8, "int64");
	derived();

	one_redop(MPI_MAX, "max");
	one_redop(MPI_MIN, "min");
	one_redop(MPI_SUM, "sum");
	one_redop(MPI_PROD, "prod");
	one_redop(MPI_BAND, "band");
	one_redop(MPI_LOR, "lor");
	one_redop(MPI_BXOR, "bxor");
	MPI_Op_create(add, 1, &own);
	one_redop(own, "custom");
	MPI_Op_free(&own);
}
