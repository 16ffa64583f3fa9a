/* SPDX-License-Identifier: Apache-2.0 */
/* The page as a file: the report is in it to the byte, and nothing in a report is ever markup. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/render/html/escape.h"
#include "analyzer/render/html/html.h"
#include "analyzer/render/render.h"
#include "tests/unit/fixture.h"

/* What a name could do harm with; \\u003c: a backslash, and no '<'. */
#define EVIL                                                                                       \
	"</script><!--<script>alert(1)</script>]]> & &amp; \\u003c \\\\ \" ' {{report}} "          \
	"\xe2\x80\xa8"                                                                             \
	"\xe2\x80\xa9 \xe2\x80\xae \xc3\xa9 \xf0\x9f\x98\x80"

static struct ct_report evil_report(void)
{
	static struct ct_finding finding = { .id = 1,
					     .headline = EVIL,
					     .where = EVIL,
					     .cause = EVIL,
					     .advice = EVIL,
					     .command = EVIL };
	static struct ct_report_comm comm = { .hash = 7, .name = EVIL, .role = NULL };
	static struct ct_report_rank rank = { .host = EVIL };
	struct ct_report report = { 0 };

	report.run.job = EVIL;
	report.verdict.code = CT_VERDICT_STRAGGLER;
	report.verdict.title = report.verdict.headline = EVIL;
	report.verdict.note = report.verdict.advice = report.verdict.command = EVIL;
	report.findings = &finding;
	report.n_findings = 1;
	report.comms = &comm;
	report.n_comms = 1;
	report.ranks = &rank;
	report.n_ranks = 1;
	return report;
}

