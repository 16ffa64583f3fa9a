/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/mpi/exchange.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/say.h"
#include "trace/segment.h"

/* size: of a message. Large enough for full bandwidth, small beside the memory of a node. */
#define PIECE_BYTES (1u << 20)

void ct_exchange_fail(const char *what, const char *why)
{
	ct_say("%s: %s", what, why);
	MPI_Abort(MPI_COMM_WORLD, CT_CODE_FAILED);
	abort();
}

static void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n + 1, size);

	if (!memory)
		ct_exchange_fail("cannot exchange parts", ct_status_text(CT_NOMEM));
	return memory;
}

/* ---- which process takes what ---- */

/* A process of the run, as one process of the job sees it. */
struct sight {
	char name[CT_SEGMENT_NAME_MAX];
	uint64_t bytes; /* of its segments */
	uint32_t has_ring;
	uint32_t by, index; /* the process of the job, and its index there */
};

static int by_name(const void *a, const void *b)
{
	const struct sight *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->by > y->by) - (x->by < y->by);
}

/* Of several that see the same, in the order of the processes of the job. */
static const struct sight *choose(const struct sight *first, size_t n)
{
	const struct sight *best = first;

	for (size_t i = 1; i < n; i++) {
		if (first[i].has_ring != best->has_ring ? first[i].has_ring
							: first[i].bytes > best->bytes)
			best = first + i;
	}
	return best;
}

static uint8_t owned_of(const struct sight *taken, const struct sight *first)
{
	return taken->by && !first->by && first->bytes >= taken->bytes ? CT_OWNED_RING : CT_OWNED;
}

/* At process 0: marks[] of each process of the job lie one after the other, from at[] on. */
static void assign(struct sight *all, size_t n, const int *at, uint8_t *marks)
{
	size_t same;

	qsort(all, n, sizeof(*all), by_name);
	for (size_t i = 0; i < n; i += same) {
		const struct sight *taken;

		for (same = 1; i + same < n && strcmp(all[i].name, all[i + same].name) == 0;)
			same++;
		taken = choose(&all[i], same);
		marks[(size_t)at[taken->by] + taken->index] = owned_of(taken, &all[i]);
	}
}

void ct_exchange_share(const struct ct_run *run, uint8_t *owned)
{
	int rank, size, n = run ? (int)run->n_processes : 0, total = 0;
	struct sight *mine, *all = NULL;
	int *counts, *at, *bytes, *bytes_at;
	uint8_t *marks = NULL;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	mine = allocate((size_t)n, sizeof(*mine));
	for (int p = 0; p < n; p++) {
		ct_segment_stem(mine[p].name, &run->processes[p].id);
		mine[p].bytes = run->processes[p].segment_bytes;
		mine[p].has_ring = run->processes[p].ring != CT_RING_NOT_FOUND;
		mine[p].by = (uint32_t)rank;
		mine[p].index = (uint32_t)p;
	}
	counts = allocate((size_t)size, sizeof(*counts));
	at = allocate((size_t)size, sizeof(*at));
	bytes = allocate((size_t)size, sizeof(*bytes));
	bytes_at = allocate((size_t)size, sizeof(*bytes_at));
	MPI_Gather(&n, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int r = 0; rank == 0 && r < size; r++) {
		at[r] = total;
		bytes[r] = counts[r] * (int)sizeof(*mine);
		bytes_at[r] = total * (int)sizeof(*mine);
		total += counts[r];
		if (total > INT32_MAX / (int)sizeof(*mine))
			ct_exchange_fail("cannot exchange parts", "too many processes in the run");
	}
	if (rank == 0) {
		all = allocate((size_t)total, sizeof(*all));
		marks = allocate((size_t)total, 1);
	}
	MPI_Gatherv(mine, n * (int)sizeof(*mine), MPI_BYTE, all, bytes, bytes_at, MPI_BYTE, 0,
		    MPI_COMM_WORLD);
	if (rank == 0)
		assign(all, (size_t)total, at, marks);
	MPI_Scatterv(marks, counts, at, MPI_BYTE, owned, n, MPI_BYTE, 0, MPI_COMM_WORLD);
	free(mine);
	free(all);
	free(marks);
	free(counts);
	free(at);
	free(bytes);
	free(bytes_at);
}

/* ---- warnings ---- */

struct warning {
	const char *host, *text;
	size_t at; /* those of process 0 come first */
};

static int by_text(const void *a, const void *b)
{
	const struct warning *x = a, *y = b;

	return strcmp(x->text, y->text) ?: (x->at > y->at) - (x->at < y->at);
}

/* `own` bytes of the list are of process 0. */
static void say_warnings(const char *list, size_t bytes, size_t own, int with_own)
{
	struct warning *all;
	size_t ends = 0, n = 0;

	for (size_t at = 0; at < bytes; at++)
		ends += !list[at];
	all = allocate(ends / 2, sizeof(*all));
	for (size_t at = 0; at < bytes; n++) {
		all[n] = (struct warning){ .host = list + at, .at = at };
		at += strlen(list + at) + 1;
		all[n].text = list + at;
		at += strlen(list + at) + 1;
	}
	qsort(all, n, sizeof(*all), by_text);
	for (size_t i = 0; i < n; i++)
		if ((all[i].at >= own || with_own) &&
		    (!i || strcmp(all[i].text, all[i - 1].text) != 0))
			ct_warn("on %s: %s", all[i].host, all[i].text);
	free(all);
}

