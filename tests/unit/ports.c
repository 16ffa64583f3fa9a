/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ops.h"

struct job job;

struct ct_port_sample now[JOB_MAX_RANKS], whole[JOB_MAX_RANKS];

void open_job(int ranks, unsigned backend)
{
	static char run[16];
	static unsigned n;

	snprintf(run, sizeof(run), "run%u", n++);
	memset(now, 0, sizeof(now));
	memset(whole, 0, sizeof(whole));
	job_open(&job,
		 &(struct job_options){
			 .run = run, .ranks = ranks, .ranks_per_host = 2, .backend = backend });
}

void port_is(int rank, struct ct_port_rec rec, const char *name)
{
	uint8_t bytes[128];

	memcpy(bytes, &rec, sizeof(rec));
	memcpy(bytes + sizeof(rec), name, strlen(name));
	job_rare(&job, rank, CT_KIND_PORT, bytes, sizeof(rec) + strlen(name));
	now[rank].ports |= UINT64_C(1) << (rec.id - 1);
}

void nic(int rank, uint32_t id, const char *name, uint64_t rate_Bps)
{
	port_is(rank,
		(struct ct_port_rec){ .id = id,
				      .kind = CT_PORT_NET,
				      .layer = CT_LAYER_ETHERNET,
				      .state = CT_PORT_UP,
				      .rate_Bps = rate_Bps },
		name);
}

void infiniband(int rank, uint32_t id, const char *name, enum ct_port_state state)
{
	port_is(rank,
		(struct ct_port_rec){ .id = id,
				      .kind = CT_PORT_IB,
				      .layer = CT_LAYER_INFINIBAND,
				      .state = (uint8_t)state,
				      .rate_Bps = 50000000000ull },
		name);
}

void count(int rank, uint32_t port, unsigned counter, uint64_t value)
{
	now[rank].values[port - 1].present |= UINT64_C(1) << counter;
	now[rank].values[port - 1].value[counter] = value;
}

void sample_as(int rank, uint32_t number, uint64_t at_ns, int is_complete)
{
	static uint8_t bytes[CT_PORT_SAMPLE_BYTES];
	uint64_t mono = job.clock[rank] + at_ns;
	size_t len;

	now[rank].head = (struct ct_counters_rec){ mono - 1000, mono + 1000, number, 0 };
	len = ct_port_sample_encode(&now[rank], is_complete ? NULL : &whole[rank], bytes);
	if (is_complete)
		whole[rank] = now[rank];
	job_rare(&job, rank, CT_KIND_COUNTERS, bytes, len);
	job_flush(&job, rank);
}

void sample(int rank, uint64_t at_ns)
{
	sample_as(rank, now[rank].head.number + 1, at_ns, !whole[rank].head.number);
}

struct ct_report *report(uint64_t end_ns)
{
	for (int c = 0; c < 20; c++) {
		uint64_t at = 1000000 + (uint64_t)c * 10000000;

		for (int r = 0; r < job.o.ranks; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, at, at + 1000000);
	}
	job_close(&job, end_ns);
	return job_report(&job, -1);
}

const struct ct_report_counter *counter_of(const struct ct_report_port *port, const char *name)
{
	for (size_t i = 0; i < port->n_counters; i++)
		if (strcmp(port->counters[i].name, name) == 0)
			return &port->counters[i];
	return NULL;
}
