/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi_requests.h"

#include <sys/mman.h>

#include "interpose/recorder.h"

/* A bucket's keys are one cache line. What has no room in its own goes into one of the next. */
#define BUCKET 8u
#define BUCKETS (CT_MPI_REQUESTS_MAX / BUCKET)
#define REACH 8u

/* No handle is 0 or 2: keys of handles have their highest bit set. */
enum { KEY_FREE = 0, KEY_BUSY = 2 };

/* Messages have handles of their own kind, which may be equal to those of requests. */
#define KEY_MESSAGE ((uintptr_t)1 << 62)

static struct {
	_Atomic uintptr_t keys[BUCKETS][BUCKET]; /* stored after the entry (release) */
	_Atomic uint32_t
		strayed[BUCKETS]; /* entries whose bucket this is, but which lie in another */
	struct ct_mpi_request entries[BUCKETS][BUCKET];
	_Atomic uint32_t n;
	_Atomic uint32_t receives;
	_Atomic uint32_t opens; /* entries of the ring's open table that are ours */
} * table;

struct place {
	uint32_t home, bucket, at;
};

int ct_mpi_requests_init(void)
{
	void *map = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	if (map == MAP_FAILED)
		return CT_NOMEM;
	table = map;
	return CT_OK;
}

uint32_t ct_mpi_requests_count(void)
{
	return table ? atomic_load_explicit(&table->n, memory_order_relaxed) : 0;
}

uint32_t ct_mpi_requests_receives(void)
{
	return table ? atomic_load_explicit(&table->receives, memory_order_relaxed) : 0;
}

static uint32_t home_of(uintptr_t key)
{
	return (uint32_t)((uint64_t)key * 0x9e3779b97f4a7c15ull >> 40) % BUCKETS;
}

static struct ct_mpi_request *entry_at(const struct place *p)
{
	return &table->entries[p->bucket][p->at];
}

static _Atomic uintptr_t *key_at(const struct place *p)
{
	return &table->keys[p->bucket][p->at];
}

/* The oldest entry with the key. */
static int find(uintptr_t key, struct place *found)
{
	uint32_t home = home_of(key);
	uint64_t age = UINT64_MAX;

	for (uint32_t i = 0; i < REACH; i++) {
		struct place p = { home, (home + i) % BUCKETS, 0 };

		/* acquire: pairs with the release of who made the entry */
		for (; p.at < BUCKET; p.at++) {
			if (atomic_load_explicit(key_at(&p), memory_order_acquire) != key)
				continue;
			if (age != UINT64_MAX && entry_at(&p)->op.enter_ns >= age)
				continue;
			age = entry_at(&p)->op.enter_ns;
			*found = p;
		}
		if (!atomic_load_explicit(&table->strayed[home], memory_order_relaxed))
			break;
	}
	return age != UINT64_MAX;
}

/* A free place, now the caller's. */
static int claim(uintptr_t key, struct place *claimed)
{
	uint32_t home = home_of(key);

	for (uint32_t i = 0; i < REACH * BUCKET; i++) {
		struct place p = { home, (home + i / BUCKET) % BUCKETS, i % BUCKET };
		uintptr_t held = KEY_FREE;

		if (atomic_load_explicit(key_at(&p), memory_order_relaxed) != KEY_FREE ||
		    !atomic_compare_exchange_strong_explicit(key_at(&p), &held, KEY_BUSY,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		if (p.bucket != home)
			atomic_fetch_add_explicit(&table->strayed[home], 1, memory_order_relaxed);
		*claimed = p;
		return 1;
	}
	return 0;
}

static void free_place(const struct place *p)
{
	if (p->bucket != p->home)
		atomic_fetch_sub_explicit(&table->strayed[p->home], 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&table->n, 1, memory_order_relaxed);
	/* release: pairs with the acquire of who claims it */
	atomic_store_explicit(key_at(p), KEY_FREE, memory_order_release);
}

/* The ring's table is shared with launches on GPUs, and looking for a free entry takes the longer the fuller it is. */
static int may_open(void)
{
	uint32_t n = ct_recorder.ring.header ? ct_recorder.ring.header->n_opens : 0;

	if (atomic_fetch_add_explicit(&table->opens, 1, memory_order_relaxed) < n / 4 * 3)
		return 1;
	atomic_fetch_sub_explicit(&table->opens, 1, memory_order_relaxed);
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_OPEN_TABLE_FULL, 1);
	return 0;
}

/* Under way, for who reads the ring. */
static void show(struct ct_mpi_request *r)
{
	const struct ct_op *op = &r->op;
	const uint64_t words[8] = {
		[1] = op->enter_ns,
		[2] = op->enter_ns,
		[3] = (uint64_t)op->comm << 32 | 1u << 8 | op->op,
		[4] = op->seq,
		[6] = (uint64_t)op->tag << 32 | (uint32_t)op->peer,
		[7] = r->bytes,
	};

	r->flags |= CT_MPI_REQUEST_ACTIVE;
	r->open = may_open() ? ct_ring_open_add(&ct_recorder.ring, op->launch, words) : NULL;
	if (op->op == CT_OP_Recv)
		atomic_fetch_add_explicit(&table->receives, 1, memory_order_relaxed);
}

static void hide(struct ct_mpi_request *r)
{
	if (r->open) {
		ct_ring_open_remove(r->open);
		atomic_fetch_sub_explicit(&table->opens, 1, memory_order_relaxed);
	}
	if (r->flags & CT_MPI_REQUEST_ACTIVE && r->op.op == CT_OP_Recv)
		atomic_fetch_sub_explicit(&table->receives, 1, memory_order_relaxed);
	r->open = NULL;
	r->flags &= ~(uint32_t)(CT_MPI_REQUEST_ACTIVE | CT_MPI_REQUEST_CANCELLED);
}

static uintptr_t key_of(uintptr_t handle, int message)
{
	return message ? handle | KEY_MESSAGE : handle;
}

static int add(uintptr_t key, const struct ct_mpi_request *request, int active)
{
	struct ct_mpi_request *r;
	struct place p;

	if (key <= KEY_BUSY || !claim(key, &p)) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_REQUESTS_FULL, 1);
		return 0;
	}
	r = entry_at(&p);
	*r = *request;
	r->slot = NULL;
	r->open = NULL;
	r->flags &= ~(uint32_t)CT_MPI_REQUEST_ACTIVE;
	if (active)
		show(r);
	atomic_fetch_add_explicit(&table->n, 1, memory_order_relaxed);
	atomic_store_explicit(key_at(&p), key, memory_order_release);
	return 1;
}

