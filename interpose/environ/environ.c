/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/environ/environ.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "interpose/account.h"
#include "interpose/clear.h"
#include "interpose/environ/chain.h"
#include "interpose/environ/objects.h"
#include "interpose/environ/program.h"
#include "interpose/environ/system.h"
#include "interpose/environ/uninterposed.h"
#include "interpose/recorder.h"
#include "interpose/threads.h"
#include "trace/clock.h"
#include "trace/invisible.h"
#include "trace/topology.h"

/* size: between two looks at whether anything new was loaded: at first, and at last. Programs may
 * be short, and what is not known when they end stays so in part. A new GPU brings libraries. */
#define FIRST_LOOK_NS (CT_SECOND_NS / 2)
#define LAST_LOOK_NS (60 * CT_SECOND_NS)
#define NEW_GPU_NS (CT_SECOND_NS / 5)
/* size: of the time that the first thread waits for processors: looked at so often, reported when
 * it has changed by a quarter, so many times: lists of facts only grow. */
#define WAITED_NS (10 * CT_SECOND_NS)
#define MOST_WAITED 64u
/* size: a program that loads and unloads forever is not inspected forever. */
#define MOST_LOOKS 64u

enum { VARIABLES, SYSTEM, GPUS, UNSEEN, WATCH, MPI, MPI_UNSEEN };
_Static_assert(MPI_UNSEEN + 1 == CT_ENVIRON_LISTS, "a position for each list");

static struct ct_facts lists[CT_ENVIRON_LISTS];
const char *ct_environ_root = "";

static struct look {
	_Atomic uint32_t busy;	/* 1 while the thread is on its way */
	_Atomic uint32_t alone; /* 1: no thread is started any more */
	_Atomic(const char *) doing;
	/* the write thread's */
	uint64_t asked_at, begun_at, wait_ns;
	uint64_t stamp; /* of the loaded objects, when the last look-around began */
	uint32_t gpus_used;
	uint32_t looks;
	int reported_stuck;
	uint64_t waited_base_ns, waited_since,
		waited_at; /* UINT64_MAX, or since when; 0: not yet */
	uint64_t waited_ppm;
	uint32_t n_waited;
	/* the look-around's, from one to the next */
	struct ct_objects_reported reported;
	uint32_t gpus_at;
	int system_done;
} look;

static const char *const allowed[] = {
#define ENV_ALLOW(PATTERN) PATTERN,
#include "interpose/environ/environ.def"
};

static const char *const secrets[] = {
#define ENV_SECRET(WORD) WORD,
#include "interpose/environ/environ.def"
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static int matches(const char *pattern, const char *name, size_t len)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return len >= n - 1 && strncmp(name, pattern, n - 1) == 0;
	return len == n && strncmp(name, pattern, n) == 0;
}

static int is_secret(const char *name, const char *value)
{
	for (size_t i = 0; i < ROWS(secrets); i++)
		if (strcasestr(name, secrets[i]))
			return 1;
	/* a password inside an address, in any form */
	return strchr(value, '@') != NULL;
}

/* In the order of the table: what matters most comes first if there is no space for all. */
void ct_environ_read(char *const *env)
{
	char key[CT_FACT_KEY] = "env.";

	ct_clear(&look, sizeof(look));
	for (unsigned i = 0; i < CT_ENVIRON_LISTS; i++)
		ct_facts_clear(&lists[i]);
	for (size_t row = 0; row < ROWS(allowed); row++) {
		for (char *const *e = env; e && *e; e++) {
			const char *equals = strchr(*e, '=');
			size_t len = equals ? (size_t)(equals - *e) : 0;

			if (!len || !matches(allowed[row], *e, len))
				continue;
			if (len >= sizeof(key) - 4) {
				atomic_fetch_add_explicit(&lists[VARIABLES].left_out, 1,
							  memory_order_relaxed);
				continue;
			}
			memcpy(key + 4, *e, len);
			key[4 + len] = '\0';
			if (!is_secret(key, equals + 1))
				ct_facts_add(&lists[VARIABLES], key, equals + 1);
		}
	}
	if (atomic_load_explicit(&lists[VARIABLES].left_out, memory_order_relaxed))
		ct_facts_addf(&lists[WATCH], "env_left_out", "%u",
			      atomic_load_explicit(&lists[VARIABLES].left_out,
						   memory_order_relaxed));
}

