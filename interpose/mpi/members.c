/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/members.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "interpose/hash.h"
#include "interpose/mpi/flavour.h"
#include "interpose/recorder.h"
#include "trace/pages.h"

/* size: different sets of members in the life of a process; no slot is ever given back. Most
 * programs have tens of them, however many communicators they make. */
#define SETS 8192u
#define PART 64 /* size: ranks that are translated at a time, on the stack */
#define UNKNOWN_RANK INT32_MAX

struct member_set {
	_Atomic uint64_t hash; /* 0: free; set once */
	_Atomic uint32_t made;
};

static struct member_set *sets;
static uint64_t world_hash;   /* of the job and of this world in it */
static uint64_t process_hash; /* this process's own */
static int world_is_named;

static _Atomic ct_mpi_handle a_session; /* 0: none */
static _Atomic uint32_t n_sessions;

static _Atomic uint64_t n_met;

int ct_mpi_members_init(const char *job, const char *world, uint64_t process)
{
	void *map = ct_pages_map(SETS * sizeof(*sets));

	if (!map)
		return CT_NOMEM;
	sets = map;
	process_hash = process;
	world_is_named = world != NULL;
	world_hash = ct_fnv_text(CT_HASH_START, job);
	if (world)
		world_hash = ct_fnv_text(world_hash, world);
	return CT_OK;
}

uint32_t ct_mpi_sessions(void)
{
	return atomic_load_explicit(&n_sessions, memory_order_relaxed);
}

void ct_mpi_sessions_count(int more)
{
	atomic_fetch_add_explicit(&n_sessions, (uint32_t)more, memory_order_relaxed);
}

void ct_mpi_sessions_know(ct_mpi_handle session)
{
	atomic_store_explicit(&a_session, session, memory_order_relaxed);
}

void ct_mpi_sessions_forget(ct_mpi_handle session)
{
	atomic_compare_exchange_strong_explicit(&a_session, &session, 0, memory_order_relaxed,
						memory_order_relaxed);
}

int ct_mpi_has_world(void)
{
	int flag = 0, over = 0;

	return ct_mpi.call.Initialized(&flag) == CT_MPI_SUCCESS && flag &&
	       ct_mpi.call.Finalized(&over) == CT_MPI_SUCCESS && !over;
}

/* A group in memory as wide as any handle. */
typedef uint64_t group_memory;

static ct_mpi_handle group_in(const group_memory *group)
{
	return ct_mpi_handle_at(group, 0);
}

/* The group of MPI_COMM_WORLD, to be freed; 0: it cannot be had. */
static int find_world(group_memory *world)
{
	ct_mpi_handle session = atomic_load_explicit(&a_session, memory_order_relaxed);

	*world = 0;
	if (ct_mpi_has_world())
		return ct_mpi.call.Comm_group(ct_mpi.is.COMM_WORLD, world) == CT_MPI_SUCCESS;
	return session && ct_mpi.call.Group_from_session_pset &&
	       ct_mpi.call.Group_from_session_pset(session, "mpi://WORLD", world) == CT_MPI_SUCCESS;
}

/* A group of an MPI object, in terms of the world if that can be had. */
struct group_ranks {
	uint64_t hash;
	uint32_t n;
	int32_t first; /* world rank of its first member, UNKNOWN_RANK */
	int is_foreign;
};

static int read_group(const group_memory *group, const group_memory *world, struct group_ranks *g)
{
	int in[PART], out[PART], n = 0;

	*g = (struct group_ranks){ .hash = CT_HASH_START, .first = UNKNOWN_RANK };
	if (ct_mpi.call.Group_size(group_in(group), &n) != CT_MPI_SUCCESS || n < 0)
		return 0;
	g->n = (uint32_t)n;
	for (int from = 0; from < n; from += PART) {
		int part = n - from < PART ? n - from : PART;

		for (int i = 0; i < part; i++)
			in[i] = from + i;
		if (!world)
			memset(out, -1, sizeof(out));
		else if (ct_mpi.call.Group_translate_ranks(group_in(group), part, in,
							   group_in(world), out) != CT_MPI_SUCCESS)
			return 0;
		for (int i = 0; i < part; i++) {
			int is_known = out[i] >= 0;

			g->is_foreign |= !is_known;
			g->hash = ct_hash_mix(g->hash, is_known ? (uint32_t)out[i] : UINT32_MAX);
		}
		if (from == 0 && out[0] >= 0)
			g->first = out[0];
	}
	return 1;
}

static void free_group(group_memory *group)
{
	if (*group && !ct_mpi_is(group_in(group), ct_mpi.is.GROUP_NULL))
		ct_mpi.call.Group_free(group);
}