/* The caller frees it. */
static char *page_of(const struct ct_report *report)
{
	size_t size;
	char *page;
	FILE *out = open_memstream(&page, &size);

	assert_non_null(out);
	assert_int_equal(ct_report_html(report, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(page), size);
	return page;
}

/* What stands between two texts, of which the first is there once; ends `page` there. */
static char *between(char *page, const char *before, const char *after)
{
	char *begin = strstr(page, before), *end;

	assert_non_null(begin);
	begin += strlen(before);
	assert_null(strstr(begin, before));
	end = strstr(begin, after);
	assert_non_null(end);
	*end = '\0';
	return begin;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* The character that \\uXXXX, or a pair of them, stands for, and how long that is; 0: it is nothing
 * that the page escapes. */
static uint32_t escaped(const char *json, size_t *len)
{
	unsigned first, second;

	*len = 6;
	if (sscanf(json, "\\u%4x", &first) != 1 || (first < 0x80 && !strchr("<>&", (int)first)))
		return 0;
	if (first < 0xd800 || first >= 0xe000)
		return first;
	*len = 12;
	assert_int_equal(sscanf(json + 6, "\\u%4x", &second), 1);
	return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

static char *put_utf8(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
	} else {
		*to++ = (char)(code < 0x10000 ? 0xe0 | code >> 12 : 0xf0 | code >> 18);
		if (code >= 0x10000)
			*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
	}
	*to++ = (char)(0x80 | (code & 0x3f));
	return to;
}

/* What the page escapes in JSON back to what it stands for; the rest is left as it is. */
static void unescape(char *json)
{
	char *to = json;

	while (*json) {
		size_t len;
		uint32_t code = *json == '\\' ? escaped(json, &len) : 0;

		if (code) {
			to = put_utf8(to, code);
			json += len;
			continue;
		}
		if (*json == '\\')
			*to++ = *json++;
		*to++ = *json++;
	}
	*to = '\0';
}

static void assert_ascii(const char *text)
{
	for (; *text; text++)
		assert_true((unsigned char)*text < 0x80);
}

static void the_report_is_in_the_page_to_the_byte(void **state)
{
	struct ct_report report = evil_report();
	char *page = page_of(&report), *dump, *data;
	json_t *json = ct_report_json(&report);

	(void)state;
	assert_non_null(json);
	dump = json_dumps(json, JSON_COMPACT);
	assert_non_null(dump);
	data = between(page, "<script type=\"application/json\" id=\"report\">", "</script>");
	assert_null(strpbrk(data, "<>&"));
	assert_ascii(data);
	unescape(data);
	assert_int_equal(data[strlen(data) - 1], '\n');
	data[strlen(data) - 1] = '\0';
	assert_string_equal(data, dump);
	free(dump);
	json_decref(json);
	free(page);
}

static void no_name_is_markup(void **state)
{
	struct ct_report evil = evil_report(), none = { .verdict.text = "" };
	char *page = page_of(&evil), *tame = page_of(&none);
	static const char *const tags[] = {
		"<script", "</script", "<!--", "<title", "<meta", "<h1"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		assert_int_equal(count(page, tags[i]), count(tame, tags[i]));
	assert_null(strstr(page, "alert(1)</"));
	/* in the title, as the job, as title and headline of the verdict */
	assert_int_equal(count(page, "&#60;/script&#62;&#60;!--&#60;script&#62;alert(1)&#60;/"
				     "script&#62;]]&#62; &#38; &#38;amp; "
				     "\\u003c \\\\ &#34; &#39; {{report}}"),
			 4);
	free(page);
	free(tame);
}

static void assert_title_is(const char *title, const struct ct_report *report)
{
	char *page = page_of(report);

	assert_string_equal(between(page, "<title>", " &#183; commtrace</title>"), title);
	free(page);
}

static void the_title_is_program_ranks_and_date(void **state)
{
	struct ct_report_process processes[] = { { .program = "" }, { .program = "train.py" } };
	struct ct_report report = { .verdict.text = "", .run.dir = "/x/imported" };

	(void)state;
	assert_title_is("imported", &report);
	report.processes = processes;
	report.n_processes = 2;
	report.run.ranks_seen = report.run.ranks_expected = 1;
	report.run.begin_unix_ns = 1700000000000000000;
	assert_title_is("train.py &#183; 1 rank &#183; 2023-11-14 22:13 UTC", &report);
	report.run.ranks_expected = 4;
	report.run.begin_unix_ns = CT_UNKNOWN;
	assert_title_is("train.py &#183; 1 of 4 ranks", &report);
}

static void the_page_is_small_and_ascii_and_has_no_placeholders_left(void **state)
{
	struct ct_report none = { .verdict.text = "" };
	char *page = page_of(&none);

	(void)state;
	assert_null(strstr(page, "{{"));
	assert_true(strlen(page) < 300000);
	assert_ascii(page);
	free(page);
}

static void assert_verdict_is(const char *level, enum ct_verdict_code code,
			      const struct ct_finding *about)
{
	struct ct_report report = { .verdict = { .code = code, .text = "", .about = about } };
	char *page = page_of(&report), wanted[64];

	snprintf(wanted, sizeof(wanted), "<section id=\"verdict\" class=\"verdict %s\"", level);
	if (!strstr(page, wanted))
		fail_msg("%s is not %s", ct_verdict_name(code), level);
	free(page);
}

static void the_verdict_is_as_bad_as_what_it_is_about(void **state)
{
	const struct ct_finding info = { .severity = CT_SEVERITY_INFO };
	const struct ct_finding critical = { .severity = CT_SEVERITY_CRITICAL };

	(void)state;
	assert_verdict_is("good", CT_VERDICT_HEALTHY, NULL);
	assert_verdict_is("none", CT_VERDICT_NOT_ENOUGH_EVIDENCE, NULL);
	assert_verdict_is("warning", CT_VERDICT_POOR_OVERLAP, NULL);
	assert_verdict_is("critical", CT_VERDICT_HANG, NULL);
	assert_verdict_is("info", CT_VERDICT_STRAGGLER, &info);
	assert_verdict_is("critical", CT_VERDICT_CHANGE_POINT, &critical);
	/* what is not known does not get worse by what it may come from */
	assert_verdict_is("none", CT_VERDICT_NOT_ENOUGH_EVIDENCE, &critical);
}

static void the_words_of_tables_and_findings_are_in_the_page(void **state)
{
	struct ct_report none = { .verdict.text = "" };
	char *page = page_of(&none), *data;
	json_t *words, *column;

	(void)state;
	data = between(page, "<script type=\"application/json\" id=\"words\">", "</script>");
	words = json_loads(data, 0, NULL);
	assert_non_null(words);
	column = json_array_get(json_object_get(json_object_get(words, "columns"), "steps.items"),
				3);
	assert_string_equal(json_string_value(json_object_get(column, "key")), "exposed_ns");
	assert_string_equal(json_string_value(json_object_get(column, "unit")), "ns");
	assert_true(json_is_true(json_object_get(
		json_object_get(json_object_get(words, "kinds"), "COMM_SHARE"), "is_share")));
	assert_true(json_is_false(json_object_get(
		json_object_get(json_object_get(words, "kinds"), "BUCKETS"), "is_share")));
	json_decref(words);
	free(page);
}

static void text_and_json_are_escaped_as_said(void **state)
{
	char *got;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	(void)state;
	assert_non_null(out);
	ct_html_text("a<b>&\"'c\xc3\xa9\xf0\x9f\x98\x80\xff", out);
	ct_html_json("", 0, out);
	ct_html_json("\"\xe2\x80\xa6\xe2\x80", 6, out); /* an ellipsis, and an end in the middle */
	ct_html_json("<\xe2\x80\xa8>&\xf0\x9f\x98\x80", 10, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(got,
			    "a&#60;b&#62;&#38;&#34;&#39;c&#233;&#128512;&#65533;"
			    "\"\\u2026\\ufffd\\ufffd\\u003c\\u2028\\u003e\\u0026\\ud83d\\ude00");
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_report_is_in_the_page_to_the_byte),
		cmocka_unit_test(no_name_is_markup),
		cmocka_unit_test(the_title_is_program_ranks_and_date),
		cmocka_unit_test(the_page_is_small_and_ascii_and_has_no_placeholders_left),
		cmocka_unit_test(the_verdict_is_as_bad_as_what_it_is_about),
		cmocka_unit_test(the_words_of_tables_and_findings_are_in_the_page),
		cmocka_unit_test(text_and_json_are_escaped_as_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