/* Off the table, whatever it is. */
static int remove_oldest(uintptr_t key, struct ct_mpi_request *request)
{
	struct ct_mpi_request *r;
	struct place p;
	uintptr_t held;

	do { /* another thread may take one of the same handle */
		held = key;
		if (!ct_mpi_requests_count() || !find(key, &p))
			return 0;
	} while (!atomic_compare_exchange_strong_explicit(
		key_at(&p), &held, KEY_BUSY, memory_order_acquire, memory_order_relaxed));
	r = entry_at(&p);
	*request = *r;
	hide(r);
	free_place(&p);
	return 1;
}

static void drop(uintptr_t key)
{
	struct ct_mpi_request gone;

	while (remove_oldest(key, &gone))
		if (gone.flags & CT_MPI_REQUEST_ACTIVE)
			ct_mpi_requests_close(&gone, 0, CT_SOURCE_NONE, 0);
}

void ct_mpi_requests_close(const struct ct_mpi_request *request, uint64_t end_ns,
			   enum ct_source source, int result)
{
	const struct ct_launch launch = {
		.start_ns = request->op.enter_ns,
		.end_ns = end_ns,
		.id = request->op.launch,
		.comm = request->op.comm,
		.n_ops = request->flags & CT_MPI_REQUEST_PAIR ? 2 : 1,
		.result = (int16_t)result,
		.start_source = CT_SOURCE_CALL,
		.end_source = end_ns ? (uint8_t)source : CT_SOURCE_NONE,
	};

	ct_recorder_launch(&launch);
}

void ct_mpi_requests_begun(uintptr_t handle, enum ct_mpi_handle_kind kind,
			   const struct ct_mpi_request *request, uint64_t now_ns)
{
	uintptr_t key = key_of(handle, 0);

	if (kind == CT_MPI_HANDLE_DONE) {
		ct_mpi_requests_close(request, now_ns, CT_SOURCE_CALL, 0);
		return;
	}
	if (kind == CT_MPI_HANDLE_OWN)
		drop(key);
	if (!add(key, request, 1))
		ct_mpi_requests_close(request, 0, CT_SOURCE_NONE, 0);
}

void ct_mpi_requests_failed(const struct ct_mpi_request *request, uint64_t now_ns, int result)
{
	ct_mpi_requests_close(request, now_ns, CT_SOURCE_CALL, result);
}

void ct_mpi_requests_keep(uintptr_t handle, const struct ct_mpi_request *request)
{
	uintptr_t key = key_of(handle, (request->flags & CT_MPI_REQUEST_MESSAGE) != 0);

	drop(key);
	add(key, request, 0);
}

struct ct_mpi_request *ct_mpi_requests_find(uintptr_t handle, int message)
{
	struct place p;

	if (!ct_mpi_requests_count() || !find(key_of(handle, message), &p))
		return NULL;
	return entry_at(&p);
}

void ct_mpi_requests_started(struct ct_mpi_request *request)
{
	if (request->flags & CT_MPI_REQUEST_ACTIVE) { /* its end passed unseen */
		ct_mpi_requests_close(request, 0, CT_SOURCE_NONE, 0);
		hide(request);
	}
	show(request);
}

int ct_mpi_requests_take(uintptr_t handle, int message, struct ct_mpi_request *request)
{
	struct ct_mpi_request *kept = ct_mpi_requests_find(handle, message);

	if (!kept || !(kept->flags & CT_MPI_REQUEST_PERSISTENT))
		return kept ? remove_oldest(key_of(handle, message), request) : 0;
	if (!(kept->flags & CT_MPI_REQUEST_ACTIVE))
		return 0;
	*request = *kept;
	hide(kept);
	return 1;
}

void ct_mpi_requests_forget(uintptr_t handle)
{
	struct ct_mpi_request gone;

	if (remove_oldest(key_of(handle, 0), &gone) && gone.flags & CT_MPI_REQUEST_ACTIVE)
		ct_mpi_requests_close(&gone, 0, CT_SOURCE_NONE, 0);
}
