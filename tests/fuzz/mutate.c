/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/mutate.h"

#include <string.h>

#include "trace/block.h"
#include "trace/segment_read.h"

/* A field of a record: where, and how wide. */
struct field {
	uint16_t at, bytes;
};
#define FIELD(record, name)                                                                        \
	{                                                                                          \
		offsetof(struct record, name), sizeof(((struct record *)0)->name)                  \
	}
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct field op_fields[] = {
	FIELD(ct_op, enter_ns), FIELD(ct_op, return_ns), FIELD(ct_op, count), FIELD(ct_op, seq),
	FIELD(ct_op, comm),	FIELD(ct_op, launch),	 FIELD(ct_op, site),  FIELD(ct_op, peer),
	FIELD(ct_op, tag),	FIELD(ct_op, result),	 FIELD(ct_op, call),  FIELD(ct_op, op),
	FIELD(ct_op, dtype),	FIELD(ct_op, redop),	 FIELD(ct_op, flags),
};
static const struct field launch_fields[] = {
	FIELD(ct_launch, start_ns),	FIELD(ct_launch, end_ns),
	FIELD(ct_launch, id),		FIELD(ct_launch, comm),
	FIELD(ct_launch, stream),	FIELD(ct_launch, device),
	FIELD(ct_launch, start_err_ns), FIELD(ct_launch, end_err_ns),
	FIELD(ct_launch, n_ops),	FIELD(ct_launch, result),
	FIELD(ct_launch, start_source), FIELD(ct_launch, end_source),
};
static const struct field extent_fields[] = {
	FIELD(ct_extent, lap),	 FIELD(ct_extent, tid),	       FIELD(ct_extent, first),
	FIELD(ct_extent, n_ops), FIELD(ct_extent, n_launches), FIELD(ct_extent, n_slots),
};
static const struct field process_fields[] = {
	FIELD(ct_process, hostkey),	  FIELD(ct_process, start_ns),
	FIELD(ct_process, start_unix_ns), FIELD(ct_process, clock_res_ns),
	FIELD(ct_process, hang_after_ns), FIELD(ct_process, pid),
	FIELD(ct_process, rank),	  FIELD(ct_process, world_size),
	FIELD(ct_process, local_rank),	  FIELD(ct_process, restart),
	FIELD(ct_process, nth),
};

uint64_t ct_mutate_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static uint32_t below(uint64_t *random, uint32_t n)
{
	return n ? (uint32_t)(ct_mutate_random(random) % n) : 0;
}

/* What `old` may become: the edges of what fits into `bytes`, something near, or anything. */
static uint64_t another(uint64_t *random, uint64_t old, unsigned bytes)
{
	static const uint64_t edges[] = {
		0,
		1,
		2,
		3,
		7,
		127,
		128,
		255,
		65535,
		INT32_MAX,
		1ull << 31,
		UINT32_MAX,
		1ull << 40,
		1ull << 53,
		INT64_MAX,
		1ull << 63,
		UINT64_MAX - 1,
		UINT64_MAX,
	};

	switch (below(random, 6)) {
	case 0:
		return edges[below(random, COUNT(edges))];
	case 1:
		return old + below(random, 9) - 4;
	case 2:
		return old ^ 1ull << below(random, 8 * bytes);
	case 3:
		return old * (2 + below(random, 1000));
	case 4:
		return old / (2 + below(random, 1000));
	default:
		return ct_mutate_random(random) >> below(random, 64);
	}
}

static void change(uint64_t *random, uint8_t *record, const struct field *f)
{
	uint64_t value = 0;

	memcpy(&value, record + f->at, f->bytes);
	value = another(random, value, f->bytes);
	memcpy(record + f->at, &value, f->bytes);
}

/* One field of one record, of all of them, or of one the value of another; or one whole record for
 * another. */
static void change_records(uint64_t *random, void *records, uint32_t n, size_t size,
			   const struct field *fields, uint32_t n_fields)
{
	const struct field *f = &fields[below(random, n_fields)];
	uint8_t *all = records, *one, *other;
	uint64_t same;

	if (!n)
		return;
	one = all + below(random, n) * size;
	other = all + below(random, n) * size;
	switch (below(random, 8)) {
	case 0:
		memmove(one, other, size);
		return;
	case 1:
		memmove(one + f->at, other + f->at, f->bytes);
		return;
	case 2:
		same = another(random, 0, f->bytes);
		for (uint32_t i = 0; i < n; i++)
			memcpy(all + i * size + f->at, &same, f->bytes);
		return;
	default:
		change(random, one, f);
	}
}

