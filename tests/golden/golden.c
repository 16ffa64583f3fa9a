/* SPDX-License-Identifier: Apache-2.0 */
/* golden.c — a small run with every kind of record that has columns of its own, and what a reader
 * makes of it.
 *
 * usage: golden write NAME DIR     writes it as today's writer does (DIR exists and is empty)
 *        golden print DIR          every record of every block as text, with the blocks' columns
 *
 * tests/golden/1 was written when version 1 of the format was made and is never written
 * again; 1.txt is what it holds. Where a record became longer, there is another one: 1.cost has a
 * COST record with context switches. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/ops.h"
#include "trace/reader.h"
#include "trace/segment.h"
#include "trace/segment_read.h"

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "golden: %s\n", what);
	exit(1);
}

/* ---- writing
 * -------------------------------------------------------------------------------------------------
 */

static void add(struct ct_block *b, enum ct_kind kind, const void *data, size_t len)
{
	must(ct_block_add_rare(b, kind, data, len) == CT_OK, "record");
}

/* A rank of two: all-reduces on the GPU that its compute stream waits for, a send of varying size,
 * calls that wait. */
static void step(struct ct_block *b, uint64_t n)
{
	const uint64_t t = 1000000 + 960000 * n + n * n % 7 * 1024;
	const uint32_t id = (uint32_t)n + 1;
	const struct ct_op ops[] = {
		{ .enter_ns = t,
		  .return_ns = t + 3200 + n % 3 * 64,
		  .count = 4096 << n % 2,
		  .seq = n,
		  .comm = 1,
		  .launch = id,
		  .site = 3,
		  .peer = -1,
		  .call = 1,
		  .op = CT_OP_AllReduce,
		  .dtype = CT_DTYPE_float32,
		  .redop = CT_REDOP_sum },
		{ .enter_ns = t + 9600,
		  .return_ns = n == 40 ? 0 : t + 12800,
		  .count = 100 + n * 37 % 11,
		  .seq = n + (n > 20),
		  .comm = 2,
		  .peer = 1,
		  .tag = 5,
		  .call = 2,
		  .op = CT_OP_Send,
		  .dtype = CT_DTYPE_int8,
		  .flags = n == 40 ? CT_OP_UNRETURNED : 0 },
	};
	const struct ct_launch launch = {
		.start_ns = t + 6400 + n % 5 * 320,
		.end_ns = t + 640000 + n % 4 * 3200,
		.id = id,
		.comm = 1,
		.stream = 1,
		.start_err_ns = 1280,
		.end_err_ns = n % 9 ? 1280 : 2560,
		.n_ops = 1,
		.start_source = CT_SOURCE_EVENT,
		.end_source = CT_SOURCE_EVENT,
	};
	const struct ct_wait_rec wait = {
		.begin_ns = t + 500000 + n % 6 * 320,
		.issued_ns = t + 6400,
		.begin_err_ns = 1280,
		.launch = id,
		.after = (uint32_t)n,
		.waiter = 2,
		.via = 1,
		.tid = 70,
		.flags = CT_WAIT_DEFAULT,
	};
	const struct ct_host_rec begin = { .enter_ns = t + 700001, .tid = 70, .call = 4, .comm = 1 };
	const struct ct_host_rec end = {
		.enter_ns = t + 700001, .return_ns = t + 800003, .tid = 70, .call = 4, .comm = 1
	};
	const struct ct_submit_rec submit = {
		.comm = 1, .tid = 71, .seq = n, .submit_ns = t - 3200
	};
	const struct ct_vcounts_rec counts = {
		.comm = 1, .seq = n, .n = 2, .counts = { 7, (uint32_t)n }
	};
	const struct ct_match_rec match = {
		.comm = 2, .launch = id, .peer = 1, .tag = 5, .seq = n, .bytes = n, .flags = 1
	};
	const struct ct_detail_rec detail = { .comm = 1,
					      .launch = id,
					      .seq = n,
					      .count = 4096 << n % 2,
					      .peer = -1,
					      .op = CT_OP_AllReduce,
					      .channels = 2,
					      .flags = 1 };

	for (int i = 0; i < 2; i++)
		must(ct_block_add_op(b, &ops[i]) == CT_OK, "op");
	must(ct_block_add_launch(b, &launch) == CT_OK, "launch");
	add(b, CT_KIND_SUBMIT, &submit, sizeof(submit));
	add(b, CT_KIND_DETAIL, &detail, sizeof(detail));
	if (n % 8 == 0)
		add(b, CT_KIND_HOST_BEGIN, &begin, sizeof(begin));
	add(b, CT_KIND_WAIT, &wait, sizeof(wait));
	if (n % 8 == 0)
		add(b, CT_KIND_HOST_END, &end, sizeof(end));
	if (n % 16 == 3) {
		add(b, CT_KIND_VCOUNTS, &counts, sizeof(counts));
		add(b, CT_KIND_MATCH, &match, sizeof(match));
	}
}

