/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.h — what the comm_bench programs share: options, the order of measurements, checks and the
 * printed table.
 *
 * Options have the meaning, and the table the columns, of nccl-tests. A program gives a struct
 * transport and calls sweep_run(). Each (operation, size) is measured --cycles times: a burst of
 * warm-up iterations, a barrier, a burst of timed ones. All these are in random order, so what
 * disturbs the machine for a while disturbs no size alone. */
#ifndef CT_EXAMPLES_COMM_BENCH_SWEEP_H
#define CT_EXAMPLES_COMM_BENCH_SWEEP_H

#include <ctype.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum op {
	ALL_REDUCE,
	BROADCAST,
	REDUCE,
	ALL_GATHER,
	REDUCE_SCATTER,
	ALLTOALL,
	GATHER,
	SCATTER,
	SENDRECV,
	PINGPONG,
	OPS
};
enum redop { SUM, PROD, MIN, MAX, REDOPS };

static const struct {
	const char *name;
	int has_redop, has_root;
	int is_shared;	/* its size is that of one share for each rank */
	int is_minus_1; /* of n shares, n - 1 travel */
} ops[OPS] = {
	[ALL_REDUCE] = { "all_reduce", 1, 0, 0, 0 },
	[BROADCAST] = { "broadcast", 0, 1, 0, 0 },
	[REDUCE] = { "reduce", 1, 1, 0, 0 },
	[ALL_GATHER] = { "all_gather", 0, 0, 1, 1 },
	[REDUCE_SCATTER] = { "reduce_scatter", 1, 0, 1, 1 },
	[ALLTOALL] = { "alltoall", 0, 0, 1, 1 },
	[GATHER] = { "gather", 0, 1, 1, 1 },
	[SCATTER] = { "scatter", 0, 1, 1, 1 },
	[SENDRECV] = { "sendrecv", 0, 0, 0, 0 }, /* to the next rank, from the one before */
	[PINGPONG] = { "pingpong", 0, 0, 0,
		       0 }, /* of the first and the last rank; its time is half a round trip */
};
static const char *const redops[REDOPS] = { "sum", "prod", "min", "max" };

/* One library's way to do it. Ranks of a process count from 0 to `local` - 1. */
struct transport {
	int rank, local, size; /* first rank of this process, how many it has, of all */
	unsigned can;	       /* a bit for each operation */
	void *with;	       /* given to all functions */
	void (*once)(void *with, enum op op, size_t count, enum redop redop);
	void (*finish)(void *with); /* what once() began is done */
	void (*barrier)(void *with);
	double (*sum)(void *with, double mine); /* over all processes */
	void (*put)(void *with, int local, const float *values,
		    size_t count); /* into the buffer that is sent */
	void (*get)(void *with, int local, float *values,
		    size_t count); /* from the one that is received in */
};

struct sweep_options {
	size_t least, most, factor, step;
	int gpus, threads, iterations, warmup, cycles, check, under_load;
	double soak_s;
	unsigned ops;
	enum redop redop;
	uint64_t seed;
	const char *id_file;
};

static inline void sweep_fail(const char *why)
{
	fprintf(stderr, "comm_bench: %s\n", why);
	exit(1);
}

static inline size_t sweep_bytes(const char *text)
{
	char *end;
	double n = strtod(text, &end);
	const char *at = *end ? strchr("kKmMgG", *end) : NULL;

	if (n < 0 || (*end && (!at || (end[1] && end[1] != 'B')))) {
		fprintf(stderr, "comm_bench: not a size: %s\n", text);
		exit(2);
	}
	return (size_t)(n * (double)(at ? (size_t)1 << (10 * ((at - "kKmMgG") / 2 + 1)) : 1));
}

/* "all_reduce", "AllReduce", as the tables of commtrace have it, and "allreduce" are one. */
static inline int sweep_is_op(const char *name, const char *word)
{
	for (;; name++, word++) {
		name += *name == '_';
		word += *word == '_';
		if (tolower((unsigned char)*word) != *name)
			return 0;
		if (!*name)
			return 1;
	}
}

static inline unsigned sweep_ops(char *list)
{
	unsigned set = 0;

	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		int op = 0;

		while (op < OPS && !sweep_is_op(ops[op].name, word))
			op++;
		if (op == OPS) {
			fprintf(stderr, "comm_bench: no operation '%s'; there are:", word);
			for (op = 0; op < OPS; op++)
				fprintf(stderr, " %s", ops[op].name);
			fputc('\n', stderr);
			exit(2);
		}
		set |= 1u << op;
	}
	return set;
}

