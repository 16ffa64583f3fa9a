/* SPDX-License-Identifier: Apache-2.0 */
/* What auto decides, and what it finds that timing costs: a job whose time is computed, on a driver
 * in which timed events make steps longer by a known share. All clocks are the test's, so that an
 * hour takes a moment and no machine is too busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interpose/comms.h"
#include "interpose/gpu/choice/effect.h"
#include "interpose/gpu/choice/mode.h"
#include "interpose/gpu/choice/period.h"
#include "interpose/gpu/choice/sampling.h"
#include "interpose/gpu/choice/windows.h"
#include "interpose/gpu/decide.h"
#include "interpose/gpu/time.h"
#include "interpose/hash.h"
#include "interpose/recorder.h"

#define SECOND_NS 1000000000ull
#define LOOK_NS 10000000ull
enum { COLLECTIVES = 20 };

/* ---- clocks
 * ---------------------------------------------------------------------------------------------- */

static uint64_t mono_ns, unix_ahead_ns;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t ns = clock == CLOCK_REALTIME ? mono_ns + unix_ahead_ns : mono_ns;

	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock, t);
	t->tv_sec = (time_t)(ns / SECOND_NS);
	t->tv_nsec = (long)(ns % SECOND_NS);
	return 0;
}

/* ---- a job
 * ----------------------------------------------------------------------------------------------- */

static uint64_t random_state;

/* Uniform in 0..1. */
static double dice(void)
{
	random_state = ct_hash_mix(random_state, 1);
	return (double)(random_state >> 11) / 9007199254740992.0;
}

/* Of mean 0 and spread 1, near enough. */
static double bell(void)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += dice();
	return sum - 6;
}

struct job {
	double cost;	     /* of a step, of one that is timed */
	double noise;	     /* spread of steps */
	uint64_t step_ms;    /* 0: 400 */
	double drift;	     /* by so much steps become longer in an hour */
	uint64_t pause_each; /* steps; 0 never */
	enum { REPEATS, OTHER_SIZES, NOTHING_REPEATS } sequence;
};

static struct ct_traced_comm *world, *pair;
static uint64_t steps, first_timed_ns, lowered_ns, untimed_ns, begun_ns;

static int is_timed(void)
{
	return ct_gpu_timing() == CT_GPU_TIMED && !ct_gpu_sampling_is_paused();
}

static void call(struct ct_traced_comm *comm, uint64_t what)
{
	uint64_t seq = atomic_fetch_add(&comm->entry->next_seq, 1);

	atomic_store(&comm->entry->last_enter, mono_ns);
	if (!ct_gpu_sampling_is_paused())
		ct_gpu_decide_launch(comm->id, seq, 1, what);
}

static void let_pass(uint64_t ns)
{
	uint64_t end_ns = mono_ns + ns;

	while (mono_ns < end_ns) {
		uint64_t nap_ns = end_ns - mono_ns < LOOK_NS ? end_ns - mono_ns : LOOK_NS;

		mono_ns += nap_ns;
		untimed_ns += ct_gpu_sampling_is_paused() ? nap_ns : 0;
		ct_gpu_decide_look(mono_ns);
		if (is_timed() && !first_timed_ns)
			first_timed_ns = mono_ns - begun_ns;
		if (first_timed_ns && ct_gpu_timing() != CT_GPU_TIMED && !lowered_ns)
			lowered_ns = mono_ns - begun_ns;
	}
}

static void step(const struct job *job)
{
	double age = (double)(mono_ns - begun_ns) / 3.6e12;
	double ns = 1e6 * (double)(job->step_ms ? job->step_ms : 400) * (1 + job->noise * bell()) *
		    (1 + job->drift * age);

	for (int i = 0; i < COLLECTIVES; i++) {
		uint64_t nth = steps * COLLECTIVES + (uint64_t)i;
		uint8_t op = job->sequence == NOTHING_REPEATS ? 1 : (uint8_t)(i % 7);

		call(world, ct_gpu_period_what(op, job->sequence == REPEATS ? 0 : nth << 8));
		call(pair, 1);
		mono_ns += 50000;
	}
	if (is_timed())
		ns *= 1 + job->cost;
	if (job->pause_each && steps % job->pause_each == job->pause_each - 1)
		ns += 4e9;
	let_pass((uint64_t)ns);
	steps++;
}

