/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/watch/watcher.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "tools/commtrace/base/this_host.h"
#include "trace/clock.h"
#include "trace/ring_dir.h"

/* tuning: looks without a verdict before an event is resolved: one may have come too early. */
#define CLEAR_LOOKS 2
/* ---- the processes of ranks ---- */

static int is_visible(const struct ct_process_info *process)
{
	return process && process->id.pidns == ct_pidns_self() && ct_process_lives(&process->id);
}

/* The latest; of those of this host one that lives is before one that has ended: a rank's later
 * process may have been a short one that it started. */
static const struct ct_process_info *process_of(const struct ct_watcher *w, int rank)
{
	const struct ct_process_info *latest = NULL;

	for (size_t i = 0; i < w->run->n_processes; i++) {
		const struct ct_process_info *p = &w->run->processes[i];

		if (p->id.rank != rank)
			continue;
		if (!latest || is_visible(p) > is_visible(latest) ||
		    (is_visible(p) == is_visible(latest) &&
		     p->id.start_unix_ns > latest->id.start_unix_ns))
			latest = p;
	}
	return latest;
}

/* How much have the first ranks of the claim done? Ranks that one of them started work for
 * themselves. */
static int note_work(const struct ct_watcher *w, struct ct_watch_claim *claim)
{
	const size_t n = claim->n_ranks < CT_WATCH_RANKS ? claim->n_ranks : CT_WATCH_RANKS;
	uint32_t *others = calloc(w->run->n_processes + 1, sizeof(*others));
	size_t n_others = 0;

	if (!others)
		return CT_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct ct_process_info *process = process_of(w, claim->ranks[i]);

		claim->work[i].pid = is_visible(process) ? process->id.pid : 0;
	}
	for (size_t i = 0; i < w->run->n_processes; i++) {
		const struct ct_process_info *process = &w->run->processes[i];

		if (process->id.rank >= 0 && is_visible(process) &&
		    process == process_of(w, process->id.rank))
			others[n_others++] = process->id.pid;
	}
	ct_process_work(claim->work, n, others, n_others);
	free(others);
	return CT_OK;
}

/* ---- claims ---- */

static void forget(struct ct_watch_claim *claim)
{
	free(claim->ranks);
	*claim = (struct ct_watch_claim){ 0 };
}

static int set_claim(const struct ct_watcher *w, struct ct_watch_claim *claim,
		     const struct ct_hang_verdict *v)
{
	forget(claim);
	claim->ranks = calloc(v->n_ranks + 1u, sizeof(*claim->ranks));
	if (!claim->ranks)
		return CT_NOMEM;
	claim->is_set = 1;
	claim->code = v->code;
	claim->n_ranks = v->n_ranks;
	memcpy(claim->ranks, v->ranks, v->n_ranks * sizeof(*claim->ranks));
	return note_work(w, claim);
}

static int same_ranks(const struct ct_watch_claim *claim, const struct ct_hang_verdict *v)
{
	return claim->is_set && claim->n_ranks == v->n_ranks &&
	       memcmp(claim->ranks, v->ranks, v->n_ranks * sizeof(*v->ranks)) == 0;
}

/* A rank that left no record is not accused. */
static int is_sure(const struct ct_hang_verdict *v)
{
	return v->confidence >= CT_CONFIDENCE_MEDIUM && v->n_ranks &&
	       v->code != CT_HANG_IS_NO_TRACE && v->code != CT_HANG_IS_UNKNOWN;
}

/* The verdict that most ranks wait for, if it is sure enough; else a death, which is a fact
 * whatever the others wait for. */
static const struct ct_hang_verdict *sure_verdict(const struct ct_hang_run *hang)
{
	for (uint32_t i = 0; i < hang->result->n_verdicts; i++) {
		const struct ct_hang_verdict *v = &hang->result->verdicts[i];

		if (is_sure(v) && (i == 0 || v->code == CT_HANG_IS_DEAD_RANK))
			return v;
	}
	return NULL;
}

/* Its process is of another machine or container: whether it works is not visible, but it lives. */
static int may_work_elsewhere(const struct ct_watcher *w, int rank)
{
	const struct ct_process_info *process = process_of(w, rank);
	const struct ct_hang_rank *of = ct_hang_rank_of(&w->hang->hang_case, rank);

	return w->hang->running && process && of && of->heartbeat_age_ns < CT_WRITE_NS &&
	       (process->id.pidns != ct_pidns_self() || !ct_process_same_boot(&process->id));
}

/* Is a rank that never entered the operation at work? It may come yet. */
static int is_at_work(const struct ct_watcher *w, const struct ct_watch_claim *before,
		      const struct ct_watch_claim *now, const struct ct_hang_verdict *v,
		      uint64_t apart_ns)
{
	if (v->code != CT_HANG_IS_NEVER_ENTERED ||
	    (v->age_ns != CT_UNKNOWN && v->age_ns > w->busy_after_ns))
		return 0;
	for (uint32_t i = 0; i < v->n_ranks && i < CT_WATCH_RANKS; i++) {
		if (ct_process_has_worked(&before->work[i], &now->work[i], apart_ns) ||
		    may_work_elsewhere(w, v->ranks[i]))
			return 1;
	}
	return 0;
}

/* ---- looks ---- */

