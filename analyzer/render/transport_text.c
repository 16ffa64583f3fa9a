/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/transport_text.h"

#include "analyzer/base/units.h"

/* The fastest interval; CT_UNKNOWN: none is known. */
static uint64_t peak(const struct ct_report_transport *t, int ib)
{
	uint64_t most = CT_UNKNOWN;

	for (size_t i = 0; i < t->n_rates; i++) {
		uint64_t Bps = ib ? t->rates[i].ib_Bps : t->rates[i].nic_Bps;

		if (Bps != CT_UNKNOWN && (most == CT_UNKNOWN || Bps > most))
			most = Bps;
	}
	return most;
}

static void write_port(struct ct_text *text, const struct ct_report_port *port)
{
	char counted[CT_TEXT_COLUMNS * 4] = "";
	size_t at = 0;

	for (size_t i = 0; i < port->n_counters && at < sizeof(counted) - 80; i++) {
		const struct ct_report_counter *c = &port->counters[i];

		at += (size_t)snprintf(counted + at, sizeof(counted) - at, " %.40s%s%s", c->name,
				       c->at_least && c->grew != CT_UNKNOWN ? ">=" : "=",
				       ct_text_count(c->grew).s);
	}
	ct_text_line(text, CT_COLOR_NONE,
		     "    port=%s kind=%s layer=%s state=%s rate=%s rx=%s tx=%s", port->name,
		     port->kind, port->layer, port->state, ct_text_Bps(port->rate_Bps).s,
		     ct_text_bytes(port->rx_bytes).s, ct_text_bytes(port->tx_bytes).s);
	if (at)
		ct_text_line(text, CT_COLOR_NONE, "       %s", counted);
}

void ct_transport_text(struct ct_text *text, const struct ct_report *report)
{
	ct_text_line(text, CT_COLOR_NONE, "%s", "");
	ct_text_line(text, CT_COLOR_BOLD, "%s",
		     "network ports (of the hosts, whoever used them; bytes in and out)");
	if (!report->n_transport)
		ct_text_line(text, CT_COLOR_NONE, "%s", "n/a");
	for (size_t i = 0; i < report->n_transport; i++) {
		const struct ct_report_transport *t = &report->transport[i];

		ct_text_line(text, CT_COLOR_NONE,
			     "host=%s rank=%d nic=%s ib=%s ib_errors=%s in=%s "
			     "nic_most=%s ib_most=%s",
			     t->host, t->rank, ct_text_bytes(t->nic_bytes).s,
			     ct_text_bytes(t->ib_bytes).s, ct_text_count(t->ib_errors).s,
			     ct_text_ns(t->sampled_ns).s, ct_text_Bps(peak(t, 0)).s,
			     ct_text_Bps(peak(t, 1)).s);
		for (size_t p = 0; p < t->n_ports; p++)
			write_port(text, &t->ports[p]);
	}
}

static void add(uint64_t *sum, uint64_t bytes)
{
	if (bytes != CT_UNKNOWN)
		*sum = *sum == CT_UNKNOWN ? bytes : *sum + bytes;
}

void ct_transport_line(struct ct_text *text, const struct ct_report *report)
{
	uint64_t nic = CT_UNKNOWN, ib = CT_UNKNOWN, errors = CT_UNKNOWN;

	for (size_t i = 0; i < report->n_transport; i++) {
		add(&nic, report->transport[i].nic_bytes);
		add(&ib, report->transport[i].ib_bytes);
		add(&errors, report->transport[i].ib_errors);
	}
	/* what one machine says to the world is of interest where something is wrong with it */
	if ((nic == CT_UNKNOWN && ib == CT_UNKNOWN) ||
	    (report->run.n_hosts < 2 && (errors == CT_UNKNOWN || !errors)))
		return;
	ct_text_line(
		text, CT_COLOR_NONE,
		"network   ethernet %s, infiniband %s, its link errors %s, on %zu of %zu host%s",
		ct_text_bytes(nic).s, ct_text_bytes(ib).s, ct_text_count(errors).s,
		report->n_transport, report->run.n_hosts, report->run.n_hosts == 1 ? "" : "s");
}
