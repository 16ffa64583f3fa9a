/* SPDX-License-Identifier: Apache-2.0 */
/* Headlines fit a line with the largest figures, many ranks and long names, for all kinds of
 * findings and all rows of verdicts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/findings/headline.h"
#include "analyzer/findings/verdict_text.h"
#include "analyzer/render/render.h"
#include "tests/unit/fixture.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LONG_HOST "gpu-worker-0123.rack-17.cluster.example.com"

static struct ct_report report;

/* A job of 4,096 ranks with steps, where percentages are "100.0 %". */
static int open_report(void **state)
{
	(void)state;
	report = (struct ct_report){ .memory = ct_arena_new() };
	report.run.duration_ns = 100000000000;
	report.run.words = "/scratch/a/long/path";
	report.steps.count = 800;
	report.step_time = (struct ct_step_time){ 0, report.run.duration_ns, 1 };
	report.steps.anchor_comm_key = 1;
	return !report.memory;
}

static int close_report(void **state)
{
	(void)state;
	ct_arena_free(report.memory);
	return 0;
}

static void fits(const char *name, const char *title, const char *text)
{
	size_t n = ct_headline_columns(title) + 2 + ct_headline_columns(text);

	if (n > CT_HEADLINE_COLUMNS || !*text || strchr(text, '{'))
		fail_msg("%s has %zu columns: %s: %s", name, n, title, text);
}

/* ---- findings ---- */

static struct ct_finding worst(enum ct_finding_kind kind, struct ct_findings *list)
{
	static const char *hosts[] = { LONG_HOST };
	static int ranks[] = { 1011, 1013, 1015, 1017, 1019, 1021, 1023, 1025 };
	struct ct_finding f = *ct_findings_add(list, kind);

	f.ranks = ranks;
	f.n_ranks = COUNT(ranks);
	f.hosts = hosts;
	f.n_hosts = 1;
	f.comm_hash = 0x1122334455667788;
	f.op_name = "ReduceScatter";
	f.at_most = 1;
	f.step_first = 123456;
	f.confidence = CT_CONFIDENCE_LOW;
	list->step_time = report.step_time;
	ct_finding_loss(list, &f, 99900000000, 98800000000, 99900000000);
	ct_finding_evidence(list, &f, "stage", 127, "", NAN);
	ct_finding_evidence(list, &f, "first_seq", 1234567, "", NAN);
	ct_finding_evidence(list, &f, "every", 1234, "steps", NAN);
	ct_finding_evidence(list, &f, "stall_mean", 123e6, "ns", NAN);
	ct_finding_evidence(list, &f, "step_before", 12.3e6, "ns", NAN);
	ct_finding_evidence(list, &f, "step_after", 45.6e6, "ns", NAN);
	return f;
}

/* What the makers of these write in front of the cost, at its longest. */
static const char *own_of(enum ct_finding_kind kind)
{
	switch (kind) {
	case CT_FINDING_EXPOSED_COMM:
		return "bubble above its schedule:";
	case CT_FINDING_BUCKETS:
		return "the last one is late";
	default:
		return NULL;
	}
}

static void each_kind_fits_the_line_and_keeps_its_cost(void **state)
{
	static const char *const titles[] = {
#define TITLE(kind, is_share, title) title,
		CT_FINDING_MAP(TITLE)
	};
	struct ct_findings list = { .memory = report.memory };

	(void)state;
	for (size_t kind = 0; kind < COUNT(titles); kind++) {
		for (size_t n = 1; n <= 8; n *= 2) {
			struct ct_finding f = worst((enum ct_finding_kind)kind, &list);

			f.n_ranks = n;
			/* a bound is what links and waits are known by */
			f.at_most = kind == CT_FINDING_SLOW_LINK || kind == CT_FINDING_SLOW_OP ||
				    kind == CT_FINDING_EXPOSED_COMM ||
				    kind == CT_FINDING_COMM_SHARE;
			f.headline = own_of(f.kind);
			f.cause = "words that the finding has";
			ct_headline(&f, &report);
			fits(ct_finding_name(f.kind), titles[kind], f.headline);
			if (strstr(f.headline, "...") && !strstr(f.headline, ",..."))
				fail_msg("cut: %s", f.headline);
		}
	}
	ct_findings_fini(&list);
}

