/* SPDX-License-Identifier: Apache-2.0 */
/* What the timeline shows of whole runs, against what the synthesizer wrote down: when ranks waited
 * for communication, which ranks the arrows blame, which colors go together, and what an overview
 * holds. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/drawn_timeline.h"
#include "tests/unit/fixture.h"
#include "tools/synth/synth.h"

static const struct ct_timeline_options all_of_it = {
	.restart = -1, .to_ns = UINT64_MAX, .max_slices = 4000000, .flows = CT_FLOWS_BLAME
};

struct play {
	struct ct_synth_outcome truth;
	struct ct_run *run;
	struct ct_timeline *timeline;
	const struct ct_report *report;
};

static struct ct_synth_options job_of(const char *workload, int ranks, int hosts, const char *fault)
{
	struct ct_synth_options o = ct_synth_defaults();
	char why[256];

	o.job.name = workload;
	o.job.ranks = ranks;
	o.job.nodes = hosts;
	o.job.steps = 20;
	if (strcmp(workload, "megatron") == 0)
		o.job.tp = o.job.pp = 2;
	if (hosts > 1)
		o.offset_ms = 50;
	if (fault && ct_fault_parse(fault, &o.faults[o.job.n_faults++], why, sizeof(why)) != 0)
		fail_msg("%s", why);
	return o;
}

/* Write the run of the job and open its timeline. */
static void begin(struct play *p, const struct ct_synth_options *job,
		  const struct ct_timeline_options *options)
{
	const char *path = fx_path("run");
	struct ct_timeline_result result;
	struct ct_err err = { 0 };
	int dirfd;

	fx_mkdir("run");
	dirfd = open(path, O_RDONLY | O_DIRECTORY);
	assert_true(dirfd >= 0);
	if (ct_synth_write(job, dirfd, &p->truth, &err) != CT_OK ||
	    ct_run_open(&path, 1, NULL, &p->run, &err) != CT_OK ||
	    ct_timeline_open(p->run, options, &p->timeline, &result, &err) != CT_OK)
		fail_msg("%s: %s", job->job.name, err.text);
	close(dirfd);
	p->report = ct_timeline_report(p->timeline);
}

static void end(struct play *p)
{
	ct_timeline_close(p->timeline);
	ct_run_close(p->run);
	ct_synth_outcome_free(&p->truth);
	assert_int_equal(fx_teardown(NULL), 0);
	assert_int_equal(fx_setup(NULL), 0);
}

static const struct ct_finding *straggler_of(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		if (report->findings[i].kind == CT_FINDING_STRAGGLER)
			return &report->findings[i];
	}
	return NULL;
}

/* ---- exposed communication ---- */

/* The lengths of a rank's slices of its own; they follow each other. */
static uint64_t exposed_of(const struct drawn_timeline *d, int rank, uint64_t *stalls)
{
	uint64_t sum = 0, reached = 0;

	*stalls = 0;
	for (size_t i = 0; i < d->n_slices; i++) {
		const struct drawn_slice *s = &d->slices[i];

		if (s->category != CT_CATEGORY_EXPOSED || d->tracks[s->track - 1].rank != rank)
			continue;
		assert_int_equal(drawn_number(s, CT_ARG_rank), rank);
		assert_true(s->begin_ns >= reached && s->end_ns > s->begin_ns);
		reached = s->end_ns;
		sum += s->end_ns - s->begin_ns;
		*stalls += drawn_number(s, CT_ARG_stalls) == UINT64_MAX
				   ? 1
				   : drawn_number(s, CT_ARG_stalls);
	}
	return sum;
}

static void assert_near(uint64_t got, uint64_t want, uint64_t err, const char *what, int rank)
{
	if (got > want ? got - want > err : want - got > err)
		fail_msg("%s of rank %d: %llu, not %llu +- %llu", what, rank,
			 (unsigned long long)got, (unsigned long long)want,
			 (unsigned long long)err);
}

