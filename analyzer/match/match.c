/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/match/match.h"

#include <stdlib.h>

#include "trace/status.h"

/* size: members whose room is kept for the next instance: allocating more than these is little
 * beside filling them. */
#define KEPT_MEMBERS 8u

struct ct_match {
	struct ct_chains open;
	struct ct_instance *spare; /* chained by `newer`; unused ones keep their members' room */
	struct ct_instance *oldest, *newest;
	size_t bytes, max_bytes;
	ct_match_fn done;
	void *arg;
};

struct ct_match *ct_match_new(size_t max_bytes, ct_match_fn done, void *arg)
{
	struct ct_match *match = calloc(1, sizeof(*match));

	if (match) {
		match->max_bytes = max_bytes;
		match->done = done;
		match->arg = arg;
	}
	return match;
}

static size_t bytes_of(const struct ct_instance *i)
{
	return sizeof(*i) + i->cap * sizeof(*i->members);
}

static void forget(struct ct_match *match, struct ct_instance *i)
{
	*(i->older ? &i->older->newer : &match->oldest) = i->newer;
	*(i->newer ? &i->newer->older : &match->newest) = i->older;
	match->bytes -= bytes_of(i);
	if (i->cap > KEPT_MEMBERS) {
		free(i->members);
		i->members = NULL;
		i->cap = 0;
	}
	i->newer = match->spare;
	match->spare = i;
}

void ct_match_free(struct ct_match *match)
{
	if (!match)
		return;
	while (match->oldest)
		forget(match, match->oldest);
	while (match->spare) {
		struct ct_instance *next = match->spare->newer;

		free(match->spare->members);
		free(match->spare);
		match->spare = next;
	}
	ct_chains_fini(&match->open);
	free(match);
}

/* Take out of the table, hand out, free. */
static int release(struct ct_match *match, struct ct_instance *i, int complete)
{
	int st;

	ct_chains_take(&match->open, &i->by_key);
	st = match->done(match->arg, i, complete);
	forget(match, i);
	return st;
}

/* Which instance. Keys of a rank's next numbers are next to each other; others may have the same
 * one, so all of it is compared. */
struct what {
	struct ct_comm *comm;
	uint64_t seq;
	int32_t src, dst;
	uint32_t tag;
};

static uint64_t key_of(const struct what *w)
{
	uint64_t pair = (uint64_t)(uint32_t)w->src << 32 | (uint32_t)w->dst;
	uint64_t key = ct_mix((uint64_t)w->comm->index << 32 | w->tag);

	if (w->src != -1)
		key ^= ct_mix(pair + 1);
	return key + w->seq;
}

static struct ct_instance *find(const struct ct_match *match, const struct what *w, uint64_t key)
{
	struct ct_instance *i = ct_chains_get(&match->open, key);

	while (i && (i->comm != w->comm || i->seq != w->seq || i->src != w->src ||
		     i->dst != w->dst || i->tag != w->tag))
		i = ct_chains_same(i->by_key.next, key);
	return i;
}

static struct ct_instance *create(struct ct_match *match, const struct what *w, uint64_t key,
				  uint32_t n_expected)
{
	struct ct_instance *i = match->spare;

	if (i)
		match->spare = i->newer;
	else
		i = calloc(1, sizeof(*i));
	if (!i)
		return NULL;
	*i = (struct ct_instance){
		.comm = w->comm,
		.seq = w->seq,
		.src = w->src,
		.dst = w->dst,
		.tag = w->tag,
		.n_expected = n_expected,
		.cap = i->cap,
		.members = i->members,
		.older = match->newest,
	};
	if (ct_chains_put(&match->open, key, &i->by_key) != CT_OK) {
		i->newer = match->spare;
		match->spare = i;
		return NULL;
	}
	*(match->newest ? &match->newest->newer : &match->oldest) = i;
	match->newest = i;
	match->bytes += bytes_of(i);
	return i;
}

