/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/peaks.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"

#define MOST_GPUS 64u  /* size: GPUs of a host */
#define MOST_PORTS 64u /* size: ports of a host */

static const struct {
	const char *make;
	double GBps; /* 0: unknown; -1: by PCIe */
	const char *what;
} makes[] = {
#define PEAK_GPU(make, GBps, what) { make, GBps, what },
#include "analyzer/link/peaks.def"
};

static const struct {
	const char *speed;
	double GBps;
} lanes[] = {
#define PEAK_PCIE(speed, GBps) { speed, GBps },
#include "analyzer/link/peaks.def"
#include "analyzer/model/model.h"
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct ct_peak unknown = { .Bps = NAN };

static const char *gpu_fact(const struct ct_environment_facts *facts, unsigned n, const char *what)
{
	char key[64];

	snprintf(key, sizeof(key), "gpu.%u.%s", n, what);
	return ct_facts_value(facts, key);
}

/* GB/s of one lane; 0: no such speed. "16.0 GT/s PCIe" */
static double lane(const char *speed)
{
	for (size_t i = 0; speed && i < ROWS(lanes); i++)
		if (strncmp(speed, lanes[i].speed, strlen(lanes[i].speed)) == 0)
			return lanes[i].GBps;
	return 0;
}

static int peak_pcie(const struct ct_environment_facts *facts, unsigned n, struct ct_arena *memory,
		     struct ct_peak *peak)
{
	const char *width = gpu_fact(facts, n, "pcie_width");
	const char *speed = gpu_fact(facts, n, "pcie_speed_max");
	long wide = width ? strtol(width, NULL, 10) : 0;

	*peak = unknown;
	if (wide < 1 || wide > 32 || lane(speed) <= 0)
		return CT_OK;
	peak->Bps = (double)wide * lane(speed) * 1e9;
	peak->via = "pcie";
	peak->from = ct_arena_printf(memory, "PCIe x%ld, %.24s", wide, speed);
	return peak->from ? CT_OK : CT_NOMEM;
}

static int peak_one_gpu(const struct ct_environment_facts *facts, unsigned n,
			struct ct_arena *memory, struct ct_peak *peak)
{
	const char *name = gpu_fact(facts, n, "name");
	size_t row = 0;

	*peak = unknown;
	while (name && row < ROWS(makes) && fnmatch(makes[row].make, name, 0) != 0)
		row++;
	if (!name || row == ROWS(makes) || makes[row].GBps < 0)
		return peak_pcie(facts, n, memory, peak);
	if (makes[row].GBps > 0) {
		peak->Bps = makes[row].GBps * 1e9;
		peak->via = "nvlink";
		peak->from = ct_arena_printf(memory, "%s of %.60s", makes[row].what, name);
		return peak->from ? CT_OK : CT_NOMEM;
	}
	return CT_OK;
}

/* The less of two; unknown if one is. */
static struct ct_peak less(struct ct_peak a, struct ct_peak b)
{
	if (isnan(a.Bps) || isnan(b.Bps))
		return unknown;
	return a.Bps <= b.Bps ? a : b;
}

int ct_peak_gpu(const struct ct_environment_facts *facts, struct ct_arena *memory,
		struct ct_peak *peak)
{
	*peak = unknown;
	for (unsigned n = 0; n < MOST_GPUS && gpu_fact(facts, n, "device"); n++) {
		struct ct_peak one;

		if (peak_one_gpu(facts, n, memory, &one) != CT_OK)
			return CT_NOMEM;
		*peak = n ? less(*peak, one) : one;
	}
	return CT_OK;
}

/* ---- networks ---- */

/* KIND.NAME.what: the beginning up to the last dot as a text, 1; or 0. */
static int is_about(const char *key, const char *kind, const char *what, char *device, size_t cap)
{
	const char *dot = strrchr(key, '.');

	if (!dot || strncmp(key, kind, strlen(kind)) != 0 || strcmp(dot + 1, what) != 0 ||
	    (size_t)(dot - key) >= cap)
		return 0;
	memcpy(device, key, (size_t)(dot - key));
	device[dot - key] = '\0';
	return 1;
}

static int has(const struct ct_environment_facts *facts, const char *device, const char *what,
	       const char *value)
{
	char key[CT_FACTS_KEY_MOST + 16];
	const char *is;

	snprintf(key, sizeof(key), "%s.%s", device, what);
	is = ct_facts_value(facts, key);
	return is && strcmp(is, value) == 0;
}

/* Digits with at most one '.', whatever the locale: "2.5 Gb/sec" */
static double number(const char *text)
{
	char *end;
	double value = (double)strtoul(text, &end, 10);

	if (end != text && end[0] == '.' && end[1] >= '0' && end[1] <= '9')
		value += (end[1] - '0') / 10.0;
	return end == text || value > 1e6 ? 0 : value;
}

/* Gb/s of the devices of a kind that are up, fastest first; their number. */
static size_t rates(const struct ct_environment_facts *facts, int infiniband, double *Gbps)
{
	size_t n = 0;

	for (uint32_t i = 0; i < facts->n && n < MOST_PORTS; i++) {
		const struct ct_report_fact *f = &facts->facts[i];
		char device[CT_FACTS_KEY_MOST];
		double rate;

		if (!is_about(f->name, infiniband ? "ib." : "nic.", infiniband ? "rate" : "speed",
			      device, sizeof(device)) ||
		    !has(facts, device, "state", infiniband ? "4: ACTIVE" : "up"))
			continue;
		/* "400 Gb/sec (4X NDR)"; Mb/s */
		rate = infiniband ? number(f->value) : number(f->value) / 1000;
		if (rate > 0)
			Gbps[n++] = rate;
	}
	if (n > 1)
		qsort(Gbps, n, sizeof(*Gbps), ct_by_double_down);
	return n;
}

int ct_peak_network(const struct ct_environment_facts *facts, uint32_t members, int sockets,
		    struct ct_arena *memory, struct ct_peak *peak)
{
	double Gbps[MOST_PORTS], sum = 0;
	size_t n = sockets ? 0 : rates(facts, 1, Gbps), used = 0;
	int infiniband = n > 0;

	*peak = unknown;
	if (!n)
		n = rates(facts, 0, Gbps) > 0;
	for (; used < n && used < members; used++)
		sum += Gbps[used];
	if (!used)
		return CT_OK;
	peak->Bps = sum * 1e9 / 8;
	peak->via = infiniband ? "infiniband" : "ethernet";
	peak->from = ct_arena_printf(memory, "%zu %s port%s, %.4g Gb/s", used,
				     infiniband ? "InfiniBand" : "Ethernet", used == 1 ? "" : "s",
				     sum);
	return peak->from ? CT_OK : CT_NOMEM;
}

/* ---- communicators ---- */

/* Slots of a communicator's members; 0 if one is not known. */
static int find_members(const struct ct_model *model, const struct ct_table *slots,
			const struct ct_report_comm *comm, uint32_t *members)
{
	if (!comm->n_ranks || comm->n_ranks > model->n_slots)
		return 0;
	for (size_t i = 0; i < comm->n_ranks; i++) {
		uint64_t at = comm->ranks[i] < 0 ? 0
						 : (uint64_t)(uintptr_t)ct_table_get(
							   slots, (uint64_t)comm->ranks[i] + 1);

		if (!at)
			return 0;
		members[i] = (uint32_t)(at - 1);
	}
	return 1;
}

struct peaks {
	const struct ct_model *model;
	const struct ct_expect *expect;
	struct ct_report *report;
	struct ct_table slots; /* rank + 1 -> slot + 1 */
	uint32_t *members;     /* of the communicator at hand */
	uint32_t *on_host;     /* so many of them, by host */
	struct ct_peak *gpu;   /* by slot, made once */
	uint8_t *has_gpu;
};

static int fill_comm(struct peaks *p, struct ct_report_comm *comm)
{
	struct ct_peak all = { .Bps = INFINITY };
	struct ct_arena *memory = p->report->memory;
	double declared;
	int st = CT_OK;

	comm->peak = unknown;
	if (!find_members(p->model, &p->slots, comm, p->members))
		return CT_OK;
	for (size_t i = 0; i < comm->n_ranks; i++)
		comm->n_hosts += !p->on_host[p->model->slots[p->members[i]].host]++;
	for (size_t i = 0; st == CT_OK && i < comm->n_ranks; i++) {
		uint32_t slot = p->members[i];
		uint32_t *here = &p->on_host[p->model->slots[slot].host];
		struct ct_peak network;

		if (!p->has_gpu[slot]) {
			st = ct_peak_gpu(ct_model_environment(p->model, slot), memory,
					 &p->gpu[slot]);
			p->has_gpu[slot] = 1;
		}
		if (comm->n_hosts < 2 ||
		    gpu_fact(ct_model_environment(p->model, slot), 0, "device"))
			all = less(all, p->gpu[slot]);
		if (comm->n_hosts < 2 || !*here || st != CT_OK)
			continue;
		st = ct_peak_network(ct_model_environment(p->model, slot), *here,
				     comm->backend == CT_BACKEND_GLOO, memory, &network);
		all = less(all, network);
		*here = 0; /* once for each host */
	}
	for (size_t i = 0; i < comm->n_ranks; i++)
		p->on_host[p->model->slots[p->members[i]].host] = 0;
	/* alone there is no peer */
	if (comm->n_ranks < 2)
		return st;
	comm->peak = all;
	declared = ct_expect_peak(p->expect, comm->n_hosts);
	if (declared > 0)
		comm->peak = (struct ct_peak){ declared, "declared with --expect", all.via, 1 };
	return st;
}

int ct_peaks_fill(const struct ct_model *model, const struct ct_expect *expect,
		  struct ct_report *report)
{
	struct peaks p = {
		.model = model,
		.expect = expect,
		.report = report,
		.members = calloc(model->n_slots + 1, sizeof(*p.members)),
		.on_host = calloc(model->starts->n_hosts + 1, sizeof(*p.on_host)),
		.gpu = calloc(model->n_slots + 1, sizeof(*p.gpu)),
		.has_gpu = calloc(model->n_slots + 1, 1),
	};
	int st = p.members && p.on_host && p.gpu && p.has_gpu ? CT_OK : CT_NOMEM;

	for (uint32_t s = 0; st == CT_OK && s < model->n_slots; s++)
		if (model->slots[s].rank >= 0)
			st = ct_table_put(&p.slots, (uint64_t)model->slots[s].rank + 1,
					  (void *)(uintptr_t)(s + 1));
	for (size_t i = 0; st == CT_OK && i < report->n_comms; i++)
		st = fill_comm(&p, &report->comms[i]);
	ct_table_fini(&p.slots);
	free(p.members);
	free(p.on_host);
	free(p.gpu);
	free(p.has_gpu);
	return st;
}