static void patterns_of_their_own_fit_too(void **state)
{
	static const char *const patterns[] = {
#define OTHER(kind, variant, text) text,
#include "analyzer/findings/headlines.def"
	};
	struct ct_findings list = { .memory = report.memory };

	(void)state;
	for (size_t i = 0; i < COUNT(patterns); i++) {
		struct ct_finding f = worst(CT_FINDING_MISMATCH, &list);

		f.pattern = patterns[i];
		ct_headline(&f, &report);
		fits(patterns[i], ct_finding_title(f.kind), f.headline);
	}
	ct_findings_fini(&list);
}

static void a_short_headline_says_all(void **state)
{
	struct ct_findings list = { .memory = report.memory };
	struct ct_finding f = worst(CT_FINDING_STRAGGLER, &list);

	(void)state;
	f.n_ranks = 1;
	f.hosts[0] = "node7";
	f.at_most = 0;
	ct_finding_loss(&list, &f, 12300000000, 1100000000, 12300000000);
	ct_headline(&f, &report);
	assert_string_equal(f.headline,
			    "rank 1011 (node7) costs 15.4 ± 1.4 ms/step (12.3 % of step time)");
	f.hosts[0] = LONG_HOST;
	ct_headline(&f, &report);
	assert_string_equal(f.headline,
			    "rank 1011 (gpu..123) costs 15.4 ± 1.4 ms/step (12.3 % of step time)");
	ct_findings_fini(&list);
}

static void a_list_of_ranks_is_cut_only_where_the_line_is_too_short(void **state)
{
	static int few[] = { 0, 2, 4, 6, 8, 10 };
	struct ct_findings list = { .memory = report.memory };
	struct ct_finding f = worst(CT_FINDING_STRAGGLER_GROUP, &list);

	(void)state;
	f.ranks = few;
	f.n_ranks = COUNT(few);
	f.hosts[0] = LONG_HOST;
	f.at_most = 0;
	ct_finding_loss(&list, &f, 12300000000, 1100000000, 12300000000);
	f.n_hosts = 2;
	ct_headline(&f, &report);
	assert_string_equal(f.headline,
			    "ranks 0,2,4,6,8,10 cost 15.4 ± 1.4 ms/step (12.3 % of step time)");
	ct_findings_fini(&list);
}

static void a_name_of_any_length_is_cut(void **state)
{
	const char *text = ct_headline_fit(report.memory, "Setting not read",
					   "NCCL does not read ± NCCL_A_VERY_LONG_NAME, "
					   "NCCL_ANOTHER_VERY_LONG_NAME, NCCL_X");

	(void)state;
	fits("cut", "Setting not read", text);
	assert_string_equal(text + strlen(text) - 3, "...");
}

/* ---- verdicts ---- */

/* The longest text of each word. */
static const struct ct_word words[] = {
	{ "{share}", "100.0 % of step time" },
	{ "{gain}", "99.9 %" },
	{ "{transfers}", "99.9 %" },
	{ "{compute}", "99.9 %" },
	{ "{n}", "12345" },
	{ "{all}", "12345" },
	{ "{timed}", "99.9 %" },
	{ "{who}", "1024 ranks" },
	{ "{costs}", "cost" },
	{ "{cost}", "12.3 ± 12.3 ms/step" },
	{ "{lacks}", "records of ranks 1016,1018,1020,1022,... are missing" },
	{ "{kept}", "12.3 ms" },
	{ "{others}", "12.3 ms" },
	{ "{longest}", "1.23 s" },
	{ "{step}", "123456" },
};

static const struct ct_word more_words[] = {
	{ "{rank}", "1023" },
	{ "{ranks}", "at least 1023" },
	{ "{processes}", "1024 processes" },
	{ "{operations}", "12345 operations" },
	{ "{least}", "20" },
	{ "{why}", "timing errors of ± 12.3 us per operation hide a late rank" },
	{ "{ended}", "last heartbeat of rank 1023: 123 ms before any other rank's" },
	{ "{of}", "step time" },
};