/* Members are as many as were seen, not as many as a file claims. */
static int append(struct ct_match *match, struct ct_instance *i, const struct ct_member *member)
{
	if (i->n == i->cap) {
		uint32_t cap = i->cap ? 2 * i->cap : i->n_expected < 4 ? i->n_expected : 4;
		struct ct_member *members;

		if (cap > i->n_expected)
			cap = i->n_expected;
		members = realloc(i->members, cap * sizeof(*members));
		if (!members)
			return CT_NOMEM;
		match->bytes += (cap - i->cap) * sizeof(*members);
		i->members = members;
		i->cap = cap;
	}
	i->members[i->n++] = *member;
	return CT_OK;
}

static int has_member(const struct ct_instance *i, uint32_t index)
{
	for (uint32_t m = 0; m < i->n; m++) {
		if (i->members[m].index == index)
			return 1;
	}
	return 0;
}

/* A number above all earlier ones of the member is new: that avoids most walks over members. */
static int may_be_there(const struct what *w, uint32_t index)
{
	uint64_t *reached;

	if (w->src != -1)
		return 1;
	reached = &w->comm->reached[index];
	if (w->seq < *reached)
		return 1;
	*reached = w->seq < UINT64_MAX ? w->seq + 1 : w->seq;
	return 0;
}

static int add(struct ct_match *match, const struct what *w, uint32_t n_expected,
	       const struct ct_member *member)
{
	uint64_t key = key_of(w);
	struct ct_instance *i = find(match, w, key);
	int again = may_be_there(w, member->index) && i && has_member(i, member->index);
	int st = CT_OK;

	/* The same member again: numbers restarted under the same key, so the pending instance
	 * never completes. */
	if (again) {
		st = release(match, i, 0);
		i = NULL;
	}
	if (st == CT_OK && !i) {
		i = create(match, w, key, n_expected);
		if (!i)
			return CT_NOMEM;
	}
	st = st ?: append(match, i, member);
	if (st == CT_OK && i->n == i->n_expected)
		st = release(match, i, 1);
	while (st == CT_OK && match->bytes > match->max_bytes)
		st = release(match, match->oldest, 0);
	return st;
}

int ct_match_collective(struct ct_match *match, struct ct_comm *comm, uint64_t seq,
			const struct ct_member *member)
{
	struct what w = { .comm = comm, .seq = seq, .src = -1, .dst = -1 };

	return add(match, &w, comm->nranks, member);
}

int ct_match_message(struct ct_match *match, struct ct_comm *comm, int32_t src, int32_t dst,
		     uint32_t tag, uint64_t seq, const struct ct_member *member)
{
	struct what w = { .comm = comm, .seq = seq, .src = src, .dst = dst, .tag = tag };

	return add(match, &w, 2, member);
}

int ct_match_exchange(struct ct_match *match, struct ct_comm *comm, uint64_t number,
		      const struct ct_member *member)
{
	struct what w = {
		.comm = comm, .seq = number, .src = CT_SRC_EXCHANGE, .dst = CT_SRC_EXCHANGE
	};

	return add(match, &w, comm->nranks, member);
}

int ct_match_finish(struct ct_match *match)
{
	int st = CT_OK;

	while (st == CT_OK && match->oldest)
		st = release(match, match->oldest, 0);
	return st;
}

size_t ct_match_waiting(const struct ct_match *match)
{
	size_t n = 0;

	for (const struct ct_instance *i = match->oldest; i; i = i->newer)
		n += i->n;
	return n;
}

uint64_t ct_instance_bytes(const struct ct_instance *i)
{
	uint64_t sum = 0;
	uint32_t known = 0;

	for (uint32_t m = 0; m < i->n; m++) {
		if (i->members[m].bytes == UINT64_MAX)
			continue;
		known++;
		if (__builtin_add_overflow(sum, i->members[m].bytes, &sum))
			sum = UINT64_MAX - 1;
	}
	return known ? sum / known : UINT64_MAX;
}

const struct ct_member *ct_instance_sized(const struct ct_instance *i)
{
	for (uint32_t m = 0; m < i->n; m++) {
		if (i->members[m].bytes != UINT64_MAX)
			return &i->members[m];
	}
	return &i->members[0];
}
