/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h — the constants of the lateness engine, each with its reason, beside those of all rooms.
 */
#ifndef CT_ANALYZER_LATENESS_REPLAY_LIMITS_H
#define CT_ANALYZER_LATENESS_REPLAY_LIMITS_H

#include "analyzer/base/limits.h"

/* Of operations: when they were begun and waited for, but for those that were left out
 * (model/left_out.h) */
#define CT_LEAST_TIMED 0.95

/* Of operations: what misses members leaves gaps in which ranks waited */
#define CT_MOST_INCOMPLETE 0.01

/* With fewer times nothing is a habit: what follows what, what a transfer takes, what is usual
 * around a stall */
#define CT_LEAST_TIMES CT_LEAST_STEPS

/* Launches, or operations, of a rank that are looked back at */
#define CT_LAGS 32u

/* ---- the engine ---- */

/* Where hosts time, ns: what a busy machine takes from one rank of an even job; of 0.8 s it was 12
 * ms */
#define CT_BUSY_NS 5e7

/* ... which then is in all steps of a shorter run */
#define CT_LEAST_TIME_NS (10 * CT_BUSY_NS)

/* Of computing, while messages are under way (interleaved schedules: 0.3 to 0.4): which rank waits
 * for which is open. What an even job takes is off by more than 3 % from CT_HARDLY_ANY on (sends
 * beside computing: 0.02 to 0.09) */
#define CT_MOST_UNDER_MESSAGES 0.2

/* Of the run: what a rank of an even job loses by chance where cores are fewer than processes; of
 * twice as many 9.3 in the worst of 171 jobs */
#define CT_CORES_BY_CHANCE_PCT 10.0

/* Times the usual transfer, of the last one to come: it may have waited for SMs on its GPU */
#define CT_SLOW_TRANSFER 2.0

/* Played as recorded, a run takes as long as it took, or something is not on record; and a row that
 * holds less of a gain is none */
#define CT_PLAY_ERROR 0.1

/* An even job takes no longer: S below shows that times contradict each other, and is withheld */
#define CT_LEAST_S (1 - CT_MODEL_ERROR)

/* Of S: published ones of two jobs were off by 2.4 %, simulated ones by 3 % at most */
#define CT_EVEN_ERROR 0.025

/* M_W: so many of the ranks, one at least, as published (arXiv 2505.05713, 4.2) */
#define CT_WORST_RANKS 0.03

/* ... and known to this of S - 1, or withheld: as near as the published ones of two jobs were */
#define CT_M_ERROR 0.05

/* Parts of exchanges that are played for S_w: about 10 s */
#define CT_MOST_WORK 400000000.0

/* Steadiness is judged over blocks of steps: enough to see a quarter of the run */
#define CT_MOST_BLOCKS 32u

/* So many where there are enough: noise of single steps averages out */
#define CT_STEPS_A_BLOCK 4u

/* Excess over its standard error is CT_STEADY_T with many blocks, and more with few: T (1 + this /
 * degrees of freedom), near Student's quantiles of 1e-6 */
#define CT_FEW_BLOCKS 8.0

/* Times as much for a part of the run: there are a hundred to choose from */
#define CT_WINDOW_T 1.5

/* Of the time, that ranks of one stage wait although all compute alike: 0.08 where stalls of a busy
 * machine are all there is */
#define CT_MOST_UNEXPLAINED 0.07

/* Of the run: what is shorter is a stall */
#define CT_LEAST_WINDOW 0.2

/* Times at which a rank becomes slow or recovers; with more parts of the run in which someone is
 * slow ranks take turns, and a part of no more blocks is stalls */
#define CT_CHANGES 2u

/* Less is not worth a replay */
#define CT_LEAST_GAIN CT_WORTH_REPORTING

/* Of a gain: by how much it was off where launches did not queue up (docs/ACCURACY.md) ... */
#define CT_MODEL_ERROR 0.01

/* ... and where they did, so that it is unknown when they were ready ... */
#define CT_ERROR_IN_QUEUES 0.05

/* Rows that are replayed */
#define CT_MOST_ROWS 12u

/* Of the run: what unevenness costs to be reported */
#define CT_UNEVEN 0.03

/* With more the one that is held against them does not move their median; nor do more show what
 * computing waits for */
#define CT_MANY_PEERS 64u

/* Of a step: what ends one lies no farther from where ends usually lie */
#define CT_FARTHEST_END 0.4

/* From the end on one stream to the start on another that waits for it, ns: a few us on GPUs */
#define CT_HANDOVER_NS 5000

/* Launches with more messages are exchanges: their receivers depend on the data. A stage has two
 * neighbours, two ways */
#define CT_FEW_MESSAGES 4u

/* Threads that play beside each other: each takes the memory of a replay */
#define CT_MOST_PLAYERS 4u

/* ---- steps, by the rank that came last ---- */

/* Ends and waits of no more, ns, are the same moment: clocks of hosts are related no better than to
 * some 10 us */
#define CT_SAME_END_NS 50000u

/* Stalls: with fewer it is unknown whether they follow a rule */
#define CT_STALL_LEAST 4u

/* ... and so many of them may be charges just below them: of hiccups, which follow none, it is more
 */
#define CT_STALL_STANDS_OUT 0.2

/* Steps from one to the next: a rank that is late more often is slow */
#define CT_STALL_EVERY 3u

/* Steps on either side of a change, and levels that are kept */
#define CT_SHIFT_WINDOW 20u
#define CT_SHIFT_LEVELS 64u

/* Standard deviations of one step, by which levels differ: a smaller change does not show in the
 * steps */
#define CT_SHIFT_SDS 3.0

#endif
