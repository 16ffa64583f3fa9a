/* SPDX-License-Identifier: Apache-2.0 */
/* A block comes back as it was written; a damaged one is refused, whatever the damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/bench/streams.h"
#include "trace/block.h"
#include "trace/block_read.h"
#include "trace/ops.h"
#include "trace/rare_code.h"

static uint64_t seed_of_run(void)
{
	const char *seed = getenv("CT_SEED");

	return seed ? strtoull(seed, NULL, 0) : 20261121;
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

struct codec {
	struct ct_encoder *e;
	struct ct_decoder *d;
	struct ct_block in, out;
	struct ct_block_header header;
	const uint8_t *bytes;
	size_t n_bytes;
};

static int open_codec(void **state)
{
	struct codec *c = calloc(1, sizeof(*c));

	c->e = ct_encoder_new();
	c->d = ct_decoder_new();
	ct_block_reset(&c->in, CT_BLOCK_DATA);
	*state = c;
	return !c->e || !c->d;
}

static int close_codec(void **state)
{
	struct codec *c = *state;

	ct_encoder_free(c->e);
	ct_decoder_free(c->d);
	ct_block_fini(&c->in);
	ct_block_fini(&c->out);
	free(c);
	return 0;
}

static void encode(struct codec *c)
{
	const void *out;

	assert_int_equal(ct_block_encode(c->e, &c->in, &out, &c->n_bytes), CT_OK);
	c->bytes = out;
	memcpy(&c->header, c->bytes, sizeof(c->header));
	assert_int_equal(c->header.bytes + sizeof(c->header), c->n_bytes);
}

static void round_trip(struct codec *c)
{
	struct ct_err err = { 0 };

	encode(c);
	assert_int_equal(ct_block_header_check(&c->header, 0, &err), CT_OK);
	if (ct_block_decode(c->d, &c->header, c->bytes + sizeof(c->header), &c->out, &err) != CT_OK)
		fail_msg("%s", err.text);
	assert_int_equal(c->out.type, c->in.type);
	assert_int_equal(c->out.number, c->in.number);
	assert_int_equal(c->out.n_extents, c->in.n_extents);
	assert_int_equal(c->out.n_ops, c->in.n_ops);
	assert_int_equal(c->out.n_launches, c->in.n_launches);
	assert_int_equal(c->out.n_rares, c->in.n_rares);
	for (uint32_t i = 0; i < c->in.n_extents; i++) { /* by field: the struct has padding */
		const struct ct_extent *a = &c->in.extents[i];
		const struct ct_extent *b = &c->out.extents[i];

		assert_int_equal(a->lap, b->lap);
		assert_int_equal(a->tid, b->tid);
		assert_int_equal(a->first, b->first);
		assert_int_equal(a->n_slots, b->n_slots);
		assert_int_equal(a->n_ops, b->n_ops);
		assert_int_equal(a->n_launches, b->n_launches);
	}
	for (uint32_t i = 0; i < c->in.n_ops; i++)
		if (memcmp(&c->out.ops[i], &c->in.ops[i], sizeof(c->in.ops[i])) != 0)
			fail_msg("op %u differs", i);
	for (uint32_t i = 0; i < c->in.n_launches; i++)
		if (memcmp(&c->out.launches[i], &c->in.launches[i], sizeof(c->in.launches[i])) != 0)
			fail_msg("launch %u differs", i);
	for (uint32_t i = 0; i < c->in.n_rares; i++) {
		assert_int_equal(c->out.rares[i].kind, c->in.rares[i].kind);
		assert_int_equal(c->out.rares[i].len, c->in.rares[i].len);
		assert_memory_equal(c->out.bytes + c->out.rares[i].at,
				    c->in.bytes + c->in.rares[i].at, c->in.rares[i].len);
	}
}

/* What becomes of an error. */
static uint32_t rounded(uint32_t err)
{
	return ct_err_of_class(ct_err_class(err));
}

