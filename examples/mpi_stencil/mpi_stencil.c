/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_stencil.c — heat spreading over a plate that is cut into bands of rows, one for each rank,
 * with faults on request.
 *
 *     mpirun -n 4 mpi_stencil --steps 50 --slow-rank 2 --slow-ms 20
 *
 * A step is
 *
 *     Irecv, Irecv, Isend, Isend, Waitall    the rows beside a band, from and to its neighbours
 *     Sendrecv                               a parcel goes one rank further round the ring
 *     Allreduce                              with --groups, two more in subgroups
 *     Allreduce                              the residual: the greatest change of all
 *
 * What is printed depends on the options and the number of ranks only, never on time, and not on
 * which MPI it is: sums are of whole numbers, and of doubles only the greatest is asked for.
 */
#include <mpi.h>

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { UPWARD = 1, DOWNWARD = 2, AROUND = 3 };

static struct {
	int steps, rows, columns, parcel;
	int slow_rank, slow_from, slow_to;
	double slow_ms;
	int hang_rank, hang_step, mismatch_rank, mismatch_step, skip_rank;
	int groups;
	unsigned long seed;
} options = {
	.steps = 50,
	.rows = 256,
	.columns = 512,
	.parcel = 65536,
	.slow_rank = -1,
	.slow_ms = 20,
	.slow_to = -1,
	.hang_rank = -1,
	.hang_step = 5,
	.mismatch_rank = -1,
	.mismatch_step = 5,
	.skip_rank = -1,
};

static int rank, size;
static int up, down; /* the neighbours' ranks, or MPI_PROC_NULL */

/* rows of `columns` numbers: one of the neighbour above, those of this band, one of the neighbour
 * below */
static double *plate, *next_plate;
static int band;

static unsigned char *parcel, *next_parcel;
static uint64_t digest = 0xcbf29ce484222325u; /* over all that this rank received from others */

static MPI_Comm
	groups[2]; /* this rank's half of the ranks, and those that are even or odd as it is */

/* ---- options ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	int *value;
	const char *what;
} numbers[] = {
	{ "steps", &options.steps, "how many (50)" },
	{ "rows", &options.rows, "of the plate, at least one for each rank (256)" },
	{ "columns", &options.columns, "of the plate (512)" },
	{ "parcel", &options.parcel, "bytes that go round the ring (65536)" },
	{ "slow-rank", &options.slow_rank, "this rank computes longer" },
	{ "slow-from", &options.slow_from, "from this step (the first)" },
	{ "slow-to", &options.slow_to, "to this step, included (the last)" },
	{ "hang-rank", &options.hang_rank,
	  "this rank sleeps for an hour before it exchanges rows" },
	{ "hang-step", &options.hang_step, "in this step (5)" },
	{ "mismatch-rank", &options.mismatch_rank,
	  "this rank calls MPI_Barrier instead of the Allreduce of the residual" },
	{ "mismatch-step", &options.mismatch_step, "in this step (5)" },
	{ "skip-rank", &options.skip_rank,
	  "this rank leaves out the Allreduce of the residual in the middle step (steps / 2)" },
};
enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]), SLOW_MS = NUMBERS, GROUPS, SEED, HELP };

static void usage(FILE *to)
{
	fprintf(to, "usage: mpi_stencil [--OPTION N]...\n"
		    "Ranks and steps count from 0; a rank of -1 means none.\n");
	for (int i = 0; i < NUMBERS; i++)
		fprintf(to, "  --%-14s %s\n", numbers[i].name, numbers[i].what);
	fprintf(to, "  --%-14s %s\n  --%-14s %s\n  --%-14s %s\n", "slow-ms",
		"by so much in every step (20)", "groups",
		"all-reduce in subgroups, too: halves of the ranks, and even and odd ranks", "seed",
		"of what the plate is like at first (0)");
}

/* A whole argument as a number, or the end of the program. */
static double number(const char *name, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end) {
		fprintf(stderr, "mpi_stencil: --%s: not a number: %s\n", name, text);
		exit(2);
	}
	return value;
}

