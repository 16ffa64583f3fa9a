/* SPDX-License-Identifier: Apache-2.0 */
/* From a log made by hand to transfers: which instances count, for how many bytes and how long, and
 * which members are alike. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/link/transfers.h"
#include "tests/unit/fixture.h"

#define SLOTS 8
#define MOST 32

static struct {
	struct ct_instance_log log;
	struct ct_log_instance instances[MOST];
	struct ct_log_part parts[4 * MOST];
	struct ct_comm comms[MOST];
	uint32_t slots[MOST][SLOTS];
	uint32_t n_comms;
	uint32_t host_of[SLOTS];
	struct ct_transfers out;
} s;

/* Four slots on each of two hosts. */
static void begin(void)
{
	memset(&s, 0, sizeof(s));
	s.log.instances = s.instances;
	s.log.parts = s.parts;
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		s.host_of[slot] = slot / 4;
}

static const struct ct_comm *comm(const uint32_t *members, uint32_t n)
{
	struct ct_comm *c = &s.comms[s.n_comms];

	*c = (struct ct_comm){
		.hash = s.n_comms + 1, .index = s.n_comms, .nranks = n, .slots = s.slots[s.n_comms]
	};
	for (uint32_t m = 0; m < n; m++)
		c->slots[m] = members[m] + 1;
	s.n_comms++;
	return c;
}

/* A collective that all reach at 1000 and end after ns, and whose bytes are 8000. */
static struct ct_log_instance *collective(const struct ct_comm *c, unsigned op, uint64_t ns)
{
	struct ct_log_instance *i = &s.instances[s.log.n_instances++];

	*i = (struct ct_log_instance){ .comm = c,
				       .bytes = 8000,
				       .transfer_ns = ns,
				       .first_part = s.log.n_parts,
				       .n = c->nranks,
				       .src = -1,
				       .dst = -1,
				       .op = (uint8_t)op,
				       .judged = CT_JUDGED_WAITS };
	for (uint32_t m = 0; m < c->nranks; m++)
		s.parts[s.log.n_parts++] = (struct ct_log_part){
			.start_ns = 1000,
			.end_ns = 1000 + ns,
			.err_ns = 7,
			.slot = c->slots[m] - 1,
			.index = m,
			.on_gpu = 1,
		};
	return i;
}

/* A message between slots; group 0: alone in its launch. */
static void message(const struct ct_comm *c, uint32_t src, uint32_t dst, uint64_t bytes,
		    const uint64_t *times, uint32_t src_group, uint32_t dst_group)
{
	struct ct_log_instance *i = &s.instances[s.log.n_instances++];
	uint64_t send = times[1] - times[0], recv = times[3] - times[2];

	*i = (struct ct_log_instance){ .comm = c,
				       .bytes = bytes,
				       .transfer_ns = send < recv ? send : recv,
				       .first_part = s.log.n_parts,
				       .n = 2,
				       .src = 0,
				       .dst = 1,
				       .op = CT_OP_Send,
				       .judged = CT_JUDGED_WAITS };
	s.parts[s.log.n_parts++] = (struct ct_log_part){ .start_ns = times[0],
							 .end_ns = times[1],
							 .slot = src,
							 .group = src_group,
							 .on_gpu = 1 };
	s.parts[s.log.n_parts++] = (struct ct_log_part){ .start_ns = times[2],
							 .end_ns = times[3],
							 .slot = dst,
							 .index = 1,
							 .group = dst_group,
							 .on_gpu = 1 };
}

static void gather(const uint64_t *clock_err)
{
	assert_int_equal(ct_transfers_gather(&s.log, s.host_of, SLOTS, clock_err, &s.out), 0);
}

static void bytes_count_as_on_the_wire(void **state)
{
	static const uint32_t four[] = { 0, 1, 2, 3 };

	(void)state;
	begin();
	collective(comm(four, 4), CT_OP_AllReduce, 500);
	collective(&s.comms[0], CT_OP_AllGather, 400);
	collective(&s.comms[0], CT_OP_Barrier, 300);
	gather(NULL);
	assert_int_equal(s.out.n, 2);
	assert_int_equal(s.out.n_tracks, 2);
	/* 2 (n - 1) / n and (n - 1) / n */
	assert_true(s.out.moved[0].bytes == 12000);
	assert_true(s.out.moved[1].bytes == 6000);
	assert_true(s.out.moved[0].ns == 500);
	assert_int_equal(s.out.moved[0].end_ns, 1500);
	assert_int_equal(s.out.moved[0].err_ns, 7);
	ct_transfers_fini(&s.out);
}

