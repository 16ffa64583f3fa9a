/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analyzer/render/json_value.h"

static json_t *counters(const struct ct_report_port *port)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < port->n_counters; i++) {
		json_t *o = json_object();

		ct_json_set(o, "name", ct_json_text(port->counters[i].name), &failed);
		ct_json_set(o, "grew", ct_json_u64(port->counters[i].grew), &failed);
		ct_json_set(o, "at_least", json_boolean(port->counters[i].at_least), &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}

static json_t *port_of(const struct ct_report_port *port)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "name", ct_json_text(port->name), &failed);
	ct_json_set(o, "kind", ct_json_text(port->kind), &failed);
	ct_json_set(o, "layer", ct_json_text(port->layer), &failed);
	ct_json_set(o, "state", ct_json_text(port->state), &failed);
	ct_json_set(o, "rate_Bps", ct_json_u64(port->rate_Bps), &failed);
	ct_json_set(o, "rx_bytes", ct_json_u64(port->rx_bytes), &failed);
	ct_json_set(o, "tx_bytes", ct_json_u64(port->tx_bytes), &failed);
	ct_json_set(o, "known_ns", ct_json_u64(port->known_ns), &failed);
	ct_json_set(o, "counters", counters(port), &failed);
	return ct_json_done(o, failed);
}

static json_t *rates(const struct ct_report_transport *t)
{
	json_t *array = json_array();
	int failed = !array;

	for (size_t i = 0; i < t->n_rates; i++) {
		json_t *o = json_object();

		ct_json_set(o, "begin_ns", ct_json_u64(t->rates[i].begin_at_ns), &failed);
		ct_json_set(o, "end_ns", ct_json_u64(t->rates[i].end_at_ns), &failed);
		ct_json_set(o, "nic_Bps", ct_json_u64(t->rates[i].nic_Bps), &failed);
		ct_json_set(o, "ib_Bps", ct_json_u64(t->rates[i].ib_Bps), &failed);
		ct_json_append(array, o, &failed);
	}
	return ct_json_done(array, failed);
}

static json_t *host_of(const struct ct_report_transport *t)
{
	json_t *o = json_object(), *ports = json_array();
	int failed = !o || !ports;

	for (size_t i = 0; i < t->n_ports; i++)
		ct_json_append(ports, port_of(&t->ports[i]), &failed);
	ct_json_set(o, "rank", ct_json_rank(t->rank), &failed);
	ct_json_set(o, "nic_bytes", ct_json_u64(t->nic_bytes), &failed);
	ct_json_set(o, "ib_bytes", ct_json_u64(t->ib_bytes), &failed);
	ct_json_set(o, "ib_errors", ct_json_u64(t->ib_errors), &failed);
	ct_json_set(o, "samples", ct_json_u64(t->samples), &failed);
	ct_json_set(o, "sampled_ns", ct_json_u64(t->sampled_ns), &failed);
	ct_json_set(o, "nic_known_ns", ct_json_u64(t->nic_known_ns), &failed);
	ct_json_set(o, "ib_known_ns", ct_json_u64(t->ib_known_ns), &failed);
	ct_json_set(o, "ports", ports, &failed);
	ct_json_set(o, "rates", rates(t), &failed);
	return ct_json_done(o, failed);
}

/* By the host's name; machines of one name are told apart by a number. */
json_t *ct_json_transport(const struct ct_report *report)
{
	json_t *o = json_object();
	int failed = !o;

	for (size_t i = 0; i < report->n_transport; i++) {
		const struct ct_report_transport *t = &report->transport[i];
		char name[128];

		snprintf(name, sizeof(name), "%.100s", t->host);
		for (unsigned n = 2; json_object_get(o, name); n++)
			snprintf(name, sizeof(name), "%.100s#%u", t->host, n);
		ct_json_set(o, name, host_of(t), &failed);
	}
	return ct_json_done(o, failed);
}