static void begin(const char *guard, const char *timing, uint64_t seed)
{
	static const char *const nowhere[] = { NULL };
	struct ct_comm_spec spec = { .key = 7, .backend = CT_BACKEND_NCCL, .nranks = 64 };
	struct ct_settings settings;
	struct ct_gpu_options options;
	struct ct_notes notes = { 0 };
	char text[64], how[64];
	char *const env[] = { text, how, NULL };

	random_state = seed;
	mono_ns = 5000 * SECOND_NS + seed * 7 * SECOND_NS;
	unix_ahead_ns = 1700000000 * SECOND_NS;
	steps = first_timed_ns = lowered_ns = untimed_ns = 0;
	begun_ns = mono_ns;
	memset(&ct_self, 0, sizeof(ct_self));
	memset(&ct_recorder, 0, sizeof(ct_recorder));
	ct_recorder.process.start_ns = mono_ns;
	snprintf(ct_recorder.process.job, sizeof(ct_recorder.process.job), "job%d", (int)seed);
	assert_int_equal(ct_ring_create(&ct_recorder.ring, &ct_recorder.process, nowhere, 1 << 20,
					NULL),
			 CT_OK);
	assert_int_equal(ct_comms_init("job", 1), CT_OK);
	snprintf(text, sizeof(text), "COMMTRACE_%s%s", strchr(guard, '=') ? "" : "GUARD=", guard);
	snprintf(how, sizeof(how), "COMMTRACE_TIMING=%s", timing);
	ct_settings_read(&settings, env, &notes);
	ct_gpu_options_read(&options, &settings, NULL, &notes);
	assert_int_equal(notes.n, 0);
	assert_int_equal(ct_gpu_init_options(&options), CT_OK);
	spec.handle[0] = &world;
	world = ct_comms_create(&spec);
	spec.handle[0] = &pair;
	spec.key = 8;
	spec.nranks = 2;
	pair = ct_comms_create(&spec);
}

static struct ct_cost_rec run(const struct job *job, uint64_t seconds)
{
	struct ct_cost_rec cost = { 0 };

	while (mono_ns - begun_ns < seconds * SECOND_NS)
		step(job);
	ct_gpu_ledger(&cost);
	ct_gpu_decide_ledger(&cost);
	ct_ring_close(&ct_recorder.ring, 0);
	return cost;
}

/* ---- tests
 * ----------------------------------------------------------------------------------------------- */

static struct ct_gpu_period period;

static uint32_t period_of(uint32_t n, uint32_t prefix, uint32_t length, uint32_t *measured)
{
	ct_gpu_period_reset(&period);
	for (uint32_t i = 0; i < n; i++)
		ct_gpu_period_add(&period, i, 1,
				  i < prefix		      ? 1000 + i
				  : (i - prefix) % length < 3 ? 5
							      : (i - prefix) % length);
	return ct_gpu_period_find(&period, CT_GPU_PERIOD_ALL, measured);
}

static void a_period_is_found_behind_a_beginning_and_through_what_repeats_in_it(void **state)
{
	uint32_t has;

	(void)state;
	assert_int_equal(period_of(60, 10, 25, &has), 25);
	assert_int_equal(has, 50);
	assert_int_equal(period_of(59, 10, 25, &has), 0);
	assert_int_equal(period_of(3, 0, 1, &has), 1);
	assert_int_equal(period_of(1, 0, 1, &has), 0);
	assert_int_equal(period_of(10000, 10, 2000, &has), 2000);
	assert_int_equal(period_of(10000, 10, 3000, &has), 0);
	/* not where most of it was something else */
	assert_int_equal(period_of(100, 80, 5, &has), 0);
	/* one that was not seen ends what is known */
	period_of(200, 0, 10, &has);
	ct_gpu_period_add(&period, 201, 1, 5);
	assert_int_equal(ct_gpu_period_find(&period, CT_GPU_PERIOD_ALL, &has), 0);
}

