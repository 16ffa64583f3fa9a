/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/headline.h"

#include <math.h>
#include <string.h>

#include "analyzer/base/template.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_list.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/model/comm_spec.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"

#define MOST_ALL 24u /* size: columns of a host's name */

static const char *const patterns[] = {
#define HEADLINE(kind, verdict, text) [CT_FINDING_##kind] = text,
#include "analyzer/findings/headlines.def"
};

/* How much a headline spells out, from all to what always fits. */
static const struct detail {
	unsigned ranks; /* at most so many numbers; 0: how many there are */
	size_t host;	/* columns; 0: without it */
	int is_brief;	/* costs without percentage, calls without communicator */
} details[] = { { CT_RANKS_SHOWN, MOST_ALL, 0 },
		{ 4, MOST_ALL, 0 },
		{ 4, 15, 0 },
		{ 4, 12, 0 },
		{ 2, 8, 0 },
		{ 2, 0, 0 },
		{ 2, 8, 1 },
		{ 0, 0, 0 },
		{ 0, 0, 1 } };

size_t ct_headline_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* ---- what it costs ---- */

const char *ct_pct_text(const struct ct_report *report, double pct)
{
	return ct_arena_printf(report->memory, "%s of %s", ct_prose_pct(pct).s,
			       ct_step_time_name(&report->step_time));
}

const char *ct_pct_err_text(const struct ct_report *report, double pct, double err)
{
	return ct_arena_printf(report->memory, "%s of %s", ct_prose_pct_err(pct, err).s,
			       ct_step_time_name(&report->step_time));
}

/* "33.8 % of step time" */
static const char *share_text(const struct ct_finding *f, const struct ct_report *report)
{
	return ct_arena_printf(report->memory, "%s%s", f->at_most ? "at most " : "",
			       ct_pct_text(report, f->time_lost_pct));
}

const char *ct_finding_per_step(const struct ct_finding *f, const struct ct_report *report)
{
	double loss = (double)f->time_lost_ns, per_step = loss;
	int has_steps = report->step_time.has_steps;
	struct ct_unit_range cost;

	if (f->time_lost_ns == CT_UNKNOWN)
		return ct_finding_part(report->memory, CT_PART_UNKNOWN_TIME, CT_NO_WORDS);
	if (has_steps)
		per_step = isnan(f->per_step_ns)
				   ? f->time_lost_pct / 100 * ct_step_time_ns(&report->step_time) /
					     (double)report->steps.count
				   : f->per_step_ns;
	cost = ct_prose_ns_err(per_step, f->time_lost_err_ns == CT_UNKNOWN || loss <= 0
						 ? NAN
						 : per_step * (double)f->time_lost_err_ns / loss);
	return ct_arena_printf(report->memory, "%s%s%s", f->at_most ? "at most " : "", cost.s,
			       has_steps ? "/step" : "");
}

/* "15.4 ± 2.3 ms/step (33.8 % of step time)"; without steps "1.23 ± 0.18 s (33.8 % of the run)" */
static const char *cost_text(const struct ct_finding *f, const struct ct_report *report,
			     int is_brief)
{
	const char *cost = ct_finding_per_step(f, report);

	if (is_brief || f->time_lost_ns == CT_UNKNOWN)
		return cost;
	return ct_arena_printf(report->memory, "%s (%s)", cost,
			       ct_pct_text(report, f->time_lost_pct));
}

/* ---- its words ---- */

static const char *ranks_text(const struct ct_finding *f, struct ct_arena *memory, unsigned most)
{
	if (f->n_ranks > 1 && !most)
		return ct_arena_printf(memory, "%zu ranks", f->n_ranks);
	return ct_ranks_words(memory, f->ranks, f->n_ranks, most ? most : 1);
}

static const char *host_text(const struct ct_finding *f, struct ct_arena *memory, size_t columns)
{
	char host[4 * MOST_ALL + 4];

	if (f->n_hosts != 1 || !columns)
		return "";
	ct_host_fit(host, sizeof(host), ct_host_word(memory, f->hosts[0]), columns);
	return ct_arena_printf(memory, "%s", host);
}

static const char *who_text(const struct ct_finding *f, struct ct_arena *memory,
			    const struct detail *detail)
{
	const char *host = host_text(f, memory, detail->host);

	return ct_arena_printf(memory, "%s%s%s%s", ranks_text(f, memory, detail->ranks),
			       *host ? " (" : "", host, *host ? ")" : "");
}

