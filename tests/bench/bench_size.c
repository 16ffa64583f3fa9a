/* SPDX-License-Identifier: Apache-2.0 */
/* bench_size.c — what each kind of record costs on disk in a whole recorded run, beside the entropy
 * of its times (size_floor.c) and the same operations as lines of JSON (size_json.c), as NCCL's
 * Inspector writes them, under zstd -3.
 *
 * usage: bench_size DIR: prints a table, then
 *   SIZE operations bytes-per-operation floor jsonl jsonl-with-times
 * The whole directory counts: headers, checkpoints, what the process said of itself. A frame's
 * bytes are shared out to its columns in proportion to what each takes when compressed alone, and
 * those of column RARES to its kinds likewise. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "tests/bench/size.h"
#include "trace/reader.h"
#include "trace/segment_read.h"

enum { COLUMNS = 64, KINDS = 64, HEADERS = 0, EXTENTS = 63 };

static double by_column[COLUMNS];
static double by_kind[KINDS];
static uint64_t records[KINDS];
static double n_blocks;

static const struct {
	const char *name;
	unsigned kind; /* whose column it is, 0: several */
} columns_of[COLUMNS] = {
#define X(name, id, kind, text) [id] = { #name, kind },
#include "trace/columns.def"
#undef X
};
static const char *const kind_names[KINDS] = {
#define X(name, id, where, about, text) [id] = #name,
#include "trace/kinds.def"
#undef X
	[EXTENTS] = "extents",
};

void ct_size_fail(const char *what)
{
	fprintf(stderr, "bench_size: %s\n", what);
	exit(1);
}

size_t ct_size_packed(const void *data, size_t bytes, int level)
{
	static ZSTD_CCtx *zstd;
	static void *out;
	static size_t cap;

	if (!zstd)
		zstd = ZSTD_createCCtx();
	if (cap < ZSTD_compressBound(bytes)) {
		cap = 2 * ZSTD_compressBound(bytes);
		free(out);
		out = malloc(cap);
	}
	if (!zstd || !out)
		ct_size_fail("out of memory");
	return bytes ? ZSTD_compressCCtx(zstd, out, cap, data, bytes, level) : 0;
}

static uint64_t varint(const uint8_t **p)
{
	uint64_t v = 0;

	for (int shift = 0; shift < 64; shift += 7) {
		v |= (uint64_t)(**p & 127) << shift;
		if (!(*(*p)++ & 128))
			break;
	}
	return v;
}

struct column {
	const uint8_t *at;
	size_t len;
	double alone; /* bytes when compressed alone */
};

/* The bits below the classes of a column of class bytes, as bytes of BITS. */
static double low_bytes(const struct column *c)
{
	double bits = 0;

	for (size_t i = 0; i < c->len; i++)
		bits += c->at[i] < 8 ? 0 : (c->at[i] - 8) / 4 + 1;
	return bits / 8;
}

/* Of column RARES, what each kind takes: shares of `bytes`. What has columns leaves its entry
 * there. */
static void share_rares(const struct column *rares, double bytes)
{
	static uint8_t *parts[KINDS];
	size_t used[KINDS] = { 0 };
	double alone[KINDS] = { 0 };
	double sum = 0;
	const uint8_t *p = rares->at;

	while (p < rares->at + rares->len) {
		const uint8_t *from = p;
		uint64_t head = varint(&p);
		uint64_t n = varint(&p);
		unsigned kind = (unsigned)(head >> 1) % KINDS;

		p += head & 1 ? 0 : n;
		if (!parts[kind])
			parts[kind] = malloc(CT_BLOCK_MAX_RAW);
		if (!parts[kind])
			ct_size_fail("out of memory");
		memcpy(parts[kind] + used[kind], from, (size_t)(p - from));
		used[kind] += (size_t)(p - from);
	}
	for (int k = 0; k < KINDS; k++)
		sum += alone[k] = (double)ct_size_packed(parts[k], used[k], 1);
	for (int k = 0; k < KINDS && sum > 0; k++)
		by_kind[k] += bytes * alone[k] / sum;
}

/* Class bytes are the columns whose low bits are in `bits`. */
static void share_bits(struct column *c, unsigned bits, const unsigned *of, int n)
{
	double low[8], sum = 0;

	for (int i = 0; i < n; i++)
		sum += low[i] = low_bytes(&c[of[i]]);
	for (int i = 0; i < n && sum > 0; i++)
		c[of[i]].alone += c[bits].alone * low[i] / sum;
	c[bits].alone = 0;
}