static void windows_are_the_same_for_all_and_few_and_come_soon(void **state)
{
	const struct ct_gpu_options o = { .guard_off_ms = 10000, .guard_ms = 120000 };
	uint64_t last = 0, longest = 0, n = 0, others = 0;

	(void)state;
	for (uint64_t w = 1000; w < 13000; w++) {
		int is_off = ct_gpu_window_is_off(&o, 77, w, SECOND_NS);

		others += is_off && ct_gpu_window_is_off(&o, 78, w, SECOND_NS);
		if (!is_off)
			continue;
		n++;
		if (last) {
			assert_true(w - last > 1);
			longest = w - last > longest ? w - last : longest;
		}
		last = w;
	}
	assert_int_equal(n, 1000);
	assert_int_equal(longest, 16);
	n = 0;
	for (uint64_t w = 1000; w < 13000; w++)
		n += (uint64_t)ct_gpu_window_is_off(&o, 77, w, 7200 * SECOND_NS);
	assert_in_range(n, 80, 170);
	/* another job has others */
	assert_in_range(others, 100, 300);
	assert_int_equal(ct_gpu_window(&o, 12345 * SECOND_NS), 1234);
}

static void events_wait_for_two_steps_and_a_window(void **state)
{
	const struct job job = { .noise = 0.01 };
	struct ct_cost_rec cost;

	(void)state;
	begin("2m,10s/2m", "auto", 1);
	assert_int_equal(ct_gpu_timing(), CT_GPU_HOST);
	cost = run(&job, 60);
	assert_int_equal(cost.timed_by, CT_TIMED_BY_EVENTS);
	assert_int_equal(cost.timed_why, CT_TIMED_WHY_AUTO);
	assert_in_range(first_timed_ns, 10 * SECOND_NS, 12 * SECOND_NS);
	assert_in_range(cost.raised_ns - begun_ns, 10 * SECOND_NS, 12 * SECOND_NS);
	assert_int_equal(cost.lowered_ns, 0);
	assert_int_equal(cost.step_collectives, COLLECTIVES);
	assert_int_equal(cost.change_err_millionths, UINT32_MAX);
	assert_int_equal(untimed_ns, 0);
	begin("2m,10s/2m", "auto", 1);
	cost = run(&job, 9);
	assert_int_equal(cost.timed_by, CT_TIMED_BY_HOST);
	assert_int_equal(cost.timed_why, CT_TIMED_WHY_EARLY);
	assert_int_equal(cost.raised_ns, 0);
}

static void a_sequence_that_does_not_repeat_is_waited_for_no_longer_than_the_guard(void **state)
{
	static const struct job job = { .noise = 0.01, .sequence = NOTHING_REPEATS };
	struct ct_cost_rec cost;

	(void)state;
	begin("2m,10s/2m", "auto", 2);
	cost = run(&job, 200);
	assert_int_equal(cost.timed_by, CT_TIMED_BY_EVENTS);
	assert_in_range(first_timed_ns, 130 * SECOND_NS, 132 * SECOND_NS);
	assert_int_equal(cost.step_kind, CT_STEP_COLLECTIVE);
	assert_int_equal(cost.step_collectives, 1);
	assert_int_equal(cost.change_err_millionths, UINT32_MAX);
	assert_int_equal(cost.unmeasured, CT_UNMEASURED_FEW);
}

/* Then a step is the operations, or throughput shows. */
static void what_it_costs_is_seen_without_a_period(void **state)
{
	static const struct job jobs[] = {
		{ .cost = 0.1, .noise = 0.02, .sequence = OTHER_SIZES },
		{ .cost = 0.1, .noise = 0.02, .sequence = NOTHING_REPEATS },
		/* between bursts that are far apart, of which a window has some more or fewer */
		{ .cost = 0.5, .noise = 0.02, .sequence = NOTHING_REPEATS, .step_ms = 3000 },
	};

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		size_t i = seed % 3;
		struct ct_cost_rec cost;
		double change, err;

		begin("2m,10s/2m", "auto", seed);
		cost = run(&jobs[i], 3600);
		change = cost.change_millionths / 1e6;
		err = cost.change_err_millionths / 1e6;
		assert_int_equal(cost.timed_why, CT_TIMED_WHY_SLOWER);
		assert_in_range(lowered_ns, 200 * SECOND_NS, (i == 2 ? 3600 : 600) * SECOND_NS);
		assert_true(fabs(change - jobs[i].cost) < err);
		assert_int_equal(cost.step_collectives, i ? 1 : COLLECTIVES);
		assert_int_equal(cost.step_kind, i ? CT_STEP_COLLECTIVE : CT_STEP_OPERATIONS);
	}
}

