/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi_several.h"

#include <sys/mman.h>

#define BUFFERS 4u

static struct ct_mpi_several_buffer {
	_Atomic int taken;
	struct ct_mpi_held held[CT_MPI_SEVERAL_MAX];
	struct ct_mpi_status statuses[CT_MPI_SEVERAL_MAX];
} * buffers;

int ct_mpi_several_init(void)
{
	void *map = mmap(NULL, BUFFERS * sizeof(*buffers), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		return CT_NOMEM;
	buffers = map;
	return CT_OK;
}

static struct ct_mpi_several_buffer *take_buffer(uint32_t n)
{
	for (uint32_t i = 0; n <= CT_MPI_SEVERAL_MAX && i < BUFFERS; i++)
		if (!atomic_exchange_explicit(&buffers[i].taken, 1, memory_order_acquire))
			return &buffers[i];
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_REQUESTS_FULL, 1);
	return NULL;
}

static void hold(struct ct_mpi_several *s, const void *requests, struct ct_mpi_held *held)
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

static void look(struct ct_mpi_several *s, int n, const void *requests, void *statuses)
{
	int is_near = n <= (int)CT_MPI_SEVERAL_NEAR;

	s->held = NULL;
	s->statuses = statuses;
	s->n = n > 0 ? (uint32_t)n : 0;
	s->n_pending = 0;
	s->first = NULL;
	s->buffer = NULL;
	if (!s->n || !requests)
		return;
	if (!is_near && ct_mpi_requests_count())
		s->buffer = take_buffer(s->n);
	if (!is_near && !s->buffer) {
		for (uint32_t i = 0; i < s->n && !s->n_pending; i++)
			s->n_pending = ct_mpi_request_key(requests, i) != 0;
		return;
	}
	hold(s, requests, is_near ? s->near_held : s->buffer->held);
	if ((uintptr_t)statuses == ct_mpi.is.STATUSES_IGNORE && ct_mpi_requests_receives())
		s->statuses = is_near ? s->near_statuses : s->buffer->statuses;
}

int ct_mpi_several_begin(struct ct_mpi_several *s, int n, const void *requests, void **statuses)
{
	look(s, n, requests, *statuses);
	if (s->n_pending)
		*statuses = s->statuses;
	return s->n_pending != 0;
}

int ct_mpi_several_begin_any(struct ct_mpi_several *s, int n, const void *requests, void **status)
{
	look(s, n, requests, NULL);
	if (s->n_pending)
		*status = ct_mpi_status_of(*status, &s->near_statuses[0]);
	return s->n_pending != 0;
}

/* The i-th status, NULL if there is none. */
static const void *status_of(const struct ct_mpi_several *s, uint32_t i)
{
	if (!s->statuses || (uintptr_t)s->statuses == ct_mpi.is.STATUSES_IGNORE)
		return NULL;
	return (const char *)s->statuses + (size_t)i * ct_mpi.is.status_bytes;
}

/* The i-th request is done. `result` 0 or an error class. */
static void done(struct ct_mpi_several *s, uint32_t i, const void *status, uint64_t now_ns,
		 int result)
{
	struct ct_mpi_request request;

	if (s->held && i < s->n && ct_mpi_requests_take(&s->held[i], &request))
		ct_mpi_complete(&request, status, now_ns, result);
}

/* What a status says of its own request, after a call that failed with MPI_ERR_IN_STATUS. */
static int error_of(const struct ct_mpi_several *s, uint32_t i)
{
	const void *status = status_of(s, i);

	return status ? ct_mpi_status_int(status, ct_mpi.is.status_error) : CT_MPI_SUCCESS;
}

/* A request that is done has a null handle then. A persistent one keeps its: of that the status has to tell, if it does. */
static int is_over(const struct ct_mpi_several *s, const void *requests, uint32_t i, int in_status)
{
	if (ct_mpi_is(ct_mpi_handle_at(requests, i), ct_mpi.is.REQUEST_NULL))
		return 1;
	return in_status && s->held[i].entry->flags & CT_MPI_REQUEST_PERSISTENT &&
	       status_of(s, i) && ct_mpi_result(error_of(s, i)) != ct_mpi.is.ERR_PENDING;
}

/* Receives from any are numbered in the order of this array. */
void ct_mpi_several_all(struct ct_mpi_several *s, const void *requests, uint64_t now_ns, int result)
{
	int in_status = result && ct_mpi_result(result) == ct_mpi.is.ERR_IN_STATUS;

	for (uint32_t i = 0; s->held && i < s->n; i++) {
		if (!s->held[i].entry || (result && !is_over(s, requests, i, in_status)))
			continue;
		done(s, i, status_of(s, i), now_ns,
		     in_status ? ct_mpi_result(error_of(s, i)) : ct_mpi_result(result));
	}
}

void ct_mpi_several_any(struct ct_mpi_several *s, const int *index, const void *status,
			uint64_t now_ns, int result)
{
	if (!ct_mpi_was_refused(result) && index && *index != ct_mpi.is.UNDEFINED)
		done(s, (uint32_t)*index, status, now_ns, ct_mpi_result(result));
}

void ct_mpi_several_some(struct ct_mpi_several *s, const int *n_done, const int *indices,
			 uint64_t now_ns, int result)
{
	int in_status = result && ct_mpi_result(result) == ct_mpi.is.ERR_IN_STATUS;

	if (!s->held || (result && !in_status) || !n_done || *n_done == ct_mpi.is.UNDEFINED)
		return;
	for (int i = 0; i < *n_done && (uint32_t)i < s->n; i++)
		done(s, (uint32_t)indices[i], status_of(s, (uint32_t)i), now_ns,
		     in_status ? ct_mpi_result(error_of(s, (uint32_t)i)) : 0);
}

void ct_mpi_several_end(struct ct_mpi_several *s)
{
	if (s->buffer)
		atomic_store_explicit(&s->buffer->taken, 0, memory_order_release);
}
