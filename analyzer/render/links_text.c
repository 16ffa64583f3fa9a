/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/facts_text.h"

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
	char counted[CT_TEXT_COLUMNS * 4] = "", pairs[512];
	size_t at = 0;

	for (size_t i = 0; i < port->n_counters && at < sizeof(counted) - 80; i++) {
		const struct ct_report_counter *c = &port->counters[i];

		at += (size_t)snprintf(counted + at, sizeof(counted) - at, " %.40s%s%s", c->name,
				       c->at_least && c->grew != CT_UNKNOWN ? ">=" : "=",
				       ct_text_count(c->grew).s);
	}
	ct_columns_pairs(pairs, sizeof(pairs), ct_columns_port(),
			 "name kind layer state rate_Bps rx_bytes tx_bytes", port);
	ct_text_line(text, CT_COLOR_NONE, "    %s", pairs);
	if (at)
		ct_text_line(text, CT_COLOR_NONE, "       %s", counted);
}

void ct_transport_text(struct ct_text *text, const struct ct_report *report)
{
	ct_text_empty(text);
	ct_text_line(text, CT_COLOR_BOLD, "%s",
		     "network ports (of the hosts, whoever used them; bytes in and out)");
	if (!report->n_transport)
		ct_text_line(text, CT_COLOR_NONE, "%s", "n/a");
	for (size_t i = 0; i < report->n_transport; i++) {
		const struct ct_report_transport *t = &report->transport[i];
		char pairs[512];

		ct_columns_pairs(pairs, sizeof(pairs), ct_columns_transport(),
				 "host rank nic_bytes ib_bytes ib_errors sampled_ns", t);
		ct_text_line(text, CT_COLOR_NONE, "%s nic_most=%s ib_most=%s", pairs,
			     ct_text_Bps(peak(t, 0)).s, ct_text_Bps(peak(t, 1)).s);
		for (size_t p = 0; p < t->n_ports; p++)
			write_port(text, &t->ports[p]);
	}
}
