/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/workload/workload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/workload/step.h"

static const struct {
	const char *name;
	int grid;
	const char *text;
	void (*emit)(struct ct_step *step);
} workloads[] = {
#define WORKLOAD(name, grid, text) { #name, grid, text, ct_emit_##name },
#include "tools/workload/workloads.def"
#undef WORKLOAD
};

enum { WORKLOADS = sizeof(workloads) / sizeof(workloads[0]) };

static const char *const role_names[CT_ROLES] = { "world", "tp", "pp", "dp", "ep" };

static int __attribute__((format(printf, 3, 4)))
wrong(char *why, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return -1;
}

static int largest_divisor(int n, int limit)
{
	for (int d = n < limit ? n : limit; d > 1; d--) {
		if (n % d == 0)
			return d;
	}
	return 1;
}

/* What was left open in tp, pp, dp; then their product is the number of ranks, or it cannot be. */
static int complete_grid(struct ct_workload_config *c, int grid, char *why, size_t size)
{
	const struct {
		const char *name;
		int bit, value;
	} chosen[] = { { "tp", CT_GRID_TP, c->tp },
		       { "pp", CT_GRID_PP, c->pp },
		       { "dp", CT_GRID_DP, c->dp } };

	for (int i = 0; i < 3; i++) {
		if (chosen[i].value < 0)
			return wrong(why, size, "%s is less than 1", chosen[i].name);
		if (chosen[i].value && !(grid & chosen[i].bit))
			return wrong(why, size, "the %s workload has no %s to choose", c->name,
				     chosen[i].name);
	}
	const int rest = c->ranks / (c->dp ? c->dp : 1);

	if (grid == (CT_GRID_TP | CT_GRID_PP | CT_GRID_DP)) {
		if (!c->tp)
			c->tp = largest_divisor(rest / (c->pp ? c->pp : 1), 2);
		if (!c->pp)
			c->pp = c->dp ? rest / c->tp : largest_divisor(rest / c->tp, 2);
	} else if (grid & CT_GRID_TP) {
		if (!c->tp)
			c->tp = c->dp ? rest : largest_divisor(rest, 8);
	}
	c->tp = c->tp ? c->tp : 1;
	c->pp = c->pp ? c->pp : 1;
	if (!c->dp && grid == CT_GRID_DP)
		c->dp = c->ranks / largest_divisor(c->ranks, 8);
	if (!c->dp)
		c->dp = c->ranks / c->tp / c->pp;
	if (grid == CT_GRID_DP ? c->ranks % c->dp : (int64_t)c->tp * c->pp * c->dp != c->ranks)
		return wrong(why, size, "%d x %d x %d (tensor x pipeline x data) is not %d ranks",
			     c->tp, c->pp, c->dp, c->ranks);
	return 0;
}

static int complete(struct ct_workload *w, char *why, size_t size)
{
	struct ct_workload_config *c = &w->config;
	int at = 0;

	while (at < WORKLOADS && strcmp(workloads[at].name, c->name) != 0)
		at++;
	if (at == WORKLOADS) {
		size_t len = (size_t)snprintf(why, size, "no workload '%s'; there are", c->name);

		for (int i = 0; i < WORKLOADS && len < size; i++)
			len += (size_t)snprintf(why + len, size - len, "%s%s", i ? ", " : " ",
						workloads[i].name);
		return -1;
	}
	w->emit = workloads[at].emit;
	c->name = workloads[at].name;
	if (c->nodes == 0)
		c->nodes = 1;
	if (c->ranks < 1 || c->nodes < 1 || c->ranks % c->nodes)
		return wrong(why, size, "%d ranks cannot be spread over %d nodes evenly", c->ranks,
			     c->nodes);
	if (c->steps < 1)
		return wrong(why, size, "no steps");
	c->step_ns = c->step_ns ? c->step_ns : 25 * 1000 * 1000;
	c->scale = c->scale ? c->scale : 256;
	return complete_grid(c, workloads[at].grid, why, size);
}

static void add_role(struct ct_workload *w, enum ct_workload_role role, int n, int stride)
{
	const int groups = w->config.ranks / n;

	w->first_of_role[role] = w->n_comms;
	w->n_of_role[role] = groups;
	for (int g = 0; g < groups; g++) {
		w->comms[w->n_comms++] = (struct ct_workload_comm){
			.role = role_names[role],
			.parent = role == CT_ROLE_WORLD ? -1 : 0,
			.colour = g,
			/* Groups of a role are counted along the ranks they begin with. */
			.first = g / stride * stride * n + g % stride,
			.stride = stride,
			.n = n,
		};
	}
}

/* Two communicators between the two ranks of a fault. */
static int add_pair(struct ct_workload *w, char *why, size_t size)
{
	for (size_t i = 0; i < w->config.n_faults; i++) {
		const struct ct_fault *fault = &w->faults[i];
		const int a = fault->ranks[0], b = fault->ranks[1];
		const int split = fault->kind != CT_FAULT_HOST_INVERSION;

		if (fault->kind != CT_FAULT_ORDER_INVERSION &&
		    fault->kind != CT_FAULT_KERNEL_INVERSION &&
		    fault->kind != CT_FAULT_HOST_INVERSION)
			continue;
		if (w->pair >= 0)
			return wrong(why, size, "only one inversion of an order");
		w->pair = w->n_comms;
		for (int k = 0; k < 2; k++) {
			w->comms[w->n_comms++] = (struct ct_workload_comm){
				.role = k == 0 ? "pair-a" : "pair-b",
				.parent = split ? 0 : -1,
				.first = a < b ? a : b,
				.stride = a < b ? b - a : a - b,
				.n = 2,
			};
		}
	}
	return 0;
}

