/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers compared with those that ought to be as fast, made by hand: a slow host among
 * communicators across hosts, a slow rank's messages, and times full of noise, of which nothing may
 * be reported. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/link/causes.h"
#include "analyzer/link/slow_ops.h"
#include "tests/unit/fixture.h"

#define HOSTS 16u
#define TRACKS 64u
#define EACH 60u

struct draw {
	uint64_t state;
};

static double uniform(struct draw *d)
{
	d->state = d->state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(d->state >> 11) / 9007199254740992.0;
}

static double normal(struct draw *d)
{
	return sqrt(-2 * log(1 - uniform(d))) * cos(6.283185307179586 * uniform(d));
}

/* One rank to a host, so that slots are hosts. */
static struct {
	struct ct_transfers transfers;
	struct ct_moved moved[TRACKS * EACH];
	struct ct_track tracks[TRACKS];
	struct ct_comm comms[TRACKS];
	uint32_t slots[TRACKS][HOSTS];
	uint32_t host_of[HOSTS];
	struct ct_comparison comparison;
	struct ct_causes causes;
} s;

static const struct ct_step_time whole = { 0, UINT64_MAX, 0 };

static void begin(void)
{
	memset(&s, 0, sizeof(s));
	s.transfers.moved = s.moved;
	s.transfers.tracks = s.tracks;
	for (uint32_t h = 0; h < HOSTS; h++)
		s.host_of[h] = h;
}

static struct ct_track *add_track(int on_gpu)
{
	uint32_t t = s.transfers.n_tracks++;

	s.tracks[t] = (struct ct_track){ .comm = &s.comms[t],
					 .op = CT_OP_AllReduce,
					 .on_gpu = (uint8_t)on_gpu,
					 .shape = 77,
					 .n_hosts = 4,
					 .first = s.transfers.n };
	s.comms[t] = (struct ct_comm){ .hash = t + 1, .index = t, .slots = s.slots[t] };
	return &s.tracks[t];
}

static void add_comm(const uint32_t *members, uint32_t n, int on_gpu)
{
	struct ct_track *t = add_track(on_gpu);
	struct ct_comm *comm = &s.comms[t - s.tracks];

	comm->nranks = n;
	for (uint32_t m = 0; m < n; m++)
		comm->slots[m] = members[m] + 1;
}

static void add_edge(uint32_t src, uint32_t dst)
{
	struct ct_track *t = add_track(1);

	t->is_edge = 1;
	t->src = src;
	t->dst = dst;
	t->n_hosts = 2;
}

/* One transfer of the track that was added last. */
static void move(double bytes, double ns)
{
	struct ct_track *t = &s.tracks[s.transfers.n_tracks - 1];
	uint64_t last = s.transfers.n ? s.moved[s.transfers.n - 1].end_ns : 0;

	s.moved[s.transfers.n++] = (struct ct_moved){ .bytes = bytes,
						      .ns = ns,
						      .end_ns = last + (uint64_t)ns + 1000,
						      .track = s.transfers.n_tracks - 1,
						      .err_ns = 2000 };
	t->n++;
	t->bytes += bytes;
	t->ns += ns;
}

static void judge(void)
{
	assert_int_equal(ct_compare(&s.transfers, &s.comparison), 0);
	assert_int_equal(
		ct_causes_find(&s.transfers, &s.comparison, s.host_of, HOSTS, HOSTS, &s.causes), 0);
}

static void end(void)
{
	ct_causes_fini(&s.causes);
	ct_comparison_fini(&s.comparison);
}

static double took(double bytes)
{
	return 30000 + bytes / 20;
}

static uint32_t put_random(struct draw *d, uint32_t *members)
{
	uint32_t n = 0;

	while (n < 4) {
		uint32_t host = (uint32_t)(HOSTS * uniform(d)), seen = 0;

		for (uint32_t m = 0; m < n; m++)
			seen |= members[m] == host;
		if (!seen)
			members[n++] = host;
	}
	return n;
}

static int holds(const uint32_t *units, uint32_t n, uint32_t unit)
{
	for (uint32_t i = 0; i < n; i++)
		if (units[i] == unit)
			return 1;
	return 0;
}