static void an_empty_block_round_trips(void **state)
{
	struct codec *c = *state;

	c->in.type = CT_BLOCK_END;
	c->in.number = 7;
	round_trip(c);
}

static void job_streams_round_trip(void **state)
{
	struct codec *c = *state;

	for (const char *kind = "abcd"; *kind; kind++) {
		struct ct_stream s;
		struct ct_extent x = { .lap = 9, .tid = 1000 };

		ct_stream_make(&s, *kind, 3000, 1);
		ct_block_reset(&c->in, CT_BLOCK_DATA);
		c->in.quantum_ns = 1;
		for (uint32_t i = 0; i < s.n_ops; i++, x.n_ops++, x.n_slots++)
			assert_int_equal(ct_block_add_op(&c->in, &s.ops[i]), CT_OK);
		for (uint32_t i = 0; i < s.n_launches; i++, x.n_launches++, x.n_slots++)
			assert_int_equal(ct_block_add_launch(&c->in, &s.launches[i]), CT_OK);
		assert_int_equal(ct_block_add_extent(&c->in, &x), CT_OK);
		round_trip(c);
		ct_stream_free(&s);
	}
}

/* Values from the corners of every field, in no order: nothing that fits a record may be lost. */
static void any_record_round_trips(void **state)
{
	struct codec *c = *state;
	uint64_t r = seed_of_run();

	print_message("CT_SEED=%llu\n", (unsigned long long)r);
	for (int round = 0; round < 50; round++) {
		uint32_t n = (uint32_t)(next_random(&r) % 200);

		ct_block_reset(&c->in, CT_BLOCK_DATA);
		c->in.quantum_ns = 1;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t bits = next_random(&r);
			int shift = (int)(next_random(&r) % 40);
			struct ct_extent x = {
				.lap = bits >> 3, .tid = (uint32_t)bits, .n_slots = 1, .n_ops = 1
			};
			struct ct_op op = {
				.enter_ns = (bits >> shift) + 1,
				.count = next_random(&r) >> shift,
				.seq = next_random(&r) >> shift,
				.comm = (uint32_t)bits >> 3,
				.launch = (uint32_t)(bits >> 7),
				.site = (uint32_t)(bits >> 11),
				.peer = (int32_t)(bits >> 13),
				.tag = (uint32_t)(bits >> 17),
				.tid = (uint32_t)bits,
				.result = (int16_t)bits,
				.call = (uint16_t)(bits >> 5),
				.op = (uint8_t)(bits >> 23),
				.dtype = (uint8_t)(bits >> 29),
				.redop = (uint8_t)(bits >> 31),
				.flags = (uint8_t)(bits >> 37) & ~CT_OP_UNRETURNED,
			};

			if (bits & 1)
				op.return_ns = op.enter_ns + (next_random(&r) >> shift >> 1);
			else
				op.flags |= CT_OP_UNRETURNED;
			assert_int_equal(ct_block_add_op(&c->in, &op), CT_OK);
			if (bits & 2) {
				struct ct_launch l = {
					.start_ns = bits & 4 ? 1 + (bits >> shift) : 0,
					.end_ns = bits & 8 ? 1 + (next_random(&r) >> shift) : 0,
					.id = (uint32_t)(bits >> (bits & 16 ? 7 : 9)),
					.comm = (uint32_t)bits,
					.stream = (uint32_t)(bits >> 15),
					.device = (uint32_t)(bits >> 19),
					.start_err_ns = rounded((uint32_t)(bits >> 21)),
					.end_err_ns = rounded((uint32_t)(bits >> 9)),
					.n_ops = (uint32_t)(bits >> 27),
					.result = (int16_t)(bits >> 33),
					.start_source = (uint8_t)(bits >> 41),
					.end_source = (uint8_t)(bits >> 43),
				};

				x.n_launches = 1;
				x.n_slots = 2;
				assert_int_equal(ct_block_add_launch(&c->in, &l), CT_OK);
			}
			if (bits & 32)
				assert_int_equal(ct_block_add_rare(&c->in,
								   (enum ct_kind)(bits >> 50),
								   &bits, bits % 9),
						 CT_OK);
			assert_int_equal(ct_block_add_extent(&c->in, &x), CT_OK);
		}
		round_trip(c);
	}
}

