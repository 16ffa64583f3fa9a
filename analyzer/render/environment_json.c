/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/json_value.h"

static json_t *same(const struct ct_report_environment *from)
{
	json_t *o = json_object();
	int failed = !o;

	for (size_t i = 0; i < from->n_same; i++)
		ct_json_set(o, from->same[i].name, ct_json_text(from->same[i].value), &failed);
	return ct_json_done(o, failed);
}

static json_t *differs(const struct ct_report_env_differs *from)
{
	json_t *o = json_object(), *values = json_array();
	int failed = !o || !values;

	for (size_t i = 0; i < from->n_values; i++) {
		const struct ct_report_env_value *value = &from->values[i];
		json_t *v = json_object();

		ct_json_set(v, "value", ct_json_text(value->value), &failed);
		ct_json_set(v, "ranks", ct_json_ranks(value->ranks, value->n_ranks), &failed);
		ct_json_append(values, v, &failed);
	}
	ct_json_set(o, "name", ct_json_text(from->name), &failed);
	ct_json_set(o, "matters", json_boolean(from->matters), &failed);
	ct_json_set(o, "values", values, &failed);
	return ct_json_done(o, failed);
}

static json_t *own(const struct ct_report_env_rank *from)
{
	json_t *o = json_object(), *facts = json_object();
	int failed = !o || !facts;

	for (size_t i = 0; i < from->n_facts; i++)
		ct_json_set(facts, from->facts[i].name, ct_json_text(from->facts[i].value),
			    &failed);
	ct_json_set(o, "rank", ct_json_rank(from->rank), &failed);
	ct_json_set(o, "facts", facts, &failed);
	return ct_json_done(o, failed);
}

json_t *ct_json_environment(const struct ct_report *report)
{
	const struct ct_report_environment *from = &report->environment;
	json_t *o = json_object(), *all = json_array(), *ranks = json_array();
	int failed = !o || !all || !ranks;

	for (size_t i = 0; i < from->n_differs; i++)
		ct_json_append(all, differs(&from->differs[i]), &failed);
	for (size_t i = 0; i < from->n_ranks; i++)
		ct_json_append(ranks, own(&from->ranks[i]), &failed);
	ct_json_set(o, "same", same(from), &failed);
	ct_json_set(o, "differs", all, &failed);
	ct_json_set(o, "own", ranks, &failed);
	return ct_json_done(o, failed);
}
