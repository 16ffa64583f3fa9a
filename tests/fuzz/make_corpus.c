/* SPDX-License-Identifier: Apache-2.0 */
/* make_corpus.c — seeds for the fuzz targets: DIR/ring, DIR/block and DIR/segment, made by the
 * writing half, and DIR/unwind. A fuzzer that starts from them is behind the first checks at once. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "trace/block.h"
#include "trace/ops.h"
#include "trace/ring.h"
#include "trace/segment.h"

static const char *root;

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void put(const char *name, const void *head, size_t head_len, const void *data, size_t len)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "wb");
	must(f && fwrite(head, 1, head_len, f) == head_len && fwrite(data, 1, len, f) == len &&
		     fclose(f) == 0,
	     path);
}

static struct ct_op make_op(uint64_t n)
{
	struct ct_op op = {
		.enter_ns = 1000000 + 40000 * n,
		.return_ns = 1000000 + 40000 * n + 3000 + n * n % 777,
		.count = 4096,
		.seq = n / 2,
		.comm = 1 + n % 2,
		.launch = n % 3 ? 0 : (uint32_t)n + 1,
		.site = 7,
		.peer = n % 5 ? -1 : (int32_t)n % 4,
		.tid = 100 + (uint32_t)(n / 8 % 2),
		.call = 1,
		.op = n % 5 ? CT_OP_AllReduce : CT_OP_Send,
		.dtype = CT_DTYPE_float32,
		.redop = n % 5 ? CT_REDOP_sum : 0,
	};

	if (n % 7 == 6) {
		op.flags = CT_OP_UNSIZED;
		op.count = 0;
	}
	return op;
}

/* ---- blocks
 * ------------------------------------------------------------------------------------------ */

/* Records that have columns: of a wait for the operation, of a call that waited, and of others. */
static void add_waits(struct ct_block *b, const struct ct_op *op, uint32_t i)
{
	const struct ct_wait_rec wait = { .begin_ns = op->return_ns + 90,
					  .issued_ns = op->return_ns + 40,
					  .begin_err_ns = 1000 + i % 3,
					  .launch = op->launch,
					  .after = i / 3,
					  .waiter = 2,
					  .via = 1,
					  .tid = op->tid,
					  .flags = i % 4 ? CT_WAIT_DEFAULT : CT_WAIT_HOST };
	const struct ct_host_rec host = { .enter_ns = op->return_ns + 40,
					  .return_ns = op->return_ns + 70,
					  .tid = op->tid,
					  .call = 2 };
	const struct ct_vcounts_rec counts = {
		.comm = 1, .seq = i, .n = 3, .counts = { 1, i, 300 * i }
	};

	must(ct_block_add_rare(b, CT_KIND_WAIT, &wait, sizeof(wait)) == 0, "wait");
	if (i % 5 == 0)
		must(ct_block_add_rare(b, CT_KIND_HOST_END, &host, sizeof(host)) == 0, "call");
	if (i % 7 == 0)
		must(ct_block_add_rare(b, CT_KIND_VCOUNTS, &counts, sizeof(counts)) == 0, "counts");
}

static void fill(struct ct_block *b, enum ct_block_type type, uint32_t number, uint32_t n_ops)
{
	struct ct_status_rec status = { 5000000, 4000000 };
	struct ct_comm_rec comm = {
		.id = 1, .nranks = 4, .rank = 1, .key = 0xfeed, .backend = CT_BACKEND_GLOO
	};
	struct ct_loss_rec loss = { .reason = CT_LOSS_POOL_EMPTY, .records = 3 };
	uint32_t string_id = 1;

	ct_block_reset(b, type);
	b->number = number;
	for (uint32_t i = 0; i < n_ops; i += 8) {
		struct ct_extent x = { .lap = 1 + i / 56,
				       .tid = 100 + i / 8 % 2,
				       .first = i % 56,
				       .n_slots = 8,
				       .n_ops = 8 };

		must(ct_block_add_extent(b, &x) == 0, "extent");
	}
	for (uint32_t i = 0; i < n_ops; i++) {
		struct ct_op op = make_op(i);
		struct ct_launch launch = { .start_ns = op.enter_ns,
					    .end_ns = op.return_ns + 500,
					    .id = op.launch,
					    .comm = op.comm,
					    .n_ops = 1,
					    .start_source = CT_SOURCE_CALL,
					    .end_source = CT_SOURCE_WAIT };

		must(ct_block_add_op(b, &op) == 0, "op");
		if (op.launch)
			must(ct_block_add_launch(b, &launch) == 0, "launch");
		add_waits(b, &op, i);
	}
	must(ct_block_add_text(b, CT_KIND_STRING, &string_id, 4, "gloo::allreduce") == 0, "string");
	must(ct_block_add_rare(b, CT_KIND_COMM, &comm, sizeof(comm)) == 0, "comm");
	must(ct_block_add_rare(b, CT_KIND_STATUS, &status, sizeof(status)) == 0, "status");
	must(ct_block_add_rare(b, CT_KIND_LOSS, &loss, sizeof(loss)) == 0, "loss");
	must(ct_block_add_rare(b, CT_KIND_ENV, "env.NCCL_ALGO=Ring", 18) == 0, "env");
	must(ct_block_add_rare(b, CT_KIND_INVISIBLE, "NVSHMEM=/lib/libnvshmem.so", 26) == 0,
	     "unseen");
}

