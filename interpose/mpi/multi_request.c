/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/multi_request.h"

#include "trace/mix.h"
#include "trace/pages.h"

/* By size, since nearly all calls are about few and many threads may be in one. */
static const struct size {
	uint32_t buffers, requests;
} sizes[] = { { 256, 512 }, { 32, 4096 }, { 4, CT_MPI_MULTI_MAX } };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))
#define BUFFERS (256 + 32 + 4) /* size: the sum of those of all sizes */
#define EACH (sizeof(struct ct_mpi_held) + sizeof(struct ct_mpi_status))

static _Atomic uintptr_t owners[BUFFERS]; /* 0: free */
static char *buffers;

static size_t bytes_of(const struct size *size)
{
	return (size_t)size->buffers * size->requests * EACH;
}

int ct_mpi_multi_init(void)
{
	size_t bytes = 0;
	void *map;

	for (size_t i = 0; i < SIZES; i++)
		bytes += bytes_of(&sizes[i]);
	map = ct_pages_map(bytes);
	if (!map)
		return CT_NOMEM;
	buffers = map;
	for (uint32_t i = 0; i < BUFFERS; i++)
		atomic_store_explicit(&owners[i], 0, memory_order_relaxed);
	return CT_OK;
}

/* Live threads differ in it. That of a dead one comes again. */
static uintptr_t me(void)
{
	return (uintptr_t)&ct_self;
}

/* A buffer is free, or was left by this very thread, which is in one call at a time. */
static int claim_buffer(_Atomic uintptr_t *owner)
{
	uintptr_t whose = atomic_load_explicit(owner, memory_order_relaxed);

	return whose == me() ||
	       (!whose && atomic_compare_exchange_strong_explicit(
				  owner, &whose, me(), memory_order_acquire, memory_order_relaxed));
}

/* A thread begins to look where it did before. NULL: nothing is free. */
static char *take_one(struct ct_mpi_multi *s, const struct size *size, uint32_t first, char *at)
{
	uint32_t start = ct_mix_slot(me(), 24);

	for (uint32_t i = 0; i < size->buffers; i++) {
		uint32_t k = (start + i) % size->buffers;

		if (!claim_buffer(&owners[first + k]))
			continue;
		s->buffer = &owners[first + k];
		return at + (size_t)k * size->requests * EACH;
	}
	return NULL;
}

/* Space for s->n handles, with the statuses behind it at *statuses. */
static struct ct_mpi_held *take_buffer(struct ct_mpi_multi *s, void **statuses)
{
	uint32_t first = 0;
	char *at = buffers;

	for (size_t i = 0; i < SIZES; i++) {
		char *mine = s->n <= sizes[i].requests ? take_one(s, &sizes[i], first, at) : NULL;

		if (mine) {
			*statuses = mine + sizes[i].requests * sizeof(struct ct_mpi_held);
			return (struct ct_mpi_held *)(void *)mine;
		}
		first += sizes[i].buffers;
		at += bytes_of(&sizes[i]);
	}
	return NULL;
}

/* Nothing will be known of them after the call. */
static void give_up(struct ct_mpi_multi *s, const void *requests)
{
	for (uint32_t i = 0; i < s->n; i++) {
		uintptr_t key = ct_mpi_request_key(requests, i);

		s->n_pending += key != 0;
		if (key)
			ct_mpi_requests_give_up(key);
	}
}

static void hold(struct ct_mpi_multi *s, const void *requests, struct ct_mpi_held *held)
{
	s->held = held;
	for (uint32_t i = 0; i < s->n; i++) {
		uintptr_t key = ct_mpi_request_key(requests, i);

		s->n_pending += key != 0;
		held[i] = ct_mpi_requests_hold(key);
		if (held[i].entry && !s->first)
			s->first = held[i].entry;
	}
}

static void look_at_requests(struct ct_mpi_multi *s, int n, const void *requests, void *statuses)
{
	struct ct_mpi_held *held = s->near_held;
	void *own = s->near_statuses;

	s->held = NULL;
	s->statuses = statuses;
	s->n = n > 0 ? (uint32_t)n : 0;
	s->n_pending = 0;
	s->first = NULL;
	s->buffer = NULL;
	if (!s->n || !requests)
		return;
	if (s->n > CT_MPI_MULTI_NEAR &&
	    (!ct_mpi_requests_count() || !(held = take_buffer(s, &own)))) {
		give_up(s, requests);
		return;
	}
	hold(s, requests, held);
	if ((uintptr_t)statuses == ct_mpi.is.STATUSES_IGNORE && ct_mpi_requests_receives())
		s->statuses = own;
}