static void of_sampled_launches_throughput_is_reported(void **state)
{
	static const struct job job = { .cost = 0.05, .noise = 0.01 };
	struct ct_cost_rec cost;

	(void)state;
	begin("SAMPLE=10", "auto", 4);
	cost = run(&job, 600);
	assert_int_equal(cost.timed_why, CT_TIMED_WHY_SLOWER);
}

/* Windows grow with them. */
static void long_steps_are_measured_too(void **state)
{
	static const struct {
		uint64_t step_ms, off_ms, seconds;
	} rows[] = {
		{ 3500, 20000, 3600 },
		{ 12000, 40000, 7200 },
		{ 100000, 320000, 14 * 3600 },
	};

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		size_t i = seed % 3;
		struct job job = { .cost = 0.05, .noise = 0.004, .step_ms = rows[i].step_ms };
		struct ct_cost_rec cost;

		job.cost = seed > 6 ? 0.05 : 0.001;
		begin("2m,10s/2m", "auto", seed);
		cost = run(&job, rows[i].seconds);
		assert_int_equal(cost.timed_why,
				 seed > 6 ? CT_TIMED_WHY_SLOWER : CT_TIMED_WHY_AUTO);
		assert_true(fabs(cost.change_millionths / 1e6 - job.cost) <
			    cost.change_err_millionths / 1e6);
		assert_true(cost.change_err_millionths < 40000);
		assert_int_equal(cost.guard_off_ms, rows[i].off_ms);
		assert_int_equal(cost.guard_ms, 12 * rows[i].off_ms);
		assert_true((double)untimed_ns < 0.1 * (double)(mono_ns - begun_ns));
		assert_true(fabs((double)cost.step_ns / 1e6 / (double)rows[i].step_ms - 1) < 0.07);
	}
}

/* Ranks see the same steps with other noise: their windows become equally long, however near to a
 * third of one steps are, and stay so through pauses. */
static void windows_become_the_same_for_all(void **state)
{
	struct job job = { .noise = 0.01, .step_ms = 3333 };

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		begin("2m,10s/2m", "events", seed);
		assert_int_equal(run(&job, 1200).guard_off_ms, 20000);
	}
	job = (struct job){ .noise = 0.05, .step_ms = 1000, .pause_each = 7 };
	begin("2m,10s/2m", "events", 1);
	assert_int_equal(run(&job, 1200).guard_off_ms, 10000);
}

static void what_is_not_measured_has_its_reason(void **state)
{
	struct job job = { .noise = 0.01, .step_ms = 12000 };
	struct ct_cost_rec cost;

	(void)state;
	begin("0s,4s/1440m", "events", 1);
	cost = run(&job, 600);
	assert_int_equal(cost.unmeasured, CT_UNMEASURED_LONG);
	assert_int_equal(cost.change_err_millionths, UINT32_MAX);
	begin("2m,10s/2m", "events", 1);
	assert_int_equal(run(&job, 600).unmeasured, CT_UNMEASURED_FEW);
	begin("off", "events", 1);
	assert_int_equal(run(&job, 600).unmeasured, CT_UNMEASURED_OFF);
	begin("DUTY=10s/60s", "events", 1);
	assert_int_equal(run(&job, 600).unmeasured, CT_UNMEASURED_OFF);
	/* not two steps yet */
	begin("2m,10s/2m", "events", 1);
	job.sequence = NOTHING_REPEATS;
	assert_int_equal(run(&job, 30).unmeasured, CT_UNMEASURED_NO_STEP);
	job.sequence = REPEATS;
	/* one is called while it is looked */
	begin("2m,10s/2m", "events", 1);
	while (mono_ns - begun_ns < 60 * SECOND_NS)
		step(&job);
	call(world, 0);
	ct_gpu_decide_look(mono_ns - 1000);
	assert_int_equal(run(&job, 0).unmeasured, CT_UNMEASURED_FEW);
	/* none any more, and none at all */
	begin("2m,10s/2m", "events", 1);
	while (mono_ns - begun_ns < 60 * SECOND_NS)
		step(&job);
	let_pass(200 * SECOND_NS);
	assert_int_equal(run(&job, 0).unmeasured, CT_UNMEASURED_NO_COLLECTIVES);
	begin("2m,10s/2m", "events", 1);
	let_pass(200 * SECOND_NS);
	assert_int_equal(run(&job, 0).unmeasured, CT_UNMEASURED_NO_COLLECTIVES);
	assert_int_equal(untimed_ns, 0);
}

