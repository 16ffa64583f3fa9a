/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/span.h"

#include "trace/pages.h"

#define BLOCKS 64u	 /* fact: one word has so many bits */
#define SMALLEST_BITS 2u /* size: four entries, so that the smallest table, of 256, has 64 blocks */

struct ct_gpu_span *ct_gpu_spans;
struct ct_gpu_block *ct_gpu_blocks;
uint32_t ct_gpu_block_bits;

/* A bit for each block. acquire by the taker, release by the giver. */
static _Atomic uint64_t unused; /* its entries are not ours yet */
static _Atomic uint64_t idle;	/* they are, and no thread has it */

int ct_gpu_spans_init(void)
{
	struct ct_ring *ring = &ct_recorder.ring;
	uint32_t n = ring->header->n_opens;
	size_t bytes = n * sizeof(*ct_gpu_spans) + BLOCKS * sizeof(*ct_gpu_blocks);
	void *map = ct_pages_map(bytes);
	uint32_t n_blocks;

	if (!map)
		return CT_NOMEM;
	ct_gpu_blocks = map;
	ct_gpu_spans = (struct ct_gpu_span *)(void *)(ct_gpu_blocks + BLOCKS);
	ct_gpu_block_bits = SMALLEST_BITS;
	while (n >> ct_gpu_block_bits > BLOCKS)
		ct_gpu_block_bits++;
	n_blocks = n >> ct_gpu_block_bits;
	atomic_store_explicit(&unused, n_blocks < 64 ? (1ull << n_blocks) - 1 : UINT64_MAX,
			      memory_order_relaxed);
	atomic_store_explicit(&idle, 0, memory_order_relaxed);
	return CT_OK;
}

/* The lowest bit of the mask that is also in `of`: its number, or 64. */
static uint32_t take_bit(_Atomic uint64_t *mask, uint64_t of)
{
	uint64_t bits = atomic_load_explicit(mask, memory_order_relaxed);
	uint64_t bit;

	do {
		bit = bits & of & -(bits & of);
		if (!bit)
			return 64;
	} while (!atomic_compare_exchange_weak_explicit(
		mask, &bits, bits & ~bit, memory_order_acquire, memory_order_relaxed));
	return (uint32_t)__builtin_ctzll(bit);
}

/* Its entries of the open table. 0: another backend has a launch among them. */
static int reserve(uint32_t block)
{
	struct ct_gpu_span *spans = &ct_gpu_spans[block << ct_gpu_block_bits];
	struct ct_ring_open *opens = &ct_recorder.ring.opens[block << ct_gpu_block_bits];

	for (uint32_t i = 0; i < ct_gpu_per_block(); i++) {
		if (!ct_ring_open_reserve(&opens[i])) {
			while (i--)
				ct_ring_open_remove(&opens[i]);
			return 0;
		}
		spans[i].open = &opens[i];
		spans[i].is_last = i == ct_gpu_per_block() - 1;
	}
	return 1;
}

/* Low ones first: the fewer are in use, the warmer they are. */
static uint32_t take_block(void)
{
	uint32_t block = take_bit(&idle, UINT64_MAX);
	uint64_t of = UINT64_MAX;

	while (block == 64 && (block = take_bit(&unused, of)) < 64 && !reserve(block)) {
		atomic_fetch_or_explicit(&unused, 1ull << block, memory_order_release);
		of &= ~(1ull << block);
		block = 64;
	}
	return block;
}

uint32_t ct_gpu_spans_claim(void)
{
	uint32_t nth = take_block();
	struct ct_gpu_block *block = &ct_gpu_blocks[nth];

	if (nth == 64) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_OPEN_TABLE_FULL, 1);
		return 0;
	}
	block->lap++;
	block->pushed = 0;
	block->seen = 0;
	atomic_store_explicit(&block->left, ct_gpu_per_block(), memory_order_relaxed);
	return (nth << ct_gpu_block_bits) + 1;
}

void ct_gpu_block_give(struct ct_gpu_block *block, uint32_t n)
{
	/* what was done to any of its entries is over for the thread that takes the block next */
	if (atomic_fetch_sub_explicit(&block->left, n, memory_order_acq_rel) == n)
		atomic_fetch_or_explicit(&idle, 1ull << (block - ct_gpu_blocks),
					 memory_order_release);
}

void ct_gpu_thread_end(void)
{
	uint32_t at = ct_self.launches;
	struct ct_gpu_span *span = &ct_gpu_spans[at - 1];
	uint32_t n = 0;

	if (!at)
		return;
	ct_self.launches = 0;
	do {
		atomic_store_explicit(&span[n].state,
				      ct_gpu_block_of(span)->lap << 2 | CT_GPU_PASSED,
				      memory_order_release);
		n++;
	} while ((at - 1 + n) % ct_gpu_per_block());
	ct_gpu_block_give(ct_gpu_block_of(span), n);
}
