/* SPDX-License-Identifier: Apache-2.0 */
/* starts.h — which processes of a run belong together: starts of the job one after the other,
 * ranks, and hosts, on whose one clock all processes with the same hostkey live. From the
 * processes' identities alone. */
#ifndef CT_ANALYZER_MODEL_STARTS_H
#define CT_ANALYZER_MODEL_STARTS_H

#include "analyzer/base/table.h"
#include "trace/reader.h"

struct ct_clocks;

struct ct_host {
	uint64_t hostkey;
	uint64_t unix_minus_mono; /* of its first process: CLOCK_MONOTONIC to CLOCK_REALTIME (modulo
				     2^64) */
	const char *name;	  /* of that process, not cleaned */
};

struct ct_process_start {
	int restart;
	uint32_t host; /* index into hosts */
	uint32_t slot; /* index of the rank within its start, see below */
};

/* A slot is the index of a rank within its start. Slots count from 0: first the global ranks that
 * left a trace, ascending, then one for each process whose rank is unknown. Several processes may
 * share a slot (a rank's forked child). A process may turn out to have more than one rank, which
 * only its communicators show: the others get the next free slots, in order of first use. */
struct ct_starts {
	struct ct_process_start *processes; /* by process */
	struct ct_host *hosts;
	uint32_t n_hosts;
	const struct ct_clocks *clocks; /* of the start's hosts; NULL: not related. Not owned. */
	int n_starts;
	struct ct_table
		more; /* (process, which of its ranks) -> slot; of the start that is being read */
	uint32_t n_slots; /* of that start, so far; 0 before its first reading */
};

/* A job that is started again, by an elastic launcher (another restart count) or by hand into the
 * same directory (a rank comes that is there already and has ended), begins the next start. 0 or
 * CT_NOMEM. */
int ct_starts_find(const struct ct_run *run, struct ct_starts *starts);

/* Were operations of a process of this start left out of its files (`commtrace partial`)? */
int ct_starts_thinned(const struct ct_run *run, const struct ct_starts *starts, int restart);

/* Slots of one start; ranks[slot] is its rank or -1 (malloc'ed). A second call keeps the slots that
 * were added. 0 or CT_NOMEM. */
int ct_starts_slots(const struct ct_run *run, struct ct_starts *starts, int restart, int **ranks,
		    uint32_t *n_slots);

/* The slot of one of the ranks of a process, counted from 0; a new one if it is new. -1: out of
 * memory. */
int64_t ct_starts_slot(struct ct_starts *starts, uint32_t process, uint32_t local);

void ct_starts_fini(struct ct_starts *starts);

#endif
