/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/order_maker.h"

#include <math.h>
#include <string.h>

#include "analyzer/model/names.h"

void ct_order_begin(struct ct_order_maker *k, enum ct_finding_kind kind,
		    const struct ct_order_call *call)
{
	k->f = ct_findings_add(k->list, kind);
	k->f->severity = CT_SEVERITY_CRITICAL;
	k->f->comm_hash = k->comm->hash;
	k->f->op_name = ct_order_op_text(k, call);
}

void ct_order_evidence(struct ct_order_maker *k, const char *name, const char *unit, double value)
{
	ct_finding_evidence(k->list, k->f, name, value, unit, NAN);
}

void ct_order_ranks(struct ct_order_maker *k, int odd, int usual)
{
	uint32_t *slots = ct_arena_calloc(k->list->memory, k->comm->nranks, sizeof(*slots));
	uint32_t n = 0;

	if (!slots)
		return;
	for (uint32_t m = 0; m < k->comm->nranks; m++) {
		if (k->comm->slots[m] && ((odd && k->set[m] == CT_DIVERGENCE_ODD) ||
					  (usual && k->set[m] == CT_DIVERGENCE_USUAL)))
			slots[n++] = k->comm->slots[m] - 1;
	}
	ct_finding_slots(k->model, slots, n, k->list, k->f);
}

enum ct_confidence ct_order_confidence(const struct ct_order_maker *k,
				       enum ct_confidence confidence)
{
	return k->comm->guessed || k->comm->clash ? CT_CONFIDENCE_LOW : confidence;
}

const char *ct_order_op_text(const struct ct_order_maker *k, const struct ct_order_call *call)
{
	return ct_op_names_get(&k->model->names, call->op);
}

const char *ct_order_ranks_text(const struct ct_order_maker *k, unsigned which)
{
	int *ranks = ct_arena_calloc(k->list->memory, k->comm->nranks + 1u, sizeof(*ranks));
	size_t n = 0;

	for (uint32_t m = 0; ranks && m < k->comm->nranks; m++) {
		if (k->set[m] == which && k->comm->slots[m])
			ranks[n++] = k->model->slots[k->comm->slots[m] - 1].rank;
	}
	return ct_ranks_text(k->list->memory, ranks, n, CT_RANKS_SHOWN);
}

const char *ct_order_ranks_words(const struct ct_order_maker *k, unsigned which)
{
	size_t n = 0;

	for (uint32_t m = 0; m < k->comm->nranks; m++)
		n += k->set[m] == which && k->comm->slots[m];
	return ct_arena_printf(k->list->memory, "rank%s %s", n == 1 ? "" : "s",
			       ct_order_ranks_text(k, which));
}

const char *ct_order_site_word(struct ct_arena *memory, const struct ct_site *site)
{
	char *word = ct_arena_calloc(memory, site ? strlen(site->text) + 1 : 1, 1);

	if (!word || !site)
		return site ? "" : "n/a";
	for (size_t i = 0; site->text[i]; i++)
		word[i] = site->text[i] == ' ' ? '_' : site->text[i];
	return word;
}

void ct_order_put_ranks(struct ct_order_maker *k)
{
	ct_finding_put_who(k->list, k->f);
	ct_finding_put_comm(k->list, k->f, k->comm->hash);
}

void ct_order_sites(struct ct_order_maker *k, struct ct_order_side one, struct ct_order_side other)
{
	const struct ct_order_side sides[] = { one, other };

	for (int i = 0; i < 2; i++) {
		k->f->sites[i].whose = sides[i].whose;
		if (sides[i].site)
			k->f->sites[i].site = ct_arena_printf(k->list->memory, "%s",
							      sides[i].site->text);
	}
}
