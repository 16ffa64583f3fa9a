/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/facts_text.h"

/* ---- links, and the score ---- */

static const char *name_of(const struct ct_report *report, uint64_t key)
{
	for (size_t c = 0; c < report->n_comms; c++) {
		if (report->comms[c].hash == key && report->comms[c].name)
			return report->comms[c].name;
	}
	return NULL;
}

/* What the row is about, in few words. */
static void put_what(char *to, size_t cap, const struct ct_report *report,
		     const struct ct_report_link *l)
{
	char name[64];
	const char *given = name_of(report, l->comm_hash);

	if (strcmp(l->scope, "edge") == 0) {
		snprintf(to, cap, "rank %s to %s", ct_text_rank(l->src).s, ct_text_rank(l->dst).s);
		return;
	}
	if (given)
		ct_text_short_name(name, sizeof(name), given, 12);
	else
		snprintf(name, sizeof(name), "%08llx", (unsigned long long)(l->comm_hash >> 32));
	snprintf(to, cap, "%s on %s", l->op_name ? l->op_name : "?", name);
}

void ct_links_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_link *most = NULL;
	size_t slow = 0, rows = 0, alone = 0;
	char what[96], err[40] = "", latency[64] = "", compared[80];

	for (size_t i = 0; i < report->n_links; i++) {
		const struct ct_report_link *l = &report->links[i];

		if (strcmp(l->scope, "host") == 0)
			continue;
		rows++;
		slow += l->slow != 0;
		alone += !l->slow && isnan(l->efficiency_ratio);
		/* slow ones first, else by time */
		if (!most && l->beta_Bps != CT_UNKNOWN)
			most = l;
	}
	if (!most)
		return;
	put_what(what, sizeof(what), report, most);
	if (most->beta_err_Bps != CT_UNKNOWN)
		snprintf(err, sizeof(err), " ± %s", ct_prose_Bps(most->beta_err_Bps).s);
	if (most->alpha_ns != CT_UNKNOWN)
		snprintf(latency, sizeof(latency), ", latency %s ± %s",
			 ct_prose_ns(most->alpha_ns).s, ct_prose_ns(most->alpha_err_ns).s);
	/* slow is what is slower than its like */
	if (alone == rows)
		snprintf(compared, sizeof(compared), "none compared");
	else
		snprintf(compared, sizeof(compared), "%zu of %llu slow", slow,
			 (unsigned long long)(rows - alone + report->links_left_out));
	ct_text_wrap(text, slow ? CT_COLOR_YELLOW : CT_COLOR_NONE, CT_TEXT_LABEL,
		     "links     %s: bus %s%s%s; %s", what, ct_prose_Bps(most->beta_Bps).s, err,
		     latency, compared);
}

void ct_score_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_score *score = &report->score;
	char parts[160] = "", why[160] = "";
	size_t at = 0;

	if (!score->n_parts)
		return;
	if (isnan(score->total)) {
		ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL, "score     n/a: %s", score->why);
		return;
	}
	for (size_t i = 0; i < score->n_parts && at < sizeof(parts); i++) {
		const struct ct_score_part *part = &score->parts[i];
		int n = isnan(part->score)
				? snprintf(parts + at, sizeof(parts) - at, " %s n/a", part->name)
				: snprintf(parts + at, sizeof(parts) - at, " %s %.0f", part->name,
					   part->score);

		at += n > 0 ? (size_t)n : 0;
		/* of the first that is not known, why */
		if (isnan(part->score) && part->from && !why[0])
			snprintf(why, sizeof(why), "; %s %s", part->name, part->from);
	}
	ct_text_wrap(text,
		     strcmp(score->grade, "excellent") == 0 ? CT_COLOR_GREEN
		     : strcmp(score->grade, "good") == 0    ? CT_COLOR_NONE
							    : CT_COLOR_YELLOW,
		     CT_TEXT_LABEL, "score     %.0f of 100: %s, against %s;%s%s", score->total,
		     score->grade, score->reference, parts, why);
}

