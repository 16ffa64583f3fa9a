/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/clocks_fill.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/model/clocks.h"
#include "analyzer/model/model.h"

/* ---- rows ---- */

static const char *name_of(const struct ct_model *model, struct ct_report *report, uint32_t host)
{
	return ct_arena_text(report->memory, model->starts->hosts[host].name,
			     sizeof(((struct ct_process *)0)->host));
}

/* What the kernel says of the host's time of day: the largest error of it that any process saw.
 * CT_UNKNOWN: nothing, or that it is not synchronized. */
static uint64_t wall_error(const struct ct_model *model, uint32_t host)
{
	uint64_t worst = 0;
	int is_known = 0;

	for (size_t p = 0; p < model->run->n_processes; p++) {
		const struct ct_model_process *kept = &model->processes[p];
		const struct ct_process_facts *facts = &kept->facts;

		if (!kept->read || model->starts->processes[p].host != host || !facts->clocks)
			continue;
		is_known = 1;
		if (facts->wall_unset)
			return CT_UNKNOWN;
		worst = facts->wall_err_ns > worst ? facts->wall_err_ns : worst;
	}
	return is_known ? worst : CT_UNKNOWN;
}

/* By the time of day of both, which is as good as what sets it. */
static void by_wall(const struct ct_model *model, uint32_t host, uint32_t reference,
		    struct ct_report_clock *row)
{
	uint64_t mine = wall_error(model, host), theirs = wall_error(model, reference);

	if (mine == CT_UNKNOWN || theirs == CT_UNKNOWN || mine > CT_UNKNOWN - theirs)
		return;
	row->has_offset = 1;
	row->offset_ns = (int64_t)(model->starts->hosts[host].unix_minus_mono -
				   model->starts->hosts[reference].unix_minus_mono);
	row->err_ns = mine + theirs;
}

/* What the host's clock shows in the middle of the run. */
static uint64_t middle(const struct ct_model *model, uint32_t host)
{
	uint64_t at = model->end_ns / 2, mono = at - model->shift[host];

	for (int round = 0; round < 3; round++)
		mono = at - ct_clocks_shift(model->starts->clocks, host, mono, model->shift);
	return mono;
}

/* The measured moment next to it: the reported error is that of these moments. */
static uint64_t nearest(const struct ct_clock_host *from, uint64_t t)
{
	if (!from->first_ns)
		return t; /* the reference's own clock */
	return t < from->first_ns ? from->first_ns : t > from->last_ns ? from->last_ns : t;
}

static void by_clocks(const struct ct_model *model, uint32_t host, const struct ct_clock_host *from,
		      struct ct_report_clock *row)
{
	const struct ct_clocks *clocks = model->starts->clocks;
	uint64_t t = nearest(from, middle(model, host)), ref, first, last;
	double run = (double)(from->last_ns - from->first_ns);

	if (!ct_clocks_at(clocks, host, t, &ref, NULL))
		return;
	row->has_offset = 1;
	row->offset_ns = (int64_t)(ref - t);
	row->err_ns = from->err_ns;
	if (host == ct_clocks_reference(clocks)) {
		row->drift_ppb = 0;
	} else if (run > 0 && ct_clocks_at(clocks, host, from->first_ns, &first, NULL) &&
		   ct_clocks_at(clocks, host, from->last_ns, &last, NULL) &&
		   2 * 1e9 * (double)from->err_ns / run <= CT_CLOCK_DRIFT_PPB) {
		row->drift_ppb = 1e9 * ((double)(int64_t)(last - first) - run) / run;
	}
}