static void change_rare(uint64_t *random, struct ct_block *b)
{
	struct ct_rare *rare = b->n_rares ? &b->rares[below(random, b->n_rares)] : NULL;
	const struct field word = { 0, 8 }, half = { 0, 4 };
	uint32_t at;

	if (!rare || !rare->len)
		return;
	at = rare->at + below(random, rare->len);
	switch (below(random, 6)) {
	case 0:
		rare->kind = (uint16_t)another(random, rare->kind, 2);
		break;
	case 1:
		rare->len = (uint16_t)below(random, rare->len + 1u);
		break;
	case 2:
		b->bytes[at] = (uint8_t)another(random, b->bytes[at], 1);
		break;
	case 3: /* payloads are made of words and of halves of them */
		at = rare->at + below(random, rare->len) / 8 * 8;
		if (at + 8 <= rare->at + rare->len)
			change(random, b->bytes + at, &word);
		break;
	default:
		at = rare->at + below(random, rare->len) / 4 * 4;
		if (at + 4 <= rare->at + rare->len)
			change(random, b->bytes + at, &half);
	}
}

static void change_block(uint64_t *random, struct ct_block *b)
{
	switch (below(random, 12)) {
	case 0:
		b->type = (enum ct_block_type)below(random, 5);
		break;
	case 1:
		b->number += below(random, 3);
		break;
	case 2:
		change_records(random, b->extents, b->n_extents, sizeof(*b->extents), extent_fields,
			       COUNT(extent_fields));
		break;
	case 3:
	case 4:
	case 5:
		change_rare(random, b);
		break;
	case 6:
	case 7:
	case 8:
		change_records(random, b->launches, b->n_launches, sizeof(*b->launches),
			       launch_fields, COUNT(launch_fields));
		break;
	default:
		change_records(random, b->ops, b->n_ops, sizeof(*b->ops), op_fields,
			       COUNT(op_fields));
	}
}

/* The header of a block is right for what is in it; its times are not. */
static int put_block(uint64_t *random, struct ct_encoder *encoder, const struct ct_block *b,
		     FILE *out)
{
	const void *bytes;
	struct ct_block_header h;
	size_t n;

	/* what cannot be packed cannot be in a file */
	if (ct_block_encode(encoder, b, &bytes, &n) != CT_OK)
		return 0;
	memcpy(&h, bytes, sizeof(h));
	if (below(random, 20) == 0)
		h.begin_ns = another(random, h.begin_ns, 8);
	if (below(random, 20) == 0)
		h.end_ns = another(random, h.end_ns, 8);
	if (below(random, 50) == 0)
		h.quantum_ns = 1 + (uint32_t)another(random, h.quantum_ns, 4) / 2;
	h.header_crc = 0;
	h.header_crc = ct_crc32c(0, &h, sizeof(h));
	if (fwrite(&h, sizeof(h), 1, out) != 1 ||
	    fwrite((const char *)bytes + sizeof(h), n - sizeof(h), 1, out) != 1)
		return -1;
	return 0;
}

static int put_header(uint64_t *random, const struct ct_segment_header *from, FILE *out)
{
	struct ct_segment_header h = *from;

	if (below(random, 4) == 0)
		change(random, (uint8_t *)&h.process,
		       &process_fields[below(random, COUNT(process_fields))]);
	if (!h.process.hostkey)
		h.process.hostkey = 1;
	h.header_bytes = sizeof(h);
	h.crc = 0;
	h.crc = ct_crc32c(0, &h, sizeof(h));
	return fwrite(&h, sizeof(h), 1, out) == 1 ? 0 : -1;
}

int ct_mutate_segment(const char *path, uint64_t *random, FILE *out)
{
	struct ct_encoder *encoder = ct_encoder_new();
	struct ct_segment_reader *reader = NULL;
	struct ct_block b = { 0 };
	int st = -1;

	if (encoder && ct_segment_open_read(path, &reader, NULL) == CT_OK)
		st = put_header(random, ct_segment_header(reader), out);
	while (st == 0 && ct_segment_next_block(reader, &b, NULL) == 1) {
		/* mostly a few values; now and then a great many; some blocks are lost, some come
		 * twice */
		uint32_t changes = below(random, 4) ? below(random, 4) : below(random, 200);
		uint32_t times = below(random, 40) ? 1 : 2 * below(random, 2);

		for (uint32_t i = 0; i < changes; i++)
			change_block(random, &b);
		for (uint32_t i = 0; i < times && st == 0; i++)
			st = put_block(random, encoder, &b, out);
	}
	if (reader)
		ct_segment_close_read(reader);
	ct_encoder_free(encoder);
	ct_block_fini(&b);
	return st;
}
