/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/load/port_sums.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/arena.h"
#include "analyzer/base/limits.h"
#include "trace/status.h"

#define UNKNOWN UINT64_MAX

static int make(struct ct_port_sums **sums)
{
	if (*sums)
		return CT_OK;
	*sums = calloc(1, sizeof(**sums));
	if (!*sums)
		return CT_NOMEM;
	(*sums)->of_each = 1;
	(*sums)->base = calloc(1, sizeof(*(*sums)->base));
	(*sums)->latest = calloc(1, sizeof(*(*sums)->latest));
	(*sums)->next = calloc(1, sizeof(*(*sums)->next));
	if ((*sums)->base && (*sums)->latest && (*sums)->next)
		return CT_OK;
	ct_port_sums_free(*sums);
	*sums = NULL;
	return CT_NOMEM;
}

void ct_port_sums_end(struct ct_port_sums *sums)
{
	if (!sums)
		return;
	free(sums->base);
	free(sums->latest);
	free(sums->next);
	sums->base = sums->latest = sums->next = NULL;
}

void ct_port_sums_free(struct ct_port_sums *sums)
{
	if (!sums)
		return;
	ct_port_sums_end(sums);
	for (unsigned p = 0; p < CT_PORTS_MOST; p++)
		free(sums->ports[p]);
	free(sums);
}

static struct ct_port_sum *port_of(struct ct_port_sums *sums, unsigned at)
{
	if (!sums->ports[at])
		sums->ports[at] = calloc(1, sizeof(*sums->ports[at]));
	return sums->ports[at];
}

int ct_port_sums_port(struct ct_port_sums **out, const uint8_t *bytes, size_t len)
{
	struct ct_port_rec rec;
	struct ct_port_sum *port;

	if (len < sizeof(rec))
		return CT_OK;
	memcpy(&rec, bytes, sizeof(rec));
	if (rec.id < 1 || rec.id > CT_PORTS_MOST)
		return CT_OK;
	if (make(out) != CT_OK)
		return CT_NOMEM;
	port = port_of(*out, rec.id - 1);
	if (!port)
		return CT_NOMEM;
	port->rec = rec;
	ct_text_clean(port->name, sizeof(port->name), (const char *)bytes + sizeof(rec),
		      len - sizeof(rec));
	port->was_up |= rec.state == CT_PORT_UP;
	port->was_down |= rec.state == CT_PORT_NOT_UP;
	return CT_OK;
}

/* From one sample to the next. */
struct port_interval {
	const struct ct_port_sample *from, *to;
	uint64_t begin_ns, end_ns;
};

static uint64_t middle(const struct ct_counters_rec *head)
{
	return head->begin_ns + (head->end_ns - head->begin_ns) / 2;
}

static int has(const struct ct_port_sample *sample, unsigned at, unsigned id)
{
	return (sample->ports >> at & 1) && (sample->values[at].present >> id & 1);
}

/* By how much a counter grew; UNKNOWN. */
static uint64_t growth(const struct port_interval *i, unsigned at, unsigned id)
{
	uint64_t from, to;

	if (!has(i->from, at, id) || !has(i->to, at, id))
		return UNKNOWN;
	from = i->from->values[at].value[id];
	to = i->to->values[at].value[id];
	return to < from || from == ct_port_counters[id].largest ? UNKNOWN : to - from;
}

static int is_data(unsigned id)
{
	return ct_port_counters[id].class == CT_PORT_RX || ct_port_counters[id].class == CT_PORT_TX;
}

/* Some drivers count data in a second counter; where the first one is there, that one counts. */
static int is_second(const struct port_interval *i, unsigned at, unsigned id)
{
	return id >= CT_PORT_COUNTER_hw_rx_bytes &&
	       id <= CT_PORT_COUNTER_hw_rdma_write_recv_bytes &&
	       (has(i->to, at, CT_PORT_COUNTER_port_rcv_data) ||
		has(i->from, at, CT_PORT_COUNTER_port_rcv_data));
}

static uint64_t most_bytes(const struct ct_port_sum *port, const struct port_interval *i)
{
	double ns = (double)(i->end_ns - i->begin_ns) + CT_PORT_SLACK_NS;

	if (!port->rec.rate_Bps)
		return UNKNOWN - 1;
	ns *= (double)port->rec.rate_Bps * CT_PORT_TIMES / 1e9;
	return ns < 1e19 ? (uint64_t)ns : UNKNOWN - 1;
}

/* The bytes of one port in the interval: 1 if they are known, 0 if not, -1 if it counts none. */
static int add_data(struct ct_port_sum *port, const struct port_interval *i, unsigned at,
		    uint64_t *both)
{
	uint64_t bytes[2] = { 0, 0 }, most = most_bytes(port, i);
	int n = 0;

	for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++) {
		const struct ct_port_counter *row = &ct_port_counters[id];
		uint64_t *sum = &bytes[row->class == CT_PORT_TX];
		uint64_t grew;

		if ((enum ct_port_kind)port->rec.kind != row->of || !is_data(id) ||
		    (!has(i->from, at, id) && !has(i->to, at, id)) || is_second(i, at, id))
			continue;
		n++;
		grew = growth(i, at, id);
		if (grew == UNKNOWN || grew > (most - *sum) / row->scale)
			return 0;
		*sum += grew * row->scale;
	}
	if (!n)
		return -1;
	port->rx_bytes += bytes[0];
	port->tx_bytes += bytes[1];
	port->known_ns += i->end_ns - i->begin_ns;
	*both = bytes[0] + bytes[1];
	return 1;
}

