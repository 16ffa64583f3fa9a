/* SPDX-License-Identifier: Apache-2.0 */
/* The scorecard, by sums done by hand: each view, what it says of where it comes from, and that
 * what is not known weighs nothing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/findings/score.h"
#include "tests/unit/fixture.h"

#define MOVED 400
#define TRACKS 4

static struct {
	struct ct_links links;
	struct ct_moved moved[MOVED];
	struct ct_track tracks[TRACKS];
	struct ct_track_rating standings[TRACKS];
	struct ct_comm comms[TRACKS];
	struct ct_report report;
	struct ct_report_comm rows[TRACKS];
	struct ct_report_rank ranks[2];
} s;

/* `n` tracks of 100 transfers, of which nothing is known but that they are there. */
static void begin(uint32_t n)
{
	memset(&s, 0, sizeof(s));
	s.links.transfers.moved = s.moved;
	s.links.transfers.tracks = s.tracks;
	s.links.comparison.of = s.standings;
	s.links.transfers.n_tracks = n;
	s.report.comms = s.rows;
	s.report.n_comms = n;
	s.report.ranks = s.ranks;
	s.report.run.duration_ns = 1000000000;
	for (uint32_t t = 0; t < n; t++) {
		s.comms[t] = (struct ct_comm){ .hash = t + 1,
					       .nranks = 2,
					       .backend = CT_BACKEND_NCCL };
		s.rows[t].hash = t + 1;
		s.rows[t].peak.Bps = NAN;
		s.tracks[t] = (struct ct_track){ .comm = &s.comms[t],
						 .op = CT_OP_AllReduce,
						 .on_gpu = 1,
						 .n_hosts = 1,
						 .first = 100 * t };
		s.standings[t].Bps = NAN;
	}
}

/* One transfer more, which has to come in the order of its track. */
static void move(uint32_t track, double bytes, double ns)
{
	struct ct_track *t = &s.tracks[track];

	s.moved[t->first + t->n++] = (struct ct_moved){ .bytes = bytes, .ns = ns, .track = track };
	t->bytes += bytes;
	t->ns += ns;
	s.links.transfers.n = MOVED;
}

static void fit(uint32_t track)
{
	struct ct_transfer each[100];
	struct ct_track *t = &s.tracks[track];
	struct ct_track_rating *standing = &s.standings[track];

	for (uint32_t i = 0; i < t->n; i++)
		each[i] = (struct ct_transfer){ s.moved[t->first + i].bytes,
						s.moved[t->first + i].ns };
	assert_int_equal(ct_fit(each, t->n, &standing->fit), 0);
	standing->Bps = standing->fit.has_alpha ? 1e9 / standing->fit.lines[0].ns_per_byte
						: 1e9 * t->bytes / t->ns;
}

static const struct ct_score_part *part(const char *name)
{
	for (size_t i = 0; i < s.report.score.n_parts; i++)
		if (strcmp(s.report.score.parts[i].name, name) == 0)
			return &s.report.score.parts[i];
	fail();
	return NULL;
}

static void nothing_known_is_no_score(void **state)
{
	(void)state;
	begin(0);
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(isnan(s.report.score.total));
	assert_null(s.report.score.grade);
	assert_int_equal(s.report.score.n_parts, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_true(isnan(s.report.score.parts[i].score));
		assert_true(isnan(s.report.score.parts[i].weight_pct));
		assert_int_equal(strncmp(s.report.score.parts[i].from, "n/a", 3), 0);
	}
}

/* One reaches 10 GB/s, the other with the same bytes 5 GB/s: the mean is 75. */
static void bandwidth_is_held_against_the_best(void **state)
{
	(void)state;
	begin(2);
	for (int i = 0; i < 50; i++) {
		move(0, 1e6, 1e5);
		move(1, 1e6, 2e5);
	}
	fit(0);
	fit(1);
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(fabs(part("bandwidth")->score - 75) < 1e-6);
	assert_non_null(strstr(part("bandwidth")->from, "best of this run"));
	/* both are steady, nothing else is known: 30 and 20 become 60 and 40 */
	assert_true(fabs(part("bandwidth")->weight_pct - 60) < 1e-6);
	assert_true(fabs(part("stability")->weight_pct - 40) < 1e-6);
	assert_true(fabs(s.report.score.total - (0.6 * 75 + 0.4 * 100)) < 1e-6);
	assert_string_equal(s.report.score.grade, "excellent");
	assert_string_equal(s.report.score.reference, "the best of this run");
	assert_null(s.report.score.why);
}

/* Sizes from 1 kB to 16 MB, and another operation, between the same ranks: what is slow there is
 * slow in all of them. */
