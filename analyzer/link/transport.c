/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/transport.h"

#include <string.h>

#include "analyzer/load/port_sums.h"
#include "analyzer/model/model.h"

static const char *layer_of(const struct ct_port_rec *rec)
{
	return rec->layer == CT_LAYER_ETHERNET	   ? "ethernet"
	       : rec->layer == CT_LAYER_INFINIBAND ? "infiniband"
						   : "unknown";
}

static int fill_counters(struct ct_arena *memory, const struct ct_port_sum *from,
			 struct ct_report_port *port)
{
	port->counters = ct_arena_calloc(memory, CT_PORT_COUNTER_IDS, sizeof(*port->counters));
	if (!port->counters)
		return CT_NOMEM;
	for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++) {
		const struct ct_counter_sum *sum = &from->counters[id];

		if (!sum->grew && !sum->at_least)
			continue;
		port->counters[port->n_counters++] = (struct ct_report_counter){
			.name = ct_port_counters[id].name,
			.grew = sum->known ? sum->grew : CT_UNKNOWN,
			.at_least = sum->at_least,
			.class = ct_port_counters[id].class,
		};
	}
	return CT_OK;
}

static int fill_port(struct ct_arena *memory, const struct ct_port_sum *from,
		     struct ct_report_port *port)
{
	port->name = ct_arena_printf(memory, "%s", from->name);
	port->is_ib = from->rec.kind == CT_PORT_IB;
	port->is_ipoib = from->rec.kind == CT_PORT_NET && !ct_port_is_nic(&from->rec);
	port->is_software = from->rec.is_software != 0;
	port->kind = port->is_ib ? "ib" : "nic";
	port->layer = layer_of(&from->rec);
	port->state = from->rec.state == CT_PORT_UP	  ? "up"
		      : from->rec.state == CT_PORT_NOT_UP ? "down"
							  : "unknown";
	port->was_up = from->was_up;
	port->was_down = from->was_down;
	port->rate_Bps = from->rec.rate_Bps ? from->rec.rate_Bps : CT_UNKNOWN;
	port->known_ns = from->known_ns;
	port->rx_bytes = from->known_ns ? from->rx_bytes : CT_UNKNOWN;
	port->tx_bytes = from->known_ns ? from->tx_bytes : CT_UNKNOWN;
	return port->name ? fill_counters(memory, from, port) : CT_NOMEM;
}

/* Known if there are InfiniBand ports that count such errors, and none of these counters was
 * unknown all the time. */
static uint64_t link_errors(const struct ct_port_sums *sums)
{
	uint64_t n = 0;
	int known = 0;

	for (unsigned p = 0; p < CT_PORTS_MOST; p++) {
		const struct ct_port_sum *port = sums->ports[p];

		for (unsigned id = 0; port && id < CT_PORT_COUNTER_IDS; id++) {
			const struct ct_counter_sum *sum = &port->counters[id];

			if (ct_port_counters[id].of != CT_PORT_IB ||
			    (ct_port_counters[id].class != CT_PORT_DOWN &&
			     ct_port_counters[id].class != CT_PORT_ERROR))
				continue;
			if (!sum->known && sum->at_least)
				return CT_UNKNOWN;
			known |= sum->known > 0;
			n += sum->grew;
		}
	}
	return known ? n : CT_UNKNOWN;
}

static uint64_t per_second(uint64_t bytes, uint64_t ns)
{
	double Bps = ns ? (double)bytes * 1e9 / (double)ns : 0;

	return bytes == UINT64_MAX || !ns || Bps > 1e18 ? CT_UNKNOWN : (uint64_t)Bps;
}

static int fill_rates(const struct ct_model *model, const struct ct_port_sums *sums,
		      struct ct_arena *memory, struct ct_report_transport *t)
{
	t->rates = ct_arena_calloc(memory, sums->n_rates, sizeof(*t->rates));
	if (!t->rates)
		return CT_NOMEM;
	for (uint32_t i = 0; i < sums->n_rates; i++) {
		const struct ct_port_rate *from = &sums->rates[i];
		uint64_t ns = from->end_ns - from->begin_ns;

		t->rates[t->n_rates++] = (struct ct_report_port_rate){
			.begin_at_ns = ct_model_at(model, t->process, from->begin_ns),
			.end_at_ns = ct_model_at(model, t->process, from->end_ns),
			.nic_Bps = per_second(from->nic_bytes, ns),
			.ib_Bps = per_second(from->ib_bytes, ns),
		};
	}
	return CT_OK;
}

static int fill_host(const struct ct_model *model, const struct ct_port_sums *sums,
		     struct ct_arena *memory, struct ct_report_transport *t)
{
	const struct ct_host *host = &model->starts->hosts[t->host_index];

	t->host = ct_arena_text(memory, host->name, sizeof(((struct ct_process *)0)->host));
	t->rank = model->slots[model->starts->processes[t->process].slot].rank;
	t->samples = sums->n_samples;
	t->sampled_ns = sums->last_ns - sums->first_ns;
	t->begin_at_ns = ct_model_at(model, t->process, sums->first_ns);
	t->end_at_ns = ct_model_at(model, t->process, sums->last_ns);
	t->nic_known_ns = sums->nic_known_ns;
	t->ib_known_ns = sums->ib_known_ns;
	t->nic_bytes = sums->nic_known_ns ? sums->nic_bytes : CT_UNKNOWN;
	t->ib_bytes = sums->ib_known_ns ? sums->ib_bytes : CT_UNKNOWN;
	t->ib_errors = link_errors(sums);
	t->ports = ct_arena_calloc(memory, CT_PORTS_MOST, sizeof(*t->ports));
	if (!t->host || !t->ports)
		return CT_NOMEM;
	for (unsigned p = 0; p < CT_PORTS_MOST; p++) {
		/* a port without a PORT record has no name and cannot be reported */
		if (sums->ports[p] && sums->ports[p]->rec.id &&
		    fill_port(memory, sums->ports[p], &t->ports[t->n_ports++]) != CT_OK)
			return CT_NOMEM;
	}
	return fill_rates(model, sums, memory, t);
}

/* Of the host's processes in this start the one whose samples last longest; run->n_processes: none
 * has any. */
static size_t port_source_of(const struct ct_model *model, uint32_t host)
{
	size_t best = model->run->n_processes;
	uint64_t longest = 0;

	for (size_t p = 0; p < model->run->n_processes; p++) {
		const struct ct_process_start *start = &model->starts->processes[p];
		const struct ct_port_sums *sums = model->processes[p].ports;

		if (start->restart != model->restart || start->host != host || !sums ||
		    !sums->n_samples)
			continue;
		if (best == model->run->n_processes || sums->last_ns - sums->first_ns > longest) {
			best = p;
			longest = sums->last_ns - sums->first_ns;
		}
	}
	return best;
}

int ct_transport_fill(const struct ct_model *model, struct ct_report *report)
{
	report->transport = ct_arena_calloc(report->memory, model->starts->n_hosts,
					    sizeof(*report->transport));
	if (!report->transport)
		return CT_NOMEM;
	for (uint32_t h = 0; h < model->starts->n_hosts; h++) {
		struct ct_report_transport *t = &report->transport[report->n_transport];
		size_t p = port_source_of(model, h);

		if (p == model->run->n_processes)
			continue;
		t->host_index = h;
		t->process = (uint32_t)p;
		if (fill_host(model, model->processes[p].ports, report->memory, t) != CT_OK)
			return CT_NOMEM;
		report->n_transport++;
	}
	return CT_OK;
}
