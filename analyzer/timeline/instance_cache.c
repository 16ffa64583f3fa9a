/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/instance_cache.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/match/groups.h"

/* Waits shorter than this are not worth a slice of their own. */
#define MIN_SKEW_NS 1000u

struct member {
	uint64_t key; /* 0: free */
	uint64_t wait_ns;
	uint32_t instance;
	uint32_t twice;
};

struct generation {
	struct ct_cached_instance *instances;
	uint32_t n_instances, cap_instances;
	struct member *members; /* open addressing, at most three quarters full */
	uint64_t n_members, cap_members;
};

struct ct_instance_cache {
	struct generation older, newer;
	uint64_t limit;
};

struct ct_instance_cache *ct_instance_cache_new(uint64_t limit)
{
	struct ct_instance_cache *kept = calloc(1, sizeof(*kept));

	if (kept)
		kept->limit = limit;
	return kept;
}

static void drop(struct generation *g)
{
	free(g->instances);
	free(g->members);
	*g = (struct generation){ 0 };
}

void ct_instance_cache_free(struct ct_instance_cache *kept)
{
	if (!kept)
		return;
	drop(&kept->older);
	drop(&kept->newer);
	free(kept);
}

void ct_instance_cache_forget(struct ct_instance_cache *kept)
{
	drop(&kept->older);
	drop(&kept->newer);
}

uint64_t ct_cached_comm(uint64_t key, uint32_t nranks)
{
	return ct_mix(key ^ ct_mix(nranks));
}

/* 64 bits of hash: among the millions that are kept at most, two members of one key are out of the
 * question. */
static uint64_t hash_of(const struct ct_cached_key *k)
{
	uint64_t pair = (uint64_t)(uint32_t)k->src << 32 | (uint32_t)k->dst;
	uint64_t hash = ct_mix(k->comm + ct_mix(k->seq));

	hash = ct_mix(hash ^ ct_mix(pair + 1));
	hash = ct_mix(hash ^ ((uint64_t)k->tag << 32 | k->index));
	return hash ? hash : 1;
}

uint64_t ct_cached_instance_hash(const struct ct_cached_key *k)
{
	uint64_t pair = (uint64_t)(uint32_t)k->src << 32 | (uint32_t)k->dst;
	uint64_t hash = ct_mix(ct_mix(k->comm + ct_mix(k->seq)) ^ ct_mix(pair + ct_mix(k->tag)));

	return hash ? hash : 1;
}

static struct member *member_entry(const struct generation *g, uint64_t key)
{
	uint64_t mask = g->cap_members - 1, at = key & mask;

	while (g->members[at].key && g->members[at].key != key)
		at = (at + 1) & mask;
	return &g->members[at];
}

static int grow_members(struct generation *g)
{
	struct generation larger = { .cap_members = g->cap_members ? 2 * g->cap_members : 1024 };

	larger.members = calloc(larger.cap_members, sizeof(*larger.members));
	if (!larger.members)
		return CT_NOMEM;
	for (uint64_t m = 0; m < g->cap_members; m++) {
		if (g->members[m].key)
			*member_entry(&larger, g->members[m].key) = g->members[m];
	}
	free(g->members);
	g->members = larger.members;
	g->cap_members = larger.cap_members;
	return CT_OK;
}

static int add_member(struct generation *g, uint64_t key, uint64_t wait_ns)
{
	struct member *m;

	if (4 * (g->n_members + 1) > 3 * g->cap_members && grow_members(g) != CT_OK)
		return CT_NOMEM;
	m = member_entry(g, key);
	if (m->key) {
		m->twice = 1;
		return CT_OK;
	}
	*m = (struct member){ .key = key, .wait_ns = wait_ns, .instance = g->n_instances - 1 };
	g->n_members++;
	return CT_OK;
}

static struct ct_cached_instance *add_instance(struct generation *g)
{
	if (ct_grow(&g->instances, &g->cap_instances, g->n_instances + 1, sizeof(*g->instances)))
		return NULL;
	memset(&g->instances[g->n_instances], 0, sizeof(*g->instances));
	return &g->instances[g->n_instances++];
}

/* How late the latest came, and the error of that. */
static uint64_t skew_of(const struct ct_instance *i, const struct ct_waits *w, uint64_t *err_ns)
{
	uint64_t skew = 0;

	*err_ns = 0;
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		uint64_t own = 2 * ((uint64_t)member->start_err_ns + member->end_err_ns);

		skew = w->arrival_ns[m] > skew ? w->arrival_ns[m] : skew;
		own = w->arrival_err_ns[m] > own ? w->arrival_err_ns[m] : own;
		*err_ns = own > *err_ns ? own : *err_ns;
	}
	return skew;
}

