/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/ring_traffic.h"

#include "trace/mix.h"

/* size: slots where a key may be: in a table that is half full 1 in 2,000 finds none free. */
#define PROBES 32u

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= CT_GOLDEN;
	return x ^ x >> 29;
}

void ct_ring_traffic_begin(struct ct_ring *ring)
{
	const struct ct_ring_most *most = &ring->most;

	/* release: a thread that sees the table finds it */
	if (ring->header && !ct_ring_traffic_entries(ring->header) &&
	    ct_ring_allocate(ring, ring->traffic, most->traffic * sizeof(*ring->traffic)))
		atomic_store_explicit(&ring->header->traffic,
				      (uint64_t)most->traffic << 32 | most->traffic_at,
				      memory_order_release);
}

/* The entry of `key`, created if missing; NULL: no space. */
static struct ct_ring_traffic *find(struct ct_ring *ring, uint64_t key)
{
	uint32_t n = ct_ring_traffic_entries(ring->header);
	uint64_t start = mix(key);

	for (uint32_t i = 0; i < PROBES && i < n; i++) {
		struct ct_ring_traffic *t = &ring->traffic[(start + i) % n];

		/* acquire: pairs with the release in ct_ring_traffic_free(), the totals are 0 */
		if (atomic_load_explicit(&t->key, memory_order_acquire) == key)
			return t;
	}
	for (uint32_t i = 0; i < PROBES && i < n; i++) {
		struct ct_ring_traffic *t = &ring->traffic[(start + i) % n];
		uint64_t held = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &t->key, &held, key, memory_order_acquire, memory_order_acquire))
			atomic_fetch_add_explicit(&ring->traffic_taken, 1, memory_order_relaxed);
		else if (held != key)
			continue;
		return t;
	}
	return NULL;
}

void ct_ring_traffic_add(struct ct_ring *ring, uint32_t comm, int received, int32_t peer,
			 uint64_t bytes)
{
	uint64_t key = (uint64_t)comm << 32 | (received ? CT_TRAFFIC_RECEIVED : 0) |
		       (peer >= 0 ? (uint32_t)peer : CT_TRAFFIC_UNKNOWN_PEER);
	struct ct_ring_traffic *t = ring->header ? find(ring, key) : NULL;

	if (!t) {
		ct_ring_lose(ring, CT_LOSS_TRAFFIC_FULL, 1);
		return;
	}
	atomic_fetch_add_explicit(&t->messages, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&t->bytes, bytes, memory_order_relaxed);
}

int ct_ring_traffic_read(const struct ct_ring *ring, uint32_t i, struct ct_traffic_rec *rec)
{
	struct ct_ring_traffic *t = &ring->traffic[i];
	uint64_t key = atomic_load_explicit(&t->key, memory_order_acquire);
	uint32_t peer = (uint32_t)key & CT_TRAFFIC_UNKNOWN_PEER;

	*rec = (struct ct_traffic_rec){
		.comm = (uint32_t)(key >> 32),
		.peer = peer == CT_TRAFFIC_UNKNOWN_PEER ? -1 : (int32_t)peer,
		.received = (key & CT_TRAFFIC_RECEIVED) != 0,
		.slot = i,
		.messages = atomic_load_explicit(&t->messages, memory_order_acquire),
		.bytes = atomic_load_explicit(&t->bytes, memory_order_acquire),
	};
	/* acquire above: the totals were those of this key */
	return rec->comm && rec->messages &&
	       atomic_load_explicit(&t->key, memory_order_relaxed) == key;
}

int ct_ring_traffic_is_empty(const struct ct_ring *ring)
{
	return !atomic_load_explicit(&ring->traffic_taken, memory_order_relaxed);
}

void ct_ring_traffic_free(struct ct_ring *ring, uint32_t i)
{
	struct ct_ring_traffic *t = &ring->traffic[i];

	atomic_store_explicit(&t->messages, 0, memory_order_relaxed);
	atomic_store_explicit(&t->bytes, 0, memory_order_relaxed);
	atomic_store_explicit(&t->key, 0, memory_order_release);
	atomic_fetch_sub_explicit(&ring->traffic_taken, 1, memory_order_relaxed);
}
