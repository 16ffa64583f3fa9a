/* SPDX-License-Identifier: Apache-2.0 */
/* slow_rows_private.h — what standing.c, mending.c and slow_rows.c share: the blocks of steps, and how each rank stands to those that do
 * the same work. One thread. */
#ifndef CT_SLOW_ROWS_PRIVATE_H
#define CT_SLOW_ROWS_PRIVATE_H

#include "analyzer/lateness/replay/slow_rows.h"

/* How a rank stands to those that do the same work. */
struct ct_standing {
	double excess, t; /* ns a step; in the steps below */
	double ratio;	  /* of what the reference computes to what it computes, there */
	uint32_t first, last;
	int asked_others; /* its stage has too few ranks: the other stages are the reference */
	int is_hot;
};

struct ct_judging {
	struct ct_engine *e;
	const struct ct_model *model;
	struct ct_slow_rows *out;
	uint32_t n_blocks;
	uint32_t *block_first; /* of the engine's steps: block b is block_first[b] .. block_first[b + 1] - 1 */
	double *blocks;	      /* by seat x block: mean of what it computes in a step; NAN unknown */
	double *stage_blocks; /* by stage x block: median of its ranks */
	double *excess;	      /* by block, of one rank or stage */
	double *sorted;	      /* room for one of each block */
	double *values;	      /* room for one of each seat and stage */
	double *noises;	      /* by seat: how much the blocks of its excess differ */
	struct ct_standing *seats; /* by seat */
	double *level_ns;	   /* like the engine's, of some steps */
	uint32_t *times;
	uint8_t *taken; /* by seat: it is in a row of several */
};

struct ct_stretch {
	double mean, t;
	uint32_t first, last; /* blocks */
};

/* ---- standing.c: who stands out ---- */

/* So many blocks there are at most. */
uint32_t ct_most_blocks(const struct ct_engine *e);

/* How each rank stands to its peers; over fewer blocks where nobody stands out over many. */
void ct_judge_seats(struct ct_judging *j);

/* Means are NAN where nothing is known. */
double ct_mean_of_blocks(const double *values, uint32_t n);

/* Standard deviation of blocks by how much neighbours differ (von Neumann), but for the two that differ most: what becomes slow, or
 * fast again, does not add to it. room: n. */
double ct_noise_of_blocks(const double *x, uint32_t n, double *room);

/* Where the excess (by block) stands out most: all of the run, or a part of it. And is it worth a replay? */
struct ct_stretch ct_stands_out(const struct ct_judging *j, double noise);
int ct_is_worth_it(const struct ct_judging *j, const struct ct_stretch *s);

/* What the seat computes in a step, over the median of its stage's others; NAN: not known. *theirs: that median. */
double ct_over_peers(struct ct_judging *j, uint32_t seat, uint32_t k, double *theirs);

/* ---- mending.c ---- */

/* Brings the gaps of the row's ranks, in the engine's other_ns, to the level of their peers. 0 or CT_NOMEM. */
int ct_mend(struct ct_judging *j, const struct ct_slow_row *row);

#endif
