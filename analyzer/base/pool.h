/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h — elements of one size with a short life. The element that was returned last is reused
 * first, while it is in the cache; malloc() is called for many at once.
 *
 * A zeroed struct is an empty pool, of one size from the first use on. The pool owns the elements,
 * and frees them only with itself. One thread. */
#ifndef CT_ANALYZER_BASE_POOL_H
#define CT_ANALYZER_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ct_pool {
	void *spare;  /* elements that were given back, chained by their first word */
	void *chunks; /* likewise: what malloc() gave */
	char *next;   /* elements of the newest chunk that were never taken */
	size_t left;
};

/* size: elements per allocation: enough to make malloc() negligible, few enough for a run of two
 * ranks. */
#define CT_POOL_CHUNK 64u

/* fact: bytes of a line of the cache; an element of whole lines touches no more than these */
#define CT_POOL_LINE 64u

/* An element of `size` bytes, at least those of a pointer, zeroed. NULL: out of memory. */
static inline void *ct_pool_take(struct ct_pool *pool, size_t size)
{
	void *one = pool->spare;

	if (one) {
		pool->spare = *(void **)one;
		return memset(one, 0, size);
	}
	if (!pool->left) {
		void **chunk = malloc(2 * CT_POOL_LINE + CT_POOL_CHUNK * size);

		if (!chunk)
			return NULL;
		*chunk = pool->chunks;
		pool->chunks = chunk;
		pool->next = (char *)chunk + 2 * CT_POOL_LINE - (uintptr_t)chunk % CT_POOL_LINE;
		pool->left = CT_POOL_CHUNK;
	}
	one = pool->next;
	pool->next += size;
	pool->left--;
	return memset(one, 0, size);
}

/* NULL is nothing. */
static inline void ct_pool_give(struct ct_pool *pool, void *one)
{
	if (!one)
		return;
	*(void **)one = pool->spare;
	pool->spare = one;
}

static inline void ct_pool_fini(struct ct_pool *pool)
{
	while (pool->chunks) {
		void *next = *(void **)pool->chunks;

		free(pool->chunks);
		pool->chunks = next;
	}
	*pool = (struct ct_pool){ 0 };
}

#endif