/* ---- MPI ---- */

void ct_environ_mpi(const char *flavour, const char *version, const void *function)
{
	char line[CT_FACT_VALUE + 1];
	size_t len = strcspn(version, "\r\n");
	struct ct_elf_object object;
	int has_path;

	snprintf(line, sizeof(line), "%.*s", (int)(len < sizeof(line) ? len : sizeof(line) - 1),
		 version);
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = ' ';
	if (line[0])
		ct_facts_add(&lists[MPI], "lib.mpi.version", line);
	if (flavour) {
		ct_facts_add(&lists[MPI], "lib.mpi.flavour", flavour);
		return;
	}
	has_path = ct_chain_find((uintptr_t)function, &object) && object.path[0];
	ct_facts_add(&lists[MPI_UNSEEN], ct_invisible_rows[CT_INVISIBLE_MPI_UNKNOWN].id,
		     has_path ? object.path : line);
}

/* ---- GPUs ---- */

struct ct_facts *ct_environ_gpus(void)
{
	return &lists[GPUS];
}

/* Where the GPUs that came since the last time are plugged in. */
static void look_at_gpus(struct look *l)
{
	const char *entry;

	while ((entry = ct_facts_next(&lists[GPUS], &l->gpus_at))) {
		const char *pci = strstr(entry, ".pci=");
		unsigned n;

		if (pci && sscanf(entry, "gpu.%u.pci=", &n) == 1)
			ct_topology_gpu(ct_environ_root, n, pci + strlen(".pci="), &lists[SYSTEM]);
	}
}

/* ---- the look-around ---- */

static void doing(struct look *l, const char *what)
{
	atomic_store_explicit(&l->doing, what, memory_order_relaxed);
}

/* What can hang comes late, what hangs most likely last. */
static void *look_around(void *arg)
{
	struct look *l = arg;

	ct_thread_settle();
	if (!l->system_done) {
		doing(l, "what the kernel says of this process");
		ct_program_read(ct_environ_root, &lists[SYSTEM]);
		ct_system_read(ct_environ_root, &lists[SYSTEM]);
	}
	doing(l, "the loaded objects");
	ct_objects_look(&l->reported, &lists[SYSTEM], &lists[UNSEEN], UINT64_MAX);
	doing(l, "the loader");
	ct_objects_versions(&l->reported, &lists[SYSTEM]);
	doing(l, "the constants of NCCL");
	ct_objects_settings(&l->reported, &lists[VARIABLES], &lists[SYSTEM]);
	doing(l, "the GPUs in /sys");
	look_at_gpus(l);
	if (!l->system_done) {
		l->system_done = 1;
		doing(l, "the network devices in /sys");
		ct_topology_nics(ct_environ_root, &lists[SYSTEM]);
		doing(l, "the InfiniBand devices in /sys");
		ct_topology_infiniband(ct_environ_root, &lists[SYSTEM]);
	}
	doing(l, NULL);
	ct_account_end(CT_OURS_AROUND);
	atomic_store_explicit(&l->busy, 0, memory_order_release);
	return NULL;
}

static void start_look(struct look *l, uint64_t now, uint64_t stamp)
{
	l->stamp = stamp;
	l->gpus_used = atomic_load_explicit(&lists[GPUS].used, memory_order_relaxed);
	l->begun_at = now;
	l->looks++;
	atomic_store_explicit(&l->busy, 1, memory_order_relaxed);
	if (ct_thread_start(look_around, l) != 0) {
		atomic_store_explicit(&l->busy, 0, memory_order_relaxed);
		l->looks = MOST_LOOKS;
	}
}

/* The part of a look-around that never blocks, on the calling thread. */
static void look_from_here(struct look *l, uint64_t stamp, uint64_t until)
{
	l->stamp = stamp;
	l->looks++;
	if (!ct_objects_look(&l->reported, &lists[SYSTEM], &lists[UNSEEN], until))
		ct_facts_add(&lists[WATCH], "unanswered", "some of the loaded objects");
}

static int has_news(const struct look *l, uint64_t stamp)
{
	return stamp != l->stamp || l->reported.unbound ||
	       (ct_uninterposed_gloo() && !l->reported.unheard);
}

void ct_environ_unshared(void)
{
	atomic_store_explicit(&look.alone, 1, memory_order_relaxed);
}

