/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_forms.h — the forms that each row of collectives.def and neighbours.def is called in. A
 * function that has FORM_VARIABLES(count type, displacement type) may include the tables with
 * FORM_x as its X. */
#ifndef CT_TESTS_MPI_MATRIX_FORMS_H
#define CT_TESTS_MPI_MATRIX_FORMS_H

#include "tests/mpi/matrix.h"

#define MAX_MEMBERS 8

/* As the tables say; `neighbours` 0: a collective of all. */
#define FORM_VARIABLES(C, D, comm_, neighbours)                                                    \
	MPI_Comm c = comm_;                                                                        \
	C s[MAX_MEMBERS], r[MAX_MEMBERS];                                                          \
	D sd[MAX_MEMBERS], rd[MAX_MEMBERS], wsd[MAX_MEMBERS], wrd[MAX_MEMBERS];                    \
	MPI_Aint wd[MAX_MEMBERS];                                                                  \
	MPI_Datatype types[MAX_MEMBERS];                                                           \
	MPI_Request request;                                                                       \
	int me, n, mine, all_s = 0;                                                                \
                                                                                                   \
	MPI_Comm_rank(c, &me);                                                                     \
	MPI_Comm_size(c, &n);                                                                      \
	mine = 1 + me % 3;                                                                         \
	for (int i = 0; i < MAX_MEMBERS; i++) {                                                    \
		s[i] = 1 + i % 3;                                                                  \
		r[i] = (neighbours) ? 2 : mine;                                                    \
		sd[i] = all_s;                                                                     \
		rd[i] = (int)r[i] * i;                                                             \
		wsd[i] = (int)sd[i] * 4;                                                           \
		wrd[i] = (int)rd[i] * 4;                                                           \
		wd[i] = rd[i] * 4;                                                                 \
		types[i] = MPI_INT;                                                                \
		all_s += i < n ? 1 + i % 3 : 0;                                                    \
	}                                                                                          \
	if (neighbours)                                                                            \
		n = neighbours;                                                                    \
	(void)request, (void)s, (void)sd, (void)rd, (void)wsd, (void)wrd, (void)wd;                \
	(void)types, (void)me, (void)mine, (void)all_s, (void)n

#define FORM_LIST(...) __VA_ARGS__
#define FORM_NOTE(call_, op_, count_, bytes_, dtype_, redop_, root_)                               \
	NOTE(.call = call_, .op = op_, .comm = c, .count = count_, .bytes = bytes_,                \
	     .dtype = dtype_, .redop = redop_, .root = root_)

#define FORM_BLOCKING(Name, lower, op, args, ...)                                                  \
	fill();                                                                                    \
	FORM_NOTE("MPI_" #Name, #op, __VA_ARGS__);                                                 \
	MPI_##Name args;                                                                           \
	fold_all();

#define FORM_NONBLOCKING(Name, lower, op, args, ...)                                               \
	fill();                                                                                    \
	FORM_NOTE("MPI_I" #lower, #op, __VA_ARGS__);                                               \
	MPI_I##lower(FORM_LIST args, &request);                                                    \
	complete(1, &request, NULL);                                                               \
	fold_all();

#define FORM_LARGE(Name, lower, op, args, ...)                                                     \
	fill();                                                                                    \
	FORM_NOTE("MPI_" #Name "_c", #op, __VA_ARGS__);                                            \
	MPI_##Name##_c args;                                                                       \
	fold_all();

#define FORM_LARGE_NONBLOCKING(Name, lower, op, args, ...)                                         \
	fill();                                                                                    \
	FORM_NOTE("MPI_I" #lower "_c", #op, __VA_ARGS__);                                          \
	MPI_I##lower##_c(FORM_LIST args, &request);                                                \
	complete(1, &request, NULL);                                                               \
	fold_all();

/* Started `times`. MPICH 4.0 fails in MPI_Testall with these. */
#define FORM_STARTED(times, call_, op, ...)                                                        \
	for (int i = 0; i < (times); i++) {                                                        \
		fill();                                                                            \
		FORM_NOTE(call_, op, __VA_ARGS__);                                                 \
		if (i == 0)                                                                        \
			MPI_Start(&request);                                                       \
		else                                                                               \
			MPI_Startall(1, &request);                                                 \
		if (i == 0)                                                                        \
			MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);                             \
		for (int done = 0; i != 0 && !done;)                                               \
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);                              \
		fold_all();                                                                        \
	}                                                                                          \
	MPI_Request_free(&request);

/* Twice but for MPI_Scatter_init: MPICH 4.0 fails in its second start. */
#define FORM_TIMES(Name) (sizeof(Name) == sizeof("Scatter") && Name[0] == 'S' ? 1 : 2)

#define FORM_PERSISTENT(Name, lower, op, args, ...)                                                \
	MPI_##Name##_init(FORM_LIST args, MPI_INFO_NULL, &request);                                \
	FORM_STARTED(FORM_TIMES(#Name), "MPI_" #Name "_init", #op, __VA_ARGS__)

#define FORM_LARGE_PERSISTENT(Name, lower, op, args, ...)                                          \
	MPI_##Name##_init_c(FORM_LIST args, MPI_INFO_NULL, &request);                              \
	FORM_STARTED(FORM_TIMES(#Name), "MPI_" #Name "_init_c", #op, __VA_ARGS__)

#endif
