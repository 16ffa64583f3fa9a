/* SPDX-License-Identifier: Apache-2.0 */
/* check_exposed REPORT.json SPANS.jsonl STALLS.jsonl — what the report says of exposed
 * communication, held against when the simulated streams really waited: for each rank within 5 %.
 * Launches that have no times are the first ones, before there are events; nothing is said of
 * those. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 65536 };

struct interval {
	int64_t rank, stream, begin, end;
};
static struct interval spans[MOST], stalls[MOST];
static size_t n_spans, n_stalls;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "check_exposed: %s\n", what);
	exit(1);
}

static int64_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value))
		die(key);
	return json_integer_value(value);
}

static int by_begin(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static size_t read_lines(const char *path, const char *begin, struct interval *to)
{
	FILE *f = fopen(path, "re");
	char line[512];
	size_t n = 0;

	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f)) {
		json_t *o = json_loads(line, 0, NULL);

		if (!o || n == MOST)
			die("a line of the truth");
		to[n].rank = number(o, "rank");
		to[n].stream = number(o, "stream");
		to[n].begin = number(o, begin);
		to[n++].end = number(o, "end_ns");
		json_decref(o);
	}
	fclose(f);
	qsort(to, n, sizeof(*to), by_begin);
	return n;
}

/* How long the rank's computing stream, the default one, stood still during its last `launches`
 * kernels. */
static int64_t exposed(int64_t rank, int64_t launches)
{
	int64_t sum = 0, skip = -launches;

	for (size_t i = 0; i < n_spans; i++)
		skip += spans[i].rank == rank;
	for (size_t i = 0; i < n_spans; i++) {
		const struct interval *span = &spans[i];

		if (span->rank != rank || skip-- > 0)
			continue;
		for (size_t k = 0; k < n_stalls; k++) {
			const struct interval *s = &stalls[k];
			int64_t begin = s->begin > span->begin ? s->begin : span->begin;
			int64_t end = s->end < span->end ? s->end : span->end;

			if (s->rank == rank && !s->stream && end > begin)
				sum += end - begin;
		}
	}
	return sum;
}

int main(int argc, char **argv)
{
	json_t *report = argc == 4 ? json_load_file(argv[1], 0, NULL) : NULL;
	json_t *row;
	size_t i;
	int wrong = 0;

	if (!report)
		die("usage: check_exposed REPORT.json SPANS.jsonl STALLS.jsonl");
	n_spans = read_lines(argv[2], "start_ns", spans);
	n_stalls = read_lines(argv[3], "begin_ns", stalls);
	json_array_foreach(json_object_get(report, "overlap"), i, row)
	{
		int64_t rank = number(row, "rank"), launches = number(row, "launches");
		int64_t told = number(row, "exposed_ns"), err = number(row, "err_ns");
		int64_t is = exposed(rank, launches);
		int64_t off = told > is ? told - is : is - told;
		int is_wrong = off > is / 20 + err || number(row, "measured") < launches;

		printf("rank %" PRId64 ": %" PRId64 " launches, exposed %" PRId64
		       " ns, told %" PRId64 " ± %" PRId64 "%s\n",
		       rank, launches, is, told, err, is_wrong ? ": WRONG" : "");
		wrong += is_wrong || launches < 8;
	}
	if (!i)
		die("no rows");
	json_decref(report);
	return wrong > 0;
}
