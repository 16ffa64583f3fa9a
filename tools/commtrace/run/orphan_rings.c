/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/run/orphan_rings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/say.h"
#include "trace/clock.h"
#include "trace/path.h"
#include "trace/ring_dir.h"
#include "trace/ring_read.h"
#include "trace/text.h"

#define MS_NS 1000000ull /* fact: ns in one */
/* size: launchers return up to 2 s before their ranks; looks come soon at first, then 20 a second. */
#define PATIENCE_NS (2000 * MS_NS)
#define LONGEST_NAP_NS (50 * MS_NS)
#define MOST_ANCESTORS 64 /* size: launchers and shells are about ten */

struct orphan_search {
	const struct ct_run_id *run;
	struct ct_orphan_rings *orphans;
};

/* The lowest ranks, in order. */
static void add_rank(struct ct_orphan_rings *r, int rank)
{
	uint32_t n = r->living < CT_ORPHAN_RINGS_RANKS ? r->living : CT_ORPHAN_RINGS_RANKS, at = n;

	if (n == CT_ORPHAN_RINGS_RANKS && rank >= r->ranks[--at])
		return;
	for (; at && r->ranks[at - 1] > rank; at--)
		r->ranks[at] = r->ranks[at - 1];
	r->ranks[at] = rank;
}

int ct_is_of_another_run(const struct ct_process *process)
{
	pid_t pid = (pid_t)process->pid;

	if (process->pidns != ct_pidns_self())
		return 0;
	for (int i = 0; i < MOST_ANCESTORS && (pid = ct_pid_parent(pid)) > 1; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
		if (pid != getpid() && ct_path_is_same(path, "/proc/self/exe"))
			return 1;
	}
	return 0;
}

static int look_at(const char *path, void *arg)
{
	struct orphan_search *search = arg;
	struct ct_orphan_rings *r = search->orphans;
	struct ct_ring_header header;
	int lives;

	if (ct_ring_header_read(path, &header, &lives, NULL) != CT_OK ||
	    !ct_run_id_same(search->run, &header.process.run))
		return 0;
	if (lives && ct_is_of_another_run(&header.process))
		return 0;
	if (lives) {
		add_rank(r, header.process.rank);
		r->living++;
	} else {
		r->dead++;
	}
	return 0;
}

void ct_orphan_rings_collect(const char *const *ring_dirs, const struct ct_run_id *run,
			     struct ct_orphan_rings *orphans)
{
	struct orphan_search search = { .run = run, .orphans = orphans };
	uint64_t until = ct_clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS, nap = 2 * MS_NS;
	struct ct_collected collected;

	for (;;) {
		struct timespec pause = { .tv_nsec = (long)nap };

		*orphans = (struct ct_orphan_rings){ 0 };
		ct_ring_dir_collect(ring_dirs, run, &collected);
		ct_ring_dir_scan(ring_dirs, look_at, &search);
		if ((!orphans->living && !orphans->dead) || ct_clock_ns(CLOCK_MONOTONIC) >= until)
			break;
		nanosleep(&pause, NULL);
		nap = nap * 2 < LONGEST_NAP_NS ? nap * 2 : LONGEST_NAP_NS;
	}
	snprintf(orphans->why_kept, sizeof(orphans->why_kept), "%s", collected.why_kept);
}

/* "rank 3", "ranks 0, 1 and 2", "12 ranks (0, 1, 2, 3, 4, 5, 6, 7, ...)", or "2 processes" where
 * some are not known. */
static void put_who(char *text, size_t size, const struct ct_orphan_rings *r)
{
	uint32_t n = r->living < CT_ORPHAN_RINGS_RANKS ? r->living : CT_ORPHAN_RINGS_RANKS;
	int is_all = n == r->living;
	size_t at;

	if (r->ranks[0] < 0) {
		snprintf(text, size, "%" PRIu32 " process%s", r->living,
			 r->living == 1 ? "" : "es");
		return;
	}
	if (is_all)
		at = (size_t)snprintf(text, size, "rank%s %d", n == 1 ? "" : "s", r->ranks[0]);
	else
		at = (size_t)snprintf(text, size, "%" PRIu32 " ranks (%d", r->living, r->ranks[0]);
	for (uint32_t i = 1; i < n && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%d",
				       is_all && i + 1 == n ? " and " : ", ", r->ranks[i]);
	if (!is_all && at < size)
		snprintf(text + at, size - at, ", ...)");
}

void ct_orphan_rings_say(const struct ct_orphan_rings *r, const char *shown)
{
	char who[160], run[1024];

	if (!ct_text_quote(run, sizeof(run), shown))
		strcpy(run, "RUN");
	if (r->living) {
		put_who(who, sizeof(who), r);
		ct_say("%s still run%s: when %s, commtrace collect %s", who,
		       r->living == 1 ? "s" : "",
		       r->living == 1 ? "it has ended" : "they have ended", run);
	}
	if (r->dead) {
		ct_warn("%" PRIu32 " ring%s of this run not brought into it%s%s", r->dead,
			r->dead == 1 ? "" : "s", r->why_kept[0] ? ": " : "", r->why_kept);
		ct_hint("what can be brought: commtrace collect %s", run);
	}
}
