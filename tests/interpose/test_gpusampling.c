/* SPDX-License-Identifier: Apache-2.0 */
/* Which instances are timed: the same ones everywhere, as many as were asked for, coarser sets
 * inside finer ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interpose/comms.h"
#include "interpose/gpu/choice/sampling.h"

enum { INSTANCES = 64000 };

static void init(uint64_t sample, uint32_t duty_on_ms, uint32_t duty_ms)
{
	ct_gpu_sampling_init(&(struct ct_gpu_options){
		.sample = sample, .duty_on_ms = duty_on_ms, .duty_ms = duty_ms });
}

static struct ct_traced_comm make_comm(uint64_t key)
{
	struct ct_traced_comm comm;

	memset(&comm, 0, sizeof(comm));
	comm.key = key;
	return comm;
}

static unsigned count(struct ct_traced_comm *comm, int is_message)
{
	unsigned n = 0;

	for (uint64_t seq = 0; seq < INSTANCES; seq++)
		n += (unsigned)ct_gpu_is_sampled(comm, seq, is_message);
	return n;
}

static void unasked_all_are_timed_and_nothing_is_looked_up(void **state)
{
	struct ct_traced_comm comm = make_comm(7);

	(void)state;
	init(CT_GPU_ALL, 0, 0);
	assert_int_equal(ct_gpu_is_sampling(), 0);
	assert_int_equal(count(&comm, 0), INSTANCES);
	assert_true(comm.pick[0] == 0);
}

static void so_many_are_timed_as_were_asked_for(void **state)
{
	static const unsigned one_in[] = { 2, 3, 10, 100 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		for (int is_message = 0; is_message < 2; is_message++) {
			struct ct_traced_comm comm = make_comm(0x8dadf849144399f1ull + (uint64_t)i);
			unsigned usual = INSTANCES / one_in[i];

			init(CT_GPU_ALL / one_in[i], 0, 0);
			/* messages come in blocks of sixteen, so their number varies more */
			assert_in_range(count(&comm, is_message), usual * 2 / 3, usual * 4 / 3);
		}
	}
}

static void every_member_picks_the_same_ones(void **state)
{
	struct ct_traced_comm one = make_comm(11), other = make_comm(11), third = make_comm(12);
	unsigned differ = 0;

	(void)state;
	init(CT_GPU_ALL / 5, 0, 0);
	for (uint64_t seq = 0; seq < INSTANCES; seq++) {
		assert_int_equal(ct_gpu_is_sampled(&one, seq, 0),
				 ct_gpu_is_sampled(&other, seq, 0));
		differ += ct_gpu_is_sampled(&one, seq, 0) != ct_gpu_is_sampled(&third, seq, 0);
	}
	/* but not the same of every communicator */
	assert_true(differ > INSTANCES / 10);
}

static void what_a_coarser_level_times_a_finer_one_does(void **state)
{
	static uint8_t finer[INSTANCES];
	unsigned before = INSTANCES + 1;

	(void)state;
	init(CT_GPU_ALL / 3, 0, 0);
	memset(finer, 1, sizeof(finer));
	for (uint32_t level = 0; level < 6; level++) {
		struct ct_traced_comm comm = make_comm(23);
		unsigned n = 0;

		ct_gpu_sampling_level(level);
		for (uint64_t seq = 0; seq < INSTANCES; seq++) {
			int picked = ct_gpu_is_sampled(&comm, seq, 0);

			assert_true(!picked || finer[seq]);
			finer[seq] = (uint8_t)picked;
			n += (unsigned)picked;
		}
		assert_true(n > 0 && n < before);
		before = n;
	}
}

static void after_the_budget_has_recovered_all_are_timed_again(void **state)
{
	struct ct_traced_comm comm = make_comm(23);

	(void)state;
	init(CT_GPU_ALL, 0, 0);
	ct_gpu_sampling_level(4);
	assert_true(count(&comm, 0) < INSTANCES / 8);
	ct_gpu_sampling_level(0);
	assert_int_equal(ct_gpu_is_sampling(), 0);
	assert_int_equal(count(&comm, 0), INSTANCES);
}

