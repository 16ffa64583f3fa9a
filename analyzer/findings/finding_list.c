/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/finding_list.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/units.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"

void ct_findings_fini(struct ct_findings *list)
{
	free(list->all);
	*list = (struct ct_findings){ 0 };
}

struct ct_finding *ct_findings_add(struct ct_findings *list, enum ct_finding_kind kind)
{
	struct ct_finding *f;

	if (ct_grow(&list->all, &list->cap, (uint32_t)list->n + 1, sizeof(*list->all))) {
		ct_arena_fail(list->memory);
		f = &list->spare;
	} else {
		f = &list->all[list->n++];
	}
	list->nowhere[0] = "?";
	*f = (struct ct_finding){
		.kind = kind,
		.ranks = list->no_rank,
		.hosts = list->nowhere,
		.begin_at_ns = CT_UNKNOWN,
		.end_at_ns = CT_UNKNOWN,
		.time_lost_ns = CT_UNKNOWN,
		.time_lost_err_ns = CT_UNKNOWN,
		.time_lost_pct = NAN,
		.gpu_seconds = NAN,
		.per_step_ns = NAN,
		.step_first = CT_UNKNOWN,
		.step_last = CT_UNKNOWN,
	};
	return f;
}

void ct_findings_drop_last(struct ct_findings *list)
{
	list->n -= list->n > 0;
}

void ct_finding_ranks(struct ct_findings *list, struct ct_finding *f, const int *ranks, size_t n)
{
	int *copy = ct_arena_calloc(list->memory, n + 1, sizeof(*copy));

	if (!copy)
		return;
	memcpy(copy, ranks, n * sizeof(*ranks));
	qsort(copy, n, sizeof(*copy), ct_by_int);
	f->ranks = copy;
	f->n_ranks = n;
}

void ct_finding_slots(const struct ct_model *model, const uint32_t *slots, size_t n,
		      struct ct_findings *list, struct ct_finding *f)
{
	struct ct_arena *memory = list->memory;
	int *ranks = ct_arena_calloc(memory, n + 1, sizeof(*ranks));
	const char **hosts = ct_arena_calloc(memory, n + 1, sizeof(*hosts));

	if (!ranks || !hosts)
		return;
	f->hosts = hosts;
	for (size_t i = 0; i < n; i++) {
		const char *name = model->starts->hosts[model->slots[slots[i]].host].name;
		const char *host = ct_arena_text(memory, name,
						 sizeof(((struct ct_process *)0)->host));
		size_t known = 0;

		ranks[i] = model->slots[slots[i]].rank;
		while (known < f->n_hosts && strcmp(hosts[known], host) != 0)
			known++;
		if (known == f->n_hosts)
			hosts[f->n_hosts++] = host;
	}
	ct_finding_ranks(list, f, ranks, n);
}

void ct_finding_host(const struct ct_model *model, uint32_t host, struct ct_findings *list,
		     struct ct_finding *f)
{
	uint32_t *slots = ct_arena_calloc(list->memory, model->n_slots, sizeof(*slots)), n = 0;

	for (uint32_t s = 0; slots && s < model->n_slots; s++) {
		if (model->slots[s].host == host)
			slots[n++] = s;
	}
	ct_finding_slots(model, slots, n, list, f);
}

void ct_finding_evidence(struct ct_findings *list, struct ct_finding *f, const char *name,
			 double value, const char *unit, double err)
{
	struct ct_evidence *more;

	for (size_t i = 0; i < f->n_evidence; i++) {
		if (strcmp(f->evidence[i].name, name) != 0)
			continue;
		f->evidence[i] = (struct ct_evidence){
			.name = name, .unit = unit, .value = value, .err = err
		};
		return;
	}
	more = ct_arena_calloc(list->memory, f->n_evidence + 1, sizeof(*more));
	if (!more)
		return;
	if (f->n_evidence)
		memcpy(more, f->evidence, f->n_evidence * sizeof(*more));
	more[f->n_evidence] = (struct ct_evidence){
		.name = name, .unit = unit, .value = value, .err = err
	};
	f->evidence = more;
	f->n_evidence++;
}

static void add_pair(struct ct_findings *list, struct ct_finding *f,
		     const struct ct_finding_pair *pair)
{
	struct ct_finding_pair *more = ct_arena_calloc(list->memory, f->n_pairs + 1, sizeof(*more));

	if (!more)
		return;
	if (f->n_pairs)
		memcpy(more, f->pairs, f->n_pairs * sizeof(*more));
	more[f->n_pairs++] = *pair;
	f->pairs = more;
}