int ct_environ_is_looking(void)
{
	return atomic_load_explicit(&look.busy, memory_order_acquire) != 0;
}

/* Millionths of the time since recording began. */
static void look_at_waits(struct look *l, uint64_t now, int is_last)
{
	uint64_t waited, ppm;

	if (!l->waited_since) {
		l->waited_since = l->waited_at = now;
		l->waited_base_ns = ct_system_waited_ns(ct_environ_root);
		return;
	}
	if (now <= l->waited_since || (!is_last && now - l->waited_at < WAITED_NS))
		return;
	l->waited_at = now;
	waited = ct_system_waited_ns(ct_environ_root);
	if (waited == UINT64_MAX || waited < l->waited_base_ns)
		return;
	ppm = (uint64_t)(1e6 * (double)(waited - l->waited_base_ns) /
			 (double)(now - l->waited_since));
	if (l->n_waited && !is_last &&
	    (l->n_waited >= MOST_WAITED ||
	     (4 * ppm <= 5 * l->waited_ppm && 5 * ppm >= 4 * l->waited_ppm)))
		return;
	l->n_waited++;
	l->waited_ppm = ppm;
	ct_facts_addf(&lists[WATCH], "cpu.waited_ppm", "%llu", (unsigned long long)ppm);
}

void ct_environ_serve(uint64_t now)
{
	struct look *l = &look;
	uint64_t stamp;
	int new_gpus;

	look_at_waits(l, now, 0);
	if (ct_environ_is_looking()) {
		const char *what = atomic_load_explicit(&l->doing, memory_order_relaxed);

		if (!l->reported_stuck && now - l->begun_at > CT_ENVIRON_STUCK_NS) {
			l->reported_stuck = 1;
			ct_facts_add(&lists[WATCH], "unanswered", what ? what : "?");
		}
		return;
	}
	new_gpus = !atomic_load_explicit(&l->alone, memory_order_relaxed) &&
		   l->gpus_used != atomic_load_explicit(&lists[GPUS].used, memory_order_relaxed);
	if (l->looks >= MOST_LOOKS ||
	    (l->looks && now - l->asked_at < (new_gpus ? NEW_GPU_NS : l->wait_ns)))
		return;
	l->asked_at = now;
	l->wait_ns = l->looks ? 2 * l->wait_ns : FIRST_LOOK_NS;
	if (l->wait_ns > LAST_LOOK_NS)
		l->wait_ns = LAST_LOOK_NS;
	stamp = ct_chain_stamp();
	if (!l->looks || new_gpus || has_news(l, stamp)) {
		if (atomic_load_explicit(&l->alone, memory_order_relaxed))
			look_from_here(l, stamp, now + CT_SECOND_NS);
		else
			start_look(l, now, stamp);
	}
}

/* A program that ended before the next look: objects loaded since are reported, facts that need
 * queries are not. */
void ct_environ_finish(uint64_t timeout_ns)
{
	const struct timespec nap = { 0, 1000000 };
	uint64_t until = ct_now_ns() + timeout_ns, stamp;
	struct look *l = &look;

	look_at_waits(l, ct_now_ns(), 1);
	while (!l->reported_stuck && ct_environ_is_looking() && ct_now_ns() < until)
		nanosleep(&nap, NULL);
	if (ct_environ_is_looking())
		return;
	stamp = ct_chain_stamp();
	if (has_news(l, stamp))
		look_from_here(l, stamp, until);
}

void ct_environ_report(const char *key, const char *value)
{
	ct_facts_add(&lists[VARIABLES], key, value);
}

void ct_environ_watch(const char *key, const char *value)
{
	ct_facts_add(&lists[WATCH], key, value);
}

int ct_environ_add(struct ct_environ_seen *seen, struct ct_block *block, int all)
{
	for (unsigned i = 0; i < CT_ENVIRON_LISTS; i++) {
		uint32_t at = all ? 0 : seen->at[i];
		const char *entry;

		while ((entry = ct_facts_next(&lists[i], &at))) {
			int st = ct_block_add_rare(
				block,
				i == UNSEEN || i == MPI_UNSEEN ? CT_KIND_INVISIBLE : CT_KIND_ENV,
				entry, strlen(entry));

			if (st != CT_OK)
				return st;
		}
		seen->at[i] = at;
	}
	return CT_OK;
}
