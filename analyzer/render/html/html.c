/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/html/html.h"

#include <string.h>
#include <time.h>

#include "analyzer/base/units.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/html/charts.h"
#include "analyzer/render/html/escape.h"
#include "analyzer/render/json_value.h"
#include "analyzer/render/render.h"
#include "trace/path.h"
#include "trace/status.h"

/* The files of assets.def, as Embed.cmake puts them into the program. */
#define EMBEDDED(name) extern const char ct_html_##name[], ct_html_##name##_end[];
EMBEDDED(template)
EMBEDDED(style)
EMBEDDED(script)
EMBEDDED(script_sha256)

#define PUT_EMBEDDED(name, out)                                                                    \
	fwrite(ct_html_##name, 1, (size_t)(ct_html_##name##_end - ct_html_##name), out)

static int put_style(const struct ct_report *report, FILE *out)
{
	(void)report;
	PUT_EMBEDDED(style, out);
	return CT_OK;
}

static int put_script(const struct ct_report *report, FILE *out)
{
	(void)report;
	PUT_EMBEDDED(script, out);
	return CT_OK;
}

static int put_script_sha256(const struct ct_report *report, FILE *out)
{
	(void)report;
	PUT_EMBEDDED(script_sha256, out);
	return CT_OK;
}

static int put_release(const struct ct_report *report, FILE *out)
{
	(void)report;
	ct_html_text(CT_RELEASE, out);
	return CT_OK;
}

/* The program that was recorded; of an import, which has none, the directory or the job. "": none
 * is known. */
static const char *program_of(const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_processes; i++) {
		const char *program = report->processes[i].program;

		if (program && *program)
			return program;
	}
	if (report->run.dir)
		return ct_path_name(report->run.dir);
	return report->run.job ? report->run.job : "";
}

/* "8 ranks", "7 of 8 ranks"; "" without any. */
static void ranks_text(char *to, size_t cap, const struct ct_report_run *run)
{
	char expected[CT_UNIT_TEXT + 4] = "";

	to[0] = '\0';
	if (run->ranks_expected != CT_UNKNOWN && run->ranks_expected > run->ranks_seen)
		snprintf(expected, sizeof(expected), " of %s",
			 ct_text_count(run->ranks_expected).s);
	if (run->ranks_seen)
		snprintf(to, cap, "%s%s rank%s", ct_text_count(run->ranks_seen).s, expected,
			 run->ranks_seen == 1 && !*expected ? "" : "s");
}

/* "train.py · 8 ranks · 2026-11-29 08:00 UTC", as far as it is known. */
static int put_run(const struct ct_report *report, FILE *out)
{
	uint64_t ns = report->run.begin_unix_ns;
	time_t seconds = (time_t)(ns / 1000000000u);
	char ranks[2 * CT_UNIT_TEXT + 16], date[32] = "";
	const char *parts[] = { program_of(report), ranks, date };
	const char *between = "";
	struct tm utc;

	ranks_text(ranks, sizeof(ranks), &report->run);
	if (ns && ns != CT_UNKNOWN && gmtime_r(&seconds, &utc))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &utc);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!*parts[i])
			continue;
		ct_html_text(between, out);
		ct_html_text(parts[i], out);
		between = " · ";
	}
	return CT_OK;
}

static int put_verdict_code(const struct ct_report *report, FILE *out)
{
	ct_html_text(ct_verdict_name(report->verdict.code), out);
	return CT_OK;
}

static int put_verdict_title(const struct ct_report *report, FILE *out)
{
	ct_html_text(report->verdict.title ? report->verdict.title : "", out);
	return CT_OK;
}

static int put_verdict_headline(const struct ct_report *report, FILE *out)
{
	ct_html_text(report->verdict.headline ? report->verdict.headline : "", out);
	return CT_OK;
}

static int put_title(const struct ct_report *report, FILE *out)
{
	put_run(report, out);
	ct_html_text(" · commtrace", out);
	return CT_OK;
}

static int put_json(const char *bytes, size_t n, void *out)
{
	ct_html_json(bytes, n, out);
	return 0;
}

/* As the page's marks call them; a finding that the verdict is about may be worse or better than
 * usual. */
