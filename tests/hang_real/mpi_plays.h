/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_plays.h — what the plays of mpi_plays.c and mpi_plays_more.c have in common. One rank per
 * process; `rank` and `size` are those in MPI_COMM_WORLD. */
#ifndef CT_TESTS_HANG_REAL_MPI_PLAYS_H
#define CT_TESTS_HANG_REAL_MPI_PLAYS_H

enum { LARGE = 1 << 20, SMALL = 64, TAG = 7, OTHER_TAG = 8 };

extern int rank, size;
extern char here[LARGE], there[LARGE];

void mark(void); /* this rank is about to do the last thing that it will do */
void nap(double s);
void rest(void); /* mark, and never come back */
void sum(int count);

/* The plays of mpi_plays_more.c: PLAY(name). */
#define MORE_PLAYS                                                                                 \
	PLAY(missing_in_fence)                                                                     \
	PLAY(lock_that_is_kept)                                                                    \
	PLAY(persistent_without_partner)                                                           \
	PLAY(one_of_several)                                                                       \
	PLAY(circle_without_one)                                                                   \
	PLAY(ring_of_requests)                                                                     \
	PLAY(probe_of_a_sleeper)                                                                   \
	PLAY(probe_without_send)                                                                   \
	PLAY(missing_in_intercomm)                                                                 \
	PLAY(missing_in_group)                                                                     \
	PLAY(leaves_early)                                                                         \
	PLAY(threads)

#define PLAY(name) void name(void);
MORE_PLAYS
#undef PLAY

#endif