/* Of every kind that has columns, the times of a block's quantum. */
static size_t make_rare(enum ct_kind kind, uint64_t *r, void *out)
{
	const uint64_t a = next_random(r), b = next_random(r);
	const uint64_t time = (1 + a % 1000000) * 32;
	const uint64_t later = a & 1 << 20 ? 0 : time + (b % 5000) * 32;
	const struct ct_wait_rec wait = {
		.begin_ns = a & 1 << 21 ? later : time,
		.issued_ns = time,
		.begin_err_ns = rounded((uint32_t)b >> a % 32),
		.launch = (uint32_t)(a >> 40) % 99,
		.after = (uint32_t)(a >> 50) % 99,
		.waiter = a >> 60,
		.via = b >> 61,
		.tid = b >> 62,
		.flags = (b >> 40) % 256,
		.device = a >> 63,
	};
	const struct ct_host_rec host = {
		.enter_ns = time + a % 32,
		.return_ns = later,
		.polled_ns = b & 1 ? later + 5 : 0,
		.tid = b >> 62,
		.call = b >> 60,
		.nranks = 8,
		.rank = -1,
		.comm = b >> 50 & 3,
		.result = -2,
		.key = b & 1 << 30 ? a : 0,
	};
	const struct ct_submit_rec submit = { 1, 2 + (b >> 63), a % 50, time, { 0 } };
	const struct ct_vcounts_rec counts = {
		1, 8, a, 8, { b & 255, 2, 3, (uint32_t)b, 5, 6, 7, 8 }, 0
	};
	const struct ct_match_rec match = { 1, (uint32_t)a, -1, 7, b, a, 1, { b & 3 ? 0 : 1 } };
	const struct ct_detail_rec detail = { .comm = 1,
					      .seq = a,
					      .count = b,
					      .peer = -1,
					      .algo = b >> 62,
					      .op = 3,
					      .flags = 1,
					      .launch = 9 };

	switch (kind) {
#define AS(kind, record)                                                                           \
	case kind:                                                                                 \
		memcpy(out, &(record), sizeof(record));                                            \
		return sizeof(record)
		AS(CT_KIND_WAIT, wait);
		AS(CT_KIND_HOST_BEGIN, host);
		AS(CT_KIND_HOST_END, host);
		AS(CT_KIND_SUBMIT, submit);
		AS(CT_KIND_VCOUNTS, counts);
		AS(CT_KIND_MATCH, match);
		AS(CT_KIND_DETAIL, detail);
#undef AS
	default:
		memcpy(out, &a, sizeof(a));
		return 8;
	}
}

/* In any order, some too short for a slot, some with something where there should be nothing,
 * between operations whose launches waits name, or name not. */