static inline void sweep_usage(int code)
{
	fprintf(code ? stderr : stdout,
		"Usage: comm_bench [OPTION]...\n"
		"  -b, --minbytes SIZE   smallest message (8)\n"
		"  -e, --maxbytes SIZE   largest message (1G)\n"
		"  -f, --stepfactor N    from size to size (2)\n"
		"  -i, --stepbytes SIZE  add so much from size to size instead\n"
		"  -n, --iters N         timed iterations of a burst (20)\n"
		"  -w, --warmup_iters N  iterations before these (1)\n"
		"  -N, --cycles N        bursts of each operation and size (10)\n"
		"  -o, --op OP           sum, prod, min or max\n"
		"  -c, --check 0|1       compare results (1)\n"
		"  -g, --ngpus N         GPUs of each thread (1); NCCL only\n"
		"  -t, --nthreads N      threads of each process (1); NCCL only\n"
		"      --ops LIST        comma-separated, by default all:");
	for (int op = 0; op < OPS; op++)
		fprintf(code ? stderr : stdout, " %s", ops[op].name);
	fprintf(code ? stderr : stdout,
		"\n"
		"      --seed N          of the order of measurements (1)\n"
		"      --soak SECONDS    go on for so long, instead of --cycles\n"
		"      --under-load      copy memory at the same time\n"
		"      --id-file FILE    where processes exchange NCCL's id: on a file system that "
		"all see, and new\n");
	exit(code);
}

static inline void sweep_parse(struct sweep_options *o, int argc, char **argv)
{
	enum { BY_OPS = 256, SEED, SOAK, LOAD, ID };
	static const struct option longs[] = {
		{ "minbytes", 1, NULL, 'b' },	{ "maxbytes", 1, NULL, 'e' },
		{ "stepfactor", 1, NULL, 'f' }, { "stepbytes", 1, NULL, 'i' },
		{ "iters", 1, NULL, 'n' },	{ "warmup_iters", 1, NULL, 'w' },
		{ "cycles", 1, NULL, 'N' },	{ "op", 1, NULL, 'o' },
		{ "check", 1, NULL, 'c' },	{ "ngpus", 1, NULL, 'g' },
		{ "nthreads", 1, NULL, 't' },	{ "help", 0, NULL, 'h' },
		{ "ops", 1, NULL, BY_OPS },	{ "seed", 1, NULL, SEED },
		{ "soak", 1, NULL, SOAK },	{ "under-load", 0, NULL, LOAD },
		{ "id-file", 1, NULL, ID },	{ 0 },
	};
	int c;

	*o = (struct sweep_options){ .least = 8,
				     .most = (size_t)1 << 30,
				     .factor = 2,
				     .gpus = 1,
				     .threads = 1,
				     .iterations = 20,
				     .warmup = 1,
				     .cycles = 10,
				     .check = 1,
				     .ops = (1u << OPS) - 1,
				     .seed = 1 };
	while ((c = getopt_long(argc, argv, "b:e:f:i:n:w:N:o:c:g:t:h", longs, NULL)) != -1) {
		switch (c) {
		case 'b':
			o->least = sweep_bytes(optarg);
			break;
		case 'e':
			o->most = sweep_bytes(optarg);
			break;
		case 'f':
			o->factor = (size_t)atol(optarg);
			break;
		case 'i':
			o->step = sweep_bytes(optarg);
			break;
		case 'n':
			o->iterations = atoi(optarg);
			break;
		case 'w':
			o->warmup = atoi(optarg);
			break;
		case 'N':
			o->cycles = atoi(optarg);
			break;
		case 'c':
			o->check = atoi(optarg);
			break;
		case 'g':
			o->gpus = atoi(optarg);
			break;
		case 't':
			o->threads = atoi(optarg);
			break;
		case 'o':
			for (o->redop = SUM;
			     o->redop < REDOPS && strcmp(redops[o->redop], optarg) != 0;)
				o->redop++;
			break;
		case BY_OPS:
			o->ops = sweep_ops(optarg);
			break;
		case SEED:
			o->seed = strtoull(optarg, NULL, 0);
			break;
		case SOAK:
			o->soak_s = atof(optarg);
			break;
		case LOAD:
			o->under_load = 1;
			break;
		case ID:
			o->id_file = optarg;
			break;
		default:
			sweep_usage(c == 'h' ? 0 : 2);
		}
	}
	if (optind < argc || o->redop == REDOPS || o->least < sizeof(float) || o->most < o->least ||
	    (!o->step && o->factor < 2) || o->iterations < 1 || o->warmup < 0 || o->cycles < 1 ||
	    o->gpus < 1 || o->threads < 1)
		sweep_usage(2);
}