static void make_blocks(struct ct_encoder *encoder)
{
	static const uint32_t sizes[] = { 0, 1, 8, 200 };
	struct ct_block block = { 0 };
	const uint8_t odd = 1;
	char raw[1 << 16];
	char name[64];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ct_block_header h;
		const void *bytes;
		size_t len;
		uint8_t head[13] = { 0 };
		uint16_t numbers[6];
		size_t n;

		fill(&block, (enum ct_block_type)(i % 4), (uint32_t)i, sizes[i]);
		must(ct_block_encode(encoder, &block, &bytes, &len) == 0, "encode");
		snprintf(name, sizeof(name), "block/whole-%u", sizes[i]);
		put(name, &odd, 1, bytes, len);

		memcpy(&h, bytes, sizeof(h));
		n = ZSTD_decompress(raw, sizeof(raw), (const char *)bytes + sizeof(h),
				    len - sizeof(h));
		must(!ZSTD_isError(n), "unpack");
		numbers[0] = h.type;
		numbers[1] = (uint16_t)h.n_ops;
		numbers[2] = (uint16_t)h.n_launches;
		numbers[3] = (uint16_t)h.n_rares;
		numbers[4] = (uint16_t)h.n_extents;
		numbers[5] = (uint16_t)h.quantum_ns;
		memcpy(head + 1, numbers, sizeof(numbers));
		snprintf(name, sizeof(name), "block/columns-%u", sizes[i]);
		put(name, head, sizeof(head), raw, n);
	}
	ct_block_fini(&block);
}

/* ---- segments
 * ---------------------------------------------------------------------------------------- */

static void make_segments(struct ct_encoder *encoder, const struct ct_process *process)
{
	struct ct_segment_writer writer;
	struct ct_block block = { 0 };
	char name[CT_SEGMENT_NAME_MAX];
	char path[4096];
	int dirfd;

	snprintf(path, sizeof(path), "%s/segment", root);
	dirfd = open(path, O_RDONLY | O_DIRECTORY);
	must(dirfd >= 0, path);
	ct_segment_init(&writer, process, dirfd);
	for (uint32_t s = 0; s < 3; s++) {
		/* of an earlier run of this program */
		ct_segment_name(name, process, s);
		unlinkat(dirfd, name, 0);
		must(ct_segment_next(&writer, NULL) == 0, "segment");
		for (uint32_t i = 0; i < 2 * s; i++) {
			const void *bytes;
			size_t len;

			fill(&block, i ? CT_BLOCK_DATA : CT_BLOCK_CHECKPOINT, 4 * s + i, 16 * i);
			must(ct_block_encode(encoder, &block, &bytes, &len) == 0, "encode");
			/* the last one of the last segment is torn */
			must(ct_segment_append(&writer, bytes, s == 2 && i == 3 ? len / 2 : len,
					       NULL) == 0,
			     "append");
		}
	}
	ct_segment_close(&writer);
	ct_block_fini(&block);
	close(dirfd);
}

/* ---- rings
 * ------------------------------------------------------------------------------------------- */