static int put_verdict_level(const struct ct_report *report, FILE *out)
{
	static const char *const names[] = { [CT_VERDICT_IS_GOOD] = "good",
					     [CT_VERDICT_IS_UNSURE] = "none",
					     [CT_VERDICT_IS_WARNING] = "warning",
					     [CT_VERDICT_IS_CRITICAL] = "critical" };
	enum ct_verdict_level level = ct_verdict_level(report->verdict.code);

	if (report->verdict.about && level >= CT_VERDICT_IS_WARNING)
		fputs(ct_severity_name(report->verdict.about->severity), out);
	else
		fputs(names[level], out);
	return CT_OK;
}

/* What kinds of findings are called. */
static json_t *kinds(void)
{
	static const struct {
		const char *name, *title;
		int is_share;
	} all[] = {
#define KIND(name, is_share, title) { #name, title, is_share },
		CT_FINDING_MAP(KIND)
#undef KIND
	};
	json_t *o = json_object();
	int failed = !o;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		json_t *kind = json_object();

		ct_json_set(kind, "title", json_string(all[i].title), &failed);
		ct_json_set(kind, "is_share", json_boolean(all[i].is_share), &failed);
		ct_json_set(o, all[i].name, kind, &failed);
	}
	return ct_json_done(o, failed);
}

/* What the page calls the values of a report. */
static int put_words(const struct ct_report *report, FILE *out)
{
	json_t *words = json_object();
	int failed = !words;

	(void)report;
	ct_json_set(words, "columns", ct_columns_page(), &failed);
	ct_json_set(words, "kinds", kinds(), &failed);
	failed = failed || json_dump_callback(words, put_json, out, JSON_COMPACT) != 0;
	json_decref(words);
	return failed ? CT_NOMEM : CT_OK;
}

/* A matrix of more ranks is millions of bytes that a browser would have to read; charts are made of
 * the layers. */
#define MATRIX_RANKS 256u

/* What --format=json writes, but for a large matrix, and for blanks, which take a browser a quarter
 * of the time to load a large report. */
static int put_report(const struct ct_report *report, FILE *out)
{
	json_t *object = ct_report_json(report);
	int failed = !object;

	if (report->traffic.n_ranks > MATRIX_RANKS)
		failed |= json_array_clear(
			json_object_get(json_object_get(object, "traffic"), "matrix"));
	failed = failed || json_dump_callback(object, put_json, out, JSON_COMPACT) != 0;

	json_decref(object);
	if (failed)
		return CT_NOMEM;
	fputc('\n', out);
	return CT_OK;
}

static int put_charts(const struct ct_report *report, FILE *out)
{
	json_t *object = ct_html_charts(report);
	int failed = !object || json_dump_callback(object, put_json, out, JSON_COMPACT) != 0;

	json_decref(object);
	return failed ? CT_NOMEM : CT_OK;
}

/* The replacement of {{name}} in the template. */
static const struct template_field {
	const char *name;
	int (*put)(const struct ct_report *report, FILE *out);
} fields[] = {
#define FIELD(name) { #name, put_##name },
	FIELD(style) FIELD(script) FIELD(script_sha256) FIELD(release) FIELD(run)
		FIELD(verdict_code) FIELD(verdict_level) FIELD(verdict_title)
			FIELD(verdict_headline) FIELD(title) FIELD(words) FIELD(report)
				FIELD(charts)
#undef FIELD
};

static const struct template_field *field_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strlen(fields[i].name) == len && memcmp(fields[i].name, name, len) == 0)
			return &fields[i];
	}
	return NULL;
}

int ct_report_html(const struct ct_report *report, FILE *out)
{
	const char *at = ct_html_template;

	for (;;) {
		const char *open = strstr(at, "{{"), *close = open ? strstr(open, "}}") : NULL;
		const struct template_field *field = close ? field_by_name(open + 2,
									   (size_t)(close - open) -
										   2)
							   : NULL;
		int st;

		if (!field)
			break;
		fwrite(at, 1, (size_t)(open - at), out);
		st = field->put(report, out);
		if (st)
			return st;
		at = close + 2;
	}
	fputs(at, out);
	return CT_OK;
}
