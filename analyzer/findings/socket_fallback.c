/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/transport_findings.h"
#include "analyzer/link/crossing.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"

/* fact: what IP over InfiniBand carries is in the counters of InfiniBand too, and a little more,
 * for headers. */
#define IPOIB_HEADERS 1.06

struct reason {
	const char *fact, *value, *advice;
};

static const struct reason reasons[] = {
#define X(fact, value, advice) { fact, value, advice },
#include "analyzer/findings/socket_reasons.def"
#undef X
};

static const struct reason *reason_of(const struct ct_environment_facts *facts)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const char *value = ct_facts_value(facts, reasons[i].fact);

		if (value &&
		    (strcmp(reasons[i].value, "!0") == 0 ? *value && strcmp(value, "0") != 0
							 : strcmp(value, reasons[i].value) == 0))
			return &reasons[i];
	}
	return NULL;
}

/* Ports that were active throughout and count their traffic. */
static size_t active_ports(const struct ct_report_transport *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_ports; i++)
		n += t->ports[i].is_ib && t->ports[i].was_up && !t->ports[i].was_down &&
		     t->ports[i].known_ns > 0;
	return n;
}

/* Bytes through sockets, and bytes over InfiniBand outside them. 1, or 0: not known for long
 * enough. */
static int split(const struct ct_report_transport *t, double *ethernet, double *ipoib, double *rdma)
{
	double known = CT_NEARLY_ALL * (double)t->sampled_ns;

	*ipoib = 0;
	if ((double)t->nic_known_ns < known || (double)t->ib_known_ns < known ||
	    t->nic_bytes == CT_UNKNOWN || t->ib_bytes == CT_UNKNOWN)
		return 0;
	for (size_t i = 0; i < t->n_ports; i++) {
		const struct ct_report_port *port = &t->ports[i];

		if (!port->is_ipoib)
			continue;
		if ((double)port->known_ns < known || port->rx_bytes == CT_UNKNOWN)
			return 0;
		*ipoib += (double)port->rx_bytes + (double)port->tx_bytes;
	}
	*ethernet = (double)t->nic_bytes;
	*rdma = fmax(0, (double)t->ib_bytes - IPOIB_HEADERS * *ipoib);
	return 1;
}

/* Did this host's communication go through sockets? */
static int fell_back(const struct ct_report_transport *t, const struct ct_crossing *crossed,
		     const struct reason *reason)
{
	double most = (reason ? CT_SOCKET_TIMES_EXPLAINED : CT_SOCKET_TIMES) * crossed->bytes;
	double ethernet, ipoib, rdma, sockets;

	if (t->samples < 2 || !active_ports(t) || !split(t, &ethernet, &ipoib, &rdma))
		return 0;
	sockets = ethernet + ipoib;
	/* a little InfiniBand is that of other jobs and of management */
	return crossed->bytes >= CT_SOCKET_BYTES &&
	       sockets >= CT_SOCKET_ACCOUNTED * crossed->bytes && sockets <= most &&
	       rdma <= CT_HARDLY_ANY * crossed->bytes &&
	       crossed->gloo_bytes <= CT_SOCKET_GLOO * sockets;
}

struct port_totals {
	double crossed, ethernet, ipoib, rdma;
	size_t ports;
	uint64_t begin_at_ns, end_at_ns;
	const struct reason *reason;
	const char *value;
};