static void add_counters(struct ct_port_sum *port, const struct port_interval *i, unsigned at)
{
	for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++) {
		struct ct_counter_sum *sum = &port->counters[id];
		uint64_t grew;

		if ((enum ct_port_kind)port->rec.kind != ct_port_counters[id].of || is_data(id) ||
		    (!has(i->from, at, id) && !has(i->to, at, id)))
			continue;
		grew = growth(i, at, id);
		if (grew == UNKNOWN || grew > UINT64_MAX - sum->grew) {
			sum->at_least = 1;
			continue;
		}
		sum->grew += grew;
		sum->known++;
		sum->at_least |= i->to->values[at].value[id] == ct_port_counters[id].largest;
	}
}

/* What one kind of ports moved together. */
struct total {
	uint64_t bytes;
	int n, is_known;
};

static void add_to(struct total *total, int known, uint64_t bytes)
{
	if (known < 0)
		return;
	total->n++;
	if (!known || bytes > UNKNOWN - 1 - total->bytes)
		total->is_known = 0;
	else
		total->bytes += bytes;
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a == UNKNOWN || b == UNKNOWN ? UNKNOWN : a + b;
}

static void join(struct ct_port_rate *to, const struct ct_port_rate *more)
{
	to->end_ns = more->end_ns;
	to->nic_bytes = sum_of(to->nic_bytes, more->nic_bytes);
	to->ib_bytes = sum_of(to->ib_bytes, more->ib_bytes);
}

static void add_rate(struct ct_port_sums *sums, const struct ct_port_rate *rate)
{
	if (sums->n_rates && sums->of_last < sums->of_each) {
		join(&sums->rates[sums->n_rates - 1], rate);
		sums->of_last++;
		return;
	}
	if (sums->n_rates == CT_PORT_RATES) {
		for (uint32_t i = 0; i < CT_PORT_RATES / 2; i++) {
			sums->rates[i] = sums->rates[2 * i];
			join(&sums->rates[i], &sums->rates[2 * i + 1]);
		}
		sums->n_rates /= 2;
		sums->of_each *= 2;
	}
	sums->rates[sums->n_rates++] = *rate;
	sums->of_last = 1;
}

static int add_interval(struct ct_port_sums *sums, const struct port_interval *i)
{
	struct total nic = { .is_known = 1 }, ib = { .is_known = 1 };
	struct ct_port_rate rate = { i->begin_ns, i->end_ns, UNKNOWN, UNKNOWN };
	uint64_t ns = i->end_ns - i->begin_ns;

	for (unsigned at = 0; at < CT_PORTS_MOST; at++) {
		struct ct_port_sum *port;
		uint64_t bytes = 0;
		int known;

		if (!((i->from->ports | i->to->ports) >> at & 1))
			continue;
		port = port_of(sums, at);
		if (!port)
			return CT_NOMEM;
		add_counters(port, i, at);
		known = add_data(port, i, at, &bytes);
		if (port->rec.kind == CT_PORT_IB)
			add_to(&ib, known, bytes);
		else if (ct_port_is_nic(&port->rec))
			add_to(&nic, known, bytes);
	}
	if (nic.n && nic.is_known && nic.bytes < UNKNOWN - sums->nic_bytes) {
		rate.nic_bytes = nic.bytes;
		sums->nic_bytes += nic.bytes;
		sums->nic_known_ns += ns;
	}
	if (ib.n && ib.is_known && ib.bytes < UNKNOWN - sums->ib_bytes) {
		rate.ib_bytes = ib.bytes;
		sums->ib_bytes += ib.bytes;
		sums->ib_known_ns += ns;
	}
	add_rate(sums, &rate);
	return CT_OK;
}

int ct_port_sums_sample(struct ct_port_sums **out, const uint8_t *bytes, size_t len)
{
	struct ct_port_sample *now;
	struct port_interval i;
	struct ct_port_sums *sums;

	if (make(out) != CT_OK)
		return CT_NOMEM;
	sums = *out;
	now = sums->next;
	if (!ct_port_sample_decode(now, sums->base->head.number ? sums->base : NULL, bytes, len) ||
	    now->head.end_ns < now->head.begin_ns || now->head.end_ns > INT64_MAX)
		return CT_OK;
	if (!now->head.base)
		*sums->base = *now;
	/* checkpoints report the whole one again */
	if (now->head.number <= sums->latest->head.number)
		return CT_OK;
	i = (struct port_interval){ sums->latest, now, middle(&sums->latest->head),
				    middle(&now->head) };
	if (!sums->n_samples)
		sums->first_ns = i.end_ns;
	else if (i.end_ns <= i.begin_ns)
		return CT_OK;
	else if (add_interval(sums, &i) != CT_OK)
		return CT_NOMEM;
	sums->n_samples++;
	sums->last_ns = i.end_ns;
	*sums->latest = *now;
	return CT_OK;
}
