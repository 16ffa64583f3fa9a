/* SPDX-License-Identifier: Apache-2.0 */
/* waits.h — wait and transfer of one instance, the last member, and its cost.
 *
 * Formulas: docs/dev/algorithms/waits.md. In a synchronizing operation all members end within a few
 * hop latencies, so X = min d, wait = d - X need only each rank's own clock. Arrivals are the
 * starts if all members are on one host's clock. Otherwise they follow from the spans, with the
 * error of the assumption that ends are simultaneous. Rooted and point-to-point waits need the
 * starts. Pure functions. */
#ifndef CT_ANALYZER_MATCH_WAITS_H
#define CT_ANALYZER_MATCH_WAITS_H

#include "analyzer/match/match.h"
#include "trace/ops.h"

/* To which extent an instance can be judged. */
enum ct_judged {
	CT_JUDGED_NOTHING,  /* members or times are missing, or the members contradict each other */
	CT_JUDGED_TRANSFER, /* transfer known; waits need synchronized clocks, which are missing */
	CT_JUDGED_WAITS,    /* waits known */
};

#define CT_NO_TRANSFER UINT64_MAX

struct ct_waits {
	enum ct_judged judged;
	int one_clock;	      /* arrivals come from the starts on one clock */
	uint64_t transfer_ns; /* X; a message may have CT_NO_TRANSFER: the time of its end is
				 unknown */
	uint64_t *wait_ns;    /* by member (order of instance->members) */
	uint64_t *arrival_ns; /* after the first to arrive */
	uint64_t *arrival_err_ns;
	uint64_t median_ns;    /* median arrival */
	uint64_t clock_err_ns; /* error of the clock synchronization in a wait; 0: one clock */
	uint64_t exit_skew_ns; /* latest minus earliest end; UINT64_MAX: not on one clock */
	uint32_t cap;	       /* of the arrays */
	uint64_t *scratch;
};

/* The order of arrival at its late end. */
struct ct_last {
	uint32_t last;	  /* member */
	uint64_t solo_ns; /* by which it came after the one before it ... */
	uint64_t err_ns;  /* ... and the error of that */
	int clear;	  /* the gap exceeds its error */
	int waited_for;	  /* the others could not go on without it */
	uint64_t own_ns;  /* of solo_ns: its own lateness, by its time without communication; 0:
			     unknown */
};

/* On one clock: when the first member began to wait for the operation, and when it ended for the
 * first of them. */
struct ct_asked {
	uint64_t first_ns, end_ns;
};
struct ct_asked ct_instance_asked(const struct ct_instance *instance);

/* When the member let the operation progress: its start. For a nonblocking operation the time when
 * it polled, if the operation had not ended for any member before and others were waiting (a
 * library that progresses only while it is called). */
uint64_t ct_member_came(const struct ct_member *member, struct ct_asked asked);

/* Judges a complete instance without contradictions. `hosts[slot]` is the clock, `skew_ns` the
 * error of the assumption that ends are simultaneous, used where arrivals come from durations.
 * Arrays of waits are grown and reused. 0 or CT_NOMEM. */
int ct_waits_judge(const struct ct_instance *instance, const uint32_t *hosts, uint64_t skew_ns,
		   struct ct_waits *waits);

/* Room for `n` members in the arrays. 0 or CT_NOMEM. */
int ct_waits_room(struct ct_waits *waits, uint32_t n);

/* Set median_ns from the arrivals. */
void ct_waits_median(const struct ct_instance *instance, struct ct_waits *waits);

/* The latest of the judged arrivals, and its cost. At least two members. */
void ct_waits_last(const struct ct_instance *instance, const struct ct_waits *waits,
		   struct ct_last *last);

void ct_waits_fini(struct ct_waits *waits);

#endif
