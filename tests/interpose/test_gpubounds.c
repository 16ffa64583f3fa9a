/* SPDX-License-Identifier: Apache-2.0 */
/* What events show work that they only stand beside, for every point at which a thread may have
 * stood still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "interpose/gpu/bounds.h"

#define ERR 1300u
#define US 1000u

/* A stream that has `busy_ns` to do yet, and a call that records the start event at 0, launches work
 * of `work_ns` at launch_ns, records the end event at end_ns and reads the clock at returned_ns. */
struct call {
	uint64_t busy_ns, work_ns, launch_ns, end_ns, returned_ns;
};

#define BASE 1000000000u

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct ct_gpu_times by_events(const struct call *c, uint64_t *start_ns, uint64_t *end_ns)
{
	*start_ns = BASE + max(c->busy_ns, c->launch_ns);
	*end_ns = *start_ns + c->work_ns;
	return (struct ct_gpu_times){
		.start_ns = BASE + c->busy_ns,
		.end_ns = max(*end_ns, BASE + c->end_ns),
		.start_err_ns = ERR,
		.end_err_ns = ERR,
		.start_source = CT_SOURCE_EVENT,
		.end_source = CT_SOURCE_EVENT,
	};
}

static int is_within(uint64_t ns, uint32_t err_ns, uint64_t truth_ns)
{
	return ns <= truth_ns + err_ns && truth_ns <= ns + err_ns;
}

static void assert_true_of(const struct call *c)
{
	uint64_t start_ns, end_ns;
	struct ct_gpu_times t = by_events(c, &start_ns, &end_ns);

	ct_gpu_bound(&t, BASE + c->returned_ns);
	if (!is_within(t.start_ns, t.start_err_ns, start_ns) ||
	    !is_within(t.end_ns, t.end_err_ns, end_ns) || t.start_ns > t.end_ns)
		fail_msg("busy %lu work %lu launch %lu end %lu returned %lu", c->busy_ns,
			 c->work_ns, c->launch_ns, c->end_ns, c->returned_ns);
}

static void no_time_is_wrong_by_more_than_it_says(void **state)
{
	static const uint64_t some[] = { 0,	   1 * US,    5 * US,	  19 * US,    30 * US,
					 300 * US, 3000 * US, 20000 * US, 400000 * US };
	enum { N = sizeof(some) / sizeof(some[0]) };
	struct call c;

	(void)state;
	for (int b = 0; b < N; b++)
		for (int w = 0; w < N; w++)
			for (int l = 0; l < N; l++)
				for (int e = 0; e < N; e++)
					for (int r = 0; r < N; r++) {
						c.busy_ns = some[b];
						c.work_ns = some[w];
						c.launch_ns = some[l];
						c.end_ns = c.launch_ns + some[e];
						c.returned_ns = c.end_ns + some[r];
						assert_true_of(&c);
					}
}

static void on_a_busy_stream_events_report_all(void **state)
{
	const struct call c = { 5000 * US, 800 * US, 10 * US, 15 * US, 20 * US };
	uint64_t start_ns, end_ns;
	struct ct_gpu_times t = by_events(&c, &start_ns, &end_ns);

	(void)state;
	ct_gpu_bound(&t, BASE + c.returned_ns);
	assert_int_equal(t.start_ns, start_ns);
	assert_int_equal(t.end_ns, end_ns);
	assert_int_equal(t.start_err_ns, ERR);
	assert_int_equal(t.end_err_ns, ERR);
}

/* The end event of work that was still running when the call returned shows its end, even if it
 * began meanwhile. */
static void work_that_outlasts_its_call_has_its_end_from_the_event(void **state)
{
	const struct call c = { 0, 800 * US, 10 * US, 15 * US, 20 * US };
	uint64_t start_ns, end_ns;
	struct ct_gpu_times t = by_events(&c, &start_ns, &end_ns);

	(void)state;
	ct_gpu_bound(&t, BASE + c.returned_ns);
	assert_int_equal(t.end_ns, end_ns);
	assert_int_equal(t.end_err_ns, ERR);
	assert_in_range(t.start_err_ns, 10 * US, 11 * US + ERR);
}

static void a_return_that_no_one_noted_bounds_nothing(void **state)
{
	const struct call c = { 0, 800 * US, 10 * US, 15 * US, 20 * US };
	uint64_t start_ns, end_ns;
	struct ct_gpu_times t = by_events(&c, &start_ns, &end_ns);

	(void)state;
	ct_gpu_bound(&t, UINT64_MAX);
	/* it began before it ended */
	assert_in_range(t.start_err_ns, (end_ns - BASE) / 2, (end_ns - BASE) / 2 + 2 * ERR);
	assert_in_range(t.end_err_ns, end_ns - BASE, end_ns - BASE + 2 * ERR);
	t = by_events(&c, &start_ns, &end_ns);
	t.end_source = CT_SOURCE_NONE;
	t.end_ns = t.end_err_ns = 0;
	ct_gpu_bound(&t, UINT64_MAX);
	assert_int_equal(t.start_err_ns, UINT32_MAX);
	assert_int_equal(t.end_err_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_time_is_wrong_by_more_than_it_says),
		cmocka_unit_test(on_a_busy_stream_events_report_all),
		cmocka_unit_test(work_that_outlasts_its_call_has_its_end_from_the_event),
		cmocka_unit_test(a_return_that_no_one_noted_bounds_nothing),
	};

	return cmocka_run_group_tests_name("gpubounds", tests, NULL, NULL);
}
