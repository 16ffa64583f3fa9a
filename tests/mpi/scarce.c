/* SPDX-License-Identifier: Apache-2.0 */
/* scarce.c — a rank that needs some of what limits leave.
 *
 *     scarce MB FILES THREADS
 *
 * After MPI_Init it maps so much memory, opens so many files and starts so many threads, keeps all
 * of it while the ranks reduce, and prints what they sum up to. The exit code is 4, or 1 and the
 * reason on stderr when something of it is not to be had. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static pthread_barrier_t barrier;

static void *wait_there(void *unused)
{
	pthread_barrier_wait(&barrier);
	return unused;
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void take(unsigned megabytes, unsigned files, unsigned threads)
{
	pthread_attr_t attr;
	pthread_t thread;

	for (unsigned i = 0; i < megabytes; i++)
		must(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0) != MAP_FAILED,
		     "memory");
	for (unsigned i = 0; i < files; i++)
		must(open("/dev/null", O_RDONLY) >= 0, "files");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	pthread_barrier_init(&barrier, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++) {
		errno = pthread_create(&thread, &attr, wait_there, NULL);
		must(errno == 0, "threads");
	}
}

int main(int argc, char **argv)
{
	int rank = 0, sum = 0;

	must(argc == 4, "three numbers");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	take((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3]));
	for (int i = 0; i < 100; i++) {
		int part = rank + i, all = 0;

		MPI_Allreduce(&part, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		sum += all;
	}
	pthread_barrier_wait(&barrier);
	if (rank == 0)
		printf("sum %d\n", sum);
	fflush(stdout);
	MPI_Finalize();
	return 4;
}