/* 24 communicators of four of 16 hosts, sizes of 64 KiB to 16 MiB; one host has half the bandwidth.
 */
static void a_host_with_half_the_bandwidth_is_reported(void **state)
{
	unsigned exact = 0;

	(void)state;
	for (unsigned seed = 0; seed < 30; seed++) {
		struct draw d = { seed + 5 };
		uint32_t slow = seed % HOSTS, members[4];
		const struct ct_cause *cause;

		begin();
		for (unsigned c = 0; c < 24; c++) {
			uint32_t n = put_random(&d, members);
			int is_slow = holds(members, n, slow);

			add_comm(members, n, 1);
			for (unsigned i = 0; i < EACH; i++) {
				double bytes = exp2(16 + i % 9);

				move(bytes, (took(bytes) + is_slow * bytes / 20) *
						    exp(fabs(0.08 * normal(&d))));
			}
		}
		judge();
		assert_true(s.causes.n >= 1);
		cause = &s.causes.all[0];
		assert_true(holds(cause->suspects, cause->n, slow));
		exact += s.causes.n == 1 && cause->is_exact && cause->n == 1;
		end();
	}
	assert_true(exact >= 29);
}

/* All messages of one rank are slow, those of others to each other are not: it is the rank,
 * reported once. */
static void a_rank_whose_messages_are_slow_is_reported(void **state)
{
	(void)state;
	begin();
	for (uint32_t src = 0; src < 6; src++) {
		for (uint32_t dst = 0; dst < 6; dst++) {
			if (src == dst)
				continue;
			add_edge(src, dst);
			for (unsigned i = 0; i < EACH; i++)
				move(1e6, (src == 4 || dst == 4 ? 2.2 : 1) * took(1e6) *
						  (1 + 0.01 * (i % 5)));
		}
	}
	judge();
	assert_int_equal(s.causes.n, 1);
	assert_true(s.causes.all[0].is_exact);
	assert_int_equal(s.causes.all[0].suspects[0], 4);
	assert_int_equal(s.causes.all[0].n_paths, 10);
	end();
}

/* Both ways between 0 and 1 are slow, 1 is fast with others, and of 0 there is nothing else: 0, or
 * the link. */
static void a_rank_that_is_slow_with_one_other_only_is_not_known(void **state)
{
	static const uint32_t ways[][2] = { { 0, 1 }, { 1, 0 }, { 1, 2 }, { 2, 1 },
					    { 2, 3 }, { 3, 2 }, { 3, 4 }, { 4, 3 } };

	(void)state;
	begin();
	for (uint32_t w = 0; w < 8; w++) {
		add_edge(ways[w][0], ways[w][1]);
		for (unsigned i = 0; i < EACH; i++)
			move(1e6, took(1e6) * (w < 2 ? 2 : 1));
	}
	judge();
	assert_int_equal(s.causes.n, 1);
	assert_false(s.causes.all[0].is_exact);
	assert_int_equal(s.causes.all[0].n, 2);
	assert_int_equal(s.causes.all[0].suspects[0], 0);
	assert_int_equal(s.causes.all[0].suspects[1], 1);
	assert_int_equal(s.causes.all[0].n_paths, 2);
	end();
}

/* Four ranks to a host, pairs between all hosts: all of one host's are slow, whichever rank it is. */
static void a_slow_host_of_several_ranks_is_one_cause(void **state)
{
	(void)state;
	begin();
	for (uint32_t slot = 0; slot < HOSTS; slot++)
		s.host_of[slot] = slot / 4;
	for (uint32_t a = 0; a < 4; a++) {
		for (uint32_t k = 0; k < 4 * (3 - a); k++) {
			uint32_t b = a + 1 + k / 4, rank = k % 4;
			uint32_t pair[] = { 4 * a + rank, 4 * b + (rank + 1) % 4 };

			add_comm(pair, 2, 1);
			for (unsigned i = 0; i < EACH; i++)
				move(1e6, took(1e6) * (a == 2 || b == 2 ? 2 : 1));
		}
	}
	judge();
	assert_int_equal(s.causes.n, 1);
	assert_int_equal(s.causes.all[0].kind, CT_CAUSE_HOSTS);
	assert_true(s.causes.all[0].is_exact);
	assert_int_equal(s.causes.all[0].suspects[0], 2);
	assert_int_equal(s.causes.all[0].n_paths, 12);
	end();
}