void ct_finding_put(struct ct_findings *list, struct ct_finding *f, const char *key,
		    const char *format, ...)
{
	struct ct_finding_pair pair = { .key = key };
	va_list ap;

	va_start(ap, format);
	pair.value = ct_arena_vprintf(list->memory, format, ap);
	va_end(ap);
	add_pair(list, f, &pair);
}

void ct_finding_put_err(struct ct_findings *list, struct ct_finding *f, const char *key,
			const char *value, const char *err)
{
	add_pair(list, f,
		 &(struct ct_finding_pair){ .key = key,
					    .value = ct_arena_printf(list->memory, "%s", value),
					    .err = ct_arena_printf(list->memory, "%s", err) });
}

#define HOSTS_SHOWN 16u /* size: hosts in a list */

void ct_finding_put_who(struct ct_findings *list, struct ct_finding *f)
{
	const char *hosts = "";

	if (f->n_ranks)
		ct_finding_put(list, f, "ranks", "%s",
			       ct_ranks_text(list->memory, f->ranks, f->n_ranks, CT_RANKS_SHOWN));
	for (size_t i = 0; i < f->n_hosts && i < HOSTS_SHOWN; i++)
		hosts = ct_arena_printf(list->memory, "%s%s%s", hosts, i ? "," : "",
					ct_host_word(list->memory, f->hosts[i]));
	if (f->n_hosts)
		ct_finding_put(list, f, "hosts", "%s%s", hosts,
			       f->n_hosts > HOSTS_SHOWN ? ",..." : "");
}

void ct_finding_put_comm(struct ct_findings *list, struct ct_finding *f, uint64_t hash)
{
	ct_finding_put(list, f, "comm", "%016llx", (unsigned long long)hash);
}

void ct_finding_put_time_lost(struct ct_findings *list, struct ct_finding *f, const char *key)
{
	ct_finding_put_err(list, f, key, ct_text_ns(f->time_lost_ns).s,
			   ct_text_ns(f->time_lost_err_ns).s);
	ct_finding_put(list, f, "time_lost_pct", "%s", ct_text_pct(f->time_lost_pct).s);
	ct_finding_put(list, f, "of", "%s", list->step_time.has_steps ? "step" : "run");
}

static enum ct_severity severity_of(double pct)
{
	return pct > CT_CRITICAL_PCT   ? CT_SEVERITY_CRITICAL
	       : pct >= CT_WARNING_PCT ? CT_SEVERITY_WARNING
				       : CT_SEVERITY_INFO;
}

void ct_finding_loss(const struct ct_findings *list, struct ct_finding *f, uint64_t time_lost_ns,
		     uint64_t err_ns, double in_steps_ns)
{
	double lost = (double)time_lost_ns, sure = lost > 0 ? 1 - (double)err_ns / lost : 0;

	f->time_lost_ns = time_lost_ns;
	f->time_lost_err_ns = err_ns;
	f->time_lost_pct = ct_step_time_pct(&list->step_time, in_steps_ns);
	f->severity = severity_of(ct_step_time_pct(&list->step_time, sure * in_steps_ns));
}

int ct_finding_is_worth(const struct ct_findings *list, double in_steps_ns, double err_ns,
			double least)
{
	return in_steps_ns - err_ns >= least * ct_step_time_ns(&list->step_time);
}

/* Contradictions come first, because they make results wrong, then findings by cost. Dropped
 * records and findings of unknown cost come last. */
static double weight(const struct ct_finding *f)
{
	switch (f->kind) {
	case CT_FINDING_MISMATCH:
	case CT_FINDING_SKIPPED_OP:
	case CT_FINDING_EXTRA_OP:
		return f->severity == CT_SEVERITY_CRITICAL ? 1e30 : -1;
	case CT_FINDING_UNEVEN_INPUT:
		return 1e29;
	case CT_FINDING_DROPPED_RECORDS:
		return -2;
	case CT_FINDING_ENVIRONMENT_DIFFERS:
	case CT_FINDING_SETTING_CONFLICT:
		return -3;
	case CT_FINDING_SETTING_NOT_READ:
		return -4;
	case CT_FINDING_ADVICE:
		return -5;
	default:
		return f->time_lost_ns == CT_UNKNOWN ? -1 : (double)f->time_lost_ns;
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