static void describe(struct ct_findings *list, struct ct_finding *f, const struct port_totals *s)
{
	struct ct_arena *memory = list->memory;
	const char *host = ct_host_word(memory, f->hosts[0]);

	f->severity = CT_SEVERITY_WARNING;
	f->confidence = CT_CONFIDENCE_MEDIUM;
	f->begin_at_ns = s->begin_at_ns;
	f->end_at_ns = s->end_at_ns;
	ct_finding_say(
		list, f, s->reason ? CT_TEXT_SOCKETS_SET : CT_TEXT_SOCKETS,
		CT_WORDS({ "{who}", f->n_hosts > 1 ? ct_finding_part(memory, CT_PART_AND_OTHERS,
								     CT_WORDS({ "{host}", host }))
						   : host },
			 { "{bytes}", ct_prose_bytes((uint64_t)(s->ethernet + s->ipoib)).s },
			 { "{setting}", s->reason ? s->reason->fact + strlen("env.") : NULL },
			 { "{value}",
			   s->reason ? ct_arena_printf(memory, "%.60s", s->value) : NULL },
			 { "{remedy}", s->reason ? s->reason->advice : NULL }));
	ct_finding_put_who(list, f);
	ct_finding_put(list, f, "ethernet", "%s", ct_text_bytes((uint64_t)s->ethernet).s);
	ct_finding_put(list, f, "ipoib", "%s", ct_text_bytes((uint64_t)s->ipoib).s);
	ct_finding_put(list, f, "infiniband", "%s", ct_text_bytes((uint64_t)s->rdma).s);
	ct_finding_put(list, f, "needed_min", "%s", ct_text_bytes((uint64_t)s->crossed).s);
	if (s->reason)
		ct_finding_put(list, f, s->reason->fact + 4, "%s", s->value);
	ct_finding_evidence(list, f, "needed_at_least", s->crossed, "bytes", NAN);
	ct_finding_evidence(list, f, "ethernet", s->ethernet, "bytes", NAN);
	ct_finding_evidence(list, f, "ip_over_infiniband", s->ipoib, "bytes", NAN);
	ct_finding_evidence(list, f, "infiniband_otherwise", s->rdma, "bytes", NAN);
	ct_finding_evidence(list, f, "active_infiniband_ports", (double)s->ports, "count", NAN);
}

static void add_finding(const struct ct_model *model, const struct ct_report *report,
			const struct ct_crossing *by_host, const uint8_t *fallen,
			struct ct_findings *list)
{
	struct ct_finding *f = ct_findings_add(list, CT_FINDING_SOCKET_FALLBACK);
	struct port_totals s = { .begin_at_ns = UINT64_MAX };
	uint32_t *slots = ct_arena_calloc(list->memory, model->n_slots, sizeof(*slots)), n = 0;

	for (size_t i = 0; slots && i < report->n_transport; i++) {
		const struct ct_report_transport *t = &report->transport[i];
		const struct ct_environment_facts *facts = &model->processes[t->process].environment;
		double ethernet, ipoib, rdma;

		if (!fallen[i])
			continue;
		s.crossed += by_host[t->host_index].bytes;
		split(t, &ethernet, &ipoib, &rdma);
		s.ethernet += ethernet;
		s.ipoib += ipoib;
		s.rdma += rdma;
		s.ports += active_ports(t);
		s.begin_at_ns = t->begin_at_ns < s.begin_at_ns ? t->begin_at_ns : s.begin_at_ns;
		s.end_at_ns = t->end_at_ns > s.end_at_ns ? t->end_at_ns : s.end_at_ns;
		if (!s.reason && (s.reason = reason_of(facts)))
			s.value = ct_facts_value(facts, s.reason->fact);
		for (uint32_t slot = 0; slot < model->n_slots; slot++)
			if (model->slots[slot].host == t->host_index)
				slots[n++] = slot;
	}
	ct_finding_slots(model, slots, n, list, f);
	describe(list, f, &s);
}

int ct_transport_socket_fallback(const struct ct_model *model, const struct ct_report *report,
				 struct ct_findings *list)
{
	struct ct_crossing *by_host = calloc(model->starts->n_hosts + 1, sizeof(*by_host));
	uint8_t *fallen = calloc(report->n_transport + 1, 1);
	int any = 0, st = by_host && fallen ? CT_OK : CT_NOMEM;

	if (st == CT_OK && report->n_transport)
		st = ct_crossing_sum(model, report, by_host);
	for (size_t i = 0; st == CT_OK && i < report->n_transport; i++) {
		const struct ct_report_transport *t = &report->transport[i];

		fallen[i] = (uint8_t)fell_back(
			t, &by_host[t->host_index],
			reason_of(&model->processes[t->process].environment));
		any |= fallen[i];
	}
	if (st == CT_OK && any)
		add_finding(model, report, by_host, fallen, list);
	free(by_host);
	free(fallen);
	return st;
}
