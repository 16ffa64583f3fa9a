/* SPDX-License-Identifier: Apache-2.0 */
/* straggler.h — which rank the others waited for, and what it cost the run.
 *
 * In an instance where r is last, the others wait for r alone from the arrival of the last but one: solo =
 * s(1) - s(2). Charged to r is at most by how much longer than any other member it had been in no communication
 * before, so that who was held up elsewhere is not blamed, less what it brought along from the operation before
 * (carry.h). Lost through r is the length of the union of these intervals on r's own clock: operations that wait for
 * the same lateness at the same time cost it once. The first instance of each communicator tells who started late
 * and is left out.
 *
 * The rule and its figures are in docs/ANALYSIS.md. Its evidence is counted by rounds (rounds.h): trials of its binomial are
 * the rounds in which somebody was charged with about as much as this rank usually is (three quarters of its loss):
 * being last by a little, often, proves nothing about a few big losses.
 *
 * Error: of the times, and what an ordinary rank loses, jitter, or how rounds differ, whichever is most. With g the rank's
 * mean lateness against the mean of the others in a class of operations, what a hit holds beyond g is jitter:
 * E[(hit - g)+] is what the rank would cost if it were like them. Where it comes only once a cycle late to one of many
 * operations of a class, all of that is far beyond g. So no more counts than the hits hold beyond the sum of its latenesses
 * in the class, and what rounds hold beyond their neighbours. One thread; memory by rank and class, and rounds.h. */
#ifndef CT_STRAGGLER_H
#define CT_STRAGGLER_H

#include "analyzer/base/hist.h"
#include "analyzer/base/interval_cover.h"
#include "analyzer/lateness/carryover.h"
#include "analyzer/lateness/rounds.h"
#include "analyzer/match/waits.h"

#define CT_BLAME_MIN_SOLO_NS 50000u	/* shorter ones are noise of the host */
#define CT_BLAME_MIN_GPU_SOLO_NS 10000u /* likewise, where the times are a stream's */
#define CT_BLAME_GATE_PCT 1.0		/* of the run */
/* Of chance, among all ranks. Smaller where the host times, since on an overloaded machine latenesses come in bursts that last
 * for rounds: 10^-4.4 was seen without a slow rank, slow ranks stand below 10^-8. */
#define CT_BLAME_ALPHA 1e-4
#define CT_BLAME_HOST_ALPHA 2e-5
/* For how long a core may be busy with something else: where the host times, rounds that are shorter than this are no
 * independent evidence. */
#define CT_BLAME_BURST_NS 10000000u

/* Evidence against one seat. */
struct ct_suspect {
	struct ct_cover lost;
	double odds_ns; /* sum of the loss / members of the communicator: by chance it is one of them */
	uint64_t hits;
	uint64_t err_ns; /* of the loss, from the times */
	uint64_t loose;	 /* hits whose arrivals come from durations */
	uint64_t on_gpu; /* hits whose times are a stream's */
	struct ct_hist charges;
	struct ct_timeline when; /* of the losses, since the run began */
	double late_ns;		 /* sum of arrival - median, limited like charges */
	double jitter_ns; /* what the loss may hold beyond the slowness itself, by mean latenesses */
	double early_ns; /* likewise, by their sums: what the times it was not late take off. No more than jitter_ns */
	uint64_t met; /* instances */
};

/* How one rank arrives in one class of operations: its arrival - the mean of the others'. Both follow a rank that becomes
 * slow or recovers. */
struct ct_gap {
	float mean_ns;	     /* stalls, its own or another's, move it little */
	float median_off_ns; /* how far from the mean gaps lie */
	uint32_t n;
	double sum_ns;		   /* of all */
	double lost_ns, jitter_ns; /* of the hits */
};

struct ct_blame {
	struct ct_suspect *suspects; /* by seat */
	uint32_t n_seats;
	struct ct_gap **gaps; /* by class x (operations, windows), then by rank in the communicator */
	uint32_t n_gaps;
	struct ct_carries carries;
	struct ct_charge_log charged; /* of everybody */
};

/* 0 or CT_NOMEM. */
int ct_blame_init(struct ct_blame *blame, uint32_t n_seats);
void ct_blame_fini(struct ct_blame *blame);

/* More seats have come to light. 0 or CT_NOMEM. */
int ct_blame_grow(struct ct_blame *blame, uint32_t n_seats);

/* Forget what is held against a seat: who it is cannot be told. */
void ct_blame_acquit(struct ct_blame *blame, uint32_t seat);

/* Take in one judged collective of the class with this index. hosts[seat]; `shift` by host: what makes its clock
 * the run's (modulo 2^64). 0 or CT_NOMEM. */
int ct_blame_add(struct ct_blame *blame, const struct ct_instance *instance,
		 const struct ct_waits *waits, uint32_t class, const uint32_t *hosts,
		 const uint64_t *shift);

/* Why a suspect is not guilty, in the order of the rule. */
enum ct_doubt {
	CT_DOUBT_NONE,
	CT_DOUBT_SMALL,	 /* it costs too little, or too little beyond its error */
	CT_DOUBT_STALLS, /* most of it are a few stalls */
	CT_DOUBT_FEW,	 /* too few rounds to tell it from chance */
	CT_DOUBT_CHANCE, /* others are late about as often */
	CT_DOUBT_OTHERS, /* somebody else came later, or messages were not followed */
};

/* What one suspect comes to. */
struct ct_charge {
	uint64_t loss_ns;
	uint64_t err_ns; /* times; and what others lose by chance or jitter, whichever is more */
	struct ct_recurrence recurs;
	enum ct_doubt doubt; /* the first part of the rule that does not hold */
	int guilty;	     /* by all parts of the rule */
	int has_hidden; /* loss_ns is no more than what somebody stood waiting; the rest was ... */
	uint64_t hidden_ns; /* ... hidden behind computing */
	uint64_t most_ns;   /* has_hidden: what somebody stood waiting at most */
	uint64_t by_cycles_ns; /* what the cycles' hits come to (lateness/step_blame.h); 0: not known */
	int is_cleared;	       /* held against its peers, it costs nobody anything to speak of */
};

/* `chance_ns`: median loss of the other ranks; `family`: how many suspects there could have been. `recurs`: over the
 * rounds. */
void ct_blame_weigh(const struct ct_suspect *suspect, const struct ct_recurrence *recurs,
		    uint64_t duration_ns, uint64_t chance_ns, double family,
		    struct ct_charge *charge);

/* Probability that it is this suspect if all are alike. */
double ct_blame_odds(const struct ct_suspect *suspect);

/* Median loss of all seats but `but`; UINT64_MAX: out of memory. */
uint64_t ct_blame_chance(const struct ct_blame *blame, uint32_t but);

#endif
