/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_stacks.h"

#include <string.h>

#define HEAD_WORDS (sizeof(struct ct_ring_stacks) / 8)

static struct ct_ring_stacks *stacks_slot(const struct ct_ring *ring, uint32_t bytes, unsigned i)
{
	return (struct ct_ring_stacks *)(void *)(ring->stacks + (size_t)i * bytes);
}

static ct_word *words_of(struct ct_ring_stacks *at)
{
	return &at->version + HEAD_WORDS;
}

static uint64_t version_of(const struct ct_ring *ring, uint32_t bytes, unsigned i)
{
	return atomic_load_explicit(&stacks_slot(ring, bytes, i)->version, memory_order_relaxed);
}

/* Which of the two has the older version. */
static unsigned older(const struct ct_ring *ring, uint32_t bytes)
{
	return version_of(ring, bytes, 0) > version_of(ring, bytes, 1);
}

/* A record is its length and its bytes, in whole words. */
static size_t put_record(ct_word *to, const uint8_t *bytes, uint32_t len)
{
	size_t n = (len + 7) / 8;

	atomic_store_explicit(&to[0], len, memory_order_relaxed);
	for (size_t i = 0; i < n; i++) {
		uint64_t word = 0;

		memcpy(&word, bytes + 8 * i, len - 8 * i < 8 ? len - 8 * i : 8);
		atomic_store_explicit(&to[1 + i], word, memory_order_relaxed);
	}
	return n + 1;
}

void ct_ring_stacks_put(const struct ct_ring *ring, const uint8_t *records, const uint32_t *len,
			uint32_t n, int again)
{
	uint32_t bytes = ring->header ? ct_ring_stacks_bytes(ring->header) : 0;
	size_t room = bytes / 8, used = 0;
	struct ct_ring_stacks *at;
	uint64_t version;
	ct_word *words;
	unsigned to;

	if (room <= HEAD_WORDS)
		return;
	room -= HEAD_WORDS;
	to = older(ring, bytes);
	version = version_of(ring, bytes, !to) + 2;
	at = stacks_slot(ring, bytes, again ? !to : to);
	words = words_of(at);
	/* pairs with the reader's two looks at the version */
	atomic_store_explicit(&at->version, version - 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (uint32_t i = 0; i < n; i++) {
		if (room - used >= 1 + (len[i] + 7) / 8)
			used += put_record(words + used, records, len[i]);
		records += len[i];
	}
	atomic_store_explicit(&at->words, used, memory_order_relaxed);
	atomic_store_explicit(&at->version, version, memory_order_release);
}

/* 1: *to has the buffer as it was at one moment, *n words of records. */
static int copy(struct ct_ring_stacks *at, uint32_t bytes, uint64_t *to, size_t *n)
{
	uint64_t version = atomic_load_explicit(&at->version, memory_order_acquire);
	ct_word *words = words_of(at);

	*n = atomic_load_explicit(&at->words, memory_order_relaxed);
	if (!version || version & 1 || *n > bytes / 8 - HEAD_WORDS)
		return 0;
	for (size_t i = 0; i < *n; i++)
		to[i] = atomic_load_explicit(&words[i], memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&at->version, memory_order_relaxed) == version;
}

int ct_ring_stacks_read(const struct ct_ring *ring, uint32_t bytes, struct ct_block *block)
{
	uint64_t words[CT_RING_STACKS_MOST / 8];
	unsigned first;

	if (bytes / 8 <= HEAD_WORDS || bytes > CT_RING_STACKS_MOST || bytes % 8)
		return CT_OK;
	first = older(ring, bytes);
	for (unsigned i = 0; i < 2; i++) {
		size_t n, at = 0;

		if (!copy(stacks_slot(ring, bytes, first ^ i), bytes, words, &n))
			continue;
		while (at < n) {
			uint64_t len = words[at++];
			int st;

			if (len > UINT16_MAX || (len + 7) / 8 > n - at)
				break;
			st = ct_block_add_rare(block, CT_KIND_STACK, &words[at], len);
			if (st != CT_OK)
				return st;
			at += (len + 7) / 8;
		}
	}
	return CT_OK;
}

void ct_ring_stacks_copy(const struct ct_ring *ring, uint32_t bytes, uint64_t *to)
{
	if (bytes / 8 <= HEAD_WORDS || bytes > CT_RING_STACKS_MOST || bytes % 8)
		return;
	for (unsigned i = 0; i < 2; i++, to += bytes / 8) {
		struct ct_ring_stacks *at = stacks_slot(ring, bytes, i);
		const uint64_t version = atomic_load_explicit(&at->version, memory_order_acquire);
		size_t n;

		if (!copy(at, bytes, to + HEAD_WORDS, &n))
			continue;
		to[0] = version;
		to[1] = n;
	}
}
