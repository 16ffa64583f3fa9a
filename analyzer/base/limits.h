/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h — the table of the tuning constants: numbers that someone chose and that change a
 * verdict, a finding, a figure or its error, each with its reason. Those of the lateness engine are
 * in analyzer/lateness/replay/limits.h. */
#ifndef CT_ANALYZER_BASE_LIMITS_H
#define CT_ANALYZER_BASE_LIMITS_H

/* ---- how much is enough: one set for all questions ---- */

/* Of blocks, ranks, steps, launches, a sum: the larger part */
#define CT_MOST 0.5

/* ... clearly: of stalls that are alike, of ranks that took part */
#define CT_MOSTLY 0.75

/* Exceptions: what is known of all the rest shows the whole */
#define CT_A_FEW 0.1
#define CT_NEARLY_ALL (1 - CT_A_FEW)

/* So few are exceptions where there should be none; a smaller change is not a change */
#define CT_HARDLY_ANY 0.05

/* Of the run, of a step, of bytes: less is not worth reporting */
#define CT_WORTH_REPORTING 0.01

/* Times and positions that are no farther apart count as equal: stalls that lie on a period, steps
 * and the calls that end them */
#define CT_NEAR 0.1

/* Of what is usual: lengths of stalls that have one cause (of exponential ones 18 % lie so near), a
 * model beside what was measured */
#define CT_ALIKE 0.25

/* With fewer alike no rank stands out: of two, either may be the odd one. With fewer in a stage,
 * other stages are compared as well; then computing cannot be separated from what it waits for */
#define CT_LEAST_PEERS 3u

/* ... and fewer occurrences, or fewer in a row, are not a pattern */
#define CT_LEAST_OFTEN CT_LEAST_PEERS

/* With fewer times a figure has no error, or one that says nothing */
#define CT_FEW_SAMPLES 5u

/* With fewer steps a spread says nothing ... */
#define CT_LEAST_STEPS 8u

/* ... and with fewer samples neither does a quantile, nor that no rank stood out */
#define CT_LEAST_SAMPLES 20u

/* Deviations, or standard errors, beyond which chance is excluded, even for the worst of many ranks
 */
#define CT_STEADY_T 5.0

/* Standard errors that are reported as the error: it holds in 95 % */
#define CT_SEPARATE_ERRORS 2.0

/* ---- losses, in percent of the run: severity, and what the verdict turns to ---- */

/* From here on a warning, and chosen as the verdict before other findings */
#define CT_WARNING_PCT 3.0

/* Of a rank's steps: a job that communicates less, or loses less without a rank to blame, is not
 * slow by it */
#define CT_NOTABLE_PCT 5.0

/* From here on critical */
#define CT_CRITICAL_PCT 10.0

/* ---- findings ---- */

/* Of the run in communication: from here on it matters whether its links are as fast as they could
 * be */
#define CT_LINKS_MATTER_PCT 20.0

/* Of the steps: transfers that computing waits for so long are a finding */
#define CT_EXPOSED_PCT 30.0

/* Of the charges: a reason with so large a part of them is the reason */
#define CT_CLEAR_REASON 0.7

/* Of a loss, for which charges have to be known before one of them is its reason
 * (docs/dev/algorithms/stalls.md) */
#define CT_REASONED 0.4

/* Of a change's time: lateness that begins and ends no farther from it is the same thing */
#define CT_APART 0.15

/* Of the run, and in steps: a shorter effect is transient */
#define CT_TRANSIENT 0.33
#define CT_TRANSIENT_STEPS 50u

/* ns: shorter stalls come from the operating system and are not worth a search */
#define CT_STALL_NS 30e6

/* Of stalls that seem to rotate: a rank with more of them than this is the one that stalls */
#define CT_TURNS 0.6

/* Of the time of all stalls: a single stall beyond this is reported alone */
#define CT_ONE_STALL 0.8

/* ns: from here on the rank of a single stall is named. Every machine has shorter ones, on any rank
 */
#define CT_ONE_STALL_NS 200e6

/* ns in wrappers: what costs less is not a finding, whatever its share of a short run */
#define CT_OVERHEAD_NS 100000000u

/* ns: heartbeats come each second. A rank without one for that and a quarter before all others
 * ended first */
#define CT_SILENT_NS 1250000000u

/* Relative error of a time: with a larger one no rate follows from it */
#define CT_RATE_ERR 0.2

/* Of the scorecard: limits of the grades, and the number of steps that shows how steady they are */
#define CT_EXCELLENT 85
#define CT_GOOD 70
#define CT_SCORE_STEPS 10u

/* Between hosts, for sockets to be named: bytes; what Ethernet and IP over InfiniBand account for
 * of them; and of that, Gloo's own */
#define CT_SOCKET_BYTES 100e6
#define CT_SOCKET_ACCOUNTED 0.7
#define CT_SOCKET_GLOO 0.3

/* Rings and trees move up to twice the least, and sockets add a little. More than this may be
 * anything else on Ethernet (data sets, checkpoints) while the communication went where nothing
 * counts (NVLink between hosts); with a setting that explains it, more than that again */
