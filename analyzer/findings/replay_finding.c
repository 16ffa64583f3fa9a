/* SPDX-License-Identifier: Apache-2.0 */
/* One finding about ranks that are slow together. */
#include <math.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/causes.h"
#include "analyzer/findings/straggler_findings.h"
#include "analyzer/lateness/replay/judge.h"
#include "trace/status.h"

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

int ct_whatif_finding(const struct ct_pass *pass, const struct ct_whatif_set *set,
		      const struct ct_replayed *r, struct ct_findings *list)
{
	struct ct_arena *memory = list->memory;
	struct ct_finding *f = ct_findings_add(list, kind_of(set));
	const char *ranks, *name;

	if (!f || ct_finding_seats(pass, set->seats, set->n, list, f))
		return CT_NOMEM;
	ct_finding_loss(f, r->loss_ns, r->err_ns, pass->duration_ns);
	f->confidence = 4 * r->err_ns > r->loss_ns ? CT_CONFIDENCE_LOW : CT_CONFIDENCE_MEDIUM;
	f->comm_key = set->kind == CT_WHATIF_GROUP ? set->comm->key : 0;
	f->begin_at_ns = 0;
	f->end_at_ns = pass->duration_ns;
	ct_finding_because(f, CT_WHY_LATE_TOGETHER);
	ranks = ct_ranks_text(memory, f->ranks, f->n_ranks, 8);
	name = ranks ? who(set, f, ranks, memory) : NULL;
	if (!name || ct_finding_replayed(pass, r, CT_UNKNOWN, list, f))
		return CT_NOMEM;
	f->line = ct_arena_printf(memory, "%s loss=%s±%s share=%s windows=%u/%u", name,
				  ct_text_ns(f->loss_ns).s, ct_text_ns(f->loss_err_ns).s,
				  ct_text_pct(f->loss_pct).s, r->windows, r->n_windows);
	return f->line ? CT_OK : CT_NOMEM;
}