/* The smallest rings there are have 256 KB, too much for a fuzzer: the same with small tables. */
static void put_small(const char *name, const struct ct_ring *ring, uint32_t n_chunks)
{
	const uint32_t comms = 2;
	const uint32_t opens = 2;
	const uint32_t strings = 256;
	struct ct_ring_header *h;
	size_t len = sizeof(*h) + comms * sizeof(struct ct_ring_comm) +
		     opens * sizeof(struct ct_ring_open) + strings + n_chunks * CT_CHUNK_BYTES;
	char *data = malloc(len);
	char *p;

	must(data != NULL, "memory");
	h = (struct ct_ring_header *)(void *)data;
	memcpy(data, ring->header, sizeof(*h));
	p = data + sizeof(*h);
	h->file_bytes = len;
	h->n_comms = comms;
	h->comms_at = (uint32_t)(p - data);
	memcpy(p, ring->comms, comms * sizeof(struct ct_ring_comm));
	p += comms * sizeof(struct ct_ring_comm);
	h->n_opens = opens;
	h->opens_at = (uint32_t)(p - data);
	memcpy(p, ring->opens, opens * sizeof(struct ct_ring_open));
	p += opens * sizeof(struct ct_ring_open);
	h->strings_bytes = strings;
	h->strings_at = (uint32_t)(p - data);
	memcpy(p, ring->strings, strings);
	p += strings;
	h->n_chunks = n_chunks;
	h->chunks_at = (uint32_t)(p - data);
	/* the first claim takes chunk 1 */
	memcpy(p, (const char *)ring->chunks + CT_CHUNK_BYTES, (size_t)n_chunks * CT_CHUNK_BYTES);
	put(name, data, 0, data, len);
	free(data);
}

static void make_rings(struct ct_process *process)
{
	const char *dirs[] = { root, NULL };
	const uint64_t words[8] = { 0, 1000, 0, 1ull << 32 | 1 << 8 | CT_OP_Send, 3, 0, 2, 4096 };
	struct ct_comm_rec comm = {
		.id = 1, .nranks = 4, .rank = 1, .key = 0xfeed, .backend = CT_BACKEND_GLOO
	};
	struct ct_lane lane = { 0 };
	struct ct_ring ring;

	must(ct_ring_create(&ring, process, dirs, CT_RING_MIN_BYTES, NULL) == 0, "ring");
	comm.name = ct_ring_string(&ring, "world");
	ct_ring_string(&ring, "gloo::allreduce");
	must(ct_ring_comm_add(&ring, &comm) != NULL, "comm");
	must(ct_ring_open_add(&ring, 2, words) != NULL, "open");
	put_small("ring/empty", &ring, 0);
	for (uint32_t n = 0; n < 80; n++) {
		struct ct_slot *slot = ct_lane_next(&ring, &lane);
		struct ct_op op = make_op(n);
		uint64_t w[8] = { 0 };

		must(slot != NULL, "slot");
		if (n % 10 == 9) {
			struct ct_launch launch = { .start_ns = 1, .end_ns = 2, .id = n, .comm = 1 };

			ct_launch_pack(&launch, w);
			ct_slot_publish(slot, CT_TAG(lane.lap, CT_KIND_LAUNCH, 0), w);
			continue;
		}
		ct_op_pack(&op, w);
		w[CT_OP_W_END] = n % 40 == 38 ? 0 : ct_op_end_word(op.enter_ns, op.return_ns, 0);
		ct_slot_publish(slot, CT_TAG(lane.lap, CT_KIND_OP, op.call), w);
	}
	ct_ring_lose(&ring, CT_LOSS_POOL_EMPTY, 3);
	put_small("ring/one", &ring, 1);
	put_small("ring/two", &ring, 2);
	ct_ring_close(&ring, 1);
}

/* ---- stacks (fuzz_unwind.c says how they are laid out)
 * ------------------------------------------------- */

enum { CODE_AT = 512, STACK_AT = 1024, MEMORY = 1536, FRAME = 48 };

static void put32(uint8_t *to, uint32_t value)
{
	memcpy(to, &value, sizeof(value));
}

/* What every function's entry begins with: the frame is at rsp + 8 and the return address just
 * below it. */
static const uint8_t common[] = { 20, 0,    0,	0, 0,	 0,    0, 0, 1,	   'z', 'R', 0,
				  1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,	0,   0 };