static void duty_is_the_first_part_of_every_period_of_the_wall_clock(void **state)
{
	const struct ct_gpu_options o = { .sample = CT_GPU_ALL / 2,
					  .duty_on_ms = 10000,
					  .duty_ms = 60000 };
	const uint64_t minute = 29920588ull * 60 * 1000000000;

	(void)state;
	assert_true(ct_gpu_share(&o, 0, minute) == CT_GPU_ALL / 2);
	assert_true(ct_gpu_share(&o, 1, minute + 9999999999) == CT_GPU_ALL / 4);
	assert_true(ct_gpu_share(&o, 0, minute + 10000000000) == 0);
	assert_true(ct_gpu_share(&o, 0, minute + 59999999999) == 0);
	assert_true(ct_gpu_share(&o, 0, minute + 60000000000) == CT_GPU_ALL / 2);
}

/* Members that are a few operations apart when a window begins begin to be timed with the same one:
 * a block of sequence numbers is timed as its first one is. Windows here are so long that this one
 * is on, or off, all the time. */
static void a_window_begins_and_ends_with_a_block(void **state)
{
	struct ct_traced_comm comm = make_comm(5);

	(void)state;
	init(CT_GPU_ALL, 1, 24 * 3600 * 1000);
	if (ct_gpu_is_sampled(&comm, 0, 0))
		usleep(3000); /* midnight */
	comm = make_comm(5);
	for (uint64_t seq = 0; seq < 5; seq++)
		assert_false(ct_gpu_is_sampled(&comm, seq, 0));
	init(CT_GPU_ALL, 24 * 3600 * 1000 - 1, 24 * 3600 * 1000);
	for (uint64_t seq = 5; seq < CT_GPU_SAMPLING_BLOCK; seq++)
		assert_false(ct_gpu_is_sampled(&comm, seq, 0));
	for (uint64_t seq = CT_GPU_SAMPLING_BLOCK; seq < 4 * CT_GPU_SAMPLING_BLOCK; seq++)
		assert_true(ct_gpu_is_sampled(&comm, seq, 0));
	/* messages have blocks of their own */
	assert_true(ct_gpu_is_sampled(&comm, 3, 1));
}

/* A communicator that is used once a minute has blocks longer than a window that is not timed. */
static void a_pause_begins_and_ends_within_a_block(void **state)
{
	struct ct_traced_comm comm = make_comm(5), untouched = make_comm(5);
	int picked = 0;

	(void)state;
	init(CT_GPU_ALL / 2, 0, 0);
	for (uint64_t seq = 0; seq < CT_GPU_SAMPLING_BLOCK; seq++) {
		ct_gpu_sampling_pause(seq % 2);
		picked += ct_gpu_is_sampled(&comm, seq, 0);
		if (seq % 2)
			assert_false(ct_gpu_is_sampled(&comm, seq, 0));
		else
			assert_int_equal(ct_gpu_is_sampled(&comm, seq, 0),
					 ct_gpu_is_sampled(&untouched, seq, 0));
	}
	assert_true(picked > 0);
	ct_gpu_sampling_pause(1);
	assert_false(ct_gpu_is_sampled(&comm, CT_GPU_SAMPLING_BLOCK, 0));
	ct_gpu_sampling_pause(0);
	for (uint64_t seq = CT_GPU_SAMPLING_BLOCK; seq < 2 * CT_GPU_SAMPLING_BLOCK; seq++)
		assert_int_equal(ct_gpu_is_sampled(&comm, seq, 0),
				 ct_gpu_is_sampled(&untouched, seq, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unasked_all_are_timed_and_nothing_is_looked_up),
		cmocka_unit_test(so_many_are_timed_as_were_asked_for),
		cmocka_unit_test(every_member_picks_the_same_ones),
		cmocka_unit_test(what_a_coarser_level_times_a_finer_one_does),
		cmocka_unit_test(after_the_budget_has_recovered_all_are_timed_again),
		cmocka_unit_test(duty_is_the_first_part_of_every_period_of_the_wall_clock),
		cmocka_unit_test(a_window_begins_and_ends_with_a_block),
		cmocka_unit_test(a_pause_begins_and_ends_within_a_block),
	};

	return cmocka_run_group_tests_name("gpusampling", tests, NULL, NULL);
}
