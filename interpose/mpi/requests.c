/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/requests.h"

#include "interpose/channels.h"
#include "interpose/mpi/parts.h"
#include "interpose/recorder.h"
#include "trace/mix.h"
#include "trace/pages.h"

/* fact: a bucket's keys are one cache line. What has no space in its own goes into one of the next.
 */
#define BUCKET 8u
#define BUCKETS (CT_MPI_REQUESTS_MAX / BUCKET)
#define REACH 8u /* size: 64 slots */

/* size: looked through as a whole, if anything is in it. */
#define SPARE 64u

/* No handle is 0 or 2: keys of handles have their highest bit set. */
enum { KEY_FREE = 0, KEY_BUSY = 2 };

/* code: messages have handles of their own kind, which may be equal to those of requests. */
#define KEY_MESSAGE ((uintptr_t)1 << 62)

static struct {
	_Atomic uintptr_t keys[BUCKETS + SPARE][BUCKET]; /* stored after the entry (release) */
	_Atomic uint64_t
		serials[BUCKETS + SPARE][BUCKET]; /* the same for the use of the handle, in order */
	_Atomic uint32_t
		strayed[BUCKETS]; /* entries whose bucket this is, but which lie in another */
	struct ct_mpi_request entries[BUCKETS + SPARE][BUCKET];
	_Atomic uint64_t lives; /* so far */
	_Atomic uint32_t n;
	_Atomic uint32_t spare; /* of these in the spare space */
	_Atomic uint32_t lost;	/* persistent ones */
	_Atomic uint32_t receives;
	_Atomic uint32_t opens; /* entries of the ring's open table that are ours */
} * table;

struct table_entry {
	uint32_t home, bucket, at;
};

int ct_mpi_requests_init(void)
{
	void *map = ct_pages_map(sizeof(*table));

	if (!map)
		return CT_NOMEM;
	table = map;
	ct_mpi_parts_init();
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
	return ct_mix_slot(key, 24) % BUCKETS;
}

static struct ct_mpi_request *entry_at(const struct table_entry *p)
{
	return &table->entries[p->bucket][p->at];
}

static _Atomic uintptr_t *key_at(const struct table_entry *p)
{
	return &table->keys[p->bucket][p->at];
}

static _Atomic uint64_t *serial_at(const struct table_entry *p)
{
	return &table->serials[p->bucket][p->at];
}

/* code: the low bits of a serial say what may be asked of an entry that another thread is about to
 * take. */
#define SERIAL_PERSISTENT 1u
#define SERIAL_SHARED 2u
#define SERIAL_SHIFT 2

static uint64_t new_serial(uint32_t flags)
{
	uint64_t n = atomic_fetch_add_explicit(&table->lives, 1, memory_order_relaxed) + 1;

	return n << SERIAL_SHIFT | (flags & CT_MPI_REQUEST_PERSISTENT ? SERIAL_PERSISTENT : 0) |
	       (flags & CT_MPI_REQUEST_SHARED ? SERIAL_SHARED : 0);
}

/* size: so many entries may have one key of its own: requests that threads are about to take, whose
 * handle others got meanwhile (a library gives a handle out again while the call on many that has
 * ended it goes on), and the next one; more were ended unseen. */
#define MOST_LIVES 16u

struct request_search {
	uintptr_t key;
	int oldest;
	uint32_t n; /* found */
	uint64_t best;
	struct table_entry *found;
};

static void search(struct request_search *s, struct table_entry p)
{
	/* acquire: pairs with the release of the thread that made the entry */
	for (; p.at < BUCKET; p.at++) {
		uint64_t serial;

		if (atomic_load_explicit(key_at(&p), memory_order_acquire) != s->key)
			continue;
		serial = atomic_load_explicit(serial_at(&p), memory_order_relaxed);
		if (s->n++ && (s->oldest ? serial > s->best : serial < s->best))
			continue;
		s->best = serial;
		*s->found = p;
	}
}

static uint32_t find_entry(uintptr_t key, int oldest, struct table_entry *found)
{
	struct request_search s = { .key = key, .oldest = oldest, .found = found };
	uint32_t home = home_of(key);

	for (uint32_t i = 0; i < REACH; i++) {
		search(&s, (struct table_entry){ home, (home + i) % BUCKETS, 0 });
		if (!atomic_load_explicit(&table->strayed[home], memory_order_relaxed))
			return s.n;
	}
	if (__builtin_expect(atomic_load_explicit(&table->spare, memory_order_relaxed) != 0, 0))
		for (uint32_t i = 0; i < SPARE; i++)
			search(&s, (struct table_entry){ home, BUCKETS + i, 0 });
	return s.n;
}

/* The newest, or oldest, entry with the key. Returns how many there are. An entry may come to a
 * slot that has been looked at already before the one that is still to be looked at goes, so none
 * is only what is found while none comes. */
#define MOST_LOOKS 64 /* size: more is a program that begins and ends requests without a pause */