static void no_rank_is_held_against_itself(void **state)
{
	(void)state;
	begin(2);
	for (int i = 0; i < 90; i++) {
		move(0, exp2(10 + i % 15), 15600 + exp2(10 + i % 15) / 10);
		move(1, exp2(10 + i % 15), 15600 + exp2(10 + i % 15) / 5);
	}
	s.tracks[1].comm = s.tracks[0].comm;
	s.tracks[1].op = CT_OP_AllGather;
	fit(0);
	fit(1);
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(isnan(part("bandwidth")->score));
}

static void bandwidth_is_held_against_peaks_where_they_are_known(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 50; i++)
		move(0, 1e6, 1e5);
	fit(0);
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	/* by itself, with one size, it is its own best */
	assert_true(isnan(part("bandwidth")->score));
	s.rows[0].peak.Bps = 40e9;
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(fabs(part("bandwidth")->score - 25) < 1e-6);
	assert_non_null(strstr(part("bandwidth")->from, "against the peak"));
	/* 0.3 * 25 and 0.2 * 100 of 0.5: needs improvement, whoever names the peak */
	assert_true(fabs(s.report.score.total - 55) < 1e-6);
	assert_string_equal(s.report.score.grade, "needs improvement");
	assert_string_equal(s.report.score.reference, "the hardware's peak");
	s.rows[0].peak.is_declared = 1;
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_string_equal(s.report.score.reference, "the declared peak");
}

/* Total of a track that reaches all of its peak, stable, and of this balance. */
static double total_of(double balance)
{
	begin(1);
	for (int i = 0; i < 50; i++)
		move(0, 1e6, 1e5);
	fit(0);
	s.rows[0].peak.Bps = 10e9;
	assert_int_equal(ct_score_fill(&s.links, balance, &s.report), 0);
	return s.report.score.total;
}

/* Bandwidth and stability are 100 and weigh 50 of 75, balance b weighs 25: 200 / 3 + 100 b / 3 is
 * 85 at b = 0.55, 70 at 0.1. */
static void grades_begin_at_85_and_70(void **state)
{
	static const struct {
		double balance, total;
		const char *grade;
	} rows[] = { { 0.5501, 85, "excellent" },
		     { 0.5499, 85, "good" },
		     { 0.1001, 70, "good" },
		     { 0.0999, 70, "needs improvement" } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(fabs(total_of(rows[i].balance) - rows[i].total) < 0.01);
		assert_string_equal(s.report.score.grade, rows[i].grade);
	}
}

/* 10 GB/s where 5 were reported is not better than all, and does not make up for 2.5 where 10 were.
 */
static void faster_than_reported_makes_up_for_nothing(void **state)
{
	(void)state;
	begin(2);
	for (int i = 0; i < 50; i++) {
		move(0, 1e6, 1e5);
		move(1, 1e6, 4e5);
	}
	fit(0);
	fit(1);
	s.rows[0].peak.Bps = 5e9;
	s.rows[1].peak.Bps = 10e9;
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(fabs(part("bandwidth")->score - 62.5) < 1e-6);
}

/* All four known: bandwidth 100, latency 50, balance 60, stability 100 make 30 + 12.5 + 15 + 20. */
static void views_weigh_30_25_25_20(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 90; i++)
		move(0, exp2(10 + i % 15), 15600 + exp2(10 + i % 15) / 10);
	fit(0);
	s.rows[0].peak.Bps = 1e6;
	assert_int_equal(ct_score_fill(&s.links, 0.6, &s.report), 0);
	assert_true(fabs(part("bandwidth")->score - 100) < 1e-6);
	assert_true(fabs(part("stability")->score - 100) < 0.5);
	assert_true(fabs(s.report.score.total - 77.5) < 0.3);
	assert_string_equal(s.report.score.grade, "good");
	assert_null(s.report.score.why);
	/* of a run that hangs, the few operations that got through show nothing */
	s.report.n_stuck = 1;
	assert_int_equal(ct_score_fill(&s.links, 0.6, &s.report), 0);
	assert_true(isnan(s.report.score.total));
	assert_null(s.report.score.grade);
	assert_non_null(strstr(s.report.score.why, "in flight"));
}

static void without_a_reference_of_speeds_there_is_no_total(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 90; i++)
		move(0, 1e6, 1e5);
	fit(0);
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(fabs(part("stability")->score - 100) < 1e-6);
	assert_true(isnan(s.report.score.total));
	assert_non_null(strstr(s.report.score.why, "no reference"));
	assert_int_equal(ct_score_fill(&s.links, 0.6, &s.report), 0);
	assert_true(isnan(s.report.score.total));
	assert_null(s.report.score.reference);
	assert_null(s.report.score.grade);
}