static void other_records_round_trip_in_their_order(void **state)
{
	struct codec *c = *state;
	uint64_t r = 11;

	for (int round = 0; round < 300; round++) {
		ct_block_reset(&c->in, CT_BLOCK_DATA);
		for (uint32_t i = 0; i < next_random(&r) % 60; i++) {
			const struct ct_op op = { .enter_ns = 32 + 3200 * i,
						  .return_ns = 640 + 3200 * i,
						  .comm = 1,
						  .launch = i + 1,
						  .op = CT_OP_AllReduce,
						  .count = i % 3,
						  .peer = -1,
						  .seq = i };
			const struct ct_launch l = { .start_ns = 960 + 3200 * i,
						     .end_ns = 3200 + 3200 * i,
						     .id = i + 1,
						     .comm = 1,
						     .n_ops = 1 };

			assert_int_equal(ct_block_add_op(&c->in, &op), CT_OK);
			assert_int_equal(ct_block_add_launch(&c->in, &l), CT_OK);
		}
		for (uint32_t i = 0; i < next_random(&r) % 400; i++) {
			uint8_t bytes[CT_RARE_BYTES] = { 0 };
			enum ct_kind kind = (enum ct_kind)(3 + next_random(&r) % 11);
			size_t len = make_rare(kind, &r, bytes);

			if (next_random(&r) % 20 == 0)
				len = next_random(&r) % CT_RARE_BYTES;
			for (uint64_t again = next_random(&r) % 4; again < 5; again++)
				assert_int_equal(ct_block_add_rare(&c->in, kind, bytes, len),
						 CT_OK);
		}
		round_trip(c);
	}
}

/* Who skims over operations must read such a block, and may pass over any other. */
static void a_block_says_whether_it_holds_more_than_operations(void **state)
{
	static const struct {
		unsigned kind;
		int says;
	} rows[] = {
		{ CT_KIND_HOST_BEGIN, 0 },
		{ CT_KIND_WAIT, 0 },
		{ CT_KIND_NVTX, 0 },
		{ CT_KIND_CLOCK, 0 },
		{ CT_KIND_STATUS, 0 },
		{ CT_KIND_OPEN_OP, 1 },
		{ CT_KIND_GRAPH, 1 },
		{ CT_KIND_COMM, 1 },
		{ CT_KIND_STREAM, 1 },
		{ CT_KIND_END, 1 },
		{ 200 /* a later version's */, 1 },
	};
	static const uint8_t zeros[CT_RARE_BYTES];
	struct codec *c = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ct_block_reset(&c->in, CT_BLOCK_DATA);
		assert_int_equal(ct_block_add_rare(&c->in, CT_KIND_HOST_END, zeros, sizeof(zeros)),
				 CT_OK);
		assert_int_equal(ct_block_add_rare(&c->in, rows[i].kind, zeros, sizeof(zeros)),
				 CT_OK);
		encode(c);
		assert_int_equal(!!(c->header.flags & CT_BLOCK_HAS_RARES), rows[i].says);
	}
}

/* Of an imported run: nothing is rounded. */
static void a_block_of_quantum_1_is_exact(void **state)
{
	struct codec *c = *state;
	const struct ct_launch l = { .start_ns = 1001,
				     .end_ns = 2003,
				     .id = 1,
				     .comm = 1,
				     .start_err_ns = 1237,
				     .end_err_ns = UINT32_MAX,
				     .n_ops = 1 };
	const struct ct_wait_rec w = {
		.begin_ns = 1003, .issued_ns = 1002, .begin_err_ns = 4321, .launch = 1
	};

	c->in.quantum_ns = 1;
	assert_int_equal(ct_block_add_launch(&c->in, &l), CT_OK);
	assert_int_equal(ct_block_add_rare(&c->in, CT_KIND_WAIT, &w, sizeof(w)), CT_OK);
	round_trip(c);
}

/* Low bits of class bytes are stored as they are, in several blocks of a frame where zstd's largest
 * is exceeded. */
static void noise_of_any_length_round_trips(void **state)
{
	struct codec *c = *state;
	uint64_t r = 17;

	for (uint32_t n = 64; n <= CT_BLOCK_MAX_RECORDS; n *= 16) {
		ct_block_reset(&c->in, CT_BLOCK_DATA);
		c->in.quantum_ns = 1;
		for (uint32_t i = 0; i < n; i++) {
			struct ct_op op = { .enter_ns = 1 + (next_random(&r) >> 2), .seq = i };

			op.return_ns = op.enter_ns + (next_random(&r) >> 2);
			assert_int_equal(ct_block_add_op(&c->in, &op), CT_OK);
		}
		round_trip(c);
		/* 57 random bits of each time at least, and nothing is 2 % longer than it was */
		assert_true(c->header.bytes > n * 2 * 57 / 8);
		assert_true(c->header.bytes < c->header.raw_bytes * 1.02 + 100);
	}
}