static int fill_row(const struct ct_model *model, uint32_t host, struct ct_report *report)
{
	const struct ct_clocks *clocks = model->starts->clocks;
	const struct ct_clock_host *from = ct_clocks_host(clocks, host);
	struct ct_report_clock *row = &report->clocks[report->n_clocks++];

	*row = (struct ct_report_clock){
		.host = name_of(model, report, host),
		.drift_ppb = NAN,
		.err_ns = CT_UNKNOWN,
		.quality = ct_clock_quality_name(from ? from->quality : CT_CLOCK_ABSENT),
		.selftest_ns = from ? from->selftest_ns : CT_UNKNOWN,
	};
	if (!from)
		return CT_OK;
	if (from->err_ns != CT_CLOCK_UNKNOWN)
		by_clocks(model, host, from, row);
	else if (from->quality != CT_CLOCK_FAIL)
		by_wall(model, host, ct_clocks_reference(clocks), row);
	if (row->has_offset)
		row->ref_host = name_of(model, report, ct_clocks_reference(clocks));
	return row->has_offset && !row->ref_host ? CT_NOMEM : CT_OK;
}

/* ---- the finding ---- */

/* Of two hosts, the one whose clock it is more likely: that contradicts a larger share of those it
 * was compared with; of equal ones, more of them. Negative: a. */
static int more_guilty(const struct ct_clock_host *a, const struct ct_clock_host *b)
{
	uint64_t x = (uint64_t)a->conflicts * b->compared, y = (uint64_t)b->conflicts * a->compared;

	if (x != y)
		return x > y ? -1 : 1;
	return a->conflicts > b->conflicts ? -1 : a->conflicts < b->conflicts;
}

/* Whose clock it is; more than one where that is unclear. Not the one in most contradictions:
 * where all are compared with the reference only, that is always the reference. */
static void find_guilty(const struct ct_model *model, uint8_t *guilty)
{
	const struct ct_clocks *clocks = model->starts->clocks;
	const struct ct_clock_host *most = NULL;

	for (uint32_t h = 0; h < model->starts->n_hosts; h++) {
		const struct ct_clock_host *host = ct_clocks_host(clocks, h);

		if (host->conflicts && (!most || more_guilty(host, most) < 0))
			most = host;
	}
	for (uint32_t h = 0; h < model->starts->n_hosts; h++) {
		const struct ct_clock_host *host = ct_clocks_host(clocks, h);

		guilty[h] = most && host->conflicts && more_guilty(host, most) == 0;
	}
}

static void name_guilty(const struct ct_model *model, const uint8_t *guilty,
			struct ct_report *report, struct ct_findings *list, struct ct_finding *f)
{
	int *ranks = ct_arena_calloc(report->memory, model->n_slots + 1, sizeof(*ranks));
	size_t n = 0;

	f->hosts = ct_arena_calloc(report->memory, model->starts->n_hosts, sizeof(*f->hosts));
	if (!ranks || !f->hosts)
		return;
	for (uint32_t h = 0; h < model->starts->n_hosts; h++) {
		if (guilty[h])
			f->hosts[f->n_hosts++] = name_of(model, report, h);
	}
	for (uint32_t s = 0; s < model->n_slots; s++) {
		if (guilty[model->host_of[s]] && model->slots[s].rank >= 0)
			ranks[n++] = model->slots[s].rank;
	}
	ct_finding_ranks(list, f, ranks, n);
}

static const char *list_hosts(const struct ct_finding *f, struct ct_arena *memory)
{
	const char *text = "";

	for (size_t h = 0; h < f->n_hosts && h < 4; h++)
		text = ct_arena_printf(memory, "%s%s%s", text, h ? "," : "", f->hosts[h]);
	return f->n_hosts > 4 ? ct_arena_printf(memory, "%s,...", text) : text;
}

