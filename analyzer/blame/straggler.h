/* SPDX-License-Identifier: Apache-2.0 */
/* straggler.h — which rank the others waited for, and what it cost the run.
 *
 * Section 3.2 of shared/reference/algorithms.md: in an instance where r is last, the others wait for r alone
 * from the arrival of the last but one: solo = s(1) - s(2). Charged to r is at most the time right before its
 * arrival in which r was in no other communication, so that who was held up elsewhere is not blamed (3.4's local
 * gap). Lost through r is the length of the union of these intervals on r's own clock: operations that wait for
 * the same lateness at the same time cost it once. The first instance of each communicator tells who started
 * late and is left out.
 *
 * Rule (3.3): loss >= 1 % of the run, above its error and above what the other ranks lose by chance, and last
 * more often than chance: P(Bin(trials, p) >= hits) < alpha / ranks. The reference has alpha = 0.01; here it is
 * 0.001, since real latenesses stand at 1e-20 and a wrong name costs more than a missed one.
 *
 * Error: of the times; what an ordinary rank loses; and jitter: with mean gap g to the latest other rank, a rank
 * that were not late would still cost E[(gap - g)+] = E|gap - g| / 2 at each hit, which bounds what the
 * counted loss holds beyond the slowness itself. One thread; memory by rank. */
#ifndef CT_STRAGGLER_H
#define CT_STRAGGLER_H

#include "analyzer/blame/cover.h"
#include "analyzer/blame/waits.h"
#include "analyzer/match/hist.h"

#define CT_BLAME_MIN_SOLO_NS 50000u /* shorter ones are noise */
#define CT_BLAME_GATE_PCT 1.0	    /* of the run */
#define CT_BLAME_ALPHA 0.001

/* Evidence against one seat, or against a set of seats. */
struct ct_suspect {
	struct ct_cover lost;
	uint64_t trials; /* times that somebody of its communicators was clear last */
	uint64_t hits;	 /* ... and it was this one */
	double expected; /* hits if everybody were alike */
	uint64_t err_ns; /* of the loss, from the times */
	uint64_t loose;	 /* hits whose arrivals come from durations */
	struct ct_hist charges;
	struct ct_timeline when; /* of the losses, since the run began */
	double late_ns;		 /* sum of arrival - median, limited like charges */
	double gap_ns;		 /* running mean of its arrival - the latest other's ... */
	double gap_off_ns;	 /* ... and sum of how far from it each one was: its jitter */
	uint64_t met;		 /* instances behind these */
};

struct ct_blame {
	struct ct_suspect *suspects; /* by seat */
	uint32_t n_seats;
	uint64_t skew_sum_ns, skew_n; /* of the ends on one clock */
	/* a second reading, for a set found in the first */
	const uint8_t *in_set; /* by seat, borrowed; NULL: first reading */
	uint32_t set_size;
	struct ct_suspect set;
	struct ct_cover *set_lost; /* by host (members share a clock there) x (rest, set) */
	uint64_t *set_share_ns;	   /* by seat */
};

/* 0 or CT_NOMEM. in_set: see above, NULL for the first reading. */
int ct_blame_init(struct ct_blame *blame, uint32_t n_seats, uint32_t n_hosts,
		  const uint8_t *in_set);
void ct_blame_fini(struct ct_blame *blame);

/* Error of ends being simultaneous: the mean skew seen where a clock is shared; 0 as long as none was. */
uint64_t ct_blame_skew(const struct ct_blame *blame);

/* Take in one judged collective. hosts[seat]; `shift` by host: what makes its clock the run's (modulo 2^64).
 * 0 or CT_NOMEM. */
int ct_blame_add(struct ct_blame *blame, const struct ct_instance *instance,
		 const struct ct_waits *waits, const uint32_t *hosts, const uint64_t *shift);

/* What one suspect comes to. */
struct ct_charge {
	uint64_t loss_ns;
	uint64_t err_ns; /* times, what the others lose by chance, jitter */
	double log10_p;	 /* of being last so often by chance */
	int guilty;	 /* by all parts of the rule */
};

/* `chance_ns`: median loss of the ranks that are not suspected; `family`: how many suspects of this kind there
 * could have been (ranks; sets of this size). */
void ct_blame_weigh(const struct ct_suspect *suspect, uint64_t duration_ns, uint64_t chance_ns,
		    double family, struct ct_charge *charge);

/* Median loss of all seats but `but` (n_seats: of all) and but those in `in_set` (may be NULL). */
uint64_t ct_blame_chance(const struct ct_blame *blame, uint32_t but, const uint8_t *in_set);

/* Several ranks may be slow together, each hiding the others' cost: the latest ones, cut where the step in mean
 * lateness is largest, at most half of the ranks. Fills in_set (by seat) and returns the size if such a set of
 * two or more could cost enough to be worth a second reading, else 0; CT_NOMEM. */
int ct_blame_propose_set(const struct ct_blame *blame, uint64_t duration_ns, uint8_t *in_set);

/* log10 P(Bin(n, p) >= k). */
double ct_binomial_tail(uint64_t k, uint64_t n, double p);

#endif
