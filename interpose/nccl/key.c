/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nccl/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "interpose/hash.h"

/* The state of NCCL's hash. Values are put in one after the other, whole: how they are cut matters.
 */
struct nccl_hash {
	uint64_t low;
	uint64_t high;
};

static const struct nccl_hash start = { 1, 1 };

static struct nccl_hash put(struct nccl_hash s, const void *bytes, size_t n)
{
	const char *from = bytes;

	s.low ^= n;
	for (size_t at = 0; at < n; at += sizeof(uint64_t)) {
		size_t rest = n - at;
		uint64_t word = 0;

		s.low += s.high;
		s.high ^= s.low;
		s.low = (s.low ^ s.low >> 31) * 0x9de62bbc8cef3ce3ull;
		s.high = (s.high ^ s.high >> 32) * 0x485cd6311b599e79ull;
		memcpy(&word, from + at, rest < sizeof(word) ? rest : sizeof(word));
		s.low += word;
	}
	return s;
}

static uint64_t hash_of(struct nccl_hash s)
{
	uint64_t h = (s.low ^ s.low >> 31) * 0xbac3bd562846de6bull + s.high;

	return (h ^ h >> 32) * 0x995a187a14e7b445ull;
}

/* fact: 2.26 brought the hash above. */
#define NEW_HASH_SINCE 22600

static int is_old(int version)
{
	return version > 0 && version < NEW_HASH_SINCE;
}

/* DJB2a. A char is signed or not as the architecture has it, also in NCCL. */
static uint64_t old_hash(const ncclUniqueId *id)
{
	uint64_t h = 5381;

	for (size_t i = 0; i < sizeof(id->internal); i++)
		h = h * 33 ^ (uint64_t)id->internal[i];
	return h;
}

uint64_t ct_nccl_key_of_id(const ncclUniqueId *id, int version)
{
	if (is_old(version))
		return old_hash(id);
	return hash_of(put(start, id->internal, sizeof(id->internal)));
}

static uint64_t hash_of_child(uint64_t parent, int32_t nth, int32_t color)
{
	struct nccl_hash s = put(start, &parent, sizeof(parent));

	s = put(s, &nth, sizeof(nth));
	s = put(s, &color, sizeof(color));
	return hash_of(s);
}

uint64_t ct_nccl_hash_of_split(uint64_t parent_hash, int32_t nth, int32_t color, int version)
{
	ncclUniqueId id = { 0 };

	if (!is_old(version))
		return hash_of_child(parent_hash, nth, color);
	snprintf(id.internal, sizeof(id.internal), "%016" PRIx64 "-%d", parent_hash, color);
	return old_hash(&id);
}

uint64_t ct_nccl_key_of_split(uint64_t parent, int32_t nth, int32_t color, int version)
{
	uint64_t hash = ct_nccl_hash_of_split(parent, nth, color, version);

	return is_old(version) && nth > 1 ? ct_hash_mix(hash, (uint64_t)nth) : hash;
}

static uint64_t combine(uint64_t a, uint64_t b)
{
	return hash_of(put(put(start, &a, sizeof(a)), &b, sizeof(b)));
}

uint64_t ct_nccl_magic_of_id(const ncclUniqueId *id)
{
	uint64_t magic;

	memcpy(&magic, id->internal, sizeof(magic));
	return magic;
}

uint64_t ct_nccl_magic_of_grown(uint64_t parent_magic, uint32_t nth)
{
	return combine(parent_magic, nth);
}

uint64_t ct_nccl_key_of_grown(uint64_t magic, uint32_t nranks)
{
	return combine(magic, nranks);
}

uint64_t ct_nccl_hash_of_shrunk(uint64_t parent_hash)
{
	return hash_of_child(parent_hash, 0, 0);
}

uint64_t ct_nccl_hash_of_ranks(const int *ranks, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += ct_hash_mix(CT_HASH_START, (uint32_t)ranks[i]);
	return sum;
}

uint64_t ct_nccl_key_of_shrink(uint64_t parent, uint64_t excluded, uint64_t nth)
{
	return ct_hash_mix(ct_hash_mix(hash_of_child(parent, 0, 0), excluded), nth);
}