static void fill(struct ct_block *b, enum ct_block_type type, uint32_t number, int with_cost)
{
	const struct ct_comm_rec comms[] = {
		{ .id = 1, .nranks = 2, .rank = 0, .key = 0xfeed, .backend = CT_BACKEND_NCCL },
		{ .id = 2, .nranks = 2, .rank = 0, .key = 0xbeef, .backend = CT_BACKEND_MPI },
	};
	const struct ct_status_rec status = { 50000000, 40000000 };
	const struct ct_end_rec end = { .end_ns = 90000000, .kind = CT_EXIT_NORMAL };
	const struct ct_cost_rec cost = { .calls = 100,
					  .wrapper_ns = 5000,
					  .write_cpu_ns = 3000000,
					  .beat_cpu_ns = 200000,
					  .bytes_written = 2000,
					  .stacks_cpu_ns = 100000,
					  .counters_cpu_ns = 300000,
					  .around_cpu_ns = 400000,
					  .voluntary_and_1 = 26,
					  .involuntary = 3,
					  .start_ns = 7000000 };
	static const char *const strings[] = { "ncclAllReduce", "MPI_Send", "train.py:7 step",
					       "MPI_Wait" };

	ct_block_reset(b, type);
	b->number = number;
	if (type == CT_BLOCK_END) {
		if (with_cost)
			add(b, CT_KIND_COST, &cost, sizeof(cost));
		add(b, CT_KIND_END, &end, sizeof(end));
		return;
	}
	if (type == CT_BLOCK_DATA) {
		const struct ct_extent x = {
			.lap = number, .tid = 70, .n_slots = 63, .n_ops = 50, .n_launches = 25
		};

		must(ct_block_add_extent(b, &x) == CT_OK, "extent");
		for (uint32_t i = 0; i < 25; i++)
			step(b, 25 * (number - 1) + i);
		return;
	}
	for (uint32_t i = 0; i < 4; i++) {
		const uint32_t id = i + 1;

		must(ct_block_add_text(b, CT_KIND_STRING, &id, sizeof(id), strings[i]) == CT_OK,
		     "string");
	}
	for (uint32_t i = 0; i < 2; i++)
		add(b, CT_KIND_COMM, &comms[i], sizeof(comms[i]));
	add(b, CT_KIND_STATUS, &status, sizeof(status));
}

static void write_run(const char *dir, int with_cost)
{
	struct ct_process process = { .hostkey = 7,
				      .start_ns = 1000,
				      .start_unix_ns = 1790000000000000000u,
				      .pid = 42,
				      .rank = 0,
				      .world_size = 2,
				      .host = "golden",
				      .boot_id = "0123",
				      .version = "1" };
	static const enum ct_block_type types[] = { CT_BLOCK_CHECKPOINT, CT_BLOCK_DATA,
						    CT_BLOCK_DATA, CT_BLOCK_END };
	struct ct_segment_writer writer;
	struct ct_encoder *encoder = ct_encoder_new();
	struct ct_block block = { 0 };
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	must(fd >= 0 && encoder, dir);
	ct_segment_init(&writer, &process, fd);
	writer.opened_ns = 1000;
	must(ct_segment_next(&writer, NULL) == CT_OK, "segment");
	for (uint32_t i = 0; i < 4; i++) {
		const void *bytes;
		size_t len;

		fill(&block, types[i], i, with_cost);
		must(ct_block_encode(encoder, &block, &bytes, &len) == CT_OK, "block");
		must(ct_segment_append(&writer, bytes, len, NULL) == CT_OK, "append");
	}
	ct_segment_close(&writer);
	ct_block_fini(&block);
	ct_encoder_free(encoder);
	close(fd);
}

/* ---- reading
 * -------------------------------------------------------------------------------------------------
 */

