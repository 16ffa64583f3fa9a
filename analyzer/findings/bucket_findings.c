/* SPDX-License-Identifier: Apache-2.0 */
/* Findings on gradient buckets whose size costs time, with a size to try. */
#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/overlap_findings.h"
#include "analyzer/overlap/buckets.h"
#include "analyzer/overlap/study.h"
#include "trace/ops.h"
#include "trace/status.h"

struct bucket_search {
	const struct ct_study *study;
	struct ct_findings *list;
};

/* The fitted line of the communicator, from its row among the links. 0: there is none. */
static int speed_of(const struct ct_report *report, const struct ct_buckets *b,
		    struct ct_bucket_speed *speed)
{
	const char *op = ct_op_name(b->op);

	for (size_t i = 0; i < report->n_links; i++) {
		const struct ct_report_link *l = &report->links[i];

		if (strcmp(l->scope, "comm") != 0 || l->comm_hash != b->comm->hash ||
		    l->alpha_ns == CT_UNKNOWN || l->beta_Bps == CT_UNKNOWN || !l->beta_Bps ||
		    (l->op_name && op && strcmp(l->op_name, op) != 0))
			continue;
		*speed = (struct ct_bucket_speed){ (double)l->alpha_ns, (double)l->beta_Bps / 1e9 };
		return 1;
	}
	return 0;
}

static void add(const struct bucket_search *s, const struct ct_buckets *b,
		const struct ct_bucket_speed *speed, const struct ct_bucket_advice *a,
		double step_ns)
{
	const struct ct_study *study = s->study;
	struct ct_findings *list = s->list;
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_BUCKETS);
	double pct = 100 * a->gain_ns / step_ns, err = 100 * a->gain_err_ns / step_ns;
	double one = ct_step_time_ns(&list->step_time) / 100, cap = (double)a->cap_bytes / CT_MIB;

	ct_finding_evidence(list, f, "buckets", b->n, "count", NAN);
	ct_finding_evidence(list, f, "bytes_in_a_step", (double)b->total_bytes, "bytes", NAN);
	ct_finding_evidence(list, f, "exposed_in_a_step", (double)b->exposed_ns, "ns",
			    (double)b->exposed_err_ns);
	ct_finding_evidence(list, f, "exposed_by_the_model", a->model_ns, "ns", NAN);
	ct_finding_evidence(list, f, "startup_of_the_median_bucket", 100 * a->startup_ratio, "%",
			    NAN);
	ct_finding_evidence(list, f, "alpha", speed->alpha_ns, "ns", NAN);
	ct_finding_evidence(list, f, "beta", 1e9 * speed->bytes_per_ns, "bytes/s", NAN);
	ct_finding_evidence(list, f, "suggested_bucket_cap_mb", cap, "MiB", NAN);
	ct_finding_evidence(list, f, "gain_in_a_step", a->gain_ns, "ns", a->gain_err_ns);
	ct_finding_loss(list, f, (uint64_t)(pct * one), (uint64_t)(err * one), pct * one);
	f->severity = f->severity > CT_SEVERITY_WARNING ? CT_SEVERITY_WARNING : f->severity;
	f->confidence = CT_CONFIDENCE_MEDIUM;
	f->comm_hash = b->comm->hash;
	f->op_name = ct_op_name(b->op);
	f->begin_at_ns = study->cut[0].begin_ns;
	f->end_at_ns = study->cut[study->cuts.n - 1].end_ns;
	ct_finding_say(list, f,
		       a->problem == CT_BUCKETS_TOO_SMALL ? CT_TEXT_BUCKETS_SMALL
							  : CT_TEXT_BUCKETS_LATE,
		       CT_WORDS({ "{mib}", ct_arena_printf(list->memory, "%.0f", cap) }));
	ct_finding_put_comm(list, f, b->comm->hash);
	ct_finding_put(list, f, "op", "%s", f->op_name);
	ct_finding_put(list, f, "buckets", "%u", b->n);
	ct_finding_put(list, f, "bytes", "%s", ct_text_bytes(b->total_bytes).s);
	ct_finding_put(list, f, "problem",
		       a->problem == CT_BUCKETS_TOO_SMALL ? "too-small" : "last-late");
	ct_finding_put_err(list, f, "exposed", ct_text_ns(b->exposed_ns).s,
			   ct_text_ns(b->exposed_err_ns).s);
	ct_finding_put(list, f, "suggested_bucket_cap_mb", "%.0f", cap);
	ct_finding_put_err(list, f, "gain", ct_text_pct(pct).s, ct_text_pct(err).s);
	ct_finding_put(list, f, "of", "step");
}

static int look_at(void *arg, const struct ct_buckets *b)
{
	const struct bucket_search *s = arg;
	const struct ct_report_steps *steps = &s->study->report->steps;
	struct ct_bucket_speed speed;
	struct ct_bucket_advice a;

	if (steps->time_p50_ns == CT_UNKNOWN || !speed_of(s->study->report, b, &speed))
		return CT_OK;
	ct_buckets_advise(b, &speed, steps->time_p50_ns, &a);
	if (!a.n || (a.problem != CT_BUCKETS_TOO_SMALL && a.problem != CT_BUCKETS_LAST_LATE))
		return CT_OK;
	add(s, b, &speed, &a, (double)steps->time_p50_ns);
	return CT_OK;
}

int ct_study_buckets(const struct ct_study *study, struct ct_findings *findings)
{
	struct bucket_search s = { study, findings };

	if (!study->cuts.n)
		return CT_OK;
	return ct_buckets_each(study->log, study->exposures, study->step_of, study->waits_known,
			       look_at, &s);
}
