/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/context.h"
#include "tools/sim/driver.h"
#include "tools/sim/enter.h"
#include "tools/sim/graph.h"
#include "tools/sim/stream.h"

#define ALIGNMENT 512u
#define HOST_ALLOC_FLAGS 7u /* portable, mapped, write-combined */

struct memory_range {
	char *begin;
	size_t bytes;
	enum sim_memory memory;
};

static struct memory_range *ranges; /* by address */
static size_t n_ranges, capacity;

/* How many begin at or below p. */
static size_t upto(const char *p)
{
	size_t low = 0, high = n_ranges;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)ranges[middle].begin <= (uintptr_t)p)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool sim_memory_of(const void *p, size_t bytes, enum sim_memory *memory)
{
	size_t i = upto(p), offset;

	*memory = SIM_PAGEABLE;
	if (i) {
		const struct memory_range *r = &ranges[i - 1];

		offset = (uintptr_t)p - (uintptr_t)r->begin;
		if (offset < r->bytes) {
			*memory = r->memory;
			return bytes <= r->bytes - offset;
		}
	}
	/* Memory of the program's own must not reach into ours either. */
	return i == n_ranges || bytes <= (uintptr_t)ranges[i].begin - (uintptr_t)p;
}

static CUresult allocate(void **p, size_t bytes, enum sim_memory memory)
{
	size_t i;
	CUresult result;

	if (!p || !bytes)
		return sim_misuse(CUDA_ERROR_INVALID_VALUE, "no bytes, or NULL");
	result = sim_capture_unsafe();
	if (result)
		return result;
	if (bytes > SIZE_MAX / 2)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (n_ranges == capacity) {
		struct memory_range *more;

		capacity = capacity ? capacity * 2 : 256;
		more = realloc(ranges, capacity * sizeof(*ranges));
		if (!more)
			abort();
		ranges = more;
	}
	*p = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
	if (!*p)
		return CUDA_ERROR_OUT_OF_MEMORY;
	i = upto(*p);
	memmove(&ranges[i + 1], &ranges[i], (n_ranges - i) * sizeof(*ranges));
	ranges[i] = (struct memory_range){ *p, bytes, memory };
	n_ranges++;
	return CUDA_SUCCESS;
}

static bool begins(const void *p, enum sim_memory memory, size_t *i)
{
	*i = upto(p);
	return *i && ranges[--*i].begin == p && ranges[*i].memory == memory;
}

/* Freeing waits for the work of the context, as CUDA does: kernels may still use the memory. */
static CUresult release(struct sim_context *c, void *p, enum sim_memory memory)
{
	CUresult result;
	size_t i;

	if (!begins(p, memory, &i))
		return sim_misuse(CUDA_ERROR_INVALID_VALUE, "not allocated, or freed");
	result = sim_capture_unsafe();
	if (!result)
		result = sim_streams_await(c);
	/* The lock was given up. */
	if (result || !begins(p, memory, &i))
		return result ? result : sim_misuse(CUDA_ERROR_INVALID_VALUE, "freed twice");
	n_ranges--;
	memmove(&ranges[i], &ranges[i + 1], (n_ranges - i) * sizeof(*ranges));
	free(p);
	return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t bytes)
{
	struct sim_context *c;
	void *memory = NULL;
	CUresult result = sim_enter_context(__func__, &c);

	if (result)
		return result;
	result = allocate(p ? &memory : NULL, bytes, SIM_DEVICE);
	if (!result)
		*p = (CUdeviceptr)(uintptr_t)memory;
	return sim_leave(result);
}

CUresult cuMemFree_v2(CUdeviceptr p)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	return result ? result : sim_leave(release(c, (void *)(uintptr_t)p, SIM_DEVICE));
}

CUresult cuMemHostAlloc(void **p, size_t bytes, unsigned int flags)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	if (result)
		return result;
	if (flags & ~HOST_ALLOC_FLAGS)
		return sim_leave(sim_misuse(CUDA_ERROR_INVALID_VALUE, "flags"));
	return sim_leave(allocate(p, bytes, SIM_PINNED));
}

CUresult cuMemFreeHost(void *p)
{
	struct sim_context *c;
	CUresult result = sim_enter_context(__func__, &c);

	return result ? result : sim_leave(release(c, p, SIM_PINNED));
}

CUresult simCheckRange(const void *p, size_t bytes)
{
	enum sim_memory memory;
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	sim_lock();
	if (sim_memory_of(p, bytes, &memory) && memory != SIM_PAGEABLE)
		result = CUDA_SUCCESS;
	return sim_leave(result);
}
