/* SPDX-License-Identifier: Apache-2.0 */
/* watcher.h — looks at a run from outside, again and again, and reports what it is sure of.
 *
 * A look opens the run, reads the ends of its files and the rings of this host, and judges with the
 * engine of `commtrace hang`. A verdict becomes an event if it has at least medium confidence, a
 * second look finds the same verdict and ranks, and no rank at fault is at work meanwhile, nor a
 * process that it started: computing, reading or writing. A job in evaluation, or at a checkpoint,
 * is at work. So may a rank be that lives on another machine or in another container, where its
 * work is not visible. Once two looks find no verdict any more, it is resolved. Nothing is written
 * and no process of the job is touched. One thread. */
#ifndef CT_TOOLS_COMMTRACE_WATCH_WATCHER_H
#define CT_TOOLS_COMMTRACE_WATCH_WATCHER_H

#include "analyzer/hang/hang.h"
#include "tools/commtrace/watch/elsewhere.h"
#include "tools/commtrace/watch/process_work.h"

enum ct_watch_kind {
	CT_WATCH_NOTHING,
	CT_WATCH_HANG,
	CT_WATCH_CRASH, /* a rank died */
	CT_WATCH_RESOLVED,
};

/* size: ranks at fault whose progress is followed, the first of the verdict */
#define CT_WATCH_RANKS 16u

struct ct_watch_claim {
	int is_set;
	enum ct_hang_code code;
	int *ranks; /* owned */
	uint32_t n_ranks;
	struct ct_process_work work[CT_WATCH_RANKS];
};

struct ct_watcher {
	const char *dir;      /* of the run, borrowed */
	const char *ring_dir; /* COMMTRACE_RING_DIR of the job; NULL: this environment's, or the
				 default */
	const char *
		host; /* COMMTRACE_HOST of this host's part of the job; NULL: as the machine says */
	uint64_t takeover_ns; /* so long after it was left to another host, an event is this one's,
				 too */
	uint64_t busy_after_ns; /* a rank that is at work for so long counts as stuck, too */

	/* of the latest look; they hold until the next one */
	struct ct_run *run; /* NULL: nothing recorded yet */
	struct ct_arena *memory;
	struct ct_hang_run *hang;	       /* NULL likewise */
	const struct ct_hang_verdict *verdict; /* of the event; NULL: none */
	int takes_over;			 /* the host of the rank at fault has not acted on it */
	uint32_t n_visible, n_elsewhere; /* processes: visible here, and running elsewhere */

	/* private */
	struct ct_watch_claim seen;	/* by the latest look */
	struct ct_watch_claim reported; /* the event that is not resolved */
	int clear_looks;
	struct ct_elsewhere elsewhere;
	uint64_t left_ns; /* when the event was left to another host; 0: it was not */
};

/* One look, `apart_ns` after the one before. `is_over`: the job has ended, so no rank is at work.
 * CT_OK with *kind, or why it could not look. */
int ct_watcher_look(struct ct_watcher *watcher, int is_over, uint64_t apart_ns,
		    enum ct_watch_kind *kind, struct ct_err *err);

/* The event is another host's to act on; `now_ns` is of any clock. */
void ct_watcher_leave(struct ct_watcher *watcher, uint64_t now_ns);

/* After a look: has the other host not acted for takeover_ns, while the verdict is the same? Then
 * the kind of the event, again, once; else CT_WATCH_NOTHING. */
enum ct_watch_kind ct_watcher_take_over(struct ct_watcher *watcher, uint64_t now_ns);

/* Shall the next look come soon, to confirm? */
int ct_watcher_doubts(const struct ct_watcher *watcher);

/* Is an event for this host to act on? That of the first rank at fault, or if that is unknown, of
 * the first that waits. If it takes over: the host of the first that waits on another host than the
 * rank at fault. */
int ct_watcher_is_ours(const struct ct_watcher *watcher);

void ct_watcher_fini(struct ct_watcher *watcher);

#endif