/* What has no time of its own, or no size of its own, is left out; an exchange of as much with all
 * is an operation. */
static void only_operations_with_a_time_of_their_own_count(void **state)
{
	static const uint32_t two[] = { 0, 1 };
	struct ct_log_instance *i;

	(void)state;
	begin();
	collective(comm(two, 2), CT_OP_AllReduce, 500);
	s.parts[0].group = s.parts[1].group = 9;
	s.parts[0].leads = s.parts[1].leads = 1;
	i = collective(&s.comms[0], CT_OP_AllToAll, 500);
	i->varying = 1;
	i = collective(&s.comms[0], CT_OP_AllReduce, 500);
	i->judged = CT_JUDGED_NOTHING;
	collective(&s.comms[0], CT_OP_Broadcast, 500);
	gather(NULL);
	assert_int_equal(s.out.n, 0);
	ct_transfers_fini(&s.out);
	i = collective(&s.comms[0], CT_OP_AllToAll, 500);
	i->varying = 1;
	s.parts[i->first_part].group = 10;
	s.parts[i->first_part + 1].group = 11;
	gather(NULL);
	assert_int_equal(s.out.n, 1);
	assert_int_equal(s.out.tracks[0].op, CT_OP_AllToAll);
	ct_transfers_fini(&s.out);
}

/* In host timing, a short one may have left before its receive. */
static void short_messages_of_a_host_say_nothing(void **state)
{
	static const uint32_t two[] = { 0, 1 };
	static const uint64_t times[] = { 100, 200, 100, 300 };

	(void)state;
	begin();
	comm(two, 2);
	for (int k = 0; k < 3; k++) {
		message(&s.comms[0], 0, 1, k == 2 ? 262144 : 262143, times, 0, 0);
		s.parts[2 * k].on_gpu = s.parts[2 * k + 1].on_gpu = k == 0;
	}
	gather(NULL);
	assert_int_equal(s.out.n, 2);
	assert_true(s.out.moved[0].bytes == 262143);
	assert_true(s.out.moved[1].bytes == 262144);
	assert_false(s.out.tracks[0].shared);
	ct_transfers_fini(&s.out);
}

/* 0 exchanges with 1 and 2, and 2 comes at 500: nothing of 0 and 1's took longer than from then on.
 * 1 has no other partner, and is done at 900. */
static void waiting_for_a_third_is_no_transfer(void **state)
{
	static const uint32_t three[] = { 0, 1, 2 };
	static const uint64_t with_1[] = { 100, 800, 100, 900 }, with_2[] = { 100, 800, 500, 800 };

	(void)state;
	begin();
	comm(three, 3);
	message(&s.comms[0], 0, 1, 1000, with_1, 1, 2);
	message(&s.comms[0], 0, 2, 1000, with_2, 1, 3);
	gather(NULL);
	assert_int_equal(s.out.n, 2);
	assert_true(s.out.moved[0].ns == 300);
	assert_true(s.out.moved[1].ns == 300);
	assert_true(s.out.tracks[0].shared);
	/* the speed of 0 and 1 is unknown: they had 400 before; with 2 nothing had begun */
	assert_true(s.out.moved[0].had_begun);
	assert_false(s.out.moved[1].had_begun);
	ct_transfers_fini(&s.out);
}

/* The same with 2 on another host: its start says something only where clocks are related, and as
 * much less as they are off. */
static void a_third_on_another_host_needs_related_clocks(void **state)
{
	static const uint32_t three[] = { 0, 1, 4 };
	static const uint64_t with_1[] = { 100, 800, 100, 900 }, with_4[] = { 100, 800, 500, 800 };
	static const uint64_t err[] = { 0, 40 }, unknown[] = { 0, UINT64_MAX };

	(void)state;
	begin();
	comm(three, 3);
	message(&s.comms[0], 0, 1, 1000, with_1, 1, 2);
	message(&s.comms[0], 0, 4, 1000, with_4, 1, 3);
	gather(NULL);
	assert_int_equal(s.out.n, 0);
	ct_transfers_fini(&s.out);
	gather(unknown);
	assert_int_equal(s.out.n, 0);
	ct_transfers_fini(&s.out);
	gather(err);
	assert_int_equal(s.out.n, 2);
	assert_true(s.out.moved[0].ns == 300);
	assert_int_equal(s.out.moved[0].err_ns, 40);
	ct_transfers_fini(&s.out);
}

