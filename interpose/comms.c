/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/comms.h"

#include <string.h>

#include "interpose/channels.h"
#include "interpose/hash.h"
#include "interpose/recorder.h"
#include "interpose/spin.h"
#include "trace/mix.h"
#include "trace/pages.h"

#define BUCKETS (4 * CT_COMMS_MAX) /* size: half full, if all have two handles */
#define GONE ((const void *)1)	   /* code: a handle that was removed: look further */
#define SIZES 64u		   /* size: groups of a job have few different sizes */

static struct {
	uint8_t before[0x640]; /* in a page, as that of ct_gate */
	struct ct_traced_comm comms[CT_COMMS_MAX];
	struct {
		_Atomic(const void *) handle; /* NULL: never used, a search ends here */
		_Atomic(struct ct_traced_comm *) comm;
	} buckets[BUCKETS];
	_Atomic uint32_t lock; /* over everything that writes the tables */
	uint32_t last_id;
	uint32_t hint; /* where the next free one of `comms` may be */
	_Atomic uint32_t live;
	_Atomic uint64_t ended;
	uint64_t job_hash;
	uint64_t process_hash;
	int has_lost; /* one that found no slot: from then on this process counts otherwise than
			 the others */
	struct {
		uint32_t nranks;
		uint32_t made;
	} by_size[SIZES]; /* for guessed keys; the last entry serves all sizes that found no entry */
} * tables;

int ct_comms_init(const char *job, uint64_t process_hash)
{
	void *map = ct_pages_map(sizeof(*tables));

	if (!map)
		return CT_NOMEM;
	tables = map;
	tables->job_hash = ct_fnv_text(CT_HASH_START, job);
	tables->process_hash = process_hash;
	return CT_OK;
}

static uint32_t bucket_of(const void *handle)
{
	return ct_mix_slot((uintptr_t)handle, 24) % BUCKETS;
}

struct ct_traced_comm *ct_comms_find(const void *handle)
{
	for (uint32_t i = 0, b = bucket_of(handle); handle && i < BUCKETS;
	     i++, b = (b + 1) % BUCKETS) {
		/* acquire: pairs with the release in add(), the communicator is filled in */
		const void *held = atomic_load_explicit(&tables->buckets[b].handle,
							memory_order_acquire);

		if (!held)
			break;
		if (held == handle)
			return atomic_load_explicit(&tables->buckets[b].comm, memory_order_acquire);
	}
	return NULL;
}

/* Under the lock. There is space: at most two handles for each of CT_COMMS_MAX. */
static void add(const void *handle, struct ct_traced_comm *comm)
{
	for (uint32_t b = bucket_of(handle);; b = (b + 1) % BUCKETS) {
		const void *held = atomic_load_explicit(&tables->buckets[b].handle,
							memory_order_relaxed);

		if (held && held != GONE)
			continue;
		atomic_store_explicit(&tables->buckets[b].comm, comm, memory_order_relaxed);
		atomic_store_explicit(&tables->buckets[b].handle, handle, memory_order_release);
		return;
	}
}

/* A search that would end right after this bucket may as well end in it, and so in those before it
 * that are GONE: or the table would fill up with them. A search that is under way looks for none of
 * their handles. */
static void free_bucket(uint32_t b)
{
	const void *after = atomic_load_explicit(&tables->buckets[(b + 1) % BUCKETS].handle,
						 memory_order_relaxed);

	atomic_store_explicit(&tables->buckets[b].handle, after ? GONE : NULL,
			      memory_order_release);
	if (after)
		return;
	for (b = (b + BUCKETS - 1) % BUCKETS;
	     atomic_load_explicit(&tables->buckets[b].handle, memory_order_relaxed) == GONE;
	     b = (b + BUCKETS - 1) % BUCKETS)
		atomic_store_explicit(&tables->buckets[b].handle, NULL, memory_order_relaxed);
}

static void forget(const void *handle)
{
	for (uint32_t i = 0, b = bucket_of(handle); handle && i < BUCKETS;
	     i++, b = (b + 1) % BUCKETS) {
		const void *held = atomic_load_explicit(&tables->buckets[b].handle,
							memory_order_relaxed);

		if (!held)
			return;
		if (held == handle) {
			free_bucket(b);
			return;
		}
	}
}

/* Under the lock. Its id, whose channels are to be freed once the lock is released; 0: there is
 * none. */
static uint32_t end(const void *handle)
{
	struct ct_traced_comm *comm = ct_comms_find(handle);

	if (!comm)
		return 0;
	for (int i = 0; i < 2; i++) {
		forget(atomic_load_explicit(&comm->handle[i], memory_order_relaxed));
		atomic_store_explicit(&comm->handle[i], NULL, memory_order_relaxed);
	}
	if ((uint32_t)(comm - tables->comms) < tables->hint)
		tables->hint = (uint32_t)(comm - tables->comms);
	atomic_fetch_sub_explicit(&tables->live, 1, memory_order_relaxed);
	atomic_store_explicit(&comm->entry->ended_ns, ct_now_ns(), memory_order_release);
	/* the write thread frees their entries in the ring: as soon as they are the quarter that it
	 * waits for */
	if (atomic_fetch_add_explicit(&tables->ended, 1, memory_order_relaxed) %
		    (ct_recorder.ring.most.comms / 4) ==
	    0)
		ct_recorder_wake();
	return comm->id;
}

uint64_t ct_comms_ended(void)
{
	return tables ? atomic_load_explicit(&tables->ended, memory_order_relaxed) : 0;
}

/* What cannot be entered without the lock is counted. */
static int take_lock(void)
{
	if (ct_spin_lock(&tables->lock, CT_SPIN_TRIES))
		return 1;
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_COMM_TABLE_FULL, 1);
	return 0;
}

