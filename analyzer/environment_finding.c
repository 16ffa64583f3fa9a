/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/blame/findings.h"
#include "analyzer/environment.h"

/* Names in the line, and in the cause. */
#define NAMES_SHOWN 4u

/* Ranks with another value than most, of everything that must be equal; where no value is that of most, all of them. */
static int odd_ranks(const struct ct_report_environment *from, int *ranks, size_t cap, size_t *n)
{
	*n = 0;
	for (size_t d = 0; d < from->n_differs; d++) {
		const struct ct_report_env_differs *differs = &from->differs[d];
		size_t most = 0, all = differs->values[0].n_ranks;

		for (size_t v = 1; v < differs->n_values; v++) {
			all += differs->values[v].n_ranks;
			if (differs->values[v].n_ranks > differs->values[most].n_ranks)
				most = v;
		}
		if (2 * differs->values[most].n_ranks <= all)
			most = differs->n_values;
		for (size_t v = 0; differs->matters && v < differs->n_values; v++) {
			for (size_t r = 0; v != most && r < differs->values[v].n_ranks; r++) {
				size_t at = 0;

				while (at < *n && ranks[at] != differs->values[v].ranks[r])
					at++;
				if (at == *n && *n < cap)
					ranks[(*n)++] = differs->values[v].ranks[r];
			}
		}
	}
	return *n > 0;
}

static int by_number(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

/* "NCCL_ALGO Ring on rank 1, Tree on rank 0,2,3" */
static const char *describe(struct ct_arena *memory, const struct ct_report_env_differs *d)
{
	const char *text = d->name;

	for (size_t v = 0; text && v < d->n_values && v < NAMES_SHOWN; v++) {
		const char *ranks = ct_ranks_text(memory, d->values[v].ranks, d->values[v].n_ranks,
						  4);

		text = ranks ? ct_arena_printf(memory, "%s%s %.60s on rank%s %s", text,
					       v ? "," : "",
					       d->values[v].value ? d->values[v].value : "not set",
					       d->values[v].n_ranks == 1 ? "" : "s", ranks)
			     : NULL;
	}
	return text;
}

int ct_finding_environment(const struct ct_report *report, struct ct_arena *memory,
			   struct ct_finding *f)
{
	const struct ct_report_environment *from = &report->environment;
	const char *names = "", *cause = "", *ranks;
	size_t n = 0;

	*f = (struct ct_finding){
		.kind = CT_FINDING_ENVIRONMENT_DIFFERS,
		.severity = CT_SEVERITY_INFO,
		.confidence = CT_CONFIDENCE_HIGH,
		.begin_at_ns = CT_UNKNOWN,
		.end_at_ns = CT_UNKNOWN,
		.loss_ns = CT_UNKNOWN,
		.loss_err_ns = CT_UNKNOWN,
		.loss_pct = NAN,
		.advice = "make them equal, or know why they are not: environment in `commtrace "
			  "info`",
	};
	for (size_t d = 0; d < from->n_differs; d++) {
		const struct ct_report_env_differs *differs = &from->differs[d];
		const char *what;

		if (!differs->matters)
			continue;
		if (differs->severity > f->severity)
			f->severity = differs->severity;
		if (n++ >= NAMES_SHOWN)
			continue;
		what = describe(memory, differs);
		if (!what)
			return CT_NOMEM;
		names = ct_arena_printf(memory, "%s%s%s", names, *names ? "," : "", differs->name);
		if (!names)
			return CT_NOMEM;
		cause = ct_arena_printf(memory, "%s%s%s", cause, *cause ? "; " : "", what);
		if (!cause)
			return CT_NOMEM;
	}
	if (!n)
		return 0;
	f->ranks = ct_arena_calloc(memory, report->n_ranks, sizeof(*f->ranks));
	f->evidence = ct_arena_calloc(memory, 1, sizeof(*f->evidence));
	if (!f->ranks || !f->evidence)
		return CT_NOMEM;
	odd_ranks(from, f->ranks, report->n_ranks, &f->n_ranks);
	qsort(f->ranks, f->n_ranks, sizeof(*f->ranks), by_number);
	f->evidence[f->n_evidence++] = (struct ct_evidence){ "names_that_differ", "count",
							     (double)n, NAN };
	ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, 8);
	if (!ranks)
		return CT_NOMEM;
	f->cause = cause;
	f->line = ct_arena_printf(memory, "names=%s%s ranks=%s severity=%s", names,
				  n > NAMES_SHOWN ? ",..." : "", ranks,
				  ct_severity_name(f->severity));
	return f->line ? 1 : CT_NOMEM;
}