/* Two functions of 256 bytes; the first keeps to what `program` says, the other is the thread's
 * first. */
static void make_unwind(const char *name, const uint8_t *program, uint8_t n)
{
	static const uint8_t head[] = { 1, 0x1b, 3, 0x3b }, last[] = { 0x07, 16, 0, 0 };
	uint8_t registers[32] = { 0 }, memory[MEMORY] = { 0 };

	registers[0] = CODE_AT * 256 / MEMORY + 3;
	registers[1] = registers[7] = STACK_AT * 256 / MEMORY + 1;
	registers[3] = 1;
	registers[6] = registers[7] + 4;
	memcpy(memory, head, sizeof(head));
	put32(memory + 8, 2);
	memcpy(memory + 32, common, sizeof(common));
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t at = 64 + i * 96, begin = CODE_AT + i * 256;
		uint8_t len = i ? sizeof(last) : n;

		put32(memory + 12 + 8 * i, begin);
		put32(memory + 16 + 8 * i, at);
		put32(memory + at, 13u + len);
		put32(memory + at + 4, at + 4 - 32);
		put32(memory + at + 8, begin - (at + 8));
		put32(memory + at + 12, 256);
		memcpy(memory + at + 17, i ? last : program, len);
		/* each calls the first one */
		memory[begin + 100] = 0xe8;
		put32(memory + begin + 101, CODE_AT - (begin + 105));
	}
	for (uint32_t at = STACK_AT; at < MEMORY; at += 8) {
		const uint64_t word = 0xc0decafeull << 32 |
				      (at % FRAME	? at + 64
				       : at / FRAME % 2 ? CODE_AT + 105
							: CODE_AT + 256 + 105);

		memcpy(memory + at, &word, sizeof(word));
	}
	put(name, registers, sizeof(registers), memory, sizeof(memory));
}

static const char maps
	[] = "55d0c0000000-55d0c0001000 r--p 00000000 08:01 1234                       "
	     "/usr/bin/python3.11\n"
	     "55d0c0001000-55d0c0009000 r-xp 00001000 08:01 1234                       "
	     "/usr/bin/python3.11\n"
	     "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
	     "7f0000010000-7f0000011000 r-xp 00000000 08:01 77 /tmp/a b.so (deleted)\n"
	     "7ffe00000000-7ffe00002000 r-xp 00000000 00:00 0                          [vdso]\n";

static void make_stacks(void)
{
	static const uint8_t plain[] = { 0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d, 6,
					 0x0a, 0x7f, 0x0c, 7,	 8, 0xc6, 0x0b };
	static const uint8_t registers[] = { 0x09, 3, 6,    0x09, 16,	3,  0x14,
					     7,	   1, 0x08, 12,	  0x11, 13, 0x7e };
	static const uint8_t expressions[] = { 0x0f, 3,	   0x77, 8,    0x06, 0x10, 16,	 6,
					       0x12, 0x38, 0x1c, 0x23, 0,    0x96, 0x16, 6,
					       5,    0x76, 0,	 0x31, 0x24, 0x20 };

	/* 2^32 + 3 is not a register, though 3 is known */
	static const uint8_t far[] = { 0x09, 16, 0x83, 0x80, 0x80, 0x80, 0x10 };

	make_unwind("unwind/plain", plain, sizeof(plain));
	make_unwind("unwind/registers", registers, sizeof(registers));
	make_unwind("unwind/far", far, sizeof(far));
	make_unwind("unwind/expressions", expressions, sizeof(expressions));
	put("unwind/map", "", 0, maps, sizeof(maps) - 1);
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "", "/ring", "/block", "/segment", "/unwind" };
	struct ct_process process = { .hostkey = 1,
				      .start_ns = 1000,
				      .pid = 4000000,
				      .pidns = 1,
				      .host = "n0",
				      .job = "fuzz" };
	struct ct_encoder *encoder = ct_encoder_new();
	char path[4096];

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIR\n", argv[0]);
		return 2;
	}
	must(encoder != NULL, "encoder");
	root = argv[1];
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, kinds[i]);
		mkdir(path, 0700);
	}
	make_blocks(encoder);
	make_segments(encoder, &process);
	make_rings(&process);
	make_stacks();
	ct_encoder_free(encoder);
	return 0;
}
