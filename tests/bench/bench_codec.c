/* SPDX-License-Identifier: Apache-2.0 */
/* bench_codec.c — bytes per op of our blocks against one packed 64-byte struct per op under zstd -3,
 * for four kinds of jobs, with the entropy floor of their jitter beside; and the cost of coding, as
 * a ratio to that of zstd on the structs. Sizes are exact and repeatable, times are not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "tests/bench/streams.h"
#include "trace/block.h"
#include "trace/block_read.h"

/* What a straightforward tracer would write: everything of the op and its span, packed, one struct
 * per op. */
struct packed_op {
	uint64_t enter, leave, start, end, count, seq;
	uint32_t launch;
	int32_t peer;
	uint8_t comm, stream, op, dtype, redop, flags;
	uint16_t call;
};
_Static_assert(sizeof(struct packed_op) == 64, "one packed 64-byte struct per op");

enum { BLOCK_RECORDS = 4096, SLOTS = 63 };

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "bench_codec: %s\n", what);
	exit(1);
}

/* Both baselines see what we see: times rounded to the same quantum. */
static void quantize(struct ct_stream *s, uint64_t q)
{
	for (uint32_t i = 0; i < s->n_ops; i++) {
		s->ops[i].enter_ns -= s->ops[i].enter_ns % q;
		s->ops[i].return_ns -= s->ops[i].return_ns % q;
	}
	for (uint32_t i = 0; i < s->n_launches; i++) {
		s->launches[i].start_ns -= s->launches[i].start_ns % q;
		s->launches[i].end_ns -= s->launches[i].end_ns % q;
	}
}

static size_t packed_bytes(const struct ct_stream *s, double *seconds)
{
	struct packed_op *packed = malloc(BLOCK_RECORDS * sizeof(*packed));
	size_t cap = ZSTD_compressBound(BLOCK_RECORDS * sizeof(*packed));
	void *out = malloc(cap);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	size_t total = 0;
	double begin = cpu_seconds();

	if (!packed || !out || !zstd)
		fail("out of memory");
	for (uint32_t i = 0; i < s->n_ops;) {
		uint32_t n = 0;

		for (; n < BLOCK_RECORDS && i < s->n_ops; n++, i++) {
			const struct ct_op *op = &s->ops[i];
			const struct ct_launch *l = &s->launches[op->launch - 1];

			packed[n] = (struct packed_op){
				op->enter_ns,	    op->return_ns, l->start_ns,
				l->end_ns,	    op->count,	   op->seq,
				op->launch,	    op->peer,	   (uint8_t)op->comm,
				(uint8_t)l->stream, op->op,	   op->dtype,
				op->redop,	    op->flags,	   op->call
			};
		}
		total += ZSTD_compressCCtx(zstd, out, cap, packed, n * sizeof(*packed), 3);
	}
	*seconds = cpu_seconds() - begin;
	ZSTD_freeCCtx(zstd);
	free(out);
	free(packed);
	return total;
}

/* Fill a block as the write thread would: chunks of 63 ops, launches in chunks of the poll thread. */
static void fill(struct ct_block *b, const struct ct_stream *s, uint32_t *op, uint32_t *launch,
		 uint64_t *lap)
{
	ct_block_reset(b, CT_BLOCK_DATA);
	while (*op < s->n_ops && ct_block_records(b) + 2 * SLOTS <= BLOCK_RECORDS) {
		struct ct_extent x = { .lap = ++*lap, .tid = 1000 };
		struct ct_extent y = { .tid = 1001 };

		for (; x.n_ops < SLOTS && *op < s->n_ops; x.n_ops++, x.n_slots++)
			if (ct_block_add_op(b, &s->ops[(*op)++]) != CT_OK)
				fail("out of memory");
		for (; *launch < s->n_launches && s->launches[*launch].id <= s->ops[*op - 1].launch;
		     y.n_launches++, y.n_slots++)
			if (ct_block_add_launch(b, &s->launches[(*launch)++]) != CT_OK)
				fail("out of memory");
		y.lap = y.n_slots ? ++*lap : 0;
		if (ct_block_add_extent(b, &x) != CT_OK ||
		    (y.n_slots && ct_block_add_extent(b, &y) != CT_OK))
			fail("out of memory");
	}
}

static void check(struct ct_decoder *d, const void *bytes, const struct ct_block *b,
		  struct ct_block *back)
{
	struct ct_block_header h;

	memcpy(&h, bytes, sizeof(h));
	if (ct_block_decode(d, &h, (const char *)bytes + sizeof(h), back, NULL) != CT_OK ||
	    back->n_ops != b->n_ops || back->n_launches != b->n_launches ||
	    memcmp(back->ops, b->ops, b->n_ops * sizeof(*b->ops)) != 0 ||
	    (b->n_launches &&
	     memcmp(back->launches, b->launches, b->n_launches * sizeof(*b->launches)) != 0))
		fail("a block does not come back as it was");
}

static size_t block_bytes(const struct ct_stream *s, double *encode_s, double *decode_s)
{
	struct ct_encoder *e = ct_encoder_new();
	struct ct_decoder *d = ct_decoder_new();
	struct ct_block block = { 0 };
	struct ct_block back = { 0 };
	uint32_t op = 0;
	uint32_t launch = 0;
	uint64_t lap = 0;
	size_t total = 0;

	if (!e || !d)
		fail("out of memory");
	while (op < s->n_ops) {
		const void *out;
		size_t bytes;
		double begin;

		fill(&block, s, &op, &launch, &lap);
		begin = cpu_seconds();
		if (ct_block_encode(e, &block, &out, &bytes) != CT_OK)
			fail("a block cannot be coded");
		*encode_s += cpu_seconds() - begin;
		total += bytes;
		begin = cpu_seconds();
		check(d, out, &block, &back);
		*decode_s += cpu_seconds() - begin;
	}
	ct_block_fini(&block);
	ct_block_fini(&back);
	ct_encoder_free(e);
	ct_decoder_free(d);
	return total;
}

int main(void)
{
	static const struct {
		char kind;
		const char *name;
	} jobs[] = { { 'a', "ddp" }, { 'b', "megatron" }, { 'c', "inference" }, { 'd', "moe" } };

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct ct_stream s;
		double packed_s = 0, encode_s = 0, decode_s = 0;
		double ours, packed, n;

		ct_stream_make(&s, jobs[i].kind, 200000, CT_BLOCK_QUANTUM_NS);
		quantize(&s, CT_BLOCK_QUANTUM_NS);
		n = s.n_ops;
		packed = (double)packed_bytes(&s, &packed_s) / n;
		ours = (double)block_bytes(&s, &encode_s, &decode_s) / n;
		printf("%-10s ops=%u quantum=%uns floor=%.2f ours=%.2f packed+zstd3=%.2f B/op"
		       " encode=%.0f decode+check=%.0f packed=%.0f ns/op\n",
		       jobs[i].name, s.n_ops, CT_BLOCK_QUANTUM_NS, s.entropy_bits / 8 / n, ours,
		       packed, encode_s / n * 1e9, decode_s / n * 1e9, packed_s / n * 1e9);
		printf("METRIC size.bytes_per_op_%s %.3f 9\n", jobs[i].name, ours);
		printf("METRIC size.ratio_to_packed_%s %.3f 0.55\n", jobs[i].name, ours / packed);
		ct_stream_free(&s);
	}
	return 0;
}
