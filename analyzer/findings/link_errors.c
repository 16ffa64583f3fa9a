/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/transport_findings.h"
#include "analyzer/link/transport.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"
#include "trace/port_counters.h"

#define HOUR_NS 3600e9 /* fact: an hour */
/* size: findings; on the rest `info` has the figures. */
#define MOST_PORTS 8u

/* The errors of one port. */
struct ailing {
	const struct ct_report_transport *host;
	const struct ct_report_port *port;
	enum ct_severity severity; /* by kind of error */
	uint64_t errors;
	int is_used; /* 1 yes, 0 hardly, -1 not known */
};

static uint32_t noise_of(const char *counter)
{
	for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++)
		if (ct_port_counters[id].name && strcmp(ct_port_counters[id].name, counter) == 0)
			return ct_port_counters[id].noise;
	return UINT32_MAX;
}

static double per_hour(const struct ct_report_transport *t, uint64_t n)
{
	return t->sampled_ns ? (double)n * HOUR_NS / (double)t->sampled_ns : NAN;
}

/* Above the usual rate, and of a class that is reported? */
static int matters(const struct ct_report_transport *t, const struct ct_report_counter *c)
{
	uint32_t noise = noise_of(c->name);

	return c->grew != CT_UNKNOWN && c->class != CT_PORT_NOTE && c->grew > noise &&
	       per_hour(t, c->grew) > noise;
}

static enum ct_severity severity_of(unsigned class)
{
	return class == CT_PORT_DOWN	? CT_SEVERITY_CRITICAL
	       : class == CT_PORT_ERROR ? CT_SEVERITY_WARNING
					: CT_SEVERITY_INFO;
}

static int is_used(const struct ct_report_transport *t, const struct ct_report_port *port)
{
	double sum = 0;

	if (port->rx_bytes == CT_UNKNOWN)
		return -1;
	for (size_t i = 0; i < t->n_ports; i++)
		if (t->ports[i].is_ib == port->is_ib && t->ports[i].rx_bytes != CT_UNKNOWN)
			sum += (double)t->ports[i].rx_bytes + (double)t->ports[i].tx_bytes;
	/* the errors of a port that the job hardly uses are of little interest to it */
	return sum > 0 &&
	       (double)port->rx_bytes + (double)port->tx_bytes >= CT_WORTH_REPORTING * sum;
}

static int examine(const struct ct_report_transport *t, const struct ct_report_port *port,
		   struct ailing *a)
{
	int found = 0;

	*a = (struct ailing){ .host = t, .port = port, .is_used = is_used(t, port) };
	/* errors of a port without a cable do not matter */
	if (!port->was_up)
		return 0;
	for (size_t i = 0; i < port->n_counters; i++) {
		const struct ct_report_counter *c = &port->counters[i];

		if (!matters(t, c))
			continue;
		found = 1;
		a->errors += c->grew;
		if (severity_of(c->class) > a->severity)
			a->severity = severity_of(c->class);
	}
	if (!a->is_used)
		a->severity = CT_SEVERITY_INFO;
	return found;
}

CT_SORT_BY(by_weight, struct ailing,
	   CT_DOWN(severity) ?: CT_DOWN(errors) ?: strcmp(x->port->name, y->port->name))

static void put_counters(struct ct_findings *list, struct ct_finding *f, const struct ailing *a)
{
	for (size_t i = 0; i < a->port->n_counters; i++) {
		const struct ct_report_counter *c = &a->port->counters[i];

		if (!matters(a->host, c))
			continue;
		ct_finding_evidence(list, f, c->name, (double)c->grew, "count", NAN);
		ct_finding_put(list, f,
			       c->at_least ? ct_arena_printf(list->memory, "%s_min", c->name)
					   : c->name,
			       "%llu", (unsigned long long)c->grew);
	}
	ct_finding_evidence(list, f, "per_hour", per_hour(a->host, a->errors), "count", NAN);
}

static void add_finding(const struct ct_model *model, const struct ailing *a,
			struct ct_findings *list)
{
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_LINK_ERRORS);
	const char *host = ct_host_word(list->memory, a->host->host);

	ct_finding_host(model, a->host->host_index, list, f);
	f->severity = a->severity;
	f->confidence = a->is_used > 0 ? CT_CONFIDENCE_HIGH
			: a->is_used   ? CT_CONFIDENCE_MEDIUM
				       : CT_CONFIDENCE_LOW;
	f->begin_at_ns = a->host->begin_at_ns;
	f->end_at_ns = a->host->end_at_ns;
	ct_finding_say(list, f,
		       a->severity == CT_SEVERITY_CRITICAL ? CT_TEXT_PORT_DOWN
							   : CT_TEXT_PORT_ERRORS,
		       CT_WORDS({ "{port}", a->port->name }, { "{host}", host },
				{ "{n}", ct_text_count(a->errors).s },
				{ "{time}", ct_prose_ns(a->host->sampled_ns).s }));
	f->command = ct_finding_part(
		list->memory, a->port->is_ib ? CT_PART_RUN_IBQUERYERRORS : CT_PART_RUN_ETHTOOL,
		CT_WORDS({ "{port}", a->port->name }));
	ct_finding_put_who(list, f);
	ct_finding_put(list, f, "port", "%s", a->port->name);
	put_counters(list, f, a);
	ct_finding_put(list, f, "in", "%s", ct_text_ns(a->host->sampled_ns).s);
	ct_finding_put(list, f, "per_hour", "%s",
		       ct_text_count((uint64_t)per_hour(a->host, a->errors)).s);
	if (a->is_used <= 0)
		ct_finding_put(list, f, "used", a->is_used ? "n/a" : "hardly");
}

int ct_transport_link_errors(const struct ct_model *model, const struct ct_report *report,
			     struct ct_findings *list)
{
	struct ailing *all;
	size_t n = 0, most = 0;

	for (size_t i = 0; i < report->n_transport; i++)
		most += report->transport[i].n_ports;
	all = calloc(most + 1, sizeof(*all));
	if (!all)
		return CT_NOMEM;
	for (size_t i = 0; i < report->n_transport; i++) {
		const struct ct_report_transport *t = &report->transport[i];

		for (size_t p = 0; p < t->n_ports; p++)
			n += (size_t)examine(t, &t->ports[p], &all[n]);
	}
	qsort(all, n, sizeof(*all), by_weight);
	for (size_t i = 0; i < n && i < MOST_PORTS; i++)
		add_finding(model, &all[i], list);
	free(all);
	return CT_OK;
}
