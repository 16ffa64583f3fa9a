/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/finding_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/model/model.h"

void ct_findings_fini(struct ct_findings *list)
{
	free(list->all);
	*list = (struct ct_findings){ 0 };
}

struct ct_finding *ct_findings_add(struct ct_findings *list, enum ct_finding_kind kind)
{
	struct ct_finding *f;

	if (ct_grow(&list->all, &list->cap, (uint32_t)list->n + 1, sizeof(*list->all)))
		return NULL;
	f = &list->all[list->n++];
	*f = (struct ct_finding){
		.kind = kind,
		.begin_at_ns = CT_UNKNOWN,
		.end_at_ns = CT_UNKNOWN,
		.loss_ns = CT_UNKNOWN,
		.loss_err_ns = CT_UNKNOWN,
		.loss_pct = NAN,
		.gpu_seconds = NAN,
		.cycle_first = CT_UNKNOWN,
		.cycle_last = CT_UNKNOWN,
	};
	return f;
}

int ct_finding_ranks(struct ct_findings *list, struct ct_finding *f, const int *ranks, size_t n)
{
	f->ranks = ct_arena_calloc(list->memory, n + 1, sizeof(*f->ranks));
	if (!f->ranks)
		return CT_NOMEM;
	memcpy(f->ranks, ranks, n * sizeof(*ranks));
	f->n_ranks = n;
	qsort(f->ranks, n, sizeof(*f->ranks), ct_by_int);
	return CT_OK;
}

int ct_finding_seats(const struct ct_model *model, const uint32_t *seats, size_t n,
		     struct ct_findings *list, struct ct_finding *f)
{
	struct ct_arena *memory = list->memory;
	int *ranks = ct_arena_calloc(memory, n + 1, sizeof(*ranks));

	f->hosts = ct_arena_calloc(memory, n + 1, sizeof(*f->hosts));
	if (!ranks || !f->hosts)
		return CT_NOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *name = model->attempts->hosts[model->seats[seats[i]].host].name;
		const char *host = ct_arena_text(memory, name,
						 sizeof(((struct ct_process *)0)->host));
		size_t known = 0;

		if (!host)
			return CT_NOMEM;
		ranks[i] = model->seats[seats[i]].rank;
		while (known < f->n_hosts && strcmp(f->hosts[known], host) != 0)
			known++;
		if (known == f->n_hosts)
			f->hosts[f->n_hosts++] = host;
	}
	return ct_finding_ranks(list, f, ranks, n);
}

int ct_finding_evidence(struct ct_findings *list, struct ct_finding *f, const char *name,
			double value, const char *unit, double err)
{
	struct ct_evidence *more;

	for (size_t i = 0; i < f->n_evidence; i++) {
		if (strcmp(f->evidence[i].name, name) != 0)
			continue;
		f->evidence[i] = (struct ct_evidence){
			.name = name, .unit = unit, .value = value, .err = err
		};
		return CT_OK;
	}
	more = ct_arena_calloc(list->memory, f->n_evidence + 1, sizeof(*more));
	if (!more)
		return CT_NOMEM;
	if (f->n_evidence)
		memcpy(more, f->evidence, f->n_evidence * sizeof(*more));
	more[f->n_evidence] = (struct ct_evidence){
		.name = name, .unit = unit, .value = value, .err = err
	};
	f->evidence = more;
	f->n_evidence++;
	return CT_OK;
}

static enum ct_severity severity_of(double pct)
{
	return pct > 10 ? CT_SEVERITY_SEVERE : pct >= 3 ? CT_SEVERITY_WARN : CT_SEVERITY_INFO;
}

void ct_finding_loss(struct ct_finding *f, uint64_t loss_ns, uint64_t err_ns, uint64_t run_ns)
{
	double run = run_ns ? (double)run_ns : NAN;

	f->loss_ns = loss_ns;
	f->loss_err_ns = err_ns;
	f->loss_pct = 100 * (double)loss_ns / run;
	f->severity = severity_of(100 * ((double)loss_ns - (double)err_ns) / run);
}

/* Contradictions first, they make results wrong; then by what they cost; losses, and what nobody knows the cost of,
 * last. */
static double weight(const struct ct_finding *f)
{
	switch (f->kind) {
	case CT_FINDING_MISMATCH:
	case CT_FINDING_SKIPPED_OP:
	case CT_FINDING_EXTRA_OP:
		return f->severity == CT_SEVERITY_SEVERE ? 1e30 : -1;
	case CT_FINDING_UNEVEN_INPUT:
		return 1e29;
	case CT_FINDING_LOSSES:
		return -2;
	case CT_FINDING_ENVIRONMENT_DIFFERS:
		return -3;
	default:
		return f->loss_ns == CT_UNKNOWN ? -1 : (double)f->loss_ns;
	}
}

int ct_finding_order(const void *a, const void *b)
{
	double x = weight(a), y = weight(b);

	return CT_CMP(y, x);
}

double ct_finding_fact(const struct ct_finding *f, const char *name)
{
	for (size_t i = 0; i < f->n_evidence; i++) {
		if (strcmp(f->evidence[i].name, name) == 0)
			return f->evidence[i].value;
	}
	return NAN;
}