/* With one partner there is no other rank to wait for: the shorter span, by any clocks. */
static void with_one_partner_no_clock_is_needed(void **state)
{
	static const uint32_t two[] = { 0, 4 };
	static const uint64_t there[] = { 100, 800, 5000, 5200 }, back[] = { 5000, 5200, 100, 800 };

	(void)state;
	begin();
	comm(two, 2);
	message(&s.comms[0], 0, 4, 1000, there, 1, 2);
	message(&s.comms[0], 4, 0, 1000, back, 2, 1);
	gather(NULL);
	assert_int_equal(s.out.n, 2);
	assert_int_equal(s.out.n_tracks, 2);
	assert_true(s.out.moved[0].ns == 200);
	assert_int_equal(s.out.tracks[0].src, 0);
	assert_int_equal(s.out.tracks[0].dst, 4);
	assert_int_equal(s.out.tracks[1].src, 4);
	ct_transfers_fini(&s.out);
}

static uint64_t shape(uint32_t a, uint32_t b)
{
	const uint32_t two[] = { a, b };
	uint64_t found;

	begin();
	collective(comm(two, 2), CT_OP_AllReduce, 500);
	gather(NULL);
	found = s.out.tracks[0].shape;
	ct_transfers_fini(&s.out);
	return found;
}

static uint64_t way(uint32_t a, uint32_t b)
{
	static const uint64_t times[] = { 100, 200, 100, 300 };
	const uint32_t two[] = { a, b };
	uint64_t found;

	begin();
	message(comm(two, 2), a, b, 1000, times, 0, 0);
	gather(NULL);
	found = s.out.tracks[0].shape;
	ct_transfers_fini(&s.out);
	return found;
}

/* Alike are those at the same distances on their hosts. */
static void alike_are_those_with_the_same_indices(void **state)
{
	(void)state;
	assert_true(shape(0, 1) && shape(0, 1) == shape(2, 3));
	assert_true(shape(0, 1) == shape(4, 5));
	assert_true(shape(0, 1) != shape(0, 2));
	assert_true(shape(0, 4) == shape(3, 7));
	/* as far apart, but on two hosts */
	assert_true(shape(0, 5) != shape(0, 1));
	assert_true(shape(0, 4) != shape(0, 1));
	assert_true(way(0, 1) == way(2, 1));
	assert_true(way(0, 1) != way(0, 2));
	assert_true(way(0, 4) == way(7, 3));
	assert_true(way(0, 4) != way(0, 5));
	assert_true(way(0, 5) == way(3, 6));
	assert_true(way(0, 5) != way(0, 1));
}

/* A communicator with an unknown member has unknown peers. */
static void an_unknown_rank_is_like_no_one(void **state)
{
	static const uint32_t two[] = { 0, 1 };

	(void)state;
	begin();
	collective(comm(two, 2), CT_OP_AllReduce, 500);
	s.comms[0].slots[1] = 0;
	gather(NULL);
	assert_int_equal(s.out.tracks[0].shape, 0);
	ct_transfers_fini(&s.out);
	s.comms[0].slots[1] = 2;
	s.comms[0].clash = 1;
	gather(NULL);
	assert_int_equal(s.out.tracks[0].shape, 0);
	ct_transfers_fini(&s.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_count_as_on_the_wire),
		cmocka_unit_test(only_operations_with_a_time_of_their_own_count),
		cmocka_unit_test(short_messages_of_a_host_say_nothing),
		cmocka_unit_test(waiting_for_a_third_is_no_transfer),
		cmocka_unit_test(a_third_on_another_host_needs_related_clocks),
		cmocka_unit_test(with_one_partner_no_clock_is_needed),
		cmocka_unit_test(alike_are_those_with_the_same_indices),
		cmocka_unit_test(an_unknown_rank_is_like_no_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