static void exposed_slices_add_up_to_the_report_and_the_truth(void **unused)
{
	static const struct {
		const char *workload, *fault;
		int hosts;
	} jobs[] = { { "ddp", "slow-rank:rank=3,pct=20", 1 },
		     { "fsdp", NULL, 2 },
		     { "megatron", "late-host:rank=5,ms=5", 1 },
		     { "moe", NULL, 1 },
		     { "decode", NULL, 1 } };

	(void)unused;
	for (size_t j = 0; j < sizeof(jobs) / sizeof(jobs[0]); j++) {
		const struct ct_synth_options o = job_of(jobs[j].workload, 8, jobs[j].hosts,
							 jobs[j].fault);
		struct play p = { .timeline = NULL };
		struct drawn_timeline d;

		begin(&p, &o, &all_of_it);
		drawn_timeline(p.timeline, &d);
		for (int r = 0; r < o.job.ranks; r++) {
			const struct ct_report_rank *rank = &p.report->ranks[r];
			uint64_t stalls, got = exposed_of(&d, r, &stalls);

			assert_int_equal(rank->rank, r);
			assert_true(rank->exposed_ns != CT_UNKNOWN);
			/* clocks of several hosts are turned one time at a time */
			assert_near(got, rank->exposed_ns, jobs[j].hosts > 1 ? 1000 : 0,
				    "drawn against the report", r);
			assert_near(got, p.truth.sums.ranks[r].exposed_ns,
				    rank->exposed_err_ns + 300000, "drawn against the truth", r);
			assert_true(got > 0 && stalls > 0);
		}
		drawn_free(&d);
		end(&p);
	}
}

static void what_is_not_known_is_not_drawn_and_said(void **unused)
{
	struct ct_synth_options o = job_of("ddp", 4, 1, NULL);
	struct play p = { .timeline = NULL };
	struct drawn_timeline d;
	int told = 0;

	(void)unused;
	o.timing = CT_SYNTH_OFF;
	begin(&p, &o, &all_of_it);
	drawn_timeline(p.timeline, &d);
	for (size_t i = 0; i < d.n_slices; i++)
		assert_int_not_equal(d.slices[i].category, CT_CATEGORY_EXPOSED);
	for (size_t t = 0; t < d.n_tracks; t++) {
		if (d.tracks[t].rank >= 0)
			told += strstr(d.tracks[t].description, "exposed communication: n/a") !=
				NULL;
	}
	assert_int_equal(told, 4);
	drawn_free(&d);
	end(&p);
}

/* ---- arrows ---- */

/* The slice, with what is around it, that an arrow from one who waited begins at. */
static const struct drawn_slice *start_of(const struct drawn_timeline *d, uint64_t arrow,
					  const struct drawn_slice **around)
{
	const struct drawn_slice *found = NULL, *outer = NULL;

	for (size_t i = 0; i < d->n_slices; i++) {
		const struct drawn_slice *s = &d->slices[i];

		if (s->depth == 0)
			outer = s;
		if (s->category != CT_CATEGORY_WAIT || s->flows[0] != arrow)
			continue;
		assert_null(found);
		found = s;
		*around = outer;
	}
	return found;
}

static void arrows_accuse_the_planted_rank(int hosts)
{
	const struct ct_synth_options o = job_of("ddp", 8, hosts, "slow-rank:rank=3,pct=20");
	struct play p = { .timeline = NULL };
	const struct ct_finding *finding;
	unsigned arrows = 0, accused = 0;
	struct drawn_timeline d;

	begin(&p, &o, &all_of_it);
	drawn_timeline(p.timeline, &d);
	finding = straggler_of(p.report);
	assert_non_null(finding);
	assert_int_equal(finding->ranks[0], 3);
	for (size_t i = 0; i < d.n_slices; i++) {
		const struct drawn_slice *late = &d.slices[i];

		accused += late->n_ends > 0;
		for (unsigned e = 0; e < late->n_ends; e++) {
			const struct drawn_slice *whole = NULL;
			const struct drawn_slice *wait = start_of(&d, late->ends[e], &whole);

			assert_non_null(wait);
			assert_int_equal(drawn_number(late, CT_ARG_rank), 3);
			assert_int_equal(drawn_number(late, CT_ARG_finding), finding->id);
			assert_int_equal(drawn_number(whole, CT_ARG_finding), finding->id);
			assert_true(drawn_number(whole, CT_ARG_rank) != 3);
			assert_int_equal(drawn_number(whole, CT_ARG_seq),
					 drawn_number(late, CT_ARG_seq));
			assert_true(wait->begin_ns < late->begin_ns);
			/* where the wait ends, the late one comes: within what clocks allow */
			assert_near(wait->end_ns, late->begin_ns,
				    20000 + 2 * p.report->run.time_err_ns, "end of the wait", 3);
			arrows++;
		}
	}
	assert_int_equal(accused, 8);
	assert_int_equal(arrows, 8 * 7);
	assert_true(d.result.flows >= arrows);
	drawn_free(&d);
	end(&p);
}