/* Two members on one host: 6.6 + 2 * 0.6 = 7.8 us round the ring; two hosts: 6.6 + 2 * 2.7 = 12.
 * Eight on one host: by the tree 6.8 + 2 * 7 * 0.6 = 15.2, by the ring 6.6 + 14 * 0.6 = 15.
 * AllGather, eight on two hosts: 6.6 + 6 * 0.6 + 2.7 = 12.9. */
static void latency_is_held_against_the_model(void **state)
{
	(void)state;
	assert_true(fabs(ct_score_nccl_alpha_ns(CT_OP_AllReduce, 2, 1) - 7800) < 1);
	assert_true(fabs(ct_score_nccl_alpha_ns(CT_OP_AllReduce, 2, 2) - 12000) < 1);
	assert_true(fabs(ct_score_nccl_alpha_ns(CT_OP_AllReduce, 8, 1) - 15000) < 1);
	assert_true(fabs(ct_score_nccl_alpha_ns(CT_OP_AllGather, 8, 2) - 12900) < 1);
	assert_true(ct_score_nccl_alpha_ns(CT_OP_AllToAll, 8, 2) == 0);
	begin(1);
	for (int i = 0; i < 90; i++)
		move(0, exp2(10 + i % 15), 15600 + exp2(10 + i % 15) / 10);
	fit(0);
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(fabs(part("latency")->score - 50) < 0.5);
	s.comms[0].backend = CT_BACKEND_MPI;
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(isnan(part("latency")->score));
}

static void balance_comes_from_the_replay_or_from_waits(void **state)
{
	(void)state;
	begin(0);
	s.report.n_ranks = 2;
	s.report.run.matched = 10;
	s.ranks[0].wait_pct = 40;
	s.ranks[1].wait_pct = 0;
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(fabs(part("balance")->score - 80) < 1e-6);
	assert_non_null(strstr(part("balance")->from, "waited"));
	assert_int_equal(ct_score_fill(&s.links, 0.6, &s.report), 0);
	assert_true(fabs(part("balance")->score - 60) < 1e-6);
	assert_non_null(strstr(part("balance")->from, "replay"));
	s.ranks[0].wait_pct = s.ranks[1].wait_pct = NAN;
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(isnan(part("balance")->score));
}

/* Times of 0.9, 1 and 1.1: the median is 1, the middle distance from it 0.1, CV 0.148, and 1 - 2 CV
 * 0.703. */
static void stability_is_one_less_twice_the_variation(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 90; i++)
		move(0, 1e6, 1e5 * (0.9 + 0.1 * (i % 3)));
	fit(0);
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(fabs(part("stability")->score - 70.3) < 0.1);
	/* without transfers, the steps show */
	begin(0);
	struct ct_report_step items[12];

	for (int i = 0; i < 12; i++)
		items[i].time_ns = 900 + 100 * (uint64_t)(i % 3);
	s.report.steps.anchor_comm_key = 1;
	s.report.steps.items = items;
	s.report.steps.n_items = 12;
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(fabs(part("stability")->score - 70.3) < 0.1);
	assert_non_null(strstr(part("stability")->from, "step times"));
}

/* Times that are mostly error are no measure of anything. */
static void what_is_mostly_error_does_not_count(void **state)
{
	(void)state;
	begin(1);
	for (int i = 0; i < 90; i++)
		move(0, 1e6, 1e5);
	fit(0);
	s.standings[0].err = 0.5;
	s.rows[0].peak.Bps = 40e9;
	assert_int_equal(ct_score_fill(&s.links, NAN, &s.report), 0);
	assert_true(isnan(s.report.score.total));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_known_is_no_score),
		cmocka_unit_test(bandwidth_is_held_against_the_best),
		cmocka_unit_test(no_rank_is_held_against_itself),
		cmocka_unit_test(without_a_reference_of_speeds_there_is_no_total),
		cmocka_unit_test(bandwidth_is_held_against_peaks_where_they_are_known),
		cmocka_unit_test(grades_begin_at_85_and_70),
		cmocka_unit_test(faster_than_reported_makes_up_for_nothing),
		cmocka_unit_test(views_weigh_30_25_25_20),
		cmocka_unit_test(latency_is_held_against_the_model),
		cmocka_unit_test(balance_comes_from_the_replay_or_from_waits),
		cmocka_unit_test(stability_is_one_less_twice_the_variation),
		cmocka_unit_test(what_is_mostly_error_does_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
