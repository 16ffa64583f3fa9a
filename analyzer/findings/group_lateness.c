/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/group_lateness.h"

#include "analyzer/base/units.h"
#include "analyzer/lateness/lateness.h"
#include "analyzer/model/names.h"

/* Times the gate: as for a single rank. */
#define SUSPICIOUS 3

double ct_together_pct(const struct ct_judgement *j)
{
	const struct ct_charge *c = j->set ? &j->set->charge : NULL;
	double pct;

	/* what may be chance is not worth a word */
	if (!c || !j->set->in_set || !j->model->duration_ns ||
	    (c->doubt != CT_DOUBT_OTHERS && c->doubt != CT_DOUBT_SPREAD &&
	     c->doubt != CT_DOUBT_CORES))
		return 0;
	pct = 100 * (double)c->loss_ns / (double)j->model->duration_ns;
	return pct >= SUSPICIOUS * CT_BLAME_GATE_PCT ? pct : 0;
}

static const char *why_text(enum ct_doubt doubt)
{
	if (doubt == CT_DOUBT_SPREAD)
		return "all ranks differ, and these are the slowest ones";
	if (doubt == CT_DOUBT_CORES)
		return "which ranks those are is chance while they wait for cores";
	return "who held up whom these times do not tell";
}

/* Who they are is in the table: in the first line, ranks of which nothing is held against anybody would be searched. */
const char *ct_together_text(const struct ct_judgement *j, struct ct_report *report)
{
	return ct_arena_printf(report->memory,
			       "%u of %u ranks come late together, which costs up to %s (%s): %s",
			       j->set->size, j->model->n_seats,
			       ct_text_ns(j->set->charge.loss_ns).s,
			       ct_text_pct(ct_together_pct(j)).s, why_text(j->set->charge.doubt));
}

const char *ct_oversubscribed_text(const struct ct_lateness *late, struct ct_arena *memory)
{
	const struct ct_oversubscribed *o = &late->oversubscribed;
	const char *host;

	if (!o->processes)
		return "";
	host = ct_host_word(memory,
			    late->model->attempts->hosts[late->model->seats[o->seat].host].name);
	return host ? ct_arena_printf(
			      memory,
			      "the machine of %s runs %u processes of the job on %u core%s: they "
			      "wait for cores, too",
			      host, o->processes, o->cores, o->cores == 1 ? "" : "s")
		    : NULL;
}