static void what_costs_5_per_cent_is_turned_down_within_five_minutes(void **state)
{
	const struct job job = { .cost = 0.05, .noise = 0.02, .drift = 0.05 };

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct ct_cost_rec cost;
		double change, err;

		begin("2m,10s/2m", "auto", seed);
		cost = run(&job, 400);
		change = cost.change_millionths / 1e6;
		err = cost.change_err_millionths / 1e6;
		assert_int_equal(cost.timed_by, CT_TIMED_BY_HOST);
		assert_int_equal(cost.timed_why, CT_TIMED_WHY_SLOWER);
		assert_in_range(lowered_ns, 120 * SECOND_NS, 300 * SECOND_NS);
		assert_in_range(cost.lowered_ns - begun_ns, 120 * SECOND_NS, 300 * SECOND_NS);
		assert_true(change - err > 0.01);
		assert_true(fabs(change - 0.05) < err);
		assert_true(cost.windows_off >= 1 && cost.windows_on >= 8);
		/* and left at that */
		assert_false(ct_gpu_sampling_is_paused());
	}
}

/* ... and reported with its error, which gets small. */
static void what_costs_a_thousandth_is_left_alone(void **state)
{
	const struct job job = { .cost = 0.001, .noise = 0.01, .drift = 0.05 };
	int hits = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct ct_cost_rec cost;

		begin("2m,10s/2m", "auto", seed);
		cost = run(&job, 3600);
		assert_int_equal(cost.timed_by, CT_TIMED_BY_EVENTS);
		assert_int_equal(lowered_ns, 0);
		assert_true(cost.change_err_millionths < 3000);
		hits += fabs(cost.change_millionths / 1e6 - 0.001) <
			cost.change_err_millionths / 1e6;
		assert_true((double)untimed_ns < 0.06 * 3600e9);
		assert_in_range(cost.windows_off, 14, 20);
	}
	assert_true(hits >= 19);
}

/* Uneven, with checkpoints, getting slower: nothing of that is timing's doing. */
static void an_uneven_job_is_not_turned_down(void **state)
{
	static const struct job jobs[] = {
		{ .noise = 0.2 },
		{ .noise = 0.02, .pause_each = 97 },
		{ .noise = 0.05, .pause_each = 20, .drift = 1 },
		{ .noise = 0.1, .sequence = NOTHING_REPEATS, .drift = 1 },
		{ .noise = 0.02, .sequence = NOTHING_REPEATS, .pause_each = 97 },
		{ .noise = 0.1, .sequence = NOTHING_REPEATS, .step_ms = 3000 },
		{ .noise = 0.02, .step_ms = 9000, .pause_each = 20, .drift = 1 },
	};

	(void)state;
	for (uint64_t seed = 1; seed <= 30; seed++) {
		for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
			begin("2m,10s/2m", "auto", seed);
			run(&jobs[i], 1800);
			assert_int_equal(lowered_ns, 0);
		}
	}
}