#define CT_SOCKET_TIMES 4
#define CT_SOCKET_TIMES_EXPLAINED 20

/* ---- processes and hangs ---- */

/* ns: heartbeats come once a second. A process may have lived that long after its last one. If
 * clocks differ by more, the order of events on two hosts is unknown */
#define CT_BEAT_NS 2000000000ull

/* ns: a process writes to its run every 10 s at least. If its ring is gone, it may have lived until
 * then; a shorter gap is normal */
#define CT_WRITE_NS 11000000000ull

/* ns: the last known state of a rank may have changed if it is older */
#define CT_OLD_FACTS_NS 10000000000ull

/* ns: an error after a longer wait of a rank is a consequence of that wait */
#define CT_TIMEOUT_NS 10000000000ull

/* ns: a process whose last heartbeat is so long before that of others was gone by then */
#define CT_GONE_EARLIER_NS 3000000000u

/* ns: after an unclean exit this replaces COMMTRACE_HANG_AFTER if that is longer. A single look
 * calls a running job stuck only after this time */
#define CT_UNCLEAN_NS 5000000000ull

/* ns: the default of COMMTRACE_HANG_AFTER. Any other value is the user's, and is used */
#define CT_HANG_AFTER_NS 30000000000ull

/* Windows of a watched job in a row, for an alert: one that is slow may be a checkpoint or another
 * job's burst ... */
#define CT_ALERT_IN_A_ROW 3u

/* ... and windows without cause that end it: one may be chance. So many windows without data end a
 * row, too */
#define CT_ALERT_CLEAR 2u

/* Windows whose median is what is usual: some minutes, so that a job may change slowly */
#define CT_ALERT_HISTORY 16u

/* Of a running job whose HANG_AFTER is the default: after so many waits the longest one shows what
 * is normal, and its double replaces the default. Fewer show how a job starts, not how it runs */
#define CT_LEAST_WAITS 100u

/* ns: a shorter wait would not look stuck to a person */
#define CT_STUCK_NS 1000000000ull

/* Factors of the 99th percentile and of the longest duration of its kind: a longer operation is
 * unusual. Of few operations the longest one is the first, which sets up connections */
#define CT_TIMES_P99 20u
#define CT_TIMES_LONGEST 2u

/* Durations: with fewer the longest one is chance */
#define CT_LEAST_USUAL 64u

/* If a process waited for a CPU, each call, thread and process needed for progress may have to:
 * stalls of up to so many times as long do not count. On two cores with 50 to 200 runnable threads,
 * healthy operations stalled for at most 3 times as long */
#define CT_LATE_TIMES 10u

/* ns of processor time while a thread was sampled: less counts as none */
#define CT_CPU_NS 1000000ull

/* ns from SIGTERM: launchers usually wait half a minute; a process that is gone at once was killed
 * by something else */
#define CT_GRACE_NS 60000000000ull
#define CT_KILLED_NS 900000000ull

/* ns: launchers notice a child's end at once, or poll every 5 s (torchrun) */
#define CT_LAUNCHER_NS 7000000000ull

/* ns: killing all ranks of a job one by one takes less from one to the next. tests/hang does with
 * pauses of up to 40 ms */
#define CT_SPREAD_NS 250000000ull

/* Operations that match when shifted by one, and do not as paired. Fewer may be chance: a program
 * has few different ones */
#define CT_LEAST_FITS 2u

/* ns: threads that call one communicator at the same time take their numbers after they look at the
 * clock */
#define CT_BACKWARDS_NS 1000000u

/* ---- traffic ---- */

/* A counter of bytes that grew by more than so many times what its link carries in one direction
 * was set anew: rates are nominal. And ns: counts that a driver adds late belong to the interval
 * before */
#define CT_PORT_TIMES 2
#define CT_PORT_SLACK_NS 1000000000ull

/* With fewer transfers it is unknown what is usual */
#define CT_CLASS_TRANSFERS 16u

/* Probability that one of all ranks exceeds its fair part so far by chance */
#define CT_CHANCE_OF_RANKS 1e-3

/* ---- clocks ---- */

/* The largest drift between clocks of hosts: crystals are good to 100 ppm, NTP slews by 500 at most
 * and rarely */
#define CT_CLOCK_SLOPE 300e-6

/* ns: cause and effect may be wrong by this much, whatever errors are published. With less,
 * simulated intervals that were to be certain missed the truth (10 % of them with 0, none with
 * this) */
#define CT_CLOCK_EPS_NS 25000u

/* ns: clocks with a smaller error are accurate. Neither errors of times nor the wander of a clock
 * make events of one minute contradict causality by more */
#define CT_CLOCK_ACCURATE_NS 100000.0

/* ns: what one window is off the next one, beyond its error, where a clock was set, or slewed so
 * fast that no line follows it */
#define CT_CLOCK_JUMP_NS 50000.0

/* The rate of a clock is a random walk, of so much per root of a second: the worst of the scenarios
 */
#define CT_CLOCK_WANDER 1e-7

/* ns by which all operations may end later on one host than on the other, where no host has two
 * ranks to show it: of two ranks that always end U(0, 100 us) later, 96 % lie less apart */