/* One way is slow, the way back is not. */
static void a_slow_way_between_two_is_reported(void **state)
{
	(void)state;
	begin();
	for (uint32_t src = 0; src < 6; src++) {
		uint32_t dst = (src + 1) % 6;

		add_edge(src, dst);
		for (unsigned i = 0; i < EACH; i++)
			move(1e6, (src == 2 ? 1.6 : 1) * took(1e6));
		add_edge(dst, src);
		for (unsigned i = 0; i < EACH; i++)
			move(1e6, took(1e6));
	}
	judge();
	assert_int_equal(s.causes.n, 1);
	assert_int_equal(s.causes.all[0].kind, CT_CAUSE_LINK);
	assert_true(s.causes.all[0].is_exact);
	assert_int_equal(s.causes.all[0].suspects[0], 2);
	assert_int_equal(s.causes.all[0].suspects[1], 3);
	end();
}

/* Small transfers take a third longer in one of them, and no other: that is not a bandwidth, and
 * too little. */
static void a_little_slower_is_not_slow(void **state)
{
	static const uint32_t members[] = { 0, 1, 2, 3 };

	(void)state;
	begin();
	for (unsigned c = 0; c < 8; c++) {
		add_comm(members, 4, 1);
		for (unsigned i = 0; i < EACH; i++)
			move(1e6, took(1e6) * (c == 3 ? 1.33 : 1));
	}
	judge();
	assert_int_equal(s.causes.n, 0);
	end();
}

/* One rank has no SMs for the kernels of most operations of a communicator; the others show how
 * fast it is. */
static void most_operations_without_room_are_no_slow_link(void **state)
{
	static const uint32_t members[][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 } };

	(void)state;
	begin();
	for (unsigned c = 0; c < 4; c++) {
		add_comm(members[c], 2, 1);
		for (unsigned i = 0; i < EACH; i++)
			move(1e6, took(1e6) * (c == 1 && i % 5 ? 2 : 1));
	}
	judge();
	assert_int_equal(s.causes.n, 0);
	end();
}

/* Of two operations of a communicator the one with less time is slow: that is not a link. */
static void one_slow_operation_of_several_is_no_slow_link(void **state)
{
	static const uint32_t members[][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 } };

	(void)state;
	begin();
	for (unsigned c = 0; c < 4; c++) {
		struct ct_track *t;

		add_comm(members[c], 2, 1);
		for (unsigned i = 0; i < EACH; i++)
			move(1e6, took(1e6));
		t = add_track(1);
		t->op = CT_OP_AllGather;
		t->comm = &s.comms[2 * c];
		for (unsigned i = 0; i < EACH; i++)
			move(1e5, took(1e5) * (c == 1 ? 2 : 1));
	}
	judge();
	assert_int_equal(s.comparison.of[3].state, CT_TOMO_SLOW_ONE);
	assert_int_equal(s.causes.n_paths, 4);
	assert_int_equal(s.causes.n, 0);
	end();
}

/* Where most are slow, the few are fast. */
static void a_class_of_two_kinds_has_no_slow_one(void **state)
{
	static const uint32_t members[][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 }, { 8, 9 } };

	(void)state;
	begin();
	for (unsigned c = 0; c < 5; c++) {
		add_comm(members[c], 2, 1);
		for (unsigned i = 0; i < EACH; i++)
			move(1e6, took(1e6) * (c < 3 ? 2 : 1));
	}
	judge();
	assert_int_equal(s.causes.n, 0);
	end();
}

/* All four members are fast elsewhere: a link, but which is not known. And who is slow within its
 * host is not cleared by what goes between hosts. */