int ct_instance_cache_shows(const struct ct_instance *i, const struct ct_waits *w)
{
	uint64_t skew, err;

	if (w->judged != CT_JUDGED_WAITS)
		return 0;
	/* What is only begun by its own call is waited for in another one, which has a slice of its
	 * own. */
	for (uint32_t m = 0; m < i->n; m++) {
		if (i->members[m].posted)
			return 0;
	}
	skew = skew_of(i, w, &err);
	return skew > err && skew >= MIN_SKEW_NS;
}

static void set_waits(struct ct_cached_instance *kept, const struct ct_instance *i,
		      const struct ct_waits *w)
{
	struct ct_last last;

	kept->skew_ns = kept->skew_err_ns = CT_UNKNOWN;
	kept->slowest_slot = UINT32_MAX;
	if (w->judged != CT_JUDGED_WAITS)
		return;
	kept->skew_ns = skew_of(i, w, &kept->skew_err_ns);
	kept->waits = ct_instance_cache_shows(i, w) != 0;
	ct_waits_last(i, w, &last);
	if (last.clear)
		kept->slowest_slot = i->members[last.last].slot;
}

int ct_instance_cache_add(struct ct_instance_cache *kept, const struct ct_instance *i,
			  const struct ct_waits *w, const struct ct_cached_extent *extent,
			  const uint8_t *wanted, const struct ct_cached_instance **shown)
{
	struct ct_cached_key key = { .comm = ct_cached_comm(i->comm->hash, i->comm->nranks),
				     .seq = i->seq,
				     .src = i->src,
				     .dst = i->src < 0 ? -1 : i->dst,
				     .tag = i->tag };
	struct ct_cached_instance *instance;
	uint32_t m = 0;

	*shown = NULL;
	while (m < i->n && !wanted[i->members[m].slot])
		m++;
	if (m == i->n)
		return CT_OK;
	if (kept->newer.n_members >= kept->limit) {
		drop(&kept->older);
		kept->older = kept->newer;
		kept->newer = (struct generation){ 0 };
	}
	instance = add_instance(&kept->newer);
	if (!instance)
		return CT_NOMEM;
	instance->seq = i->seq;
	instance->transfer_ns = w->transfer_ns;
	instance->begin_ns = extent->begin_ns;
	instance->end_ns = extent->end_ns;
	instance->bytes = extent->bytes;
	instance->comm = i->comm->index;
	instance->op = i->members[0].op;
	instance->dtype = i->members[0].dtype;
	instance->redop = i->members[0].redop;
	instance->message = i->src >= 0;
	instance->exchange = i->src == CT_SRC_EXCHANGE;
	instance->is_swap = (uint8_t)ct_group_is_swap(i);
	set_waits(instance, i, w);
	*shown = instance;
	for (; m < i->n; m++) {
		if (!wanted[i->members[m].slot])
			continue;
		key.index = i->members[m].index;
		if (add_member(&kept->newer, hash_of(&key),
			       w->judged == CT_JUDGED_WAITS ? w->wait_ns[m] : CT_UNKNOWN) != CT_OK)
			return CT_NOMEM;
	}
	return CT_OK;
}

static const struct member *find_in(const struct generation *g, uint64_t key)
{
	const struct member *m = g->cap_members ? member_entry(g, key) : NULL;

	return m && m->key ? m : NULL;
}

const struct ct_cached_instance *ct_instance_cache_find(const struct ct_instance_cache *kept,
							const struct ct_cached_key *key,
							uint64_t *wait_ns)
{
	uint64_t hash = hash_of(key);
	const struct member *newer = find_in(&kept->newer, hash);
	const struct member *older = find_in(&kept->older, hash);
	const struct member *m = newer ? newer : older;

	/* Sequence numbers restarted under the same key: which of the two it is remains unknown. */
	if (!m || (newer && older) || m->twice)
		return NULL;
	*wait_ns = m->wait_ns;
	return &(newer ? &kept->newer : &kept->older)->instances[m->instance];
}

int ct_instance_cache_each(const struct ct_instance_cache *kept,
			   int (*each)(void *arg, const struct ct_cached_instance *instance),
			   void *arg)
{
	const struct generation *g[] = { &kept->older, &kept->newer };
	int st = CT_OK;

	for (int k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < g[k]->n_instances && st == CT_OK; i++)
			st = each(arg, &g[k]->instances[i]);
	}
	return st;
}