#define CT_CLOCK_SKEW_NS 80000.0

/* A drift with a larger error (parts per billion) is not reported */
#define CT_CLOCK_DRIFT_PPB 5000.0

/* ns: resolution of a clock; with a smaller spread everything would be an outlier */
#define CT_CLOCK_SPREAD_NS 50.0

/* ns^2: all at one moment shows no slope */
#define CT_CLOCK_SXX 1e12

/* ns of a line by cause and effect, and of one by the ends of operations: clocks wander off longer
 * ones. One with too few operations goes on as long as the last */
#define CT_CLOCK_PIECE_NS 60000000000ll
#define CT_CLOCK_WINDOW_NS 10000000000ll
#define CT_CLOCK_LONGEST_NS (60 * CT_CLOCK_WINDOW_NS)

/* ---- steps and roles ---- */

/* Of the step, that two times of a loop's body may differ by to be the same; of the times, that
 * have to differ from the median for a loop to have more bodies than one; of pairs of times, that
 * differ at some distance, and of neighbours */
#define CT_STEP_TOLERANCE 0.2
#define CT_STEP_OTHER 0.35
#define CT_STEP_VARIED 0.45
#define CT_STEP_RESTLESS 0.15

/* Operations: a step of no more may be a part of one */
#define CT_STEP_OPS 2u

/* What marks a step: of all bytes; of its distances, those that are alike; and of a small operation
 * that recurs */
#define CT_ANCHOR_BYTES 0.002
#define CT_ANCHOR_REGULARITY 0.6
#define CT_RECURRING_ALIKE 0.8

/* Several occurrences a step: relative deviation of the sum of so many, at most; of a single one,
 * at least (what comes evenly is not put together); of the run that they cover; and occurrences of
 * which bytes that are a few are enough */
#define CT_ANCHOR_DEVIATION 0.15
#define CT_ANCHOR_UNEVEN 0.2
#define CT_ANCHOR_COVERAGE 0.8
#define CT_ANCHOR_FEW 8u

/* Equal collectives a step: so many are inside layers; so few once for the gradients, by bucket */
#define CT_MANY_A_STEP 8.0
#define CT_FEW_A_STEP 4.0

/* ---- overlap ---- */

/* ns: what was asked for and found over, and what began together, each converted to run time, are
 * no farther apart */
#define CT_AT_ONCE_NS 20000u

/* ns: from the entry of a call to where its launch could start on an idle stream; a gap shorter
 * than the second says nothing */
#define CT_GAP_CALL_NS 8000u
#define CT_GAP_LAUNCH_NS 30000u

/* Bytes: smaller reductions are counters, norms and flags */
#define CT_BUCKET_BYTES 4096u

/* Of a bucket's time, that is start-up: with more it is too small */
#define CT_BUCKET_STARTUP 0.2

/* Of the step: what another size has to gain; and of that gain, what is next to nothing */
#define CT_BUCKET_GAIN 0.02

/* ---- links ---- */

/* Of what its peers reach: a link or a communicator below it is slow */
#define CT_SLOW_LINK 0.7

/* ... and one that stays below it for some time, measured against itself */
#define CT_SLOW_OP 0.6

/* Smallest deviation that is assumed of peers */
#define CT_LINK_SPREAD 0.03

/* Links that are compared with each other, at least: one, and as many others as there have to be
 * peers */
#define CT_LEAST_EDGES (CT_LEAST_PEERS + 1)

/* Where the host times, what else runs on it makes most operations slow: more of them are needed */
#define CT_LEAST_HOST_SAMPLES 50u

/* Probability that so long a row of slow transfers is chance */
#define CT_CHANCE 1e-6

/* Bytes: at 10 GB/s and 5 us a larger transfer takes more than half of its time for its bytes, and
 * more than flags are exchanged */
#define CT_LARGE_BYTES 65536u

/* Sizes within this are one, 2^(1/4); those of few transfers up to an octave */
#define CT_NARROW_CLASS 1.189207115
#define CT_WIDE_CLASS 2.0

/* The scatter of relative errors is no smaller, for there are no outliers where all are on the line
 */
#define CT_FIT_SCATTER 1e-3

/* A second line has to leave less of the scatter than this, and there has to be so much of it */
#define CT_SPLIT_GAIN 0.7
#define CT_SPLIT_SCATTER 0.02

/* ---- live ---- */

/* ns: a running job is judged for slow ranks so often. Most jobs have the steps that the replay
 * needs in it; a replay takes a second of a core at most. */
#define CT_LIVE_JUDGE_NS 60000000000ull

/* ns: of a stretch that shows nothing, more is gathered up to this length: the logs keep a sample
 * of it in any case */
#define CT_LIVE_STRETCH_NS 600000000000ull

/* ns: rates are of as much at least, since records come to files in portions of COMMTRACE_FLUSH */
#define CT_LIVE_RATE_NS 10000000000ull

/* ---- diff ---- */

/* So many of the reported differences between two runs are chance (false discovery rate) */
#define CT_DIFF_RATE 0.01

#endif