static void a_link_among_four_is_not_known(void **state)
{
	static const uint32_t members[][4] = {
		{ 0, 1, 2, 3 }, { 0, 4, 5, 6 }, { 1, 5, 7, 8 }, { 2, 6, 7, 9 }, { 3, 8, 9, 4 }
	};

	(void)state;
	for (int across = 1; across >= 0; across--) {
		begin();
		for (unsigned c = 0; c < 5; c++) {
			add_comm(members[c], 4, 1);
			if (c == 0 && !across) {
				s.tracks[0].n_hosts = 1;
				s.tracks[0].shape = 78;
			}
			for (unsigned i = 0; i < EACH; i++)
				move(1e6, took(1e6) * (c == 0 ? 2 : 1));
		}
		for (unsigned c = 0; c < 3 && !across; c++) {
			add_comm((uint32_t[]){ 10, 11, 12, 13 }, 4, 1);
			s.tracks[5 + c].n_hosts = 1;
			s.tracks[5 + c].shape = 78;
			for (unsigned i = 0; i < EACH; i++)
				move(1e6, took(1e6));
		}
		judge();
		assert_int_equal(s.causes.n, 1);
		assert_int_equal(s.causes.all[0].kind, across ? CT_CAUSE_LINK : CT_CAUSE_RANKS);
		assert_false(s.causes.all[0].is_exact);
		assert_int_equal(s.causes.all[0].n, 4);
		end();
	}
}

/* But one in which nothing is fast is slow, by whatever clock. */
static void a_link_is_slow_on_a_busy_host_too(void **state)
{
	static const uint32_t members[][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 }, { 8, 9 } };
	struct draw d = { 3 };

	(void)state;
	begin();
	for (unsigned c = 0; c < 5; c++) {
		add_comm(members[c], 2, 0);
		for (unsigned i = 0; i < EACH; i++)
			move(4e6, (c == 2 ? 2 : 1) * took(4e6) * exp(fabs(0.1 * normal(&d))));
	}
	judge();
	assert_int_equal(s.causes.n, 1);
	assert_false(s.causes.all[0].is_exact);
	assert_int_equal(s.causes.all[0].n, 2);
	assert_int_equal(s.causes.all[0].suspects[0], 4);
	end();
}

/* Slow ones by chance, however many, are no stretch. */
static void slow_ones_by_chance_are_no_stretch(void **state)
{
	static const uint32_t members[] = { 0, 1, 2, 3 };

	(void)state;
	for (unsigned seed = 0; seed < 2000; seed++) {
		struct draw d = { seed };
		struct ct_slow_ops slow;

		begin();
		add_comm(members, 4, 1);
		for (unsigned i = 0; i < EACH; i++)
			move(1e6, took(1e6) * (uniform(&d) < 0.05 * (seed % 9) ? 3 : 1));
		judge();
		assert_int_equal(ct_slow_ops_find(&s.transfers, 0, &s.comparison.of[0].fit, &whole,
						  &slow),
				 0);
		assert_int_equal(slow.n, 0);
		end();
	}
}

/* The host times, with more ranks than cores: most operations take several times as long as they
 * would, by whose turn it is, and some communicators have more of that than others. But each has
 * some that are fast. */
static void noise_of_a_busy_host_is_no_slow_link(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 200; seed++) {
		struct draw d = { seed + 99 };
		uint32_t members[4];

		begin();
		for (unsigned c = 0; c < 12; c++) {
			uint32_t n = put_random(&d, members);
			double busy = 0.3 + 0.5 * uniform(&d);

			add_comm(members, n, 0);
			for (unsigned i = 0; i < EACH; i++) {
				double bytes = exp2(16 + i % 5);
				double waited = uniform(&d) < busy ? 4e6 * uniform(&d) : 0;

				move(bytes, took(bytes) * exp(fabs(0.2 * normal(&d))) + waited);
			}
		}
		judge();
		assert_int_equal(s.causes.n, 0);
		for (uint32_t t = 0; t < s.transfers.n_tracks; t++) {
			struct ct_slow_ops slow;

			assert_int_equal(ct_slow_ops_find(&s.transfers, t, &s.comparison.of[t].fit,
							  &whole, &slow),
					 0);
			assert_int_equal(slow.n, 0);
		}
		end();
	}
}