/* Ranks of a tensor group are neighbours, stages of a pipeline are furthest apart. A role with
 * groups of one rank has no communicators. */
static int make_comms(struct ct_workload *w, char *why, size_t size)
{
	const struct ct_workload_config *c = &w->config;
	const int experts = c->ranks / c->dp;

	w->comms = calloc(3 + 4 * (size_t)c->ranks, sizeof(*w->comms));
	if (!w->comms)
		return wrong(why, size, "no memory");
	add_role(w, CT_ROLE_WORLD, c->ranks, 1);
	if (w->emit == ct_emit_moe) {
		if (experts > 1)
			add_role(w, CT_ROLE_EP, experts, 1);
		if (c->dp > 1)
			add_role(w, CT_ROLE_DP, c->dp, experts);
	} else if (w->emit == ct_emit_megatron || w->emit == ct_emit_decode) {
		if (c->tp > 1)
			add_role(w, CT_ROLE_TP, c->tp, 1);
		if (c->dp > 1)
			add_role(w, CT_ROLE_DP, c->dp, c->tp);
		if (c->pp > 1)
			add_role(w, CT_ROLE_PP, c->pp, c->tp * c->dp);
	}
	return add_pair(w, why, size);
}

/* The ranks a fault is acted out by: one, or any. */
static int acts_on(const struct ct_workload *w, const struct ct_fault *fault, int rank)
{
	if (ct_fault_has(fault, CT_KEY_rank))
		return fault->rank == rank;
	if (ct_fault_has(fault, CT_KEY_ranks))
		return fault->ranks[0] == rank;
	if (ct_fault_has(fault, CT_KEY_host))
		return ct_workload_node(w, rank) == fault->host;
	return 1;
}

/* Every fault must happen: a misspelled op number would otherwise look like a healthy job. */
static int check_hits(const struct ct_workload *w, char *why, size_t size)
{
	for (size_t i = 0; i < w->config.n_faults; i++) {
		const struct ct_fault *fault = &w->faults[i];
		int hit = fault->kind == CT_FAULT_RUN_AHEAD ||
			  ct_fault_where(fault->kind) != CT_FAULT_ANYWHERE ||
			  (fault->kind == CT_FAULT_KILL && ct_fault_has(fault, CT_KEY_ms));

		for (int rank = 0; rank < w->config.ranks && !hit; rank++) {
			if (acts_on(w, fault, rank))
				hit = ct_workload_happens(w, rank, i);
		}
		if (!hit)
			return wrong(why, size,
				     "fault %s would never happen in this workload: no such op, "
				     "call or step",
				     ct_fault_name(fault->kind));
	}
	return 0;
}

struct ct_workload *ct_workload_make(const struct ct_workload_config *config, char *why,
				     size_t size)
{
	struct ct_workload *w = calloc(1, sizeof(*w));

	if (!w)
		goto no_memory;
	w->config = *config;
	w->pair = -1;
	w->faults = calloc(config->n_faults + 1, sizeof(*w->faults));
	if (!w->faults)
		goto no_memory;
	for (size_t i = 0; i < config->n_faults; i++)
		w->faults[i] = config->faults[i];
	w->config.faults = w->faults;
	if (complete(w, why, size))
		goto fail;
	for (size_t i = 0; i < config->n_faults; i++) {
		if (ct_fault_fits(&w->faults[i], w->config.ranks, w->config.nodes, w->config.steps,
				  why, size))
			goto fail;
		/* What happens once does so when the job runs, not while it starts. */
		if (!ct_fault_has(&w->faults[i], CT_KEY_from) &&
		    (ct_fault_has(&w->faults[i], CT_KEY_ranks) ||
		     w->faults[i].kind == CT_FAULT_GPU_PAUSE ||
		     w->faults[i].kind == CT_FAULT_DRIVER_LOCK ||
		     w->faults[i].kind == CT_FAULT_SLOW_WRITE))
			w->faults[i].from = w->config.steps > 1 ? 1 : 0;
	}
	if (make_comms(w, why, size) || check_hits(w, why, size))
		goto fail;
	return w;
no_memory:
	wrong(why, size, "no memory");
fail:
	ct_workload_free(w);
	return NULL;
}

void ct_workload_free(struct ct_workload *w)
{
	if (!w)
		return;
	free(w->faults);
	free(w->comms);
	free(w);
}

const struct ct_workload_config *ct_workload_config(const struct ct_workload *w)
{
	return &w->config;
}

int ct_workload_n_comms(const struct ct_workload *w)
{
	return w->n_comms;
}

const struct ct_workload_comm *ct_workload_comm(const struct ct_workload *w, int comm)
{
	return &w->comms[comm];
}

int ct_workload_peer(const struct ct_workload *w, int comm, int rank)
{
	const struct ct_workload_comm *c = &w->comms[comm];
	const int away = rank - c->first;

	return away < 0 || away % c->stride || away / c->stride >= c->n ? -1 : away / c->stride;
}

int ct_workload_member(const struct ct_workload *w, int comm, int peer)
{
	return w->comms[comm].first + peer * w->comms[comm].stride;
}

int ct_workload_node(const struct ct_workload *w, int rank)
{
	return rank / (w->config.ranks / w->config.nodes);
}

int ct_workload_comm_stream(int comm)
{
	return CT_STREAM_COMMS + comm;
}

uint64_t ct_workload_run_ahead_ns(const struct ct_workload *w)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < w->config.n_faults; i++) {
		if (w->faults[i].kind == CT_FAULT_RUN_AHEAD)
			ns = (uint64_t)(w->faults[i].ms * 1e6);
	}
	return ns;
}

const char *ct_workload_help(unsigned i, const char **name)
{
	if (i >= WORKLOADS)
		return NULL;
	*name = workloads[i].name;
	return workloads[i].text;
}