static void add_finding(const struct ct_model *model, const uint8_t *guilty,
			const struct ct_clock_conflict *worst, uint32_t failed,
			struct ct_findings *list, struct ct_report *report)
{
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_CLOCK_CONFLICT);
	const char *hosts;
	int by_time = worst->kind != CT_CONFLICT_ORDER;

	name_guilty(model, guilty, report, list, f);
	f->severity = failed ? CT_SEVERITY_WARNING : CT_SEVERITY_INFO;
	f->confidence = failed ? CT_CONFIDENCE_HIGH : CT_CONFIDENCE_LOW;
	if (by_time)
		f->begin_at_ns = f->end_at_ns = ct_model_host_at(model, worst->host, worst->at_ns);
	f->cause = ct_clock_conflict_text(worst->kind);
	f->advice = failed ? "times of these hosts are not compared with those of others: look for "
			     "a clock "
			     "that was set (chronyd, ntpd, a migrated virtual machine), or for "
			     "files of another run"
			   : "these hosts are synchronized through others; if one of their clocks "
			     "was "
			     "set, or drifts by more than 300 ppm, its error is larger than shown";
	ct_finding_evidence(list, f, "contradiction", worst->by_ns, by_time ? "ns" : "count", NAN);
	ct_finding_evidence(list, f, "limit", worst->limit_ns, by_time ? "ns" : "count", NAN);
	ct_finding_evidence(list, f, "hosts_not_related", failed, "count", NAN);
	hosts = list_hosts(f, report->memory);
	f->headline = ct_arena_printf(report->memory, "clocks of %s contradict others'", hosts);
	ct_finding_put_who(list, f);
	ct_finding_put(list, f, "by", "%s", by_time ? ct_text_ns((uint64_t)worst->by_ns).s : "n/a");
	ct_finding_put(list, f, "at", "%s", by_time ? ct_text_ns(f->begin_at_ns).s : "n/a");
	ct_finding_put(list, f, "failed", "%u", failed);
}

/* Two hosts that are both related by way of others: do they contradict each other by more than all
 * errors? */
static int is_beyond_errors(const struct ct_clocks *clocks, const struct ct_clock_conflict *c)
{
	uint64_t mine = ct_clocks_host(clocks, c->host)->err_ns;
	uint64_t theirs = ct_clocks_host(clocks, c->with)->err_ns;

	if (c->kind == CT_CONFLICT_ORDER || mine == CT_CLOCK_UNKNOWN || theirs == CT_CLOCK_UNKNOWN)
		return 1;
	return c->by_ns > CT_CLOCK_ACCURATE_NS + (double)mine + (double)theirs;
}

static int fill_finding(const struct ct_model *model, struct ct_findings *list,
			struct ct_report *report)
{
	const struct ct_clocks *clocks = model->starts->clocks;
	const struct ct_clock_conflict *worst = NULL;
	uint8_t *guilty = calloc(model->starts->n_hosts + 1, 1);
	uint32_t failed = 0;

	if (!guilty)
		return CT_NOMEM;
	find_guilty(model, guilty);
	for (uint32_t h = 0; h < model->starts->n_hosts; h++) {
		const struct ct_clock_host *host = ct_clocks_host(clocks, h);

		failed += host->quality == CT_CLOCK_FAIL;
		if (guilty[h] && (!worst || host->conflict.by_ns / host->conflict.limit_ns >
						    worst->by_ns / worst->limit_ns))
			worst = &host->conflict;
	}
	if (worst && !failed)
		for (uint32_t h = 0; h < model->starts->n_hosts; h++)
			guilty[h] = h == worst->host || h == worst->with;
	if (worst && (failed || is_beyond_errors(clocks, worst)))
		add_finding(model, guilty, worst, failed, list, report);
	free(guilty);
	return CT_OK;
}

int ct_fill_clocks(const struct ct_model *model, struct ct_findings *list, struct ct_report *report)
{
	uint32_t n_hosts = model->starts->n_hosts;
	int st = CT_OK;

	if (report->run.n_hosts < 2)
		return CT_OK;
	report->clocks = ct_arena_calloc(report->memory, n_hosts, sizeof(*report->clocks));
	if (!report->clocks)
		return CT_NOMEM;
	for (uint32_t h = 0; h < n_hosts && st == CT_OK; h++) {
		for (uint32_t s = 0; s < model->n_slots; s++) {
			if (model->slots[s].host == h) {
				st = fill_row(model, h, report);
				break;
			}
		}
	}
	return st == CT_OK && model->starts->clocks ? fill_finding(model, list, report) : st;
}
