/* SPDX-License-Identifier: Apache-2.0 */
/* exit_cause.h — how each process of a run ended, as far as blame goes: who failed first (lives.c), and how the job stands because of
 * that (lives_state.c). Working state of gather.h, one thread; not for others. */
#ifndef CT_HANG_LIVES_H
#define CT_HANG_LIVES_H

#include "analyzer/hang/gather.h"

/* After an end that was not in order, this replaces COMMTRACE_HANG_AFTER if that is longer. */
#define CT_UNCLEAN_NS 5000000000ull

/* How a process ended, as far as blame goes. */
enum ct_manner {
	CT_MANNER_RUNS,
	CT_MANNER_WELL,	     /* by itself, in order */
	CT_MANNER_BY_ITSELF, /* and not in order */
	CT_MANNER_SENT,	     /* of a signal that somebody in the job was seen to send */
	CT_MANNER_ASKED, /* of a signal by which people and schedulers end things; nobody was seen to send it */
	CT_MANNER_SHOT,	    /* SIGKILL, and nobody was seen to send it */
	CT_MANNER_VANISHED, /* nobody knows how */
	CT_MANNER_UNRECORDED, /* imported: neither heartbeats nor ends were recorded, so silence says nothing */
	CT_MANNERS
};

struct ct_life {
	uint32_t process;
	enum ct_manner manner;
	int crashed; /* CT_MANNER_BY_ITSELF of a signal */
	int aborted; /* it called MPI_Abort */
	int left;    /* CT_MANNER_WELL, but without MPI_Finalize: launchers end the job for that */
	int waited; /* it had waited for longer than a job should when it ended: that is what ended it */
	int told;	  /* the last that it did failed: its peers' end is told to it so */
	uint64_t told_ns; /* when that was */
	int dead;
	int damaged;		/* its files are: where they end says nothing about its end */
	uint64_t lo_ns, hi_ns;	/* when, since the run began; hi UINT64_MAX: nobody saw */
	uint64_t at_ns, err_ns; /* lo_ns as its own host has it, and what that is less by */
};

struct ct_lives {
	struct ct_gather *g;
	struct ct_life *all;
	uint32_t n;
	uint64_t busy_ns; /* what hosts that are busy let anything take */
	uint64_t limit_ns;
};

static inline uint64_t ct_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Has anybody been found to have died by itself? */
int ct_lives_any_dead(const struct ct_lives *lives);

/* Had a launcher begun to end `other` before it saw this process dead, which had shown no sign of life for longer than launchers take
 * to see that? Then it was stopped, and is the last that the launcher got rid of. */
int ct_life_was_stopped(const struct ct_hang_process *process, const struct ct_end *other);

/* How the job stands, how long is too long: state, running, failed, limit_ns, is_busy. */
void ct_lives_state(const struct ct_lives *lives, struct ct_hang_run *out);

/* Since when it was being torn down, of each host (gather's) and of all (torn_down_ns). */
void ct_lives_torn_down(struct ct_lives *lives, struct ct_hang_run *out);

#endif