static void what_was_asked_for_is_measured_and_kept(void **state)
{
	const struct job job = { .cost = 0.05, .noise = 0.01 };
	struct ct_cost_rec cost;

	(void)state;
	begin("2m,10s/2m", "events", 1);
	cost = run(&job, 600);
	assert_int_equal(cost.timed_by, CT_TIMED_BY_EVENTS);
	assert_true(fabs(cost.change_millionths / 1e6 - 0.05) < cost.change_err_millionths / 1e6);
	begin("off", "events", 1);
	cost = run(&job, 600);
	assert_int_equal(untimed_ns, 0);
	assert_int_equal(cost.change_err_millionths, UINT32_MAX);
	begin("2m,10s/2m", "host", 1);
	run(&job, 600);
	assert_int_equal(untimed_ns, 0);
}

static void short_windows_serve_as_well(void **state)
{
	const struct job job = { .cost = 0.05, .noise = 0.001 };
	struct ct_cost_rec cost;

	(void)state;
	begin("0s,4s/16s", "auto", 3);
	cost = run(&job, 200);
	assert_int_equal(cost.timed_why, CT_TIMED_WHY_SLOWER);
	assert_true(lowered_ns < 120 * SECOND_NS);
	/* of many steps that begin between two looks */
	begin("0s,400ms/2s", "auto", 3);
	cost = run(&(const struct job){ .cost = 0.2, .noise = 0.01, .step_ms = 4 }, 30);
	assert_int_equal(cost.timed_why, CT_TIMED_WHY_SLOWER);
	assert_true(lowered_ns < 15 * SECOND_NS);
}

/* Two ranks that wait for each other in every step, the clock of one a second behind: a step is
 * longer where either times. */
static void clocks_a_second_apart_do_not_hide_what_it_costs(void **state)
{
	const struct ct_gpu_options o = { .guard_off_ms = 10000, .guard_ms = 120000 };
	struct ct_gpu_effect effects[2];
	uint64_t now_ns = 50 * SECOND_NS, begin_ns = 1700000000 * SECOND_NS;

	(void)state;
	random_state = 5;
	for (int r = 0; r < 2; r++)
		ct_gpu_effect_init(&effects[r], 10 * SECOND_NS);
	for (uint64_t n = 0; n < 4000; n++) {
		int is_off[2], is_slow = 0;

		for (int r = 0; r < 2; r++) {
			uint64_t wall_ns = begin_ns + now_ns - (uint64_t)r * SECOND_NS;

			is_off[r] = ct_gpu_window_is_off(&o, 9, ct_gpu_window(&o, wall_ns), 1);
			is_slow |= !is_off[r];
			ct_gpu_effect_step(&effects[r], wall_ns, now_ns, n, is_off[r]);
		}
		now_ns += (uint64_t)(400e6 * (1 + 0.01 * bell()) * (is_slow ? 1.05 : 1));
	}
	for (int r = 0; r < 2; r++) {
		double change, err, least;

		assert_int_equal(ct_gpu_effect_get(&effects[r], &change, &err, &least), 1);
		assert_true(least <= change);
		assert_true(err < 0.01);
		assert_true(fabs(change - 0.05) < err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_period_is_found_behind_a_beginning_and_through_what_repeats_in_it),
		cmocka_unit_test(windows_are_the_same_for_all_and_few_and_come_soon),
		cmocka_unit_test(events_wait_for_two_steps_and_a_window),
		cmocka_unit_test(
			a_sequence_that_does_not_repeat_is_waited_for_no_longer_than_the_guard),
		cmocka_unit_test(what_it_costs_is_seen_without_a_period),
		cmocka_unit_test(of_sampled_launches_throughput_is_reported),
		cmocka_unit_test(long_steps_are_measured_too),
		cmocka_unit_test(windows_become_the_same_for_all),
		cmocka_unit_test(what_is_not_measured_has_its_reason),
		cmocka_unit_test(what_costs_5_per_cent_is_turned_down_within_five_minutes),
		cmocka_unit_test(what_costs_a_thousandth_is_left_alone),
		cmocka_unit_test(an_uneven_job_is_not_turned_down),
		cmocka_unit_test(what_was_asked_for_is_measured_and_kept),
		cmocka_unit_test(short_windows_serve_as_well),
		cmocka_unit_test(clocks_a_second_apart_do_not_hide_what_it_costs),
	};

	return cmocka_run_group_tests_name("gpudecide", tests, NULL, NULL);
}