static void print_hex(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		printf("%02x", p[i]);
	printf("\n");
}

static void print_block(const struct ct_block *b)
{
	printf("block %u type %d quantum %u\n", b->number, (int)b->type, b->quantum_ns);
	for (uint32_t i = 0; i < b->n_extents; i++)
		printf("extent lap %llu tid %u first %u slots %u ops %u launches %u\n",
		       (unsigned long long)b->extents[i].lap, b->extents[i].tid,
		       b->extents[i].first, b->extents[i].n_slots, b->extents[i].n_ops,
		       b->extents[i].n_launches);
	for (uint32_t i = 0; i < b->n_ops; i++) {
		const struct ct_op *o = &b->ops[i];

		printf("op %u comm %u seq %llu count %llu type %u redop %u peer %d tag %u flags %u "
		       "call %u site %u tid %u launch %u "
		       "enter %llu return %llu result %d\n",
		       o->op, o->comm, (unsigned long long)o->seq, (unsigned long long)o->count,
		       o->dtype, o->redop, o->peer, o->tag, o->flags, o->call, o->site, o->tid,
		       o->launch, (unsigned long long)o->enter_ns, (unsigned long long)o->return_ns,
		       o->result);
	}
	for (uint32_t i = 0; i < b->n_launches; i++) {
		const struct ct_launch *l = &b->launches[i];

		printf("launch %u comm %u stream %u device %u ops %u start %llu +- %u by %u end "
		       "%llu +- %u by %u result %d\n",
		       l->id, l->comm, l->stream, l->device, l->n_ops,
		       (unsigned long long)l->start_ns, l->start_err_ns, l->start_source,
		       (unsigned long long)l->end_ns, l->end_err_ns, l->end_source, l->result);
	}
	for (uint32_t i = 0; i < b->n_rares; i++) {
		printf("record %u ", b->rares[i].kind);
		print_hex(b->bytes + b->rares[i].at, b->rares[i].len);
	}
}

/* The columns too: what a writer puts down for the same records. */
static void print_columns(const struct ct_segment_reader *reader, const char *path)
{
	const struct ct_segment_header *header = ct_segment_header(reader);
	static uint8_t data[1 << 16], raw[1 << 16];
	FILE *f = fopen(path, "rb");
	size_t len = f ? fread(data, 1, sizeof(data), f) : 0;

	must(f && len < sizeof(data), path);
	fclose(f);
	for (size_t at = header->header_bytes; at < len;) {
		struct ct_block_header h;
		size_t n;

		memcpy(&h, data + at, sizeof(h));
		n = ZSTD_decompress(raw, sizeof(raw), data + at + sizeof(h), h.bytes);
		must(!ZSTD_isError(n), "a frame does not unpack");
		printf("columns of block %u flags %u begin %llu end %llu ", h.number, h.flags,
		       (unsigned long long)h.begin_ns, (unsigned long long)h.end_ns);
		print_hex(raw, n);
		at += sizeof(h) + h.bytes;
	}
}

static void print_run(const char *dir)
{
	struct ct_process process = {
		.hostkey = 7, .start_ns = 1000, .pid = 42, .host = "golden", .boot_id = "0123"
	};
	char name[CT_SEGMENT_NAME_MAX], path[4096];
	struct ct_segment_reader *reader;
	struct ct_block block = { 0 };
	struct ct_err err = { .status = CT_OK };

	ct_segment_name(name, &process, 0);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	must(ct_segment_open_read(path, &reader, &err) == CT_OK, err.text);
	printf("version %u host %s pid %u rank %d\n", ct_segment_header(reader)->version,
	       ct_segment_header(reader)->process.host, ct_segment_header(reader)->process.pid,
	       ct_segment_header(reader)->process.rank);
	while (ct_segment_next_block(reader, &block, &err) == 1)
		print_block(&block);
	must(ct_segment_damage(reader)->damaged_blocks == 0, "a block is damaged");
	print_columns(reader, path);
	ct_segment_close_read(reader);
	ct_block_fini(&block);
}

int main(int argc, char **argv)
{
	const int is_writing = argc == 4 && strcmp(argv[1], "write") == 0;

	must(argc == 3 || is_writing, "usage: golden write NAME DIR | print DIR");
	if (is_writing)
		write_run(argv[3], strcmp(argv[2], "1.cost") == 0);
	else
		print_run(argv[2]);
	return 0;
}