static void arrows_lead_from_those_who_waited_to_the_planted_rank(void **unused)
{
	(void)unused;
	arrows_accuse_the_planted_rank(1);
}

static void arrows_do_so_across_hosts(void **unused)
{
	(void)unused;
	arrows_accuse_the_planted_rank(2);
}

static void no_rank_is_accused_without_a_finding(void **unused)
{
	struct ct_timeline_options options = all_of_it;

	(void)unused;
	for (int blamed = 0; blamed < 2; blamed++) {
		const struct ct_synth_options o = job_of("ddp", 8, 1,
							 blamed ? "slow-rank:rank=3,pct=20" : NULL);
		struct play p = { .timeline = NULL };
		struct drawn_timeline d;

		options.flows = blamed ? CT_FLOWS_LAUNCH : CT_FLOWS_BLAME;
		begin(&p, &o, &options);
		drawn_timeline(p.timeline, &d);
		assert_int_equal(straggler_of(p.report) != NULL, blamed);
		for (size_t i = 0; i < d.n_slices; i++)
			assert_int_equal(d.slices[i].n_ends, 0);
		drawn_free(&d);
		end(&p);
	}
}

/* ---- findings on ranks, colours ---- */

static void findings_stand_on_the_ranks_that_they_name(void **unused)
{
	const struct ct_synth_options o = job_of("ddp", 8, 1, "slow-rank:rank=3,pct=20");
	unsigned own = 0, named = 0, of_own_track = 0;
	struct play p = { .timeline = NULL };
	struct drawn_timeline d;

	(void)unused;
	begin(&p, &o, &all_of_it);
	drawn_timeline(p.timeline, &d);
	for (size_t i = 0; i < p.report->n_findings; i++)
		named += (unsigned)p.report->findings[i].n_ranks;
	for (size_t i = 0; i < d.n_slices; i++) {
		const struct drawn_slice *s = &d.slices[i];
		const struct ct_finding *f;
		int rank = d.tracks[s->track - 1].rank, is_named = 0;

		if (s->category != CT_CATEGORY_FINDING)
			continue;
		f = &p.report->findings[drawn_number(s, CT_ARG_finding) - 1];
		assert_true(s->instant);
		assert_string_equal(s->name, ct_finding_name(f->kind));
		assert_int_equal(drawn_number(s, CT_ARG_time_lost_ns), f->time_lost_ns);
		for (size_t r = 0; r < f->n_ranks; r++)
			is_named |= f->ranks[r] == rank;
		own += rank < 0;
		of_own_track += rank >= 0;
		assert_true(rank < 0 || is_named);
	}
	assert_int_equal(own, p.report->n_findings);
	assert_int_equal(of_own_track, named);
	assert_true(named > 0);
	drawn_free(&d);
	end(&p);
}

static void one_operation_has_one_colour_on_all_ranks(void **unused)
{
	const struct ct_synth_options o = job_of("megatron", 8, 1, NULL);
	struct ct_timeline_options options = all_of_it;
	struct play p = { .timeline = NULL };
	struct drawn_timeline d;
	unsigned compared = 0;

	(void)unused;
	options.color = CT_COLOR_BY_INSTANCE;
	begin(&p, &o, &options);
	drawn_timeline(p.timeline, &d);
	for (size_t i = 0; i < d.n_slices; i += 97) {
		const struct drawn_slice *a = &d.slices[i];

		if (strcmp(a->name, "AllReduce") != 0 || a->depth)
			continue;
		assert_true(a->correlation != 0);
		for (size_t k = 0; k < d.n_slices; k++) {
			const struct drawn_slice *b = &d.slices[k];
			int same = drawn_number(a, CT_ARG_seq) == drawn_number(b, CT_ARG_seq);

			if (strcmp(b->name, "AllReduce") != 0 || b->depth)
				continue;
			same &= strcmp(drawn_text(a, CT_ARG_comm_hash),
				       drawn_text(b, CT_ARG_comm_hash)) == 0;
			assert_int_equal(a->correlation == b->correlation, same);
			compared += (unsigned)same;
		}
	}
	assert_true(compared > 50);
	drawn_free(&d);
	end(&p);
}

