/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h — the constants of the lateness engine, each with its reason. */
#ifndef CT_ANALYZER_LATENESS_REPLAY_LIMITS_H
#define CT_ANALYZER_LATENESS_REPLAY_LIMITS_H

/* Of operations: when they were begun and waited for, but for those that were left out (model/left_out.h) */
#define CT_LEAST_TIMED 0.95

/* Of operations: what misses members leaves gaps in which ranks waited */
#define CT_MOST_INCOMPLETE 0.01

/* With fewer a spread over steps says nothing */
#define CT_LEAST_STEPS 8u

/* Where hosts time, ns: a machine that is busy for a moment makes a rank late in all steps of a shorter run */
#define CT_LEAST_TIME_NS 5e8

/* Likewise, of a gain: what a busy machine took from one rank of an even job of 0.8 s was 12 ms */
#define CT_BUSY_NS 5e7

/* Of a rank that is held against the noise of its peers, since too little is known of its own */
#define CT_LEAST_KNOWN_BLOCKS 4u

/* Share of ranks' steps that were timed throughout */
#define CT_LEAST_KNOWN 0.5

/* Of computing, while messages are under way (interleaved schedules: 0.3 to 0.4): who waits for whom is open ... */
#define CT_MOST_UNDER_MESSAGES 0.2

/* ... and from here on what an even job takes is off by more than 3 % (sends beside computing: 0.02 to 0.09) */
#define CT_UNDER_MESSAGES 0.05

/* Times the usual transfer, of the last one to come: it may have waited for room on its GPU */
#define CT_SLOW_TRANSFER 2.0

/* With fewer nobody knows what is usual */
#define CT_LEAST_TRANSFERS 16u

/* Of a step: members leave what ends it together but for this and the error of times */
#define CT_CUT_SLACK 0.001

/* Played as recorded, a run takes as long as it took, or something is not on record */
#define CT_PLAY_ERROR 0.1

/* Likewise, for stages to be compared: where clocks of hosts are related by messages only it was 0.014, and a stage seemed long */
#define CT_STAGE_PLAY_ERROR 0.01

/* An even job takes no longer: S below shows that times contradict each other, and is withheld */
#define CT_LEAST_S 0.99

/* Of S: published ones of two jobs were off by 2.4 %, simulated ones by 3 % at most */
#define CT_EVEN_ERROR 0.025

/* M_W: so many of the ranks, one at least, as published (arXiv 2505.05713, 4.2) */
#define CT_WORST_RANKS 0.03

/* Parts of meetings that are played for S_w: about 10 s */
#define CT_MOST_WORK 400000000.0

/* Steadiness is judged over blocks of steps: enough to see a quarter of the run */
#define CT_MOST_BLOCKS 32u

/* So many where there are enough: noise of single steps averages out */
#define CT_STEPS_A_BLOCK 4u

/* Excess over its standard error, with many blocks ... */
#define CT_STEADY_T 5.0

/* ... and more with few: T (1 + this / degrees of freedom), near Student's quantiles of 1e-6 */
#define CT_FEW_BLOCKS 8.0

/* Times as much for a part of the run: there are a hundred to choose from */
#define CT_WINDOW_T 1.5

/* With fewer the least part of the run is two, and two stalls side by side make one */
#define CT_BLOCKS_FOR_WINDOW 12u

/* Of the time, that ranks of one stage wait although all compute alike: 0.08 where stalls of a busy machine are all there is */
#define CT_MOST_UNEXPLAINED 0.07

/* Of the run: what is shorter is a stall */
#define CT_LEAST_WINDOW 0.2

/* Times at which a rank becomes slow or recovers that do not count as noise */
#define CT_CHANGES 2u

/* The median block holds so much of the mean one */
#define CT_STEADY 0.5

/* Of a step: less is not worth a replay */
#define CT_LEAST_EXCESS 0.01

/* Of the run: less is not worth telling */
#define CT_LEAST_GAIN 0.01

/* Standard errors that are told as the error: it holds in 95 % */
#define CT_TOLD_ERRORS 2.0

/* Of a gain: by how much it was off where launches did not queue up (docs/ACCURACY.md) ... */
#define CT_MODEL_ERROR 0.01

/* ... and where they did, so that nobody knows when they were ready ... */
#define CT_ERROR_IN_QUEUES 0.05

/* ... more than so many of them */
#define CT_MANY_IN_QUEUES 0.05

/* A row stays in the set if the set without it gains less by this share */
#define CT_SET_LOSES 0.1

/* Ranks are slow together if the least excess is so much of the largest */
#define CT_ALIKE 0.5

/* With fewer times nothing is a habit: what follows what, what waits for what, who hands on messages */
#define CT_LEAST_TIMES 8u

/* With fewer in a stage the other stages are asked too, and nothing tells their computing from what it waits for */
#define CT_LEAST_PEERS 3u

/* Rows that are replayed */
#define CT_MOST_ROWS 12u

/* Of the run: what unevenness costs to be told */
#define CT_UNEVEN 0.03

/* With more the one that is held against them does not move their median */
#define CT_MANY_PEERS 64u

/* Parts of the run, one after the other, in which ranks are slow; with more they take turns */
#define CT_MOST_PARTLY 2u

#endif
