/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/oversubscribed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/model.h"
#include "trace/status.h"

uint32_t ct_cores_add(const char *list, uint64_t known[CT_CORES_MOST / 64])
{
	uint32_t n = 0;

	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long c = first; c <= last && c < CT_CORES_MOST; c++) {
			uint64_t bit = 1ull << (c % 64);

			n += !(known[c / 64] & bit);
			known[c / 64] |= bit;
		}
		list = *end == ',' ? end + 1 : end;
	}
	return n;
}

struct machine {
	uint64_t known[CT_CORES_MOST / 64];
	uint32_t processes, cores;
	uint32_t usable; /* by the process that may use most: of a list that was cut, its number is
			    right */
	uint32_t slot;
	uint32_t host; /* the first one of its names */
	int is_silent; /* someone there did not show */
};

static const char *boot_of(const struct ct_model *model, uint32_t slot)
{
	return model->run->processes[model->slots[slot].process].id.boot_id;
}

/* The machine of a slot, a new one at all[*n] if it is of none so far. */
static struct machine *machine_of(const struct ct_model *model, uint32_t slot, struct machine *all,
				  uint32_t *n)
{
	const char *boot = boot_of(model, slot);

	for (uint32_t k = 0; k < *n; k++) {
		if (all[k].host == model->slots[slot].host ||
		    (*boot && strncmp(boot, boot_of(model, all[k].slot),
				      sizeof(((struct ct_process *)0)->boot_id)) == 0))
			return &all[k];
	}
	all[*n].slot = slot;
	all[*n].host = model->slots[slot].host;
	return &all[(*n)++];
}

static void add_process(struct machine *m, const struct ct_environment_facts *facts)
{
	const char *list = ct_facts_value(facts, "cpu.affinity");
	const char *usable = ct_facts_value(facts, "cpu.usable");
	unsigned long cores = usable ? strtoul(usable, NULL, 10) : 0;

	m->processes++;
	m->is_silent |= !list || !cores;
	if (cores > m->usable)
		m->usable = cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
	if (list)
		m->cores += ct_cores_add(list, m->known);
}

int ct_oversubscribed_find(const struct ct_model *model, struct ct_oversubscribed *out)
{
	struct machine *all = calloc((size_t)model->starts->n_hosts + 1, sizeof(*all));
	uint8_t *seen = calloc(model->run->n_processes + 1, 1);
	uint32_t n = 0;
	int st;

	*out = (struct ct_oversubscribed){ 0 };
	for (uint32_t s = 0; s < model->n_slots && all && seen; s++) {
		uint32_t process = model->slots[s].process;

		if (!seen[process])
			add_process(machine_of(model, s, all, &n),
				    &model->processes[process].environment);
		seen[process] = 1;
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t cores = all[k].cores > all[k].usable ? all[k].cores : all[k].usable;

		if (all[k].is_silent || all[k].processes <= cores)
			continue;
		if (!out->processes ||
		    (uint64_t)all[k].processes * out->cores > (uint64_t)out->processes * cores)
			*out = (struct ct_oversubscribed){ all[k].processes, cores, all[k].slot };
	}
	st = all && seen ? CT_OK : CT_NOMEM;
	free(all);
	free(seen);
	return st;
}

double ct_cores_waited(const struct ct_model *model, uint32_t slot)
{
	const char *ppm = ct_facts_value(ct_model_environment(model, slot), "cpu.waited_ppm");

	return ppm ? strtod(ppm, NULL) / 1000000 * (double)model->duration_ns : NAN;
}

void ct_cores_waited_of(const struct ct_model *model, const uint32_t *slots, uint32_t n,
			double *theirs, double *others)
{
	double of_all = 0, of_these = 0;

	for (uint32_t s = 0; s < model->n_slots; s++)
		of_all += ct_cores_waited(model, s);
	for (uint32_t k = 0; k < n; k++)
		of_these += ct_cores_waited(model, slots[k]);
	*theirs = of_these / n;
	*others = model->n_slots > n ? (of_all - of_these) / (model->n_slots - n) : 0;
}