static void parse_options(int argc, char **argv)
{
	struct option names[NUMBERS + 5] = { 0 };
	int which;

	for (int i = 0; i < NUMBERS; i++)
		names[i] = (struct option){ numbers[i].name, required_argument, NULL, i };
	names[SLOW_MS] = (struct option){ "slow-ms", required_argument, NULL, SLOW_MS };
	names[GROUPS] = (struct option){ "groups", no_argument, NULL, GROUPS };
	names[SEED] = (struct option){ "seed", required_argument, NULL, SEED };
	names[HELP] = (struct option){ "help", no_argument, NULL, HELP };
	while ((which = getopt_long(argc, argv, "", names, NULL)) != -1) {
		if (which == HELP) {
			usage(stdout);
			exit(0);
		}
		if (which == '?') {
			usage(stderr);
			exit(2);
		}
		if (which < NUMBERS)
			*numbers[which].value = (int)number(names[which].name, optarg);
		else if (which == SLOW_MS)
			options.slow_ms = number("slow-ms", optarg);
		else if (which == SEED)
			options.seed = (unsigned long)number("seed", optarg);
		else
			options.groups = 1;
	}
	if (optind < argc || options.steps < 0 || options.rows < size || options.columns < 3 ||
	    options.parcel < 1) {
		usage(stderr);
		exit(2);
	}
}

/* ---- the plate --------------------------------------------------------------------------------- */

/* Numbers by chance, the same wherever they are drawn: splitmix64. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void digest_bytes(const void *bytes, size_t count)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < count; i++)
		digest = (digest ^ p[i]) * 0x100000001b3u;
}

static double *row(double *of, int index)
{
	return of + (size_t)index * (size_t)options.columns;
}

static void *allocate(size_t count, size_t each)
{
	void *p = calloc(count, each);

	if (!p) {
		fprintf(stderr, "mpi_stencil: no memory\n");
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
	return p;
}

/* The rows are spread evenly, the first ranks have one more; each is drawn from its own number. */
static void make_plate(void)
{
	int more = options.rows % size;
	int first = rank * (options.rows / size) + (rank < more ? rank : more);

	band = options.rows / size + (rank < more);
	plate = allocate((size_t)(band + 2) * (size_t)options.columns, sizeof(double));
	next_plate = allocate((size_t)(band + 2) * (size_t)options.columns, sizeof(double));
	for (int i = 1; i <= band; i++) {
		uint64_t state = options.seed * 1000003u + (uint64_t)(first + i);

		for (int j = 0; j < options.columns; j++)
			row(plate, i)[j] = (double)(draw(&state) >> 11) * 0x1p-53;
		memcpy(row(next_plate, i), row(plate, i), (size_t)options.columns * sizeof(double));
	}
	parcel = allocate((size_t)options.parcel, 1);
	next_parcel = allocate((size_t)options.parcel, 1);
	memset(parcel, rank + 1, (size_t)options.parcel);
}

/* The mean of the four around. Its edges stay as they are. Returns the greatest change. */
static double relax(void)
{
	double change = 0, *swapped;

	for (int i = 1; i <= band; i++) {
		const double *above = row(plate, i - 1), *here = row(plate, i);
		const double *below = row(plate, i + 1);
		double *after = row(next_plate, i);

		for (int j = 1; j < options.columns - 1; j++) {
			after[j] = (above[j] + below[j] + (here[j - 1] + here[j + 1])) * 0.25;
			change = fmax(change, fabs(after[j] - here[j]));
		}
	}
	swapped = plate;
	plate = next_plate;
	next_plate = swapped;
	return change;
}

/* ---- a step ------------------------------------------------------------------------------------ */

