/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/hash.h"

#include <string.h>

struct sim_hash {
	uint64_t a, b;
};

static void eat(struct sim_hash *s, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	s->a ^= n;
	while (n) {
		size_t part = n < 8 ? n : 8;
		uint64_t word = 0;

		s->a += s->b;
		s->b ^= s->a;
		s->a = (s->a ^ s->a >> 31) * 0x9de62bbc8cef3ce3u;
		s->b = (s->b ^ s->b >> 32) * 0x485cd6311b599e79u;
		memcpy(&word, p, part);
		s->a += word;
		p += part;
		n -= part;
	}
}

static uint64_t digest(const struct sim_hash *s)
{
	uint64_t h = (s->a ^ s->a >> 31) * 0xbac3bd562846de6bu + s->b;

	return (h ^ h >> 32) * 0x995a187a14e7b445u;
}

uint64_t sim_hash_bytes(const void *bytes, size_t n)
{
	struct sim_hash s = { 1, 1 };

	eat(&s, bytes, n);
	return digest(&s);
}

uint64_t sim_hash_pair(uint64_t a, uint64_t b)
{
	struct sim_hash s = { 1, 1 };

	eat(&s, &a, sizeof(a));
	eat(&s, &b, sizeof(b));
	return digest(&s);
}

uint64_t sim_hash_child(uint64_t parent, int split_count, int color)
{
	struct sim_hash s = { 1, 1 };

	eat(&s, &parent, sizeof(parent));
	eat(&s, &split_count, sizeof(split_count));
	eat(&s, &color, sizeof(color));
	return digest(&s);
}

double sim_chance(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	uint64_t words[4] = { a, b, c, d };

	return (double)(sim_hash_bytes(words, sizeof(words)) >> 11) / (double)(1ull << 53);
}