/* They are upper bounds, and stay so. */
static void errors_are_rounded_up_by_an_eighth_at_most(void **state)
{
	uint64_t r = 5;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		uint32_t err = (uint32_t)(next_random(&r) >> (32 + i % 32));
		uint64_t is = rounded(err);

		assert_in_range(is, err, (uint64_t)err + err / 8);
		assert_int_equal(rounded((uint32_t)is), is);
	}
	assert_int_equal(rounded(UINT32_MAX), UINT32_MAX);
	assert_int_equal(rounded(0), 0);
}

static void times_are_rounded_down_to_the_quantum_and_never_vanish(void **state)
{
	struct codec *c = *state;
	struct ct_op op = { .enter_ns = 1000003,
			    .return_ns = 1000067,
			    .comm = 1,
			    .op = CT_OP_Barrier,
			    .peer = -1 };

	c->in.quantum_ns = 32;
	ct_block_add_op(&c->in, &op);
	op.enter_ns = 5; /* rounds to 0, which would mean "no time" */
	op.return_ns = 6;
	ct_block_add_op(&c->in, &op);
	encode(c);
	assert_int_equal(ct_block_decode(c->d, &c->header, c->bytes + sizeof(c->header), &c->out,
					 NULL),
			 CT_OK);
	assert_int_equal(c->out.ops[0].enter_ns, 1000003 / 32 * 32);
	assert_int_equal(c->out.ops[0].return_ns, 1000067 / 32 * 32);
	assert_int_equal(c->out.ops[1].enter_ns, 1);
	assert_int_equal(c->out.ops[1].return_ns, 1);
}

static void small_block(struct codec *c)
{
	struct ct_extent x = { .lap = 3, .tid = 44, .n_slots = 40, .n_ops = 40 };

	ct_block_reset(&c->in, CT_BLOCK_DATA);
	for (uint32_t i = 0; i < 40; i++) {
		struct ct_op op = { .enter_ns = 1000000 + i * 50000,
				    .return_ns = 1030000 + i * 50000,
				    .count = 64,
				    .seq = i,
				    .comm = 1,
				    .peer = -1,
				    .op = CT_OP_AllReduce,
				    .tid = 44 };

		ct_block_add_op(&c->in, &op);
	}
	ct_block_add_extent(&c->in, &x);
	ct_block_add_text(&c->in, CT_KIND_NOTE, &x.lap, sizeof(x.lap), "a note");
	encode(c);
}

static void every_flipped_bit_is_noticed(void **state)
{
	struct codec *c = *state;
	uint8_t *copy;

	small_block(c);
	copy = malloc(c->n_bytes);
	for (size_t i = 0; i < c->n_bytes * 8; i++) {
		struct ct_block_header h;

		memcpy(copy, c->bytes, c->n_bytes);
		copy[i / 8] ^= (uint8_t)(1u << i % 8);
		memcpy(&h, copy, sizeof(h));
		if (ct_block_header_check(&h, 0, NULL) == CT_OK &&
		    ct_block_decode(c->d, &h, copy + sizeof(h), &c->out, NULL) == CT_OK)
			fail_msg("bit %zu", i);
	}
	free(copy);
}