static uint32_t find(uintptr_t key, int oldest, struct table_entry *found)
{
	uint64_t lives = atomic_load_explicit(&table->lives, memory_order_acquire);

	for (int i = 0; i < MOST_LOOKS; i++) {
		uint32_t n = find_entry(key, oldest, found);
		uint64_t now = atomic_load_explicit(&table->lives, memory_order_acquire);

		if (n || now == lives)
			return n;
		lives = now;
	}
	return 0;
}

/* A free slot of the bucket, now the caller's. */
static int claim_in(struct table_entry p, struct table_entry *claimed)
{
	for (; p.at < BUCKET; p.at++) {
		uintptr_t held = KEY_FREE;

		if (atomic_load_explicit(key_at(&p), memory_order_relaxed) != KEY_FREE ||
		    !atomic_compare_exchange_strong_explicit(key_at(&p), &held, KEY_BUSY,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		if (p.bucket != p.home)
			atomic_fetch_add_explicit(&table->strayed[p.home], 1, memory_order_relaxed);
		if (p.bucket >= BUCKETS)
			atomic_fetch_add_explicit(&table->spare, 1, memory_order_relaxed);
		*claimed = p;
		return 1;
	}
	return 0;
}

static int claim(uintptr_t key, int may_use_spare, struct table_entry *claimed)
{
	uint32_t home = home_of(key);

	for (uint32_t i = 0; i < REACH; i++)
		if (claim_in((struct table_entry){ home, (home + i) % BUCKETS, 0 }, claimed))
			return 1;
	for (uint32_t i = 0; may_use_spare && i < SPARE; i++)
		if (claim_in((struct table_entry){ home, BUCKETS + i, 0 }, claimed))
			return 1;
	return 0;
}

static void free_slot(const struct table_entry *p)
{
	if (p->bucket != p->home)
		atomic_fetch_sub_explicit(&table->strayed[p->home], 1, memory_order_relaxed);
	if (p->bucket >= BUCKETS)
		atomic_fetch_sub_explicit(&table->spare, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&table->n, 1, memory_order_relaxed);
	/* release: pairs with the acquire of the thread that claims it */
	atomic_store_explicit(key_at(p), KEY_FREE, memory_order_release);
}

/* The ring's table is shared with launches on GPUs, and looking for a free entry takes the longer
 * the fuller it is. */
static int may_open(void)
{
	uint32_t n = ct_recorder.ring.header ? ct_recorder.ring.header->n_opens : 0;

	if (atomic_fetch_add_explicit(&table->opens, 1, memory_order_relaxed) < n / 4 * 3)
		return 1;
	atomic_fetch_sub_explicit(&table->opens, 1, memory_order_relaxed);
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_OPEN_TABLE_FULL, 1);
	return 0;
}

/* Under way, for readers of the ring. */
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

static int is_collective(const struct ct_mpi_request *request)
{
	return ct_op_class(request->op.op) != CT_CLASS_P2P;
}

/* What a receive from any got will not be known: whose next message that was is a guess. */
static void lose_match(const struct ct_mpi_request *request)
{
	if (request->flags & (CT_MPI_REQUEST_ANY_SOURCE | CT_MPI_REQUEST_ANY_TAG) &&
	    !(request->flags & CT_MPI_REQUEST_CANCELLED))
		ct_channels_stop(request->comm_id);
}

static int add(uintptr_t key, const struct ct_mpi_request *request, uint32_t flags, int active)
{
	int may_use_spare = request->flags & CT_MPI_REQUEST_PERSISTENT && is_collective(request);
	struct ct_mpi_request *r;
	struct table_entry p;

	if (key <= KEY_BUSY || !claim(key, may_use_spare, &p)) {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_REQUESTS_FULL, 1);
		return 0;
	}
	r = entry_at(&p);
	*r = *request;
	r->slot = NULL;
	r->open = NULL;
	r->flags = (r->flags & ~(uint32_t)CT_MPI_REQUEST_ACTIVE) | flags;
	if (active)
		show(r);
	atomic_store_explicit(serial_at(&p), new_serial(r->flags), memory_order_relaxed);
	atomic_fetch_add_explicit(&table->n, 1, memory_order_relaxed);
	atomic_store_explicit(key_at(&p), key, memory_order_release);
	return 1;
}

/* Off the table, if it still is the request with this serial. */
static int remove_request(const struct table_entry *p, uintptr_t key, uint64_t serial,
			  struct ct_mpi_request *request)
{
	uintptr_t held = key;
	struct ct_mpi_request *r = entry_at(p);

	/* read twice: while it is taken, no other thread finds its present meaning */
	if (atomic_load_explicit(serial_at(p), memory_order_relaxed) != serial ||
	    !atomic_compare_exchange_strong_explicit(key_at(p), &held, KEY_BUSY,
						     memory_order_acquire, memory_order_relaxed))
		return 0;
	if (atomic_load_explicit(serial_at(p), memory_order_relaxed) != serial) {
		atomic_store_explicit(key_at(p), key, memory_order_release);
		return 0;
	}
	*request = *r;
	hide(r);
	free_slot(p);
	return 1;
}