/* ---- an overview ---- */

static void an_overview_has_the_waits_of_all_ranks_and_the_findings(void **unused)
{
	const struct ct_synth_options o = job_of("ddp", 64, 8,
						 "slow-rank:rank=37,pct=60,from=3,to=19");
	struct ct_timeline_options options = all_of_it;
	struct play p = { .timeline = NULL };
	const struct ct_finding *f;
	struct drawn_timeline d;
	uint64_t stalls;
	int named = 0;

	(void)unused;
	options.max_slices = 8000;
	begin(&p, &o, &options);
	f = straggler_of(p.report);
	assert_non_null(f);
	assert_int_equal(ct_timeline_kind(p.timeline), CT_TIMELINE_OVERVIEW);
	drawn_timeline(p.timeline, &d);
	assert_true(d.n_slices <= options.max_slices);
	assert_int_equal(d.result.ranks, 64);
	for (int r = 0; r < o.job.ranks; r++)
		assert_near(exposed_of(&d, r, &stalls), p.report->ranks[r].exposed_ns, 1000,
			    "drawn in the overview against the report", r);
	for (size_t i = 0; i < d.n_slices; i++) {
		const struct drawn_slice *s = &d.slices[i];

		assert_true(s->category == CT_CATEGORY_EXPOSED || s->category == CT_CATEGORY_JOB ||
			    s->category == CT_CATEGORY_FINDING);
		named += drawn_number(s, CT_ARG_finding) == (uint64_t)f->id;
	}
	assert_true(named > 0);
	drawn_free(&d);
	end(&p);
}

/* Of 64 ranks, several to a process, one does not arrive: each has a group all the same. */
static void an_overview_has_a_group_for_each_rank(void **unused)
{
	struct ct_synth_options o = job_of("ddp", 64, 8, "missing:rank=41,op=60");
	struct ct_timeline_options options = all_of_it;
	struct play p = { .timeline = NULL };
	unsigned groups = 0;
	struct drawn_timeline d;

	(void)unused;
	o.per_process = 4;
	options.max_slices = 8000;
	begin(&p, &o, &options);
	drawn_timeline(p.timeline, &d);
	for (size_t t = 0; t < d.n_tracks; t++)
		groups += d.tracks[t].rank >= 0;
	assert_int_equal(groups, 64);
	drawn_free(&d);
	end(&p);
}

static void a_run_that_fits_is_drawn_whole(void **unused)
{
	const struct ct_synth_options o = job_of("ddp", 4, 1, NULL);
	struct ct_timeline_options options = all_of_it;
	struct play p = { .timeline = NULL };
	struct drawn_timeline d;

	(void)unused;
	begin(&p, &o, &options);
	assert_int_equal(ct_timeline_kind(p.timeline), CT_TIMELINE_WHOLE);
	drawn_timeline(p.timeline, &d);
	assert_int_equal(d.result.cut, 0);
	drawn_free(&d);
	end(&p);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
	const struct CMUnitTest tests[] = {
		TEST(exposed_slices_add_up_to_the_report_and_the_truth),
		TEST(what_is_not_known_is_not_drawn_and_said),
		TEST(arrows_lead_from_those_who_waited_to_the_planted_rank),
		TEST(arrows_do_so_across_hosts),
		TEST(no_rank_is_accused_without_a_finding),
		TEST(findings_stand_on_the_ranks_that_they_name),
		TEST(one_operation_has_one_colour_on_all_ranks),
		TEST(an_overview_has_the_waits_of_all_ranks_and_the_findings),
		TEST(an_overview_has_a_group_for_each_rank),
		TEST(a_run_that_fits_is_drawn_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