/* ---- the hosts' network ports ---- */

/* The fastest interval; CT_UNKNOWN: none is known. */
static uint64_t peak(const struct ct_report_transport *t, int ib)
{
	uint64_t most = CT_UNKNOWN;

	for (size_t i = 0; i < t->n_rates; i++) {
		uint64_t Bps = ib ? t->rates[i].ib_Bps : t->rates[i].nic_Bps;

		if (Bps != CT_UNKNOWN && (most == CT_UNKNOWN || Bps > most))
			most = Bps;
	}
	return most;
}

static void write_port(struct ct_text *text, const struct ct_report_port *port)
{
	char counted[CT_TEXT_COLUMNS * 4] = "", pairs[512];
	size_t at = 0;

	for (size_t i = 0; i < port->n_counters && at < sizeof(counted) - 80; i++) {
		const struct ct_report_counter *c = &port->counters[i];

		at += (size_t)snprintf(counted + at, sizeof(counted) - at, " %.40s%s%s", c->name,
				       c->at_least && c->grew != CT_UNKNOWN ? ">=" : "=",
				       ct_text_count(c->grew).s);
	}
	ct_columns_pairs(pairs, sizeof(pairs), ct_columns_port(),
			 "name kind layer state rate_Bps rx_bytes tx_bytes", port);
	ct_text_line(text, CT_COLOR_NONE, "    %s", pairs);
	if (at)
		ct_text_line(text, CT_COLOR_NONE, "       %s", counted);
}

void ct_transport_text(struct ct_text *text, const struct ct_report *report)
{
	ct_text_empty(text);
	ct_text_line(text, CT_COLOR_BOLD, "%s",
		     "network ports (of the hosts, whoever used them; bytes in and out)");
	if (!report->n_transport)
		ct_text_line(text, CT_COLOR_NONE, "%s", "n/a");
	for (size_t i = 0; i < report->n_transport; i++) {
		const struct ct_report_transport *t = &report->transport[i];
		char pairs[512];

		ct_columns_pairs(pairs, sizeof(pairs), ct_columns_transport(),
				 "host rank nic_bytes ib_bytes ib_errors sampled_ns", t);
		ct_text_line(text, CT_COLOR_NONE, "%s nic_most=%s ib_most=%s", pairs,
			     ct_text_Bps(peak(t, 0)).s, ct_text_Bps(peak(t, 1)).s);
		for (size_t p = 0; p < t->n_ports; p++)
			write_port(text, &t->ports[p]);
	}
}

static void add(uint64_t *sum, uint64_t bytes)
{
	if (bytes != CT_UNKNOWN)
		*sum = *sum == CT_UNKNOWN ? bytes : *sum + bytes;
}

void ct_transport_line(struct ct_text *text, const struct ct_report *report)
{
	uint64_t nic = CT_UNKNOWN, ib = CT_UNKNOWN, errors = CT_UNKNOWN;

	for (size_t i = 0; i < report->n_transport; i++) {
		add(&nic, report->transport[i].nic_bytes);
		add(&ib, report->transport[i].ib_bytes);
		add(&errors, report->transport[i].ib_errors);
	}
	/* what one machine says to the world is of interest where something is wrong with it */
	if ((nic == CT_UNKNOWN && ib == CT_UNKNOWN) ||
	    (report->run.n_hosts < 2 && (errors == CT_UNKNOWN || !errors)))
		return;
	ct_text_line(
		text, CT_COLOR_NONE,
		"network   ethernet %s, infiniband %s, its link errors %s, on %zu of %zu host%s",
		ct_prose_bytes(nic).s, ct_prose_bytes(ib).s, ct_text_count(errors).s,
		report->n_transport, report->run.n_hosts, report->run.n_hosts == 1 ? "" : "s");
}