static inline double sweep_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what is sent, and what should arrive: small whole numbers, exact in any order of summation
 * ---- */

static inline float sweep_value(int rank, size_t i)
{
	return (float)(1 + (i + (size_t)rank) % 3);
}

static inline float sweep_reduced(enum redop redop, int size, size_t i)
{
	float all = sweep_value(0, i);

	for (int r = 1; r < size; r++) {
		float one = sweep_value(r, i);

		all = redop == SUM		      ? all + one
		      : redop == PROD		      ? all * one
		      : (redop == MIN) == (one < all) ? one
						      : all;
	}
	return all;
}

/* Elements of the rank that are wrong. The root is rank 0. */
static inline double sweep_check(const float *got, enum op op, size_t count, enum redop redop,
				 int rank, int size)
{
	int last = size - 1, from;
	size_t wrong = 0, share = count / (size_t)size;
	float reduced[3];

	if (((op == REDUCE || op == GATHER) && rank) || (op == BROADCAST && !rank) ||
	    (op == PINGPONG && rank != last))
		return 0;
	for (size_t i = 0; i < 3; i++)
		reduced[i] = sweep_reduced(redop, size, i);
	if (op == REDUCE_SCATTER || op == SCATTER)
		count = share;
	for (size_t i = 0; i < count; i++) {
		float want;

		switch (op) {
		case ALL_REDUCE:
		case REDUCE:
			want = reduced[i % 3];
			break;
		case REDUCE_SCATTER:
			want = reduced[((size_t)rank * share + i) % 3];
			break;
		case BROADCAST:
			want = sweep_value(0, i);
			break;
		case SCATTER:
			want = sweep_value(0, (size_t)rank * share + i);
			break;
		case ALL_GATHER:
		case GATHER:
			want = sweep_value((int)(i / share), i % share);
			break;
		case ALLTOALL:
			want = sweep_value((int)(i / share), (size_t)rank * share + i % share);
			break;
		default:
			from = op == SENDRECV ? (rank + last) % size : 0;
			want = sweep_value(from, i);
		}
		wrong += got[i] < want || got[i] > want;
	}
	return (double)wrong;
}

/* ---- measuring: an iteration takes what a burst took, by their number, averaged over the ranks;
 * of the cycles the median ---- */

struct sweep_cell {
	enum op op;
	size_t bytes, count;
	int cycles;
	double *us;   /* by cycle: of an iteration */
	double wrong; /* sum */
};

static inline int sweep_by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double sweep_bus_factor(enum op op, int size)
{
	double n = size;

	return op == ALL_REDUCE ? 2 * (n - 1) / n : ops[op].is_minus_1 ? (n - 1) / n : 1;
}

/* size: bytes of a message, rounded down to whole elements, as many for each rank. */
static inline size_t sweep_cells(const struct sweep_options *o, const struct transport *t,
				 struct sweep_cell *cells)
{
	size_t n = 0;

	for (int op = 0; op < OPS; op++) {
		size_t before = 0;

		if (!(o->ops & t->can & 1u << op))
			continue;
		for (size_t size = o->least; size <= o->most;
		     size = o->step ? size + o->step : size * o->factor) {
			size_t unit = sizeof(float) * (ops[op].is_shared ? (size_t)t->size : 1),
			       bytes = size - size % unit;

			if (!bytes || bytes == before)
				continue;
			if (cells)
				cells[n] = (struct sweep_cell){ .op = op,
								.bytes = bytes,
								.count = bytes / sizeof(float) };
			before = bytes;
			n++;
		}
	}
	return n;
}

static inline void sweep_burst(const struct transport *t, const struct sweep_cell *cell,
			       const struct sweep_options *o, int n)
{
	for (int i = 0; i < n; i++)
		t->once(t->with, cell->op, cell->count, o->redop);
	t->finish(t->with);
}

static inline void sweep_measure(const struct sweep_options *o, const struct transport *t,
				 struct sweep_cell *cell, float *values)
{
	double begin, us, wrong = 0;

