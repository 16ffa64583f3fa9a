/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/render/render.h"
#include "analyzer/render/text.h"

#define EVIDENCE 23u /* columns before it */

static const enum ct_color colors[] = {
	[CT_DIAGNOSIS_PASS] = CT_COLOR_GREEN,
	[CT_DIAGNOSIS_UNKNOWN] = CT_COLOR_YELLOW,
	[CT_DIAGNOSIS_FAIL] = CT_COLOR_RED,
};

static void write_node(struct ct_text *text, const struct ct_diagnosis_node *node)
{
	ct_text_wrap(text, colors[node->answer], EVIDENCE, "  %-8s %-11s %s",
		     ct_diagnosis_answer_name(node->answer), node->name,
		     node->evidence ? node->evidence : "");
	if (node->answer != CT_DIAGNOSIS_PASS && node->advice)
		ct_text_wrap(text, CT_COLOR_NONE, EVIDENCE, "%-20sdo %s", "", node->advice);
}

static int is_hidden(const struct ct_diagnosis_node *node)
{
	return node->answer == CT_DIAGNOSIS_UNKNOWN && !node->is_wanted;
}

static size_t count_hidden(const struct ct_diagnosis_branch *level)
{
	size_t n = 0;

	for (size_t i = 0; i < level->n_nodes; i++)
		n += (size_t)is_hidden(&level->nodes[i]);
	return n;
}

/* What could not be checked, in one line: most of it needs a GPU or InfiniBand. */
static void write_unknown(struct ct_text *text, const struct ct_diagnosis_branch *level)
{
	char *names = NULL;
	size_t size, n = 0;
	FILE *out = open_memstream(&names, &size);

	if (!out)
		return;
	for (size_t i = 0; i < level->n_nodes; i++)
		if (is_hidden(&level->nodes[i]))
			fprintf(out, "%s%s", n++ ? ", " : "", level->nodes[i].name);
	if (fclose(out) == 0)
		ct_text_wrap(text, colors[CT_DIAGNOSIS_UNKNOWN], EVIDENCE,
			     "  unknown  %s (what they need: --verbose)", names);
	free(names);
}

static const char *answer_text(const struct ct_diagnosis_branch *level)
{
	return level->answer == CT_DIAGNOSIS_UNKNOWN && level->n_nodes
		       ? "nothing failed, some is unknown"
		       : ct_diagnosis_answer_name(level->answer);
}

static void write_level(struct ct_text *text, const struct ct_diagnosis_branch *level, int verbose)
{
	const int is_short = !verbose && count_hidden(level) > 1;

	if (!level->is_asked) {
		ct_text_line(text, CT_COLOR_DIM,
			     "%-10s not checked: an earlier level failed (--full-scan checks all)",
			     level->name);
		return;
	}
	ct_text_line(text, CT_COLOR_BOLD, "%-10s %s%s", level->name, answer_text(level),
		     level->n_nodes ? "" : ": needs a recorded run");
	for (size_t i = 0; i < level->n_nodes; i++)
		if (!is_short || !is_hidden(&level->nodes[i]))
			write_node(text, &level->nodes[i]);
	if (is_short)
		write_unknown(text, level);
}

/* Findings that advise: they answer no question of the tree. */
static void write_advice(struct ct_text *text, const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		const struct ct_finding *f = &report->findings[i];

		if (f->kind != CT_FINDING_ADVICE)
			continue;
		ct_text_wrap(text, CT_COLOR_NONE, EVIDENCE, "advice     %s", f->headline);
		ct_text_wrap(text, CT_COLOR_NONE, EVIDENCE, "%-20sdo %s", "", f->advice);
	}
}

static void write_score(struct ct_text *text, const struct ct_report_score *score)
{
	if (!isnan(score->total))
		ct_text_line(text, CT_COLOR_NONE, "score      %.0f of 100: %s, against %s",
			     score->total, score->grade, score->reference);
}

void ct_diagnosis_text(const struct ct_diagnosis *d, const struct ct_diagnosis_node *failed,
		       const struct ct_text_style *style, FILE *out)
{
	struct ct_text whole = ct_text_to(out, style), text = ct_text_screen(&whole);
	unsigned passed = 0, all = 0;

	for (size_t l = 0; l < d->n_levels; l++)
		for (size_t i = 0; d->levels[l].is_asked && i < d->levels[l].n_nodes; i++) {
			passed += d->levels[l].nodes[i].answer == CT_DIAGNOSIS_PASS;
			all++;
		}
	if (failed)
		/* a finding has a title of its own */
		ct_text_wrap(&text, CT_COLOR_BOLD, CT_TEXT_LABEL, "Diagnosis: %s%s%s",
			     isupper((unsigned char)failed->evidence[0]) ? "" : failed->name,
			     isupper((unsigned char)failed->evidence[0]) ? "" : ": ",
			     failed->evidence);
	else
		ct_text_line(&text, CT_COLOR_BOLD,
			     "Diagnosis: nothing failed; %u of %u checks could be made", passed,
			     all);
	ct_text_empty(&text);
	for (size_t l = 0; l < d->n_levels; l++)
		write_level(&text, &d->levels[l], style && style->verbose);
	if (d->report) {
		write_advice(&text, d->report);
		write_score(&text, &d->report->score);
	}
}