const char *ct_finding_who(const struct ct_finding *f, struct ct_arena *memory, size_t columns)
{
	const char *who = "";

	for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
		who = who_text(f, memory, &details[i]);
		if (ct_headline_columns(who) <= columns)
			break;
	}
	return who;
}

/* "AllReduce on 6df510e2"; where no communicator is known, the ranks. */
static const char *op_text(const struct ct_finding *f, struct ct_arena *memory,
			   const struct detail *detail)
{
	if (!f->comm_hash || !f->op_name)
		return who_text(f, memory, detail);
	return ct_arena_printf(memory, "%s on %s", f->op_name, ct_comm_digits(f->comm_hash).s);
}

/* "AllReduce #16 of 3f2a91c0" */
static const char *call_text(const struct ct_finding *f, struct ct_arena *memory,
			     const struct detail *detail)
{
	const char *call = ct_arena_printf(memory, "%s #%.0f", f->op_name ? f->op_name : "?",
					   ct_finding_fact(f, "first_seq"));

	if (detail->is_brief)
		return call;
	return ct_arena_printf(memory, "%s of %s", call, ct_comm_digits(f->comm_hash).s);
}

static const char *fact_ns(const struct ct_finding *f, const char *name, struct ct_arena *memory)
{
	double ns = ct_finding_fact(f, name);

	return ct_arena_printf(memory, "%s", ct_prose_ns(ns >= 0 ? (uint64_t)ns : CT_UNKNOWN).s);
}

static const char *every_text(const struct ct_finding *f, struct ct_arena *memory)
{
	double every = ct_finding_fact(f, "every");

	if (every > 0)
		return ct_finding_part(memory, CT_PART_EVERY_STEPS,
				       CT_WORDS({ "{n}", ct_arena_printf(memory, "%.0f", every) }));
	return ct_finding_part(memory, CT_PART_NOW_AND_THEN, CT_NO_WORDS);
}

static const char *fill(const struct ct_finding *f, const struct ct_report *report,
			const struct detail *detail)
{
	struct ct_arena *memory = report->memory;
	const char *stage = ct_arena_printf(memory, "%.0f", ct_finding_fact(f, "stage"));
	const char *first = ct_arena_printf(memory, "%llu", (unsigned long long)f->step_first);
	const char *text;
	const struct ct_word words[] = {
		{ "{who}", who_text(f, memory, detail) },
		{ "{ranks}", ranks_text(f, memory, detail->ranks) },
		{ "{host}", host_text(f, memory, detail->host ? detail->host : 12) },
		{ "{costs}", f->n_ranks == 1 ? "costs" : "cost" },
		{ "{their}", f->n_ranks == 1 ? "its" : "their" },
		{ "{cost}", cost_text(f, report, detail->is_brief) },
		{ "{share}", share_text(f, report) },
		{ "{what}", f->headline ? f->headline
			    : f->cause	? f->cause
					: "" },
		{ "{stage}", stage },
		{ "{stalls}", fact_ns(f, "stall_mean", memory) },
		{ "{every}", every_text(f, memory) },
		{ "{first}", first },
		{ "{before}", fact_ns(f, "step_before", memory) },
		{ "{after}", fact_ns(f, "step_after", memory) },
		{ "{op}", op_text(f, memory, detail) },
		{ "{call}", call_text(f, memory, detail) },
		{ "{at}", f->confidence == CT_CONFIDENCE_LOW ? "near" : "at" },
	};

	text = ct_template_fill(memory, f->pattern ? f->pattern : patterns[f->kind], words,
				sizeof(words) / sizeof(words[0]));
	return text ? text : "";
}

/* ---- what fits the line ---- */

const char *ct_headline_fit(struct ct_arena *memory, const char *title, const char *text)
{
	size_t room = CT_HEADLINE_COLUMNS - ct_headline_columns(title) - strlen(": "), bytes = 0,
	       n = 0;

	if (ct_headline_columns(text) <= room)
		return text;
	for (; n < room - strlen("..."); n++) {
		bytes++;
		while (((unsigned char)text[bytes] & 0xc0) == 0x80)
			bytes++;
	}
	return ct_arena_printf(memory, "%.*s...", (int)bytes, text);
}

void ct_headline(struct ct_finding *f, const struct ct_report *report)
{
	const char *title = ct_finding_title(f->kind), *text = "";

	for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
		text = fill(f, report, &details[i]);
		if (ct_headline_columns(title) + strlen(": ") + ct_headline_columns(text) <=
		    CT_HEADLINE_COLUMNS)
			break;
	}
	f->headline = ct_headline_fit(report->memory, title, text);
}
