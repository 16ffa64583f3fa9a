/* SPDX-License-Identifier: Apache-2.0 */
/* One finding about ranks that are slow together. */
#include <math.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/causes.h"
#include "analyzer/findings/replay_finding.h"
#include "analyzer/findings/straggler_findings.h"
#include "analyzer/findings/time_structure.h"
#include "analyzer/lateness/replay/judge.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"
#include "trace/status.h"

/* By how much more a set has to explain than any of those whose place it takes, or a smaller one. */
#define EXPLAINS 1.25

static enum ct_finding_kind kind_of(const struct ct_whatif_set *set)
{
	switch (set->kind) {
	case CT_WHATIF_HOST:
		return CT_FINDING_STRAGGLER_HOST;
	case CT_WHATIF_GROUP:
		return CT_FINDING_STRAGGLER_GROUP;
	case CT_WHATIF_LATEST:
		break;
	}
	return CT_FINDING_STRAGGLER;
}

static const char *who(const struct ct_whatif_set *set, const struct ct_finding *f,
		       const char *ranks, struct ct_arena *memory)
{
	const char *host;

	switch (set->kind) {
	case CT_WHATIF_HOST:
		host = ct_host_word(memory, f->hosts[0]);
		return host ? ct_arena_printf(memory, "host=%s ranks=%s", host, ranks) : NULL;
	case CT_WHATIF_GROUP:
		return ct_arena_printf(memory, "comm=%016llx ranks=%s",
				       (unsigned long long)set->comm->key, ranks);
	case CT_WHATIF_LATEST:
		break;
	}
	return ct_arena_printf(memory, "ranks=%s", ranks);
}

static int add_finding(const struct ct_model *model, const struct ct_whatif_set *set,
		       const struct ct_replayed *r, struct ct_findings *list)
{
	struct ct_arena *memory = list->memory;
	struct ct_finding *f = ct_findings_add(list, kind_of(set));
	const char *ranks, *name;

	if (!f || ct_finding_seats(model, set->seats, set->n, list, f))
		return CT_NOMEM;
	ct_finding_loss(f, r->loss_ns, r->err_ns, model->duration_ns);
	f->confidence = 4 * r->err_ns > r->loss_ns ? CT_CONFIDENCE_LOW : CT_CONFIDENCE_MEDIUM;
	f->comm_key = set->kind == CT_WHATIF_GROUP ? set->comm->key : 0;
	f->begin_at_ns = 0;
	f->end_at_ns = model->duration_ns;
	ct_finding_because(f, CT_WHY_LATE_TOGETHER);
	ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, 8);
	name = ranks ? who(set, f, ranks, memory) : NULL;
	if (!name || ct_finding_replayed(model, r, CT_UNKNOWN, list, f))
		return CT_NOMEM;
	f->line = ct_arena_printf(memory, "%s loss=%s±%s share=%s windows=%u/%u", name,
				  ct_text_ns(f->loss_ns).s, ct_text_ns(f->loss_err_ns).s,
				  ct_text_pct(f->loss_pct).s, r->windows, r->n_windows);
	return f->line ? CT_OK : CT_NOMEM;
}

/* How many of the finding's ranks are those of these seats. */
static size_t shared_with(const struct ct_model *model, const struct ct_finding *f,
			  const struct ct_whatif_set *set)
{
	size_t n = 0;

	for (size_t r = 0; r < f->n_ranks; r++) {
		for (uint32_t k = 0; k < set->n; k++)
			n += f->ranks[r] >= 0 && f->ranks[r] == model->seats[set->seats[k]].rank;
	}
	return n;
}

/* 0: somebody is named already who says as much as the set, or somebody outside of it; else what is named of it is taken off
 * the list. */
static int makes_room(const struct ct_model *model, const struct ct_whatif_set *set,
		      uint64_t loss_ns, struct ct_findings *list)
{
	size_t kept = 0;

	for (size_t k = 0; k < list->n; k++) {
		struct ct_finding *f = &list->all[k];

		if (!ct_finding_is_straggler(f))
			continue;
		if (shared_with(model, f, set) < f->n_ranks)
			return 0;
		/* the same ranks: they are told as what they are */
		if (f->n_ranks == set->n) {
			if (set->kind == CT_WHATIF_GROUP && f->kind == CT_FINDING_STRAGGLER) {
				f->kind = CT_FINDING_STRAGGLER_GROUP;
				f->comm_key = set->comm->key;
			}
			return 0;
		}
		/* of a bound nobody knows how much is true */
		if (!f->at_most && (double)loss_ns < EXPLAINS * (double)f->loss_ns)
			return 0;
	}
	for (size_t k = 0; k < list->n; k++) {
		if (!ct_finding_is_straggler(&list->all[k]))
			list->all[kept++] = list->all[k];
	}
	list->n = kept;
	return 1;
}

int ct_whatif_findings(struct ct_whatif *w, const struct ct_lateness *late,
		       struct ct_findings *list)
{
	const struct ct_whatif_set *set;
	struct ct_replayed r;
	int slow = ct_whatif_slow_set(w, late, &set, &r);

	if (slow < 1)
		return slow;
	return makes_room(late->model, set, r.loss_ns, list)
		       ? add_finding(late->model, set, &r, list)
		       : CT_OK;
}
