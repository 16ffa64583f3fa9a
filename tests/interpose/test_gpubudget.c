/* SPDX-License-Identifier: Apache-2.0 */
/* The budget: timing becomes as coarse as it must be and no coarser, and finer again. By computed
 * costs, and by a driver that takes its time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "interpose/gpu/choice/budget.h"
#include "interpose/gpu/choice/sampling.h"
#include "interpose/gpu/poll.h"
#include "tests/interpose/gpu_fixture.h"

/* A job of so many launches a second, of which those are timed that the level leaves. */
struct computed {
	struct ct_gpu_budget budget;
	struct ct_gpu_spent spent;
	uint64_t launches_per_s, fixed_per_s, poll_per_s;
	double share; /* of wall time, in the last second: what it cost */
};

static uint32_t pass_second(struct computed *c)
{
	uint64_t timed = c->launches_per_s >> c->budget.level;

	c->spent.now_ns += SECOND_NS;
	c->spent.launches += timed;
	c->spent.fixed_ns += c->fixed_per_s;
	c->spent.poll_ns += c->poll_per_s;
	c->share = (double)(timed * c->spent.launch_ns + c->fixed_per_s + c->poll_per_s) / 1e9;
	return ct_gpu_budget_look(&c->budget, &c->spent);
}

static struct computed make(void)
{
	struct computed c = {
		.budget = { .limit_millionths = 10000 },
		.spent = { .now_ns = 5 * SECOND_NS, .launch_ns = 2000 },
		.launches_per_s = 1000,
		.fixed_per_s = 1000000,
		.poll_per_s = 2000000,
	};

	/* what the start took is not a guide */
	c.spent.poll_ns = SECOND_NS;
	ct_gpu_budget_look(&c.budget, &c.spent);
	return c;
}

static void what_fits_stays_as_it_is(void **state)
{
	struct computed c = make();

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(pass_second(&c), 0);
	assert_int_equal(c.budget.backoffs, 0);
}

static void what_costs_too_much_is_thinned_out_until_it_fits(void **state)
{
	struct computed c = make();

	(void)state;
	c.spent.launch_ns = 100000; /* 10 % of wall time */
	pass_second(&c);
	pass_second(&c);
	assert_int_equal(c.budget.backoffs, 1);
	assert_true(c.share <= 0.01);
	/* and not more than it needs */
	assert_true(c.share > 0.003);
	for (int i = 0; i < 100; i++) {
		pass_second(&c);
		assert_true(c.share <= 0.01);
	}
	assert_int_equal(c.budget.coarsest, c.budget.level);
}

static void when_there_is_room_again_all_are_timed_again(void **state)
{
	struct computed c = make();
	uint32_t before;

	(void)state;
	c.spent.launch_ns = 100000;
	before = pass_second(&c);
	assert_true(before > 1);
	c.spent.launch_ns = 2000;
	for (int i = 0; i < 60; i++) {
		uint32_t level = pass_second(&c);

		/* step by step */
		assert_true(level == before || level + 1 == before);
		before = level;
	}
	assert_int_equal(before, 0);
	assert_int_equal(c.budget.backoffs, 1);
}

/* Where going finer is wrong every time, it is tried less and less often. */
static void it_does_not_flutter(void **state)
{
	struct computed c = make();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		c.spent.launch_ns = c.budget.level ? 1000 : 30000;
		pass_second(&c);
	}
	assert_in_range(c.budget.backoffs, 2, 30);
}

static void costs_that_timing_has_no_part_in_do_not_end_it(void **state)
{
	struct computed c = make();

	(void)state;
	c.fixed_per_s = SECOND_NS / 10;
	for (int i = 0; i < 100; i++)
		pass_second(&c);
	/* an eighth of the budget is timing's in any case */
	assert_in_range(c.budget.level, 1, 8);
	assert_true((c.launches_per_s >> c.budget.level) * c.spent.launch_ns <= 1250000);
}

static void without_a_limit_nothing_happens(void **state)
{
	struct computed c = make();

	(void)state;
	c.budget.limit_millionths = 0;
	c.spent.launch_ns = SECOND_NS;
	for (int i = 0; i < 10; i++)
		assert_int_equal(pass_second(&c), 0);
}

static void of_the_last_few_measured_costs_the_least_counts(void **state)
{
	struct ct_gpu_probes probes = { 0 };

	(void)state;
	assert_int_equal(ct_gpu_probe_cost(&probes), 0);
	ct_gpu_probe_add(&probes, 900);
	ct_gpu_probe_add(&probes, 5000000); /* it was interrupted */
	assert_int_equal(ct_gpu_probe_cost(&probes), 900);
	for (unsigned i = 0; i < CT_GPU_PROBES; i++)
		ct_gpu_probe_add(&probes, 3000 + i);
	assert_int_equal(ct_gpu_probe_cost(&probes), 3000);
}

/* With the poll thread, a driver that takes long to record an event, and launches that ask whether
 * they are timed. */
static uint32_t level_after(struct ct_traced_comm *comm, uint64_t *seq, uint64_t seconds,
			    uint32_t until)
{
	uint64_t end_ns = ct_now_ns() + seconds * SECOND_NS;
	struct ct_poll_cost cost;

	do {
		if (ct_gpu_is_sampled(comm, (*seq)++, 0))
			pass(stream);
		usleep(1000);
		ct_poll_cost(&cost);
	} while (ct_now_ns() < end_ns && (cost.level > 0) != (int)until);
	return cost.level;
}

static void a_slow_driver_makes_timing_coarser_until_it_is_quick_again(void **state)
{
	struct ct_traced_comm comm = { .key = 99 };
	struct ct_poll_cost cost;
	uint64_t seq = 0;

	(void)state;
	assert_int_equal(
		ct_gpu_init_options(&(struct ct_gpu_options){ .timing = CT_GPU_TIMED,
							      .sample = CT_GPU_ALL,
							      .budget_millionths = 200000 }),
		CT_OK);
	wait_for_events();
	/* most of the launching thread's time, even on a busy machine */
	fake_lock()->record_ns = 2000000;
	fake_unlock();
	assert_true(level_after(&comm, &seq, 30, 1) > 0);
	ct_poll_cost(&cost);
	assert_int_equal(cost.backoffs, 1);
	assert_int_equal(ct_gpu_is_sampling(), 1);
	fake_lock()->record_ns = 0;
	fake_unlock();
	assert_int_equal(level_after(&comm, &seq, 40, 0), 0);
	assert_int_equal(ct_gpu_is_sampling(), 0);
	finish();
	ct_poll_cost(&cost);
	assert_true(cost.coarsest > 0);
	/* a poll thread that has to wait for a busy machine leaves launches untimed, counted */
	for (int i = 0; i < CT_LOSS_MAX; i++)
		if (i != CT_LOSS_DRIVER_HELD && i != CT_LOSS_EVENT_POOL_EMPTY)
			assert_int_equal(losses((enum ct_loss)i), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_stays_as_it_is),
		cmocka_unit_test(what_costs_too_much_is_thinned_out_until_it_fits),
		cmocka_unit_test(when_there_is_room_again_all_are_timed_again),
		cmocka_unit_test(it_does_not_flutter),
		cmocka_unit_test(costs_that_timing_has_no_part_in_do_not_end_it),
		cmocka_unit_test(without_a_limit_nothing_happens),
		cmocka_unit_test(of_the_last_few_measured_costs_the_least_counts),
		TEST(a_slow_driver_makes_timing_coarser_until_it_is_quick_again),
	};

	return cmocka_run_group_tests_name("gpubudget", tests, NULL, NULL);
}