int ct_mpi_multi_begin(struct ct_mpi_multi *s, int n, const void *requests, void **statuses)
{
	look_at_requests(s, n, requests, *statuses);
	if (s->n_pending)
		*statuses = s->statuses;
	else
		ct_mpi_multi_end(s);
	return s->n_pending != 0;
}

int ct_mpi_multi_begin_any(struct ct_mpi_multi *s, int n, const void *requests, void **status)
{
	look_at_requests(s, n, requests, NULL);
	if (s->n_pending)
		*status = ct_mpi_status_of(*status, &s->near_statuses[0]);
	else
		ct_mpi_multi_end(s);
	return s->n_pending != 0;
}

/* The i-th status, NULL if there is none. */
static const void *status_of(const struct ct_mpi_multi *s, uint32_t i)
{
	if (!s->statuses || (uintptr_t)s->statuses == ct_mpi.is.STATUSES_IGNORE)
		return NULL;
	return (const char *)s->statuses + (size_t)i * ct_mpi.is.status_bytes;
}

/* The i-th request is done. `result` 0 or an error class. */
static void end_request(struct ct_mpi_multi *s, uint32_t i, const void *status, uint64_t now_ns,
			int result)
{
	struct ct_mpi_request request;

	if (s->held && i < s->n && ct_mpi_requests_take(&s->held[i], &request))
		ct_mpi_complete(&request, status, now_ns, result);
}

/* What a status says of its own request, after a call that failed with MPI_ERR_IN_STATUS. */
static int error_of(const struct ct_mpi_multi *s, uint32_t i)
{
	const void *status = status_of(s, i);

	return status ? ct_mpi_status_int(status, ct_mpi.is.status_error) : CT_MPI_SUCCESS;
}

/* A request that is done has a null handle then. A persistent one keeps its: of that the status has
 * to show it, if it does. */
static int is_over(const struct ct_mpi_multi *s, const void *requests, uint32_t i, int in_status)
{
	if (ct_mpi_is(ct_mpi_handle_at(requests, i), ct_mpi.is.REQUEST_NULL))
		return 1;
	return in_status && s->held[i].entry->flags & CT_MPI_REQUEST_PERSISTENT &&
	       status_of(s, i) && ct_mpi_result(error_of(s, i)) != ct_mpi.is.ERR_PENDING;
}

/* Receives from any are numbered in the order of this array. */
void ct_mpi_multi_all(struct ct_mpi_multi *s, const void *requests, uint64_t now_ns, int result)
{
	int in_status = result && ct_mpi_result(result) == ct_mpi.is.ERR_IN_STATUS;

	for (uint32_t i = 0; s->held && i < s->n; i++) {
		if (!s->held[i].entry || (result && !is_over(s, requests, i, in_status)))
			continue;
		end_request(s, i, status_of(s, i), now_ns,
			    in_status ? ct_mpi_result(error_of(s, i)) : ct_mpi_result(result));
	}
}

void ct_mpi_multi_any(struct ct_mpi_multi *s, const int *index, const void *status, uint64_t now_ns,
		      int result)
{
	if (!ct_mpi_was_refused(result) && index && *index != ct_mpi.is.UNDEFINED)
		end_request(s, (uint32_t)*index, status, now_ns, ct_mpi_result(result));
}

void ct_mpi_multi_some(struct ct_mpi_multi *s, const int *n_done, const int *indices,
		       uint64_t now_ns, int result)
{
	int in_status = result && ct_mpi_result(result) == ct_mpi.is.ERR_IN_STATUS;

	if (!s->held || (result && !in_status) || !n_done || *n_done == ct_mpi.is.UNDEFINED)
		return;
	for (int i = 0; i < *n_done && (uint32_t)i < s->n; i++)
		end_request(s, (uint32_t)indices[i], status_of(s, (uint32_t)i), now_ns,
			    in_status ? ct_mpi_result(error_of(s, (uint32_t)i)) : 0);
}

void ct_mpi_multi_end(struct ct_mpi_multi *s)
{
	if (s->buffer)
		atomic_store_explicit(s->buffer, 0, memory_order_release);
}