static void close_look(struct ct_watcher *w)
{
	ct_arena_free(w->memory);
	ct_run_close(w->run);
	w->memory = NULL;
	w->run = NULL;
	w->hang = NULL;
	w->verdict = NULL;
}

static int open_look(struct ct_watcher *w, struct ct_err *err)
{
	const struct ct_hang_options options = { .restart = -1, .adaptive = 1 };
	const char *ring_dirs[4];
	const struct ct_run_options where = { .ring_dirs = ring_dirs };
	int st;

	ct_host_ring_dirs(w->ring_dir, ring_dirs);
	st = ct_run_open(&w->dir, 1, &where, &w->run, err);
	if (st != CT_OK) {
		w->run = NULL;
		return st == CT_EMPTY ? CT_OK : st;
	}
	st = ct_elsewhere_note(&w->elsewhere, w->run, ct_clock_ns(CLOCK_MONOTONIC),
			       ct_clock_ns(CLOCK_REALTIME), &w->n_visible, &w->n_elsewhere);
	w->memory = ct_arena_new();
	if (st != CT_OK || !w->memory)
		return CT_NOMEM;
	return ct_hang_of_run(w->run, &options, w->memory, &w->hang, err);
}

static enum ct_watch_kind kind_of(const struct ct_hang_verdict *v)
{
	return v->code == CT_HANG_IS_DEAD_RANK || v->code == CT_HANG_IS_EXITED_RANK ? CT_WATCH_CRASH
										    : CT_WATCH_HANG;
}

static int note_verdict(struct ct_watcher *w, const struct ct_hang_verdict *v, int is_over,
			uint64_t apart_ns, enum ct_watch_kind *kind)
{
	struct ct_watch_claim now = { 0 };
	int st = set_claim(w, &now, v), confirmed;

	if (st != CT_OK)
		return st;
	w->clear_looks = 0;
	confirmed = same_ranks(&w->seen, v) && w->seen.code == v->code &&
		    (is_over || !is_at_work(w, &w->seen, &now, v, apart_ns));
	forget(&w->seen);
	w->seen = now;
	/* What follows from an event that was reported names the same ranks. */
	if (!confirmed || same_ranks(&w->reported, v))
		return CT_OK;
	st = set_claim(w, &w->reported, v);
	w->verdict = v;
	w->left_ns = 0;
	*kind = kind_of(v);
	return st;
}

void ct_watcher_leave(struct ct_watcher *w, uint64_t now_ns)
{
	w->left_ns = now_ns;
}

enum ct_watch_kind ct_watcher_take_over(struct ct_watcher *w, uint64_t now_ns)
{
	const struct ct_hang_verdict *v = w->hang ? sure_verdict(w->hang) : NULL;

	if (!w->left_ns || now_ns - w->left_ns < w->takeover_ns || !v ||
	    !same_ranks(&w->reported, v) || w->reported.code != v->code)
		return CT_WATCH_NOTHING;
	w->left_ns = 0;
	w->takes_over = 1;
	w->verdict = v;
	return kind_of(v);
}

int ct_watcher_look(struct ct_watcher *w, int is_over, uint64_t apart_ns, enum ct_watch_kind *kind,
		    struct ct_err *err)
{
	const struct ct_hang_verdict *v;
	int st;

	*kind = CT_WATCH_NOTHING;
	close_look(w);
	w->takes_over = 0;
	st = open_look(w, err);
	if (st != CT_OK || !w->hang)
		return st;
	v = sure_verdict(w->hang);
	if (v)
		return note_verdict(w, v, is_over, apart_ns, kind);
	forget(&w->seen);
	/* A job that was ended has not recovered, and less certainty is not a recovery. */
	if (!w->reported.is_set || w->hang->result->n_verdicts || w->hang->state == CT_JOB_KILLED ||
	    w->hang->state == CT_JOB_INTERRUPTED || ++w->clear_looks < CLEAR_LOOKS)
		return CT_OK;
	forget(&w->reported);
	*kind = CT_WATCH_RESOLVED;
	return CT_OK;
}

int ct_watcher_doubts(const struct ct_watcher *w)
{
	return w->seen.is_set ? !w->reported.is_set : w->reported.is_set && w->clear_looks > 0;
}

static int is_here(const struct ct_watcher *w, const struct ct_process_info *process)
{
	return w->host && w->host[0]
		       ? strncmp(process->id.host, w->host, sizeof(process->id.host) - 1) == 0
		       : ct_process_same_boot(&process->id);
}

static int is_same_host(const struct ct_process_info *a, const struct ct_process_info *b)
{
	return strncmp(a->id.host, b->id.host, sizeof(a->id.host)) == 0;
}

int ct_watcher_is_ours(const struct ct_watcher *w)
{
	const struct ct_hang_verdict *v = w->verdict;
	const struct ct_process_info *at_fault = v ? process_of(w, v->ranks[0]) : NULL, *waits;

	if (at_fault && !w->takes_over)
		return is_here(w, at_fault);
	for (uint32_t i = 0; v && i < v->n_victims; i++) {
		waits = process_of(w, v->victims[i]);
		if (waits && !(at_fault && is_same_host(waits, at_fault)))
			return is_here(w, waits);
	}
	return 0;
}

void ct_watcher_fini(struct ct_watcher *w)
{
	close_look(w);
	forget(&w->seen);
	forget(&w->reported);
	ct_elsewhere_fini(&w->elsewhere);
}
