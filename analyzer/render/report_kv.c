/* SPDX-License-Identifier: Apache-2.0 */
/* report_kv.c — what was found, one line each, for grep and awk: a word, then key=value. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/render.h"
#include "analyzer/render/text.h"

/* "80.0GB/s", "410us", "85.0%" */
static struct ct_unit_text figure(const struct ct_report_expectation *e, double value)
{
	uint64_t whole = isnan(value) || value > 1e19 ? CT_UNKNOWN : (uint64_t)value;

	if (strcmp(e->unit, "pct") == 0)
		return ct_text_pct(value);
	return strcmp(e->unit, "ns") == 0 ? ct_text_ns(whole) : ct_text_Bps(whole);
}

static void write_check(struct ct_text *text, const struct ct_report_expectation *e)
{
	const char *limit = strcmp(e->metric, "latency") == 0 ? "most" : "least";
	char where[128] = "", err[CT_UNIT_TEXT + 16] = "";

	if (!isnan(e->err))
		snprintf(err, sizeof(err), " value_err=%s", figure(e, e->err).s);
	if (e->comm_hash)
		snprintf(where, sizeof(where), " comm=%016" PRIx64 " bytes=%s n=%s rows=%s",
			 e->comm_hash, ct_text_bytes(e->bytes_each).s,
			 ct_text_count(e->instances).s, ct_text_count(e->rows).s);
	ct_text_line(text, CT_COLOR_NONE,
		     "EXPECT result=%s rule=%u op=%s scope=%s metric=%s value=%s%s %s=%s%s%s%s",
		     ct_expect_result_name(e->result), e->rule, e->op ? e->op : "any", e->scope,
		     e->metric, figure(e, e->value).s, err, limit, figure(e, e->limit).s,
		     e->within_error ? " within_error=yes" : "", e->required ? " required=yes" : "",
		     where);
}

/* ---- a finding's figures ---- */

/* The length of a key with "=", "<=" behind it; 0: this is none. */
static size_t key_of(const char *word, size_t len, const char **value)
{
	size_t n = 0;

	while (n < len && ((word[n] >= 'a' && word[n] <= 'z') || word[n] == '_'))
		n++;
	*value = word + n + (n < len && word[n] == '<');
	if (!n || *value >= word + len || **value != '=')
		return 0;
	++*value;
	return n;
}

/* A value of several words, quoted as a shell and JSON would. */
static void put_value(const char *value, size_t len, FILE *out)
{
	const int is_plain = !memchr(value, ' ', len) && !memchr(value, '"', len);

	if (!is_plain)
		fputc('"', out);
	for (size_t i = 0; i < len; i++) {
		if (value[i] == '"' || value[i] == '\\')
			fputc('\\', out);
		fputc(value[i], out);
	}
	if (!is_plain)
		fputc('"', out);
}

/* "time_lost<=2ms±1ms" is time_lost_max=2ms time_lost_max_err=1ms; words without a key go with the
 * value before them. */
static void put_pair(const char *key, size_t n, const char *value, const char *end, FILE *out)
{
	static const char with_error[] = "±";
	const char *most = value - 2 >= key && value[-2] == '<' ? "_max" : "";
	const char *err = memmem(value, (size_t)(end - value), with_error, sizeof(with_error) - 1);

	fprintf(out, " %.*s%s=", (int)n, key, most);
	put_value(value, (size_t)((err ? err : end) - value), out);
	if (err)
		fprintf(out, " %.*s%s_err=%.*s", (int)n, key, most,
			(int)(end - err - (ptrdiff_t)sizeof(with_error) + 1),
			err + sizeof(with_error) - 1);
}

static void put_pairs(const char *line, FILE *out)
{
	const char *key = NULL, *value = NULL, *next, *after;
	size_t n = 0;

	for (const char *word = line; *word; word = next + (*next == ' ')) {
		size_t of;

		next = strchrnul(word, ' ');
		of = key_of(word, (size_t)(next - word), &after);
		if (!of)
			continue;
		if (key)
			put_pair(key, n, value, word - 1, out);
		key = word;
		n = of;
		value = after;
	}
	if (key)
		put_pair(key, n, value, line + strlen(line), out);
}

static void write_finding(struct ct_text *text, const struct ct_finding *f)
{
	char *pairs = NULL;
	size_t size;
	FILE *out = open_memstream(&pairs, &size);

	if (!out)
		return;
	put_pairs(f->line ? f->line : "", out);
	if (fclose(out) == 0)
		ct_text_line(text, CT_COLOR_NONE, "%s%s severity=%s confidence=%s",
			     ct_finding_name(f->kind), pairs, ct_severity_name(f->severity),
			     ct_confidence_name(f->confidence));
	free(pairs);
}

void ct_report_kv(const struct ct_report *report, const struct ct_text_style *style, FILE *out)
{
	struct ct_text text = ct_text_to(out, style);
	const struct ct_report_expect *all = &report->expect;

	text.unwrapped = 1;
	ct_text_line(&text, CT_COLOR_NONE, "VERDICT code=%s confidence=%s gain_max=%s",
		     ct_verdict_name(report->verdict.code),
		     ct_confidence_name(report->verdict.confidence),
		     ct_text_pct(report->verdict.gain_max_pct).s);
	for (size_t i = 0; i < report->n_findings; i++)
		write_finding(&text, &report->findings[i]);
	for (size_t i = 0; i < all->n; i++)
		write_check(&text, &all->items[i]);
	if (all->n)
		ct_text_line(&text, CT_COLOR_NONE,
			     "EXPECTED passed=%zu failed=%zu not_applicable=%zu", all->passed,
			     all->failed, all->not_applicable);
}