static void join(struct ct_mpi_members *m, const struct group_ranks *own,
		 const struct group_ranks *far, int32_t rank, int is_unranked)
{
	const struct group_ranks *first = far && far->first < own->first ? far : own;

	*m = (struct ct_mpi_members){
		.hash = own->hash, .n = own->n, .rank = rank, .is_unranked = is_unranked
	};
	m->is_foreign = own->is_foreign || (far && far->is_foreign);
	if (!far)
		return;
	m->hash = ct_hash_mix(ct_hash_mix(first->hash, (first == own ? far : own)->hash), first->n);
	m->n = own->n + far->n;
	m->n_remote = far->n;
	m->rank = rank + (int32_t)(first == far ? far->n : 0);
	m->first_peer = first == own ? own->n : 0;
}

int ct_mpi_members_of_comm(ct_mpi_handle comm, struct ct_mpi_members *members)
{
	group_memory world = 0, own = 0, far = 0;
	struct group_ranks own_ranks, far_ranks;
	int saved = errno, inter = 0, rank = -1, ok;
	const group_memory *in = find_world(&world) ? &world : NULL;

	ok = ct_mpi.call.Comm_test_inter(comm, &inter) == CT_MPI_SUCCESS &&
	     ct_mpi.call.Comm_rank(comm, &rank) == CT_MPI_SUCCESS && rank >= 0 &&
	     ct_mpi.call.Comm_group(comm, &own) == CT_MPI_SUCCESS &&
	     (!inter || ct_mpi.call.Comm_remote_group(comm, &far) == CT_MPI_SUCCESS) &&
	     read_group(&own, in, &own_ranks) && (!inter || read_group(&far, in, &far_ranks));
	if (ok)
		join(members, &own_ranks, inter ? &far_ranks : NULL, rank, !in);
	free_group(&far);
	free_group(&own);
	free_group(&world);
	errno = saved;
	return ok;
}

int ct_mpi_members_of_win(ct_mpi_handle win, struct ct_mpi_members *members)
{
	group_memory world = 0, own = 0;
	struct group_ranks ranks;
	int saved = errno, rank = -1, ok;
	const group_memory *in = find_world(&world) ? &world : NULL;

	ok = ct_mpi.call.Win_get_group(win, &own) == CT_MPI_SUCCESS &&
	     ct_mpi.call.Group_rank(group_in(&own), &rank) == CT_MPI_SUCCESS && rank >= 0 &&
	     read_group(&own, in, &ranks);
	if (ok)
		join(members, &ranks, NULL, rank, !in);
	free_group(&own);
	free_group(&world);
	errno = saved;
	return ok;
}

/* The slot of a set, taken if it is new; NULL: all are taken. */
static struct member_set *claim_set(uint64_t hash)
{
	hash = hash ? hash : 1;
	for (uint32_t i = 0; i < SETS; i++) {
		struct member_set *s = &sets[(hash + i) % SETS];
		uint64_t held = 0;

		if (atomic_compare_exchange_strong_explicit(
			    &s->hash, &held, hash, memory_order_relaxed, memory_order_relaxed) ||
		    held == hash)
			return s;
	}
	return NULL;
}

/* Started by a process of another world, without anything that distinguishes the worlds of a job. */
static int is_nameless_child(void)
{
	uint64_t parent = 0;

	return !world_is_named && ct_mpi_has_world() &&
	       ct_mpi.call.Comm_get_parent(&parent) == CT_MPI_SUCCESS &&
	       !ct_mpi_is(ct_mpi_handle_at(&parent, 0), ct_mpi.is.COMM_NULL);
}

uint64_t ct_mpi_members_key(const struct ct_mpi_members *members, enum ct_mpi_kind kind,
			    enum ct_key_source *source)
{
	uint64_t hash = ct_hash_mix(members->hash, (uint64_t)kind);
	struct member_set *set = claim_set(hash);
	uint64_t key = ct_hash_mix(world_hash, hash);
	int saved = errno;

	if (set) {
		key = ct_hash_mix(key,
				  atomic_fetch_add_explicit(&set->made, 1, memory_order_relaxed));
	} else {
		ct_ring_lose(&ct_recorder.ring, CT_LOSS_MPI_SETS_FULL, 1);
		key = ct_hash_mix(key, ct_now_ns());
	}
	*source = set && !members->is_foreign ? CT_KEY_LIBRARY : CT_KEY_GUESSED;
	if (!set || members->is_unranked || is_nameless_child()) {
		key = ct_hash_mix(key, process_hash);
		*source = CT_KEY_GUESSED;
	}
	/* No other rank must agree. Processes not started as one job are worlds of one rank each,
	 * and all are rank 0 of theirs. */
	if (members->n == 1 && !members->n_remote)
		key = ct_hash_mix(key, process_hash);
	errno = saved;
	return key ? key : 1;
}

uint64_t ct_mpi_members_key_met(const struct ct_mpi_members *members, enum ct_key_source *source)
{
	uint64_t n = atomic_fetch_add_explicit(&n_met, 1, memory_order_relaxed);
	uint64_t key = ct_hash_mix(
		ct_hash_mix(ct_hash_mix(world_hash, members->hash), process_hash), n);

	*source = CT_KEY_GUESSED;
	return key ? key : 1;
}
