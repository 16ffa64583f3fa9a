/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h — is it the same rank round after round? The evidence behind a straggler, counted by cycle instead of by operation.
 *
 * Within a cycle latenesses hang together: who comes late to one operation comes late to the next ones, and one stall makes
 * many hits. So what ranks are charged with is summed up by round, a cycle or several, and rounds count as the independent
 * trials. A rank that is late once in each cycle is late in each round, however many operations a cycle has; a few stalls
 * are a few rounds.
 *
 * The log of charges is bounded: when it is full, times are kept less exactly. Pure but for that; one thread. */
#ifndef CT_BLAME_ROUNDS_H
#define CT_BLAME_ROUNDS_H

#include <stdint.h>

/* Charges that are kept one by one; 16 MB. */
#define CT_CHARGES_MOST (1u << 20)
/* Rounds of a run at most, and at least for anything to be concluded: with fewer the spread between them is not known. */
#define CT_ROUNDS_MOST 256u
#define CT_ROUNDS_LEAST 5u

/* What a seat was charged with at a time of the run. */
struct ct_charged {
	uint64_t at_ns;
	uint32_t seat;
	float lost_ns;
};

struct ct_charge_log {
	struct ct_charged *all;
	uint32_t n, cap;
	uint64_t width_ns; /* times are multiples of it; 0: exact */
};

/* 0 or CT_NOMEM. */
int ct_charge_log_add(struct ct_charge_log *log, uint64_t at_ns, uint32_t seat, uint64_t lost_ns);
void ct_charge_log_fini(struct ct_charge_log *log);

/* A run cut into rounds: begin_ns[0] .. begin_ns[n - 1]; the first one holds what came before it too. */
struct ct_rounds {
	uint64_t begin_ns[CT_ROUNDS_MOST], end_ns; /* the last one ends there */
	uint32_t n;
	int by_cycles; /* else nobody knows what a cycle is */
};

/* cut_ns: n_cycles + 1 times, as many cycles as make CT_ROUNDS_MOST rounds are one, each at least least_ns long on average.
 * Without cycles: `guess` rounds of equal length, 0 for none. */
void ct_rounds_make(struct ct_rounds *rounds, const uint64_t *cut_ns, uint32_t n_cycles,
		    uint64_t duration_ns, uint64_t least_ns, uint32_t guess);

/* Charges by seat and round. */
struct ct_tally {
	const struct ct_rounds *rounds; /* borrowed */
	float *lost_ns;			/* by seat x round */
	uint32_t *worst;		/* by round: the seat with most ... */
	float *others;			/* ... and what the next one has */
	uint32_t n_seats, n;
};

/* 0 or CT_NOMEM; ct_tally_fini() in any case. */
int ct_tally_make(struct ct_tally *tally, const struct ct_charge_log *log,
		  const struct ct_rounds *rounds, uint32_t n_seats);
void ct_tally_fini(struct ct_tally *tally);

/* How one suspect fares over the rounds. */
struct ct_recurrence {
	uint32_t rounds; /* of the run */
	uint64_t hits,
		trials; /* rounds in which it had most, and somebody had much: half as much as it has in those that
				* make three quarters of its loss */
	double log10_p; /* of that by chance */
	double rest; /* what is left of its loss without the largest rounds: one, and a twentieth of all */
	double spread_ns; /* error of the loss by how rounds differ: two standard errors, by successive differences, so that
			   * who is slow in a part of the run has no larger one */
	double bursts_ns; /* what rounds hold beyond the median of their neighbours */
};

/* own[u] and others[u]: what the suspect, and whoever else has most, was charged with in round u. `p`: probability that it
 * is the suspect if all are alike. `room` has n floats. */
void ct_recurrence_of(const float *own, const float *others, uint32_t n, double p, float *room,
		      struct ct_recurrence *out);

/* One seat of a tally. 0 or CT_NOMEM. */
int ct_tally_recurrence(const struct ct_tally *tally, uint32_t seat, double p,
			struct ct_recurrence *out);

#endif