/* Whose times are mostly error is not compared. */
static void what_is_mostly_error_is_not_slow(void **state)
{
	static const uint32_t members[] = { 0, 1, 2, 3 };

	(void)state;
	begin();
	for (unsigned c = 0; c < 8; c++) {
		add_comm(members, 4, 1);
		for (unsigned i = 0; i < EACH; i++)
			move(1000, c == 3 ? 8000 : 4000);
	}
	judge();
	assert_int_equal(s.causes.n, 0);
	assert_true(isnan(s.comparison.of[3].ratio));
	end();
}

/* A stretch of slow transfers costs what they took too long; single ones are accidents. */
static void slow_ones_in_a_row_are_found(void **state)
{
	static const uint32_t members[] = { 0, 1, 2, 3 };
	struct ct_slow_ops slow;

	(void)state;
	begin();
	add_comm(members, 4, 1);
	for (unsigned i = 0; i < EACH; i++)
		move(1e6, took(1e6) * (i == 4 || i == 32 ? 5 : i >= 28 && i < 35 ? 3 : 1));
	judge();
	assert_int_equal(ct_slow_ops_find(&s.transfers, 0, &s.comparison.of[0].fit, &whole, &slow),
			 0);
	assert_int_equal(slow.n, 7);
	assert_int_equal(slow.all, EACH);
	assert_true(fabs((double)slow.sum.time_lost_ns - (6 * 2 + 4) * took(1e6)) < 100);
	assert_true(slow.sum.err_ns > 0 && slow.sum.err_ns < slow.sum.time_lost_ns / 10);
	/* where the host times, its cores may have been busy */
	s.tracks[0].on_gpu = 0;
	assert_int_equal(ct_slow_ops_find(&s.transfers, 0, &s.comparison.of[0].fit, &whole, &slow),
			 0);
	assert_int_equal(slow.n, 0);
	end();
}

/* What is lost at the same time is lost once. */
static void losses_at_the_same_time_count_once(void **state)
{
	struct ct_excess excess = { 0 };
	struct ct_excess_sum sum;
	struct ct_moved first = { .ns = 3000, .end_ns = 10000 },
			second = { .ns = 3000, .end_ns = 11000 };
	struct ct_moved usual = { .ns = 1100, .end_ns = 20000 };

	(void)state;
	assert_int_equal(ct_excess_add(&excess, &first, 1000, 200), 0);
	assert_int_equal(ct_excess_add(&excess, &second, 1000, 200), 0);
	assert_int_equal(ct_excess_add(&excess, &usual, 1000, 200), 0);
	sum = ct_excess_sum(&excess, &(struct ct_step_time){ 9000, 10500, 1 });
	assert_int_equal(sum.time_lost_ns, 3000);
	assert_int_equal(sum.in_steps_ns, 1500);
	assert_int_equal(sum.err_ns, 300);
	assert_int_equal(sum.begin_ns, 8000);
	assert_int_equal(sum.end_ns, 11000);
	ct_excess_fini(&excess);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_with_half_the_bandwidth_is_reported),
		cmocka_unit_test(a_rank_whose_messages_are_slow_is_reported),
		cmocka_unit_test(a_slow_host_of_several_ranks_is_one_cause),
		cmocka_unit_test(a_rank_that_is_slow_with_one_other_only_is_not_known),
		cmocka_unit_test(a_slow_way_between_two_is_reported),
		cmocka_unit_test(a_little_slower_is_not_slow),
		cmocka_unit_test(noise_of_a_busy_host_is_no_slow_link),
		cmocka_unit_test(what_is_mostly_error_is_not_slow),
		cmocka_unit_test(slow_ones_in_a_row_are_found),
		cmocka_unit_test(slow_ones_by_chance_are_no_stretch),
		cmocka_unit_test(a_link_is_slow_on_a_busy_host_too),
		cmocka_unit_test(most_operations_without_room_are_no_slow_link),
		cmocka_unit_test(one_slow_operation_of_several_is_no_slow_link),
		cmocka_unit_test(a_class_of_two_kinds_has_no_slow_one),
		cmocka_unit_test(a_link_among_four_is_not_known),
		cmocka_unit_test(losses_at_the_same_time_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
