/* SPDX-License-Identifier: Apache-2.0 */
/* bench_mpi.c — what a recorded MPI_Allreduce costs, as a ratio to a clock read measured in the
 * same run.
 *
 * The real preload stands before the real MPI: 2 ranks over shared memory reduce 8 bytes. Batches
 * of wrapped calls and of bare ones, by the address of MPI's own function, take turns inside one
 * process, so that both meet the same machine; between two runs of a program alone the figure
 * differs by many times a wrapper. Beside it stands what two clock reads cost at the same point,
 * around a bare call: less than that no wrapper with two times can cost. Of many short batches the
 * one counts that is slower than a tenth of them; the median of five runs is the figure. Without
 * arguments the program starts itself under mpirun. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/median.h"

#define LIMIT "2.6"

#ifdef OPEN_MPI
#define FLAVOUR "openmpi"
#define LIBRARY "libmpi.so.40"
#define MPIRUN                                                                                     \
	"mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "core", "--mca", "btl",   \
		"self,vader"
#else
#define FLAVOUR "mpich"
#define LIBRARY "libmpich.so.12"
#define MPIRUN "mpirun", "-launcher", "fork", "-bind-to", "core"
#endif

typedef int allreduce_fn(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
enum { BATCHES = 3000, CALLS = 200 };

static double clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns for one of what is repeated. */
#define BATCH(what)                                                                                \
	({                                                                                         \
		double begin_ = clock_ns();                                                        \
                                                                                                   \
		for (int i_ = 0; i_ < CALLS; i_++)                                                 \
			what;                                                                      \
		(clock_ns() - begin_) / CALLS;                                                     \
	})

/* ---- a rank ---- */

static double wrapped_ns[BATCHES], bare_ns[BATCHES], clocked_ns[BATCHES], clock_read_ns[BATCHES];

static double tenth(double *batches)
{
	qsort(batches, BATCHES, sizeof(batches[0]), by_size);
	return batches[BATCHES / 10];
}

static allreduce_fn *bare;

/* A wrapper that reads the clock twice and does nothing else. */
static __attribute__((noinline)) int clocked(const void *mine, void *sum)
{
	struct timespec t;
	int result;

	clock_gettime(CLOCK_MONOTONIC, &t);
	result = bare(mine, sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return result;
}

static int measure_rank(void)
{
	double mine = 1, sum = 0;
	struct timespec t;

	for (int b = -BATCHES / 10; b < BATCHES; b++) {
		/* Every rank meets before each batch, so that none waits in it for the other's
		 * clock reads. */
		int i = b < 0 ? 0 : b; /* the first ones warm up */

		bare(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		wrapped_ns[i] = BATCH(
			MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
		bare(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		bare_ns[i] = BATCH(bare(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
		bare(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		clocked_ns[i] = BATCH(clocked(&mine, &sum));
		clock_read_ns[i] = BATCH(clock_gettime(CLOCK_MONOTONIC, &t));
	}
	return sum != 2;
}

/* For instructions.py: alone, so that it needs no mpirun. */
static __attribute__((noinline)) void counted(int calls)
{
	double mine = 1, sum;

	for (int i = 0; i < calls; i++)
		MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static int count(void)
{
	double mine = 1, sum;

	MPI_Init(NULL, NULL);
	for (int i = 0; i < BATCHES; i++)
		MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
	counted(BATCHES);
	MPI_Finalize();
	printf("%d\n", BATCHES);
	return 0;
}

static int rank_main(void)
{
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
	int rank, size, failed;

	bare = library ? (allreduce_fn *)dlsym(library, "MPI_Allreduce") : NULL;
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	failed = !bare || bare == MPI_Allreduce || size != 2;
	if (!failed)
		failed = measure_rank();
	if (!failed && rank == 0)
		printf("%.3f %.3f %.3f %.3f\n", tenth(wrapped_ns), tenth(bare_ns),
		       tenth(clocked_ns), tenth(clock_read_ns));
	MPI_Finalize();
	return failed;
}

/* ---- the parent ---- */

static char self_path[4096], preload[4200], scratch[] = "/tmp/ct-bench-XXXXXX";

/* The preload goes to the ranks only: mpirun itself is not measured. */
static void exec_job(void)
{
	static char with_preload[4300], with_dir[200];

	snprintf(with_preload, sizeof(with_preload), "LD_PRELOAD=%s", preload);
	snprintf(with_dir, sizeof(with_dir), "COMMTRACE_DIR=%s/run", scratch);
	execlp("mpirun." FLAVOUR, MPIRUN, "-n", "2", "env", with_preload, with_dir,
	       "COMMTRACE_QUIET=1", "COMMTRACE_NO_DLSYM=1", self_path, "rank", (char *)NULL);
	_exit(127);
}

static int run(double v[4])
{
	int ends[2], status = 0, n = 0;
	FILE *out;
	pid_t pid;

	if (pipe(ends) != 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		exec_job();
	}
	close(ends[1]);
	out = fdopen(ends[0], "r");
	if (out) {
		n = fscanf(out, "%lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3]);
		fclose(out);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 && n == 4;
}

static int measure(void)
{
	enum { RUNS = 5 };
	double ratios[RUNS], v[4];

	for (int r = 0; r < RUNS; r++) {
		if (!run(v))
			return 1;
		ratios[r] = (v[0] - v[1]) / v[3];
		printf(FLAVOUR
		       " MPI_Allreduce %.1f ns, bare %.1f ns, clock %.1f ns: %.2f; two clock "
		       "reads around the bare one: %.2f\n",
		       v[0], v[1], v[3], ratios[r], (v[2] - v[1]) / v[3]);
	}
	printf("METRIC overhead.mpi_wrapper_per_clock_" FLAVOUR " %.2f " LIMIT "\n",
	       median(ratios, RUNS));
	return 0;
}

static int recorded(void)
{
	char command[300];

	/* Figures of a library that recorded nothing would be too good. */
	snprintf(command, sizeof(command), "ls %s/run/* >/dev/null 2>&1", scratch);
	return system(command) == 0;
}

static void remove_scratch(void)
{
	char command[100];
	int status;

	snprintf(command, sizeof(command), "rm -rf %s", scratch);
	status = system(command);
	(void)status;
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);
	int failed;
	char *slash;

	if (argc > 1)
		return strcmp(argv[1], "count") == 0 ? count() : rank_main();
	if (n <= 0 || !mkdtemp(scratch))
		return 1;
	slash = strrchr(self_path, '/');
	snprintf(preload, sizeof(preload), "%.*s/../../lib/libcommtrace.so",
		 (int)(slash - self_path), self_path);
	failed = measure();
	if (!failed && !recorded()) {
		fprintf(stderr, "bench_mpi: nothing was recorded\n");
		failed = 1;
	}
	remove_scratch();
	return failed;
}
