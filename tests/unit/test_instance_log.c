/* SPDX-License-Identifier: Apache-2.0 */
/* What stays on the log: everything while there is space, then whole stretches, the same for all
 * members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/stream/instance_log.h"
#include "trace/status.h"

#define SLOTS 3u

static const uint32_t host_of[SLOTS] = { 0, 0, 1 };
static const uint64_t shift[2] = { 0, (uint64_t)-1000000 };

/* The same moment on both hosts' clocks. */
static uint64_t on_host(uint32_t slot, uint64_t run_ns)
{
	return run_ns - shift[host_of[slot]];
}

static void add(struct ct_instance_log *log, uint64_t seq, uint64_t run_ns)
{
	struct ct_member members[SLOTS] = { 0 };
	struct ct_instance i = { .seq = seq, .src = -1, .dst = -1, .n = SLOTS, .members = members };

	for (uint32_t m = 0; m < SLOTS; m++) {
		members[m].slot = members[m].index = m;
		members[m].enter_ns = on_host(m, run_ns + m);
		members[m].start_ns = on_host(m, run_ns + 10 + m);
		members[m].end_ns = on_host(m, run_ns + 100);
	}
	assert_int_equal(ct_instance_log_add(log, &i, NULL, host_of, shift), CT_OK);
}

static void all_is_kept_while_there_is_room(void **state)
{
	struct ct_instance_log log;

	(void)state;
	ct_instance_log_init(&log, 3000);
	for (uint64_t k = 0; k < 1000; k++)
		add(&log, k, 1000 + 1000 * k);
	assert_int_equal(ct_instance_log_close(&log, SLOTS), CT_OK);
	assert_int_equal(log.n_instances, 1000);
	assert_int_equal(log.n_parts, 3000);
	assert_true(ct_instance_log_share(&log) == 1);
	assert_int_equal(log.parts[5].start_ns, 2012); /* of the run, whatever the host's clock */
	assert_int_equal(log.parts[5].end_ns, 2100);
	ct_instance_log_fini(&log);
}

static void forget_evenly(uint64_t from_ns)
{
	struct ct_instance_log log;
	uint64_t runs = 0, longest = 0, length = 0, before = 0;

	ct_instance_log_init(&log, 3000);
	for (uint64_t k = 0; k < 10000; k++)
		add(&log, k, from_ns + 1000 * k);
	assert_int_equal(ct_instance_log_close(&log, SLOTS), CT_OK);
	assert_in_range(log.n_parts, 1000, 3000);
	assert_int_equal(log.seen_parts, 30000);
	assert_int_equal(log.n_parts, 3 * log.n_instances);
	for (uint32_t k = 0; k < log.n_instances; k++) {
		uint64_t seq = log.instances[k].seq;

		assert_true(ct_sample_keeps(&log.sample, log.instances[k].at_ns));
		assert_int_equal(log.instances[k].first_part, 3 * k);
		for (uint32_t p = 3 * k; p < 3 * k + 3; p++) {
			assert_int_equal(log.parts[p].instance, k);
			assert_int_equal(log.parts[p].end_ns, from_ns + 100 + 1000 * seq);
		}
		if (k == 0 || seq != before + 1) {
			runs++;
			length = 0;
		}
		length++;
		longest = length > longest ? length : longest;
		before = seq;
	}
	/* 1000 of the 10000 have room: the first of eight stretches of the first 1000, and so on */
	assert_in_range(runs, 3, 8);
	assert_int_equal(longest, 125);
	assert_true(before > 8000);
	ct_instance_log_fini(&log);
}

static void whole_stretches_are_forgotten_evenly(void **state)
{
	(void)state;
	forget_evenly(1000);
}

/* Only the end of the run is read. */
static void stretches_are_those_of_what_is_read(void **state)
{
	(void)state;
	forget_evenly(20000000);
}

static void parts_of_a_slot_come_in_order_of_their_starts(void **state)
{
	struct ct_instance_log log;

	(void)state;
	ct_instance_log_init(&log, 0);
	for (uint64_t k = 0; k < 100; k++)
		add(&log, k, 1000 + 1000 * (k * 37 % 100));
	assert_int_equal(ct_instance_log_close(&log, SLOTS), CT_OK);
	for (uint32_t s = 0; s < SLOTS; s++) {
		assert_int_equal(log.slot_first[s + 1] - log.slot_first[s], 100);
		for (uint32_t k = 0; k < 100; k++) {
			const struct ct_log_part
				*part = &log.parts[log.order[log.slot_first[s] + k]];

			assert_int_equal(part->slot, s);
			assert_int_equal(part->start_ns, 1010 + 1000 * k + s);
		}
	}
	ct_instance_log_fini(&log);
}

/* All at one moment: there are no stretches to choose from, and memory stays within its bound. */
static void one_moment_does_not_overflow(void **state)
{
	struct ct_instance_log log;

	(void)state;
	ct_instance_log_init(&log, 300);
	for (uint64_t k = 0; k < 1000; k++)
		add(&log, k, 1000);
	assert_int_equal(ct_instance_log_close(&log, SLOTS), CT_OK);
	assert_true(log.n_parts <= 300);
	assert_int_equal(log.seen_instances, 1000);
	ct_instance_log_fini(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_kept_while_there_is_room),
		cmocka_unit_test(whole_stretches_are_forgotten_evenly),
		cmocka_unit_test(stretches_are_those_of_what_is_read),
		cmocka_unit_test(parts_of_a_slot_come_in_order_of_their_starts),
		cmocka_unit_test(one_moment_does_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