	t->barrier(t->with);
	sweep_burst(t, cell, o, o->warmup);
	t->barrier(t->with);
	begin = sweep_now();
	sweep_burst(t, cell, o, o->iterations);
	us = t->sum(t->with, 1e6 * (sweep_now() - begin) * t->local) / o->iterations / t->size;
	cell->us = realloc(cell->us, ((size_t)cell->cycles + 1) * sizeof(*cell->us));
	if (!cell->us)
		sweep_fail("out of memory");
	cell->us[cell->cycles++] = cell->op == PINGPONG ? us / 2 : us;
	for (int l = 0; l < t->local && o->check; l++) {
		t->get(t->with, l, values, cell->count);
		wrong += sweep_check(values, cell->op, cell->count, o->redop, t->rank + l, t->size);
	}
	cell->wrong += t->sum(t->with, wrong);
}

/* All ranks draw the same. */
static inline size_t sweep_draw(uint64_t *state, size_t below)
{
	*state += 0x9e3779b97f4a7c15u;
	uint64_t z = *state;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (size_t)((z ^ z >> 31) % below);
}

static inline void sweep_print(const struct sweep_options *o, const struct transport *t,
			       const struct sweep_cell *cells, size_t n)
{
	for (size_t c = 0; c < n; c++) {
		const struct sweep_cell *cell = &cells[c];
		double us, algbw;

		qsort(cell->us, (size_t)cell->cycles, sizeof(*cell->us), sweep_by_time);
		us = cell->us[cell->cycles / 2];
		algbw = (double)cell->bytes / us / 1e3;

		if (!c || cells[c - 1].op != cell->op)
			printf("# %s, %d ranks\n#%11s %12s %8s %6s %6s %10s %8s %8s %6s\n#%11s "
			       "%12s %8s %6s %6s %10s %8s %8s %6s\n",
			       ops[cell->op].name, t->size, "size", "count", "type", "redop",
			       "root", "time", "algbw", "busbw", "#wrong", "(B)", "(elements)", "",
			       "", "", "(us)", "(GB/s)", "(GB/s)", "");
		printf("%12zu %12zu %8s %6s %6d %10.2f %8.2f %8.2f %6.0f\n", cell->bytes,
		       ops[cell->op].is_shared ? cell->count / (size_t)t->size : cell->count,
		       "float", ops[cell->op].has_redop ? redops[o->redop] : "none",
		       ops[cell->op].has_root ? 0 : -1, us, algbw,
		       algbw * sweep_bus_factor(cell->op, t->size), cell->wrong);
	}
	fflush(stdout);
}

/* 0, or 1: some result was wrong. */
static inline int sweep_run(const struct sweep_options *o, const struct transport *t)
{
	size_t n = sweep_cells(o, t, NULL), elements = o->most / sizeof(float);
	struct sweep_cell *cells = calloc(n + 1, sizeof(*cells));
	size_t *order = calloc(n + 1, sizeof(*order));
	float *values = malloc((elements + 1) * sizeof(*values));
	uint64_t random = o->seed;
	double begin = sweep_now(), wrong = 0;
	int more = 1;

	if (!cells || !order || !values)
		sweep_fail("out of memory");
	sweep_cells(o, t, cells);
	for (int l = 0; l < t->local; l++) {
		for (size_t i = 0; i < elements; i++)
			values[i] = sweep_value(t->rank + l, i);
		t->put(t->with, l, values, elements);
	}
	for (int cycle = 0; more; cycle++) {
		for (size_t c = 0; c < n; c++) {
			size_t other = sweep_draw(&random, c + 1);

			order[c] = order[other];
			order[other] = c;
		}
		for (size_t c = 0; c < n; c++)
			sweep_measure(o, t, &cells[order[c]], values);
		t->barrier(t->with); /* else these sums look like a burst */
		/* all go on as long as any would */
		more = o->soak_s > 0 ? t->sum(t->with, sweep_now() - begin < o->soak_s) > 0
				     : cycle + 1 < o->cycles;
	}
	for (size_t c = 0; c < n; c++)
		wrong += cells[c].wrong;
	if (!t->rank)
		sweep_print(o, t, cells, n);
	for (size_t c = 0; c < n; c++)
		free(cells[c].us);
	free(values);
	free(order);
	free(cells);
	return wrong > 0;
}

#endif
