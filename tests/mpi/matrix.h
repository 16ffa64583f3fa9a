/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.h — a program that calls every kind of MPI function that is recorded, and writes down
 * itself what it called.
 *
 * note() is called before each call, with what the program passes to it. The journal of a rank is
 * written at the end, one line an op; check_matrix.py holds it against the trace. All that MPI
 * gives back goes into a checksum, which has to be the same with and without the preload. One
 * thread but in matrix_threads(). */
#ifndef CT_TESTS_MPI_MATRIX_H
#define CT_TESTS_MPI_MATRIX_H

#include <mpi.h>
#include <stddef.h>

/* One op, in the words of trace/ops.def, dtypes.def and redops.def. */
struct note {
	const char *call; /* MPI_Send */
	const char *op;	  /* Send */
	MPI_Comm comm;
	const char *on;	   /* instead: name of a window */
	long long count;   /* elements; of a derived type: bytes */
	const char *dtype; /* NULL: none */
	const char *redop; /* NULL: none */
	int bytes;	   /* of one element */
	int root;	   /* -1: none */
	int peer;	   /* -1: none or not known yet */
	int tag;	   /* -1: none */
	long long arrived; /* bytes that a receive got, -1: as many as were asked for */
};

/* What a caller says stands over what NOTE presumes. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* Write an op down; the rest of its fields are as if they were not there. The result names it for
 * note_match(). */
#define NOTE(...)                                                                                  \
	note((struct note){ .root = -1, .peer = -1, .tag = -1, .arrived = -1, __VA_ARGS__ })
size_t note(struct note n);

/* It turned out who sent what was received. */
void note_match(size_t which, const MPI_Status *status);

/* It was taken back and never happened. */
void note_cancelled(size_t which);

/* A communicator is there, under a name that all its members give to it and to no other. It is used
 * once, so that all of them are seen. */
void name_comm(MPI_Comm comm, const char *name);
/* It is about to be freed. */
void forget_comm(MPI_Comm comm);
/* The same of a window: a communicator of its own, which ops name by its name. */
void name_win(MPI_Win win, const char *name);

/* What the parts of the program have in common. */
struct job {
	int rank, size;
	int right, left; /* in a ring */
};
extern struct job job;

/* Numbers for the next call, other ones each time and on each rank, small enough that sums of
 * doubles are exact. */
#define N_NUMBERS 64
extern int in_i[N_NUMBERS], out_i[N_NUMBERS];
extern double in_d[N_NUMBERS], out_d[N_NUMBERS];
void fill(void);
/* What came back, into the checksum. */
void fold(const void *data, size_t bytes);
void fold_all(void);

/* Complete all of them by the next of MPI's ways to do so. */
void complete(int n, MPI_Request *requests, MPI_Status *statuses);

void matrix_comms(void);
void matrix_collectives(MPI_Comm comm);
void matrix_neighbours(void);
void matrix_messages(void);
void matrix_requests(void);
void matrix_windows(void);
void matrix_types(void);
void matrix_mpi4(void);
void matrix_threads(void);

#endif