void ct_comms_end(const void *handle)
{
	uint32_t id;

	if (!ct_comms_find(handle) || !take_lock())
		return;
	id = end(handle);
	ct_spin_unlock(&tables->lock);
	ct_channels_end(id);
}

void ct_comms_end_all(enum ct_backend backend)
{
	for (uint32_t i = 0; i < CT_COMMS_MAX; i++) {
		const struct ct_traced_comm *c = &tables->comms[i];
		const void *handle = atomic_load_explicit(&c->handle[0], memory_order_acquire);

		if (handle &&
		    (uint8_t)atomic_load_explicit(&c->entry->bits, memory_order_relaxed) == backend)
			ct_comms_end(handle);
	}
}

void ct_comms_name(struct ct_traced_comm *comm, const char *name)
{
	uint64_t id = ct_ring_string(&ct_recorder.ring, name);

	if (!id || !take_lock())
		return;
	atomic_store_explicit(
		&comm->entry->bits,
		(uint32_t)atomic_load_explicit(&comm->entry->bits, memory_order_relaxed) | id << 32,
		memory_order_relaxed);
	ct_spin_unlock(&tables->lock);
}

/* How many of this size were made before, counted by all members alike. */
static uint32_t ordinal(uint32_t nranks)
{
	uint32_t i = 0;

	while (i < SIZES - 1 && tables->by_size[i].nranks && tables->by_size[i].nranks != nranks)
		i++;
	tables->by_size[i].nranks = nranks;
	return tables->by_size[i].made++;
}

static uint64_t guess_key(uint32_t nranks)
{
	uint64_t key = ct_hash_mix(tables->job_hash, (uint64_t)nranks << 32 | ordinal(nranks));

	/* The only member: no peer must agree, but the keys of many processes must differ. After a
	 * loss, a key of its own is better than that of another communicator. */
	return nranks == 1 || tables->has_lost ? ct_hash_mix(key, tables->process_hash) : key;
}

static struct ct_traced_comm *unused(void)
{
	uint32_t n = atomic_load_explicit(&tables->live, memory_order_relaxed) < CT_COMMS_MAX
			     ? CT_COMMS_MAX
			     : 0;

	for (uint32_t k = 0; k < n; k++) {
		struct ct_traced_comm *c = &tables->comms[(tables->hint + k) % CT_COMMS_MAX];

		if (!atomic_load_explicit(&c->handle[0], memory_order_relaxed))
			return c;
	}
	return NULL;
}

struct ct_traced_comm *ct_comms_create(const struct ct_comm_spec *spec)
{
	struct ct_comm_rec rec = {
		.nranks = spec->nranks,
		.rank = spec->rank,
		.name = spec->name,
		.key = spec->key,
		.parent = spec->parent,
		.members_key = spec->members,
		.created_ns = ct_now_ns(),
		.backend = (uint8_t)spec->backend,
		.key_source = (uint8_t)spec->source,
		.device = spec->device,
	};
	struct ct_traced_comm *comm;
	uint32_t ended[2];

	if (!take_lock())
		return NULL;
	ended[0] = end(spec->handle[0]);
	ended[1] = end(spec->handle[1]);
	if (!rec.key || (spec->nranks == 1 && spec->source != CT_KEY_LIBRARY)) {
		rec.key = guess_key(spec->nranks);
		rec.key_source = CT_KEY_GUESSED;
	}
	rec.id = ++tables->last_id;
	comm = unused();
	if (!comm)
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_COMM_TABLE_FULL, 1);
	else
		comm->entry = ct_ring_comm_add(&ct_recorder.ring, &rec);
	if (comm && comm->entry) {
		tables->hint = (uint32_t)(comm - tables->comms) + 1;
		atomic_fetch_add_explicit(&tables->live, 1, memory_order_relaxed);
		comm->key = rec.key;
		comm->id = rec.id;
		comm->nranks = rec.nranks;
		comm->rank = rec.rank;
		comm->first_peer = spec->first_peer;
		comm->n_peers = spec->n_peers ? spec->n_peers : rec.nranks;
		comm->device = spec->device;
		comm->nccl_hash = spec->nccl_hash;
		comm->nccl_magic = spec->nccl_magic;
		atomic_store_explicit(&comm->children, 0, memory_order_relaxed);
		ct_seq_init(&comm->tags);
		atomic_store_explicit(&comm->pick[0], 0, memory_order_relaxed);
		atomic_store_explicit(&comm->pick[1], 0, memory_order_relaxed);
		for (int i = 0; i < 2; i++) {
			atomic_store_explicit(&comm->handle[i], spec->handle[i],
					      memory_order_relaxed);
			if (spec->handle[i])
				add(spec->handle[i], comm);
		}
	} else {
		comm = NULL;
		tables->has_lost = 1;
	}
	ct_spin_unlock(&tables->lock);
	ct_channels_end(ended[0]);
	ct_channels_end(ended[1]);
	return comm;
}

int ct_comms_has_room(void)
{
	return atomic_load_explicit(&tables->live, memory_order_relaxed) < CT_COMMS_MAX &&
	       ct_ring_comm_has_room(&ct_recorder.ring);
}

void ct_comms_alias(struct ct_traced_comm *comm, const void *handle)
{
	if (!handle || !take_lock())
		return;
	if (!atomic_load_explicit(&comm->handle[1], memory_order_relaxed)) {
		atomic_store_explicit(&comm->handle[1], handle, memory_order_relaxed);
		add(handle, comm);
	}
	ct_spin_unlock(&tables->lock);
}