/* With a good checksum damage reaches the columns: any outcome but a crash; ASan and UBSan watch. */
static void damaged_columns_do_no_harm(void **state)
{
	struct codec *c = *state;
	uint64_t r = seed_of_run();
	uint8_t raw[4096];

	small_block(c);
	for (int round = 0; round < 20000; round++) {
		size_t len = next_random(&r) % sizeof(raw);

		for (size_t i = 0; i < len; i++)
			raw[i] = (uint8_t)(next_random(&r) >> (round % 60));
		c->header.n_ops = (uint32_t)(next_random(&r) % 300);
		c->header.n_launches = (uint32_t)(next_random(&r) % 50);
		c->header.n_extents = (uint32_t)(next_random(&r) % 20);
		if (ct_block_decode_raw(c->d, &c->header, raw, len, &c->out, NULL) != CT_OK)
			assert_int_equal(ct_block_records(&c->out), 0);
	}
}

static void unknown_columns_are_skipped(void **state)
{
	struct codec *c = *state;
	struct ct_block_header h = { .quantum_ns = 32, .n_rares = 1 };
	const uint8_t raw[] = { 200, 3, 1,   2,	 3, CT_COL_RARES, 5, (99 << 1 & 127) | 128,
				1,   2, 'h', 'i' };

	assert_int_equal(ct_block_decode_raw(c->d, &h, raw, sizeof(raw), &c->out, NULL), CT_OK);
	assert_int_equal(c->out.n_rares, 1);
	assert_int_equal(c->out.rares[0].kind, 99);
	assert_int_equal(c->out.rares[0].len, 2);
}

static void too_many_records_are_refused(void **state)
{
	struct codec *c = *state;
	struct ct_op op = { .enter_ns = 1 };
	const void *out;
	size_t bytes;

	for (uint32_t i = 0; i <= CT_BLOCK_MAX_RECORDS; i++)
		ct_block_add_op(&c->in, &op);
	assert_int_equal(ct_block_encode(c->e, &c->in, &out, &bytes), CT_RANGE);
}

static void crc32c_is_the_standard_one(void **state)
{
	uint8_t zeros[32] = { 0 };

	(void)state;
	assert_int_equal(ct_crc32c(0, "123456789", 9), 0xe3069283u); /* the usual check value */
	assert_int_equal(ct_crc32c(0, zeros, sizeof(zeros)), 0x8a9136aau); /* RFC 3720 B.4 */
	assert_int_equal(ct_crc32c(ct_crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}

static void crc32c_is_the_same_on_processors_without_an_instruction_for_it(void **state)
{
	/* short ones, and some that are longer than the parts that are summed at once */
	static const size_t from[] = { 0, 3060, 6130 };
	static uint8_t bytes[6300];

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 151 + i / 251 + 7);
	assert_int_equal(ct_crc32c_by_table(0, "123456789", 9), 0xe3069283u);
	for (size_t at = 0; at < 9; at++) {
		for (size_t n = 0; n < 3 * 100; n++) {
			size_t len = from[n / 100] + n % 100;

			assert_int_equal(ct_crc32c(77, bytes + at, len),
					 ct_crc32c_by_table(77, bytes + at, len));
		}
	}
}

#define CODEC_TEST(name) cmocka_unit_test_setup_teardown(name, open_codec, close_codec)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CODEC_TEST(an_empty_block_round_trips),
		CODEC_TEST(job_streams_round_trip),
		CODEC_TEST(any_record_round_trips),
		CODEC_TEST(times_are_rounded_down_to_the_quantum_and_never_vanish),
		CODEC_TEST(every_flipped_bit_is_noticed),
		CODEC_TEST(damaged_columns_do_no_harm),
		CODEC_TEST(unknown_columns_are_skipped),
		CODEC_TEST(too_many_records_are_refused),
		CODEC_TEST(other_records_round_trip_in_their_order),
		CODEC_TEST(a_block_says_whether_it_holds_more_than_operations),
		CODEC_TEST(a_block_of_quantum_1_is_exact),
		CODEC_TEST(noise_of_any_length_round_trips),
		cmocka_unit_test(errors_are_rounded_up_by_an_eighth_at_most),
		cmocka_unit_test(crc32c_is_the_standard_one),
		cmocka_unit_test(crc32c_is_the_same_on_processors_without_an_instruction_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