static void exchange_rows(void)
{
	MPI_Request requests[4];

	MPI_Irecv(row(plate, 0), options.columns, MPI_DOUBLE, up, DOWNWARD, MPI_COMM_WORLD,
		  &requests[0]);
	MPI_Irecv(row(plate, band + 1), options.columns, MPI_DOUBLE, down, UPWARD, MPI_COMM_WORLD,
		  &requests[1]);
	MPI_Isend(row(plate, 1), options.columns, MPI_DOUBLE, up, UPWARD, MPI_COMM_WORLD,
		  &requests[2]);
	MPI_Isend(row(plate, band), options.columns, MPI_DOUBLE, down, DOWNWARD, MPI_COMM_WORLD,
		  &requests[3]);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void pass_parcel(void)
{
	unsigned char *swapped = parcel;

	MPI_Sendrecv(parcel, options.parcel, MPI_BYTE, (rank + 1) % size, AROUND, next_parcel,
		     options.parcel, MPI_BYTE, (rank + size - 1) % size, AROUND, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	parcel = next_parcel;
	next_parcel = swapped;
	digest_bytes(parcel, 1);
}

/* One Allreduce, unless this rank is the one that gets it wrong. */
static double residual_of_all(int step, double mine)
{
	double all = mine;

	if (rank == options.skip_rank && step == options.steps / 2)
		return mine;
	if (rank == options.mismatch_rank && step == options.mismatch_step)
		MPI_Barrier(MPI_COMM_WORLD);
	else
		MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return all;
}

static void take_a_nap(double ms)
{
	struct timespec rest = { .tv_sec = (time_t)(ms / 1000) };

	rest.tv_nsec = (long)((ms - 1000 * (double)rest.tv_sec) * 1e6);
	while (nanosleep(&rest, &rest) != 0)
		;
}

static void make_step(int step)
{
	int last = options.slow_to < 0 ? options.steps : options.slow_to;
	double change;

	if (rank == options.slow_rank && step >= options.slow_from && step <= last)
		take_a_nap(options.slow_ms);
	if (rank == options.hang_rank && step == options.hang_step)
		take_a_nap(3600e3);
	exchange_rows();
	change = relax();
	pass_parcel();
	for (int i = 0; i < 2 && options.groups; i++) {
		uint64_t mine = (uint64_t)(change * 0x1p32) + (uint64_t)i, sum;

		MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, groups[i]);
		digest_bytes(&sum, sizeof(sum));
	}
	change = residual_of_all(step, change);
	digest_bytes(&change, sizeof(change));
	if (rank == 0)
		printf("step %d residual %.9f\n", step, change);
}

/* ---- the job ----------------------------------------------------------------------------------- */

static void make_groups(void)
{
	MPI_Comm_split(MPI_COMM_WORLD, rank >= (size + 1) / 2, rank, &groups[0]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &groups[1]);
}

/* Over the plate and the digests of all ranks, in rank order; on rank 0. */
static uint64_t checksum(void)
{
	uint64_t *all = rank == 0 ? allocate((size_t)size, sizeof(*all)) : NULL, mine;

	for (int i = 1; i <= band; i++)
		digest_bytes(row(plate, i), (size_t)options.columns * sizeof(double));
	mine = digest;
	MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
	if (rank == 0)
		digest_bytes(all, (size_t)size * sizeof(*all));
	free(all);
	return digest;
}

int main(int argc, char **argv)
{
	uint64_t sum;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	parse_options(argc, argv);
	up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	make_plate();
	if (options.groups)
		make_groups();
	/* Writing takes longer than a step on a busy machine, and would make this rank the slow
	 * one. */
	setvbuf(stdout, NULL, options.hang_rank < 0 && options.mismatch_rank < 0 ? _IOFBF : _IOLBF,
		1 << 16);
	for (int step = 0; step < options.steps; step++)
		make_step(step);
	sum = checksum();
	if (rank == 0)
		printf("result checksum=%016" PRIx64 "\n", sum);
	for (int i = 0; i < 2 && options.groups; i++)
		MPI_Comm_free(&groups[i]);
	MPI_Finalize();
	free(plate);
	free(next_plate);
	free(parcel);
	free(next_parcel);
	return 0;
}