static void share_frame(const struct ct_block_header *h, const void *frame)
{
	static const unsigned ops[] = { CT_COL_OP_ENTER, CT_COL_OP_DURATION, CT_COL_LAUNCH_START,
					CT_COL_LAUNCH_DURATION };
	static const unsigned rares[] = { CT_COL_RARE_TIME, CT_COL_RARE_LATER, CT_COL_RARE_REACH };
	static uint8_t *raw;
	struct column columns[COLUMNS] = { 0 };
	double sum = 0;
	const uint8_t *p;

	if (!raw)
		raw = malloc(CT_BLOCK_MAX_RAW);
	if (!raw || ZSTD_decompress(raw, CT_BLOCK_MAX_RAW, frame, h->bytes) != h->raw_bytes)
		ct_size_fail("a frame does not unpack");
	for (p = raw; p < raw + h->raw_bytes;) {
		struct column *c = &columns[*p++ % COLUMNS];

		c->len = varint(&p);
		c->at = p;
		p += c->len;
		c->alone = (double)ct_size_packed(c->at, c->len, 1);
		sum += c->alone;
	}
	share_bits(columns, CT_COL_BITS, ops, 4);
	share_bits(columns, CT_COL_RARE_BITS, rares, 3);
	for (int i = 1; i < COLUMNS && sum > 0; i++) {
		double bytes = h->bytes * columns[i].alone / sum;

		by_column[i] += bytes;
		if (i == CT_COL_RARES)
			share_rares(&columns[i], bytes);
		else
			by_kind[i == CT_COL_EXTENTS ? EXTENTS : columns_of[i].kind] += bytes;
	}
}

/* The bytes of one file. Returns its size. */
static double take_file(const char *path)
{
	struct stat st;
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	size_t at;

	if (!f || fstat(fileno(f), &st) != 0 || !(data = malloc((size_t)st.st_size + 1)))
		ct_size_fail("a file cannot be read");
	if (fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		ct_size_fail("a file cannot be read");
	fclose(f);
	at = ((struct ct_segment_header *)(void *)data)->header_bytes;
	by_kind[HEADERS] += (double)at;
	while (at + sizeof(struct ct_block_header) <= (size_t)st.st_size) {
		struct ct_block_header h;

		memcpy(&h, data + at, sizeof(h));
		if (ct_block_header_check(&h, at, NULL) != CT_OK)
			ct_size_fail("a block is damaged");
		at += sizeof(h);
		by_kind[HEADERS] += sizeof(h);
		share_frame(&h, data + at);
		at += h.bytes;
		n_blocks++;
	}
	if (at != (size_t)st.st_size)
		ct_size_fail("a segment does not end with a block");
	free(data);
	return (double)st.st_size;
}

/* Bytes of the directory; everything in it has to be a segment. */
static double take_directory(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	double bytes = 0;

	if (!d)
		ct_size_fail("no such directory");
	while ((e = readdir(d))) {
		char path[4096];

		if (e->d_name[0] == '.')
			continue;
		if (!strstr(e->d_name, ".seg"))
			ct_size_fail("the run has not ended cleanly: it holds more than segments");
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		bytes += take_file(path);
	}
	closedir(d);
	return bytes;
}

static void take_block(const struct ct_block *b)
{
	records[CT_KIND_OP] += b->n_ops;
	records[CT_KIND_LAUNCH] += b->n_launches;
	for (uint32_t i = 0; i < b->n_rares; i++)
		records[b->rares[i].kind % KINDS]++;
}

static void read_run(const char *dir, struct ct_size_floor *floor, struct ct_size_json *json)
{
	struct ct_err err = { .status = CT_OK };
	struct ct_run *run;

	if (ct_run_open(&dir, 1, NULL, &run, &err) != CT_OK)
		ct_size_fail(err.text);
	for (size_t i = 0; i < run->n_processes; i++) {
		struct ct_process_reader *reader;
		const struct ct_block *block;

		if (ct_process_open(run, i, &reader, &err) != CT_OK)
			ct_size_fail(err.text);
		ct_size_floor_process(floor);
		ct_size_json_process(json, &run->processes[i].id);
		while (ct_process_next(reader, &block, &err) == 1) {
			take_block(block);
			ct_size_floor_block(floor, block);
			ct_size_json_block(json, block);
		}
		ct_process_close(reader);
	}
	ct_run_close(run);
}

int main(int argc, char **argv)
{
	static struct ct_size_floor floor;
	static struct ct_size_json json;
	double bytes, n;

	if (argc != 2)
		ct_size_fail("usage: bench_size DIR");
	bytes = take_directory(argv[1]);
	read_run(argv[1], &floor, &json);
	n = (double)records[CT_KIND_OP];
	if (n == 0)
		ct_size_fail("the run has no operations");
	printf("%-14s %10s %8s\n", "kind", "records", "B/op");
	printf("%-14s %10.0f %8.3f\n", "headers", n_blocks, by_kind[HEADERS] / n);
	for (int k = 1; k < KINDS; k++)
		if (by_kind[k] > 0)
			printf("%-14s %10llu %8.3f\n", kind_names[k],
			       (unsigned long long)records[k], by_kind[k] / n);
	for (int i = 1; i < COLUMNS; i++)
		if (by_column[i] > 0)
			printf("column %-18s %8.3f\n", columns_of[i].name, by_column[i] / n);
	ct_size_floor_print(&floor, n);
	printf("SIZE %.0f %.3f %.3f %.3f %.3f\n", n, bytes / n, ct_size_floor_bytes(&floor) / n,
	       ct_size_json_bytes(&json, CT_SIZE_JSON) / n,
	       ct_size_json_bytes(&json, CT_SIZE_JSON_TIMES) / n);
	return 0;
}
