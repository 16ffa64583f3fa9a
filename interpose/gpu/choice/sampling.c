/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/choice/sampling.h"

#include <time.h>

#include "interpose/comms.h"
#include "interpose/hash.h"

static struct ct_gpu_options options;
static _Atomic uint32_t level, paused;

/* Not by the budget alone. */
static int is_always_picky(void)
{
	return options.sample < CT_GPU_ALL || options.duty_ms;
}

void ct_gpu_sampling_init(const struct ct_gpu_options *from)
{
	options = *from;
	atomic_store_explicit(&level, 0, memory_order_relaxed);
	atomic_store_explicit(&paused, 0, memory_order_relaxed);
	ct_gpu_set_unusual(CT_GPU_SAMPLING, is_always_picky());
}

static void be_picky(void)
{
	int is_picky = is_always_picky() || ct_gpu_sampling_is_paused() ||
		       atomic_load_explicit(&level, memory_order_relaxed) > 0;

	ct_gpu_set_unusual(CT_GPU_SAMPLING, is_picky);
}

void ct_gpu_sampling_level(uint32_t to)
{
	atomic_store_explicit(&level, to < CT_GPU_COARSEST ? to : CT_GPU_COARSEST,
			      memory_order_relaxed);
	be_picky();
}

void ct_gpu_sampling_pause(int is_paused)
{
	atomic_store_explicit(&paused, (uint32_t)is_paused, memory_order_relaxed);
	be_picky();
}

int ct_gpu_sampling_is_paused(void)
{
	return (int)atomic_load_explicit(&paused, memory_order_relaxed);
}

int ct_gpu_is_in(uint64_t share, uint64_t key, uint64_t seq)
{
	return ct_hash_mix(ct_hash_mix(CT_HASH_START, key), seq) >> 32 < share;
}

uint64_t ct_gpu_share(const struct ct_gpu_options *o, uint32_t at_level, uint64_t unix_ns)
{
	if (o->duty_ms && unix_ns / 1000000 % o->duty_ms >= o->duty_on_ms)
		return 0;
	return o->sample >> at_level;
}

static uint64_t share_now(void)
{
	struct timespec t = { 0, 0 };

	if (options.duty_ms)
		clock_gettime(CLOCK_REALTIME, &t);
	return ct_gpu_share(&options, atomic_load_explicit(&level, memory_order_relaxed),
			    (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
}

int ct_gpu_sampling(struct ct_traced_comm *comm, uint64_t seq, int is_message)
{
	_Atomic uint64_t *word = &comm->pick[is_message];
	uint64_t kept = atomic_load_explicit(word, memory_order_relaxed);
	uint32_t block = (uint32_t)(seq / CT_GPU_SAMPLING_BLOCK) + 1; /* 0: none yet */
	uint64_t share;

	/* at once: a window may be shorter than a block takes, and what is kept of the block holds
	 * again after it */
	if (ct_gpu_sampling_is_paused())
		return 0;
	if (kept >> 32 != block) {
		/* in half a word all of them is one too few */
		share = share_now();
		kept = (uint64_t)block << 32 | (share < CT_GPU_ALL ? share : CT_GPU_ALL - 1);
		atomic_store_explicit(word, kept, memory_order_relaxed);
	}
	share = kept & (CT_GPU_ALL - 1);
	return share == CT_GPU_ALL - 1 ||
	       ct_gpu_is_in(share, comm->key, is_message ? seq / CT_GPU_SAMPLING_BLOCK : seq);
}