static void each_verdict_fits_the_line(void **state)
{
	static const struct {
		const char *name;
		enum ct_verdict_code code;
		const char *headline;
	} rows[] = {
#define VERDICT(name, code, headline, note, advice, command) { #name, CT_VERDICT_##code, headline },
#include "analyzer/findings/verdicts.def"
	};
	struct ct_word all[COUNT(words) + COUNT(more_words)];

	(void)state;
	memcpy(all, words, sizeof(words));
	memcpy(all + COUNT(words), more_words, sizeof(more_words));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *text = ct_template_fill(report.memory, rows[i].headline, all,
						    COUNT(all));

		if (!text)
			fail_msg("%s: a word has no text: %s", rows[i].name, rows[i].headline);
		fits(rows[i].name, ct_verdict_title(rows[i].code), text);
	}
}

/* Rows whose headline is a part that others make. */
static void the_parts_of_headlines_fit_too(void **state)
{
	static const enum ct_note parts[] = {
		CT_NOTE_ONE_MOMENT,	   CT_NOTE_BLURRED,	    CT_NOTE_CONTRADICTED,
		CT_NOTE_RANKS_LACKING,	   CT_NOTE_MEMBERS_LACKING, CT_NOTE_IN_FLIGHT_LONG,
		CT_NOTE_IN_FLIGHT_UNUSUAL, CT_NOTE_IN_FLIGHT,	    CT_NOTE_IN_FLIGHT_RUNNING,
		CT_NOTE_RANK_ENDED,	   CT_NOTE_SILENT,	    CT_NOTE_ENDED_TOGETHER,
	};

	(void)state;
	for (size_t i = 0; i < COUNT(parts); i++) {
		const char *text = ct_note_text(
			&report, parts[i],
			CT_WORDS({ "{n}", "12345" }, { "{all}", "12345" }, { "{err}", "12.3 us" },
				 { "{operations}", "12345 operations" }, { "{time}", "1.23 s" },
				 { "{rank}", "1023" },
				 { "{how}", "was killed by signal 11 (out of memory)" },
				 { "{pid}", "4194304" }, { "{signal}", "15" }));

		fits(text, ct_verdict_title(CT_VERDICT_NOT_ENOUGH_EVIDENCE), text);
	}
}

/* ---- a screen ---- */

/* Whatever is found, and however long it is. */
static void the_report_fits_a_screen(void **state)
{
	static const char many[] =
		"a long explanation that takes line after line of the screen because it lists all "
		"that may be the reason of what was found, and then all that may be done about it "
		"by whom, in which order, and with which command of which tool on which machine";
	struct ct_findings list = { .memory = report.memory };
	struct ct_finding all[12];
	size_t lines = 0, size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	for (size_t i = 0; i < COUNT(all); i++) {
		all[i] = worst(i ? CT_FINDING_ADVICE : CT_FINDING_STRAGGLER, &list);
		all[i].headline = "a setting that takes something away";
		all[i].cause = all[i].note = all[i].advice = many;
		ct_headline(&all[i], &report);
	}
	report.findings = all;
	report.n_findings = COUNT(all);
	ct_verdict_of_finding(all, &report);
	ct_verdict_add(&report, many);
	ct_verdict_conclude(&report, all);
	ct_report_text(&report, NULL, out);
	assert_int_equal(fclose(out), 0);
	for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
		lines++;
	if (lines > 25 || !strstr(text, "11 more findings (--verbose)"))
		fail_msg("%zu lines:\n%s", lines, text);
	free(text);
	ct_findings_fini(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_kind_fits_the_line_and_keeps_its_cost,
						open_report, close_report),
		cmocka_unit_test_setup_teardown(patterns_of_their_own_fit_too, open_report,
						close_report),
		cmocka_unit_test_setup_teardown(a_short_headline_says_all, open_report,
						close_report),
		cmocka_unit_test_setup_teardown(
			a_list_of_ranks_is_cut_only_where_the_line_is_too_short, open_report,
			close_report),
		cmocka_unit_test_setup_teardown(a_name_of_any_length_is_cut, open_report,
						close_report),
		cmocka_unit_test_setup_teardown(each_verdict_fits_the_line, open_report,
						close_report),
		cmocka_unit_test_setup_teardown(the_report_fits_a_screen, open_report,
						close_report),
		cmocka_unit_test_setup_teardown(the_parts_of_headlines_fit_too, open_report,
						close_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
