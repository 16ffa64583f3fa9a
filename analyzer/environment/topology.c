/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/environment/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/model/model.h"
#include "analyzer/model/names.h"

struct topology_check {
	const struct ct_environment_facts *facts;
	const char *where;
	struct ct_arena *memory;
	struct ct_report_topology *checks;
};

static const char *value(const struct topology_check *l, const char *device, const char *what)
{
	char key[CT_FACTS_KEY_MOST + 24];

	snprintf(key, sizeof(key), "%s.%s", device, what);
	return ct_facts_value(l->facts, key);
}

static void count(const struct topology_check *l, enum ct_topology_check check, int is_wrong,
		  const char *device, const char *text)
{
	struct ct_report_topology *to = &l->checks[check];
	const char *pci = value(l, device, "pci");
	const char **first = is_wrong ? &to->first : &to->right;

	to->known++;
	to->wrong += is_wrong != 0;
	if (!*first)
		*first = ct_arena_printf(l->memory, "%s %s%s%s: %s", l->where, device,
					 pci ? " " : "", pci ? pci : "", text);
}

static int is_active(const struct topology_check *l, const char *card)
{
	const char *state = value(l, card, "state");

	return state && strstr(state, "ACTIVE");
}

/* 0: not known, or no number. */
static double number(const struct topology_check *l, const char *device, const char *what)
{
	const char *text = value(l, device, what);

	return text ? fmax(0, strtod(text, NULL)) : 0;
}

/* The current speed of a GPU says nothing: it falls when the GPU idles. */
static void look_at_lanes(const struct topology_check *l, const char *gpu)
{
	double lanes = number(l, gpu, "pcie_width"), most = number(l, gpu, "pcie_width_max");

	if (lanes > 0 && most > 0)
		count(l, CT_TOPOLOGY_PCIE, lanes < most, gpu,
		      ct_arena_printf(l->memory, "%g of %g lanes", lanes, most));
}

/* "16", "16.0 GT/s PCIe" carry at most 256 Gb/s, "400 Gb/sec (4X NDR)" are more. */
static void look_at_card(const struct topology_check *l, const char *card)
{
	double lanes = number(l, card, "pcie_width"), speed = number(l, card, "pcie_speed");
	double rate = is_active(l, card) ? number(l, card, "rate") : 0;

	if (lanes > 0 && speed > 0 && rate > 0)
		count(l, CT_TOPOLOGY_PCIE, lanes * speed < rate, card,
		      ct_arena_printf(l->memory, "%g lanes at %g GT/s for a port of %g Gb/s", lanes,
				      speed, rate));
}

/* "4: ACTIVE". One that is DOWN has no cable, or none at its other end, which may be meant so. */
static void look_at_port(const struct topology_check *l, const char *device)
{
	const char *state = value(l, device, "state");

	if (state && !strstr(state, "DOWN"))
		count(l, CT_TOPOLOGY_PORTS, !strstr(state, "ACTIVE"), device, state);
}

/* An InfiniBand port is active, on this NUMA node; NULL: on any. */
static int has_active(const struct topology_check *l, const char *numa)
{
	for (uint32_t i = 0; i < l->facts->n; i++) {
		const char *name = l->facts->facts[i].name, *dot = strrchr(name, '.'), *at;
		char device[CT_FACTS_KEY_MOST + 1];

		if (strncmp(name, "ib.", 3) != 0 || strcmp(dot, ".state") != 0 ||
		    !strstr(l->facts->facts[i].value, "ACTIVE"))
			continue;
		snprintf(device, sizeof(device), "%.*s", (int)(dot - name), name);
		at = value(l, device, "numa");
		if (!numa || (at && strcmp(at, numa) == 0))
			return 1;
	}
	return 0;
}

static void look_at_numa(const struct topology_check *l, const char *gpu)
{
	const char *numa = value(l, gpu, "numa");

	if (numa && has_active(l, NULL))
		count(l, CT_TOPOLOGY_NUMA, !has_active(l, numa), gpu,
		      ct_arena_printf(l->memory, "NUMA node %.8s", numa));
}

void ct_topology_add(const struct ct_environment_facts *facts, const char *where, int with_network,
		     struct ct_arena *memory, struct ct_report_topology checks[CT_TOPOLOGY_CHECKS])
{
	const struct topology_check l = { facts, where, memory, checks };

	for (uint32_t i = 0; i < facts->n; i++) {
		const char *name = facts->facts[i].name, *dot = strrchr(name, '.');
		int is_gpu = strncmp(name, "gpu.", 4) == 0;
		char device[CT_FACTS_KEY_MOST + 1];

		if ((!is_gpu && (!with_network || strncmp(name, "ib.", 3) != 0)) ||
		    strcmp(dot, is_gpu ? ".pcie_width" : ".state") != 0)
			continue;
		snprintf(device, sizeof(device), "%.*s", (int)(dot - name), name);
		if (is_gpu) {
			look_at_lanes(&l, device);
			look_at_numa(&l, device);
		} else {
			look_at_card(&l, device);
			look_at_port(&l, device);
		}
	}
}

int ct_topology_fill(const struct ct_model *model, struct ct_report *report)
{
	uint8_t *hosts = calloc(model->starts->n_hosts + 1, 1);
	uint8_t *processes = calloc(model->run->n_processes + 1, 1);
	int st = hosts && processes ? CT_OK : CT_NOMEM;

	for (uint32_t s = 0; st == CT_OK && s < model->n_slots; s++) {
		const struct ct_rank_state *slot = &model->slots[s];
		const struct ct_environment_facts *facts = ct_model_environment(model, s);

		if (!facts->n || processes[slot->process])
			continue;
		processes[slot->process] = 1;
		ct_topology_add(facts,
				ct_host_word(report->memory, model->starts->hosts[slot->host].name),
				!hosts[slot->host], report->memory, report->environment.topology);
		hosts[slot->host] = 1;
	}
	free(hosts);
	free(processes);
	return st;
}