static int remove_one(uintptr_t key, int oldest, struct ct_mpi_request *request)
{
	struct table_entry p;

	while (ct_mpi_requests_count() && find(key, oldest, &p)) {
		uint64_t serial = atomic_load_explicit(serial_at(&p), memory_order_relaxed);

		if (remove_request(&p, key, serial, request))
			return 1; /* else another thread took it */
	}
	return 0;
}

static void close_unseen(const struct ct_mpi_request *request)
{
	if (request->flags & CT_MPI_REQUEST_ACTIVE) {
		lose_match(request);
		ct_mpi_requests_close(request, 0, CT_SOURCE_NONE, 0);
	}
	ct_mpi_parts_forget(request->parts);
}

/* A new request is about to begin under the key. */
static void make_room(uintptr_t key)
{
	struct ct_mpi_request gone;
	struct table_entry p;

	if (ct_mpi_requests_count() && find(key, 1, &p) >= MOST_LIVES && remove_one(key, 1, &gone))
		close_unseen(&gone);
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
		make_room(key);
	if (add(key, request, kind == CT_MPI_HANDLE_SHARED ? CT_MPI_REQUEST_SHARED : 0, 1))
		return;
	lose_match(request);
	ct_mpi_requests_close(request, 0, CT_SOURCE_NONE, 0);
}

void ct_mpi_requests_failed(const struct ct_mpi_request *request, uint64_t now_ns, int result)
{
	ct_mpi_requests_close(request, now_ns, CT_SOURCE_CALL, result);
}

void ct_mpi_requests_keep(uintptr_t handle, const struct ct_mpi_request *request)
{
	uintptr_t key = key_of(handle, (request->flags & CT_MPI_REQUEST_MESSAGE) != 0);

	make_room(key);
	if (add(key, request, 0, 0))
		return;
	ct_mpi_parts_forget(request->parts);
	if (!(request->flags & CT_MPI_REQUEST_PERSISTENT))
		return;
	atomic_fetch_add_explicit(&table->lost, 1, memory_order_relaxed);
	if (!is_collective(request))
		ct_channels_stop(request->comm_id);
}

uint32_t ct_mpi_requests_lost(void)
{
	return table ? atomic_load_explicit(&table->lost, memory_order_relaxed) : 0;
}

static int find_one(uintptr_t key, struct table_entry *p)
{
	if (!ct_mpi_requests_count() || !find(key, 0, p))
		return 0;
	if (atomic_load_explicit(serial_at(p), memory_order_relaxed) & SERIAL_SHARED)
		return find(key, 1, p) != 0;
	return 1;
}

struct ct_mpi_request *ct_mpi_requests_find(uintptr_t handle, int message)
{
	struct table_entry p;

	return find_one(key_of(handle, message), &p) ? entry_at(&p) : NULL;
}

struct ct_mpi_held ct_mpi_requests_hold(uintptr_t handle)
{
	struct table_entry p;

	if (!handle || !find_one(key_of(handle, 0), &p))
		return (struct ct_mpi_held){ NULL, 0, 0 };
	return (struct ct_mpi_held){
		.entry = entry_at(&p),
		.serial = atomic_load_explicit(serial_at(&p), memory_order_relaxed),
		.handle = handle,
	};
}

void ct_mpi_requests_started(struct ct_mpi_request *request)
{
	if (request->flags & CT_MPI_REQUEST_ACTIVE) { /* its end passed unseen */
		ct_mpi_requests_close(request, 0, CT_SOURCE_NONE, 0);
		hide(request);
	}
	show(request);
}

int ct_mpi_requests_take(const struct ct_mpi_held *held, struct ct_mpi_request *request)
{
	struct ct_mpi_request *kept = held->entry;
	uintptr_t key = key_of(held->handle, 0);
	struct table_entry p;
	size_t at;

	if (!kept)
		return 0;
	if (held->serial & SERIAL_PERSISTENT) {
		if (!(kept->flags & CT_MPI_REQUEST_ACTIVE))
			return 0;
		*request = *kept;
		hide(kept);
		return 1;
	}
	at = (size_t)(kept - &table->entries[0][0]);
	p = (struct table_entry){ 0, (uint32_t)(at / BUCKET), (uint32_t)(at % BUCKET) };
	p.home = home_of(key);
	if (remove_request(&p, key, held->serial, request))
		return 1;
	/* another thread took this one: any other of the same handle is as good */
	return held->serial & SERIAL_SHARED && remove_one(key, 1, request);
}

void ct_mpi_requests_give_up(uintptr_t handle)
{
	const struct ct_mpi_held held = ct_mpi_requests_hold(handle);
	struct ct_mpi_request gone;

	if (!ct_mpi_requests_take(&held, &gone))
		return;
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_REQUESTS_FULL, 1);
	lose_match(&gone);
	ct_mpi_requests_close(&gone, 0, CT_SOURCE_NONE, 0);
}

int ct_mpi_requests_take_message(uintptr_t handle, struct ct_mpi_request *request)
{
	return remove_one(key_of(handle, 1), 0, request);
}

void ct_mpi_requests_forget(uintptr_t handle)
{
	struct ct_mpi_request gone;

	if (remove_one(key_of(handle, 0), 0, &gone))
		close_unseen(&gone);
}