/* Each text with the name of this host before it. */
static char *list_of(const char *const *texts, size_t n, int *bytes)
{
	char host[MPI_MAX_PROCESSOR_NAME], *list;
	size_t all = 0;
	char *to;
	int len;

	MPI_Get_processor_name(host, &len);
	for (size_t i = 0; i < n; i++)
		all += strlen(host) + strlen(texts[i]) + 2;
	if (all > INT32_MAX)
		ct_exchange_fail("cannot exchange parts", "too many warnings");
	to = list = allocate(all, 1);
	for (size_t i = 0; i < n; i++)
		to = stpcpy(stpcpy(to, host) + 1, texts[i]) + 1;
	*bytes = (int)all;
	return list;
}

void ct_exchange_warnings(const char *const *texts, size_t n, int with_own)
{
	int rank, size, bytes, *counts, *at;
	char *mine = list_of(texts, n, &bytes), *all = NULL;
	size_t total = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	counts = allocate((size_t)size, sizeof(*counts));
	at = allocate((size_t)size, sizeof(*at));
	MPI_Gather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, 0, MPI_COMM_WORLD);
	for (int r = 0; rank == 0 && r < size; total += (size_t)counts[r++]) {
		if (total + (size_t)counts[r] > INT32_MAX)
			ct_exchange_fail("cannot exchange parts", "too many warnings");
		at[r] = (int)total;
	}
	if (rank == 0)
		all = allocate(total, 1);
	MPI_Gatherv(mine, bytes, MPI_BYTE, all, counts, at, MPI_BYTE, 0, MPI_COMM_WORLD);
	if (rank == 0)
		say_warnings(all, total, (size_t)counts[0], with_own);
	free(mine);
	free(all);
	free(counts);
	free(at);
}

/* ---- files ---- */

/* What comes before the pieces of a file; an empty name: that was the last one. */
struct head {
	char name[NAME_MAX + 1];
	uint64_t bytes;
};

static void send_file(const char *dir, const char *name, char *buffer)
{
	struct head head = { .bytes = 0 };
	struct stat st;
	char *path;
	FILE *file;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		ct_exchange_fail("cannot send", ct_status_text(CT_NOMEM));
	file = fopen(path, "re");
	if (!file || fstat(fileno(file), &st) != 0)
		ct_exchange_fail(path, strerror(errno));
	snprintf(head.name, sizeof(head.name), "%s", name);
	head.bytes = (uint64_t)st.st_size;
	MPI_Send(&head, sizeof(head), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	for (uint64_t left = head.bytes; left;) {
		size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;

		if (fread(buffer, 1, n, file) != n)
			ct_exchange_fail(path, "it became shorter while it was read");
		MPI_Send(buffer, (int)n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		left -= n;
	}
	fclose(file);
	free(path);
}

static void send_files(const char *dir, char *buffer)
{
	struct head end = { .bytes = 0 };
	DIR *entries = opendir(dir);
	const struct dirent *entry;

	if (!entries)
		ct_exchange_fail(dir, strerror(errno));
	while ((entry = readdir(entries)))
		if (entry->d_name[0] != '.')
			send_file(dir, entry->d_name, buffer);
	closedir(entries);
	MPI_Send(&end, sizeof(end), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static void take_file(const char *dir, const struct head *head, int from, char *buffer)
{
	char *path;
	FILE *file;

	if (strchr(head->name, '/') || asprintf(&path, "%s/%s", dir, head->name) < 0)
		ct_exchange_fail("cannot receive", head->name);
	file = fopen(path, "wxe");
	if (!file)
		ct_exchange_fail(path, strerror(errno));
	for (uint64_t left = head->bytes; left;) {
		size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;

		MPI_Recv(buffer, (int)n, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (fwrite(buffer, 1, n, file) != n)
			ct_exchange_fail(path, strerror(errno));
		left -= n;
	}
	if (fclose(file) != 0)
		ct_exchange_fail(path, strerror(errno));
	free(path);
}

struct ct_exchanged ct_exchange_files(const char *dir)
{
	char *buffer = allocate(PIECE_BYTES, 1);
	struct head head;
	struct ct_exchanged came = { 0 };
	int rank, size;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank)
		send_files(dir, buffer);
	for (int from = 1; rank == 0 && from < size; from++) {
		for (;;) {
			MPI_Recv(&head, sizeof(head), MPI_BYTE, from, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			came.bytes += sizeof(head);
			if (!head.name[0])
				break;
			take_file(dir, &head, from, buffer);
			came.files++;
			came.bytes += head.bytes;
		}
	}
	free(buffer);
	return came;
}
