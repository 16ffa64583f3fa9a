/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of network ports that the test writes into traces, and what the analysis makes of them. */
#include "tests/unit/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/link/crossing.h"
#include "analyzer/link/port_sums.h"
#include "analyzer/render/render.h"
#include "trace/ops.h"
#include "trace/port_counters.h"

#define SECOND_NS 1000000000ull
#define HOUR_NS (3600 * SECOND_NS)
#define COUNTER(name) CT_PORT_COUNTER_##name

static struct job job;

/* What the ports of each rank's host count now, and the latest whole sample. */
static struct ct_port_sample now[JOB_MAX_RANKS], whole[JOB_MAX_RANKS];

static void open_job(int ranks, unsigned backend)
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

static void port_is(int rank, struct ct_port_rec rec, const char *name)
{
	uint8_t bytes[128];

	memcpy(bytes, &rec, sizeof(rec));
	memcpy(bytes + sizeof(rec), name, strlen(name));
	job_rare(&job, rank, CT_KIND_PORT, bytes, sizeof(rec) + strlen(name));
	now[rank].ports |= UINT64_C(1) << (rec.id - 1);
}

static void nic(int rank, uint32_t id, const char *name, uint64_t rate_Bps)
{
	port_is(rank,
		(struct ct_port_rec){ .id = id,
				      .kind = CT_PORT_NET,
				      .layer = CT_LAYER_ETHERNET,
				      .state = CT_PORT_UP,
				      .rate_Bps = rate_Bps },
		name);
}

static void infiniband(int rank, uint32_t id, const char *name, enum ct_port_state state)
{
	port_is(rank,
		(struct ct_port_rec){ .id = id,
				      .kind = CT_PORT_IB,
				      .layer = CT_LAYER_INFINIBAND,
				      .state = (uint8_t)state,
				      .rate_Bps = 50000000000ull },
		name);
}

static void count(int rank, uint32_t port, unsigned counter, uint64_t value)
{
	now[rank].values[port - 1].present |= UINT64_C(1) << counter;
	now[rank].values[port - 1].value[counter] = value;
}

static void sample_as(int rank, uint32_t number, uint64_t at_ns, int is_whole)
{
	static uint8_t bytes[CT_PORT_SAMPLE_BYTES];
	uint64_t mono = job.clock[rank] + at_ns;
	size_t len;

	now[rank].head = (struct ct_counters_rec){ mono - 1000, mono + 1000, number, 0 };
	len = ct_port_sample_encode(&now[rank], is_whole ? NULL : &whole[rank], bytes);
	if (is_whole)
		whole[rank] = now[rank];
	job_rare(&job, rank, CT_KIND_COUNTERS, bytes, len);
	job_flush(&job, rank);
}

/* The first one whole, the others as differences. */
static void sample(int rank, uint64_t at_ns)
{
	sample_as(rank, now[rank].head.number + 1, at_ns, !whole[rank].head.number);
}

static struct ct_report *report(uint64_t end_ns)
{
	for (int c = 0; c < 20; c++) {
		uint64_t at = 1000000 + (uint64_t)c * 10000000;

		for (int r = 0; r < job.o.ranks; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, at, at + 1000000);
	}
	job_close(&job, end_ns);
	return job_report(&job, -1);
}

static const struct ct_report_counter *counter_of(const struct ct_report_port *port,
						  const char *name)
{
	for (size_t i = 0; i < port->n_counters; i++)
		if (strcmp(port->counters[i].name, name) == 0)
			return &port->counters[i];
	return NULL;
}

/* ---- sums ---- */

static void bytes_and_rates_are_what_the_counters_grew_by(void **state)
{
	const struct ct_report_transport *t;
	struct ct_report *r;
	char *text;

	(void)state;
	open_job(4, CT_BACKEND_GLOO);
	for (int rank = 0; rank < 4; rank += 2) {
		uint64_t many = rank ? 1 : 1000;

		nic(rank, 1, "eth0", 3125000000ull);
		port_is(rank,
			(struct ct_port_rec){ .id = 2,
					      .kind = CT_PORT_NET,
					      .layer = CT_LAYER_INFINIBAND,
					      .state = CT_PORT_UP },
			"ibs1");
		infiniband(rank, 3, "mlx5_0/1", CT_PORT_UP);
		for (uint64_t k = 0; k < 4; k++) {
			count(rank, 1, COUNTER(rx_bytes), 5000000 + many * 1000000 * k * k);
			count(rank, 1, COUNTER(tx_bytes), 9000);
			count(rank, 2, COUNTER(rx_bytes), 1000000 * k);
			/* in words of four bytes */
			count(rank, 3, COUNTER(port_rcv_data), 77 + 250000000 * k);
			count(rank, 3, COUNTER(port_xmit_data), 250000000 * k);
			count(rank, 3, COUNTER(symbol_error), 60 + k);
			count(rank, 3, COUNTER(np_cnp_sent), 100 * k);
			sample(rank, 10 * SECOND_NS * k);
		}
	}
	r = report(31 * SECOND_NS);
	assert_int_equal(r->n_transport, 2);
	t = &r->transport[0];
	assert_string_equal(t->host, "host0");
	assert_int_equal(t->rank, 0);
	assert_int_equal(t->samples, 4);
	assert_int_equal(t->sampled_ns, 30 * SECOND_NS);
	assert_int_equal(t->nic_bytes, 9000000000ull);
	assert_int_equal(t->ib_bytes, 6000000000ull);
	assert_int_equal(t->ib_errors, 3);
	assert_int_equal(t->nic_known_ns, 30 * SECOND_NS);
	assert_int_equal(t->n_rates, 3);
	assert_int_equal(t->rates[0].nic_Bps, 100000000);
	assert_int_equal(t->rates[1].nic_Bps, 300000000);
	assert_int_equal(t->rates[2].nic_Bps, 500000000);
	assert_int_equal(t->rates[2].ib_Bps, 200000000);
	assert_int_equal(t->rates[2].begin_at_ns, 20 * SECOND_NS);
	assert_int_equal(t->rates[2].end_at_ns, 30 * SECOND_NS);
	assert_int_equal(t->n_ports, 3);
	assert_string_equal(t->ports[0].name, "eth0");
	assert_int_equal(t->ports[0].rx_bytes, 9000000000ull);
	assert_int_equal(t->ports[0].tx_bytes, 0);
	assert_int_equal(t->ports[0].rate_Bps, 3125000000ull);
	assert_int_equal(t->ports[2].rx_bytes, 3000000000ull);
	assert_int_equal(t->ports[2].n_counters, 2);
	assert_int_equal(counter_of(&t->ports[2], "symbol_error")->grew, 3);
	assert_int_equal(counter_of(&t->ports[2], "np_cnp_sent")->grew, 300);
	assert_int_equal(r->transport[1].nic_bytes, 9000000);
	assert_null(job_finding(r, CT_FINDING_LINK_ERRORS));
	text = job_text(r, 1);
	assert_non_null(strstr(text,
			       "\nhost=host0 rank=0 nic=9.00GB ib=6.00GB ib_errors=3 in=30.0s "
			       "nic_most=500MB/s ib_most=200MB/s\n"));
	assert_non_null(strstr(text,
			       "port=mlx5_0/1 kind=ib layer=infiniband state=up rate=50.0GB/s "
			       "rx=3.00GB tx=3.00GB\n        symbol_error=3 np_cnp_sent=300\n"));
	free(text);
	text = job_text(r, 0);
	assert_non_null(strstr(text,
			       "network   ethernet 9.01GB, infiniband 12.0GB, its link errors "
			       "6, on 2 of 2 hosts\n"));
	free(text);
	ct_report_free(r);
}

static void a_counter_that_goes_back_is_unknown_for_that_time_and_never_negative(void **state)
{
	const struct ct_report_transport *t;
	struct ct_report *r;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	nic(0, 1, "eth0", 0);
	infiniband(0, 2, "mlx5_0/1", CT_PORT_UP);
	for (uint64_t k = 0; k < 4; k++) {
		count(0, 1, COUNTER(rx_bytes), k == 2 ? 5 : 1000000 * (k + 1));
		count(0, 2, COUNTER(port_rcv_data), 0);
		count(0, 2, COUNTER(port_rcv_errors), k < 2 ? 100 + k : 3);
		sample(0, SECOND_NS * k);
	}
	r = report(4 * SECOND_NS);
	t = &r->transport[0];
	assert_int_equal(t->nic_bytes, 1000000 + 3999995);
	assert_int_equal(t->nic_known_ns, 2 * SECOND_NS);
	assert_int_equal(t->rates[1].nic_Bps, CT_UNKNOWN);
	assert_int_equal(t->rates[1].ib_Bps, 0);
	assert_int_equal(t->ports[0].known_ns, 2 * SECOND_NS);
	assert_int_equal(t->ib_errors, 1);
	assert_int_equal(counter_of(&t->ports[1], "port_rcv_errors")->grew, 1);
	assert_true(counter_of(&t->ports[1], "port_rcv_errors")->at_least);
	ct_report_free(r);
}

static void what_stands_at_its_largest_value_is_not_known_to_stand_still(void **state)
{
	const struct ct_report_transport *t;
	struct ct_report *r;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	infiniband(0, 1, "mlx5_0/1", CT_PORT_UP);
	for (uint64_t k = 0; k < 3; k++) {
		count(0, 1, COUNTER(link_downed), 255);
		count(0, 1, COUNTER(local_link_integrity_errors), k ? 15 : 4);
		count(0, 1, COUNTER(symbol_error), 65534);
		count(0, 1, COUNTER(port_rcv_errors), 70000 + k); /* is wider than it has to be */
		count(0, 1, COUNTER(excessive_buffer_overrun_errors), k == 2 ? 15 : 1);
		sample(0, SECOND_NS * k);
	}
	r = report(4 * SECOND_NS);
	t = &r->transport[0];
	assert_int_equal(counter_of(&t->ports[0], "link_downed")->grew, CT_UNKNOWN);
	assert_int_equal(counter_of(&t->ports[0], "local_link_integrity_errors")->grew, 11);
	assert_true(counter_of(&t->ports[0], "local_link_integrity_errors")->at_least);
	assert_null(counter_of(&t->ports[0], "symbol_error"));
	assert_int_equal(counter_of(&t->ports[0], "port_rcv_errors")->grew, 2);
	assert_false(counter_of(&t->ports[0], "port_rcv_errors")->at_least);
	assert_int_equal(counter_of(&t->ports[0], "excessive_buffer_overrun_errors")->grew, 14);
	assert_true(counter_of(&t->ports[0], "excessive_buffer_overrun_errors")->at_least);
	assert_int_equal(t->ib_errors, CT_UNKNOWN);
	assert_int_equal(t->ib_bytes, CT_UNKNOWN); /* it counts none */
	ct_report_free(r);
}

static void a_port_that_vanishes_leaves_its_time_unknown(void **state)
{
	const struct ct_report_transport *t;
	struct ct_report *r;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	nic(0, 1, "eth0", 0);
	nic(0, 2, "eth1", 0);
	for (uint64_t k = 0; k < 5; k++) {
		now[0].ports = k == 2 ? 1 : 3;
		count(0, 1, COUNTER(tx_bytes), 10 * k);
		count(0, 2, COUNTER(tx_bytes), 1000 * k);
		sample(0, SECOND_NS * k);
	}
	r = report(5 * SECOND_NS);
	t = &r->transport[0];
	assert_int_equal(t->nic_bytes, 2020);
	assert_int_equal(t->nic_known_ns, 2 * SECOND_NS);
	assert_int_equal(t->rates[1].nic_Bps, CT_UNKNOWN);
	assert_int_equal(t->rates[2].nic_Bps, CT_UNKNOWN);
	assert_int_equal(t->ports[0].tx_bytes, 40);
	assert_int_equal(t->ports[1].tx_bytes, 2000);
	ct_report_free(r);
}

static void more_than_the_link_can_carry_is_not_believed(void **state)
{
	const struct ct_report_transport *t;
	struct ct_report *r;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	nic(0, 1, "eth0", 1000);
	for (uint64_t k = 0; k < 3; k++) {
		count(0, 1, COUNTER(rx_bytes), k == 0 ? 0 : k == 1 ? 4000 : 900000);
		sample(0, SECOND_NS * k);
	}
	r = report(5 * SECOND_NS);
	t = &r->transport[0];
	assert_int_equal(t->nic_bytes, 4000);
	assert_int_equal(t->rates[1].nic_Bps, CT_UNKNOWN);
	ct_report_free(r);
}

static void data_that_is_counted_in_two_places_counts_once(void **state)
{
	const struct ct_report_transport *t;
	struct ct_report *r;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	infiniband(0, 1, "bnxt_re0/1", CT_PORT_UP);
	infiniband(0, 2, "efa_0/1", CT_PORT_UP);
	for (uint64_t k = 0; k < 2; k++) {
		count(0, 1, COUNTER(port_rcv_data), 250 * k);
		count(0, 1, COUNTER(hw_rx_bytes), 1000 * k);
		count(0, 2, COUNTER(hw_rx_bytes), 5000 * k);
		count(0, 2, COUNTER(hw_rdma_read_bytes), 300 * k);
		count(0, 2, COUNTER(hw_rdma_write_bytes), 20 * k);
		sample(0, SECOND_NS * k);
	}
	r = report(5 * SECOND_NS);
	t = &r->transport[0];
	assert_int_equal(t->ports[0].rx_bytes, 1000);
	assert_int_equal(t->ports[1].rx_bytes, 5300);
	assert_int_equal(t->ports[1].tx_bytes, 20);
	assert_int_equal(t->ib_bytes, 6320);
	ct_report_free(r);
}

static void a_whole_sample_that_comes_again_changes_nothing_and_a_lost_one_costs_what_leans_on_it(
	void **state)
{
	const struct ct_report_transport *t;
	struct ct_report *r;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	nic(0, 1, "eth0", 0);
	count(0, 1, COUNTER(rx_bytes), 1000);
	sample_as(0, 1, SECOND_NS, 1);
	count(0, 1, COUNTER(rx_bytes), 3000);
	sample_as(0, 2, 2 * SECOND_NS, 0);
	{
		struct ct_port_sample keep = now[0];

		now[0] = whole[0];
		sample_as(0, 1, SECOND_NS, 1); /* a checkpoint */
		now[0] = keep;
	}
	/* leans on number 40, which is lost */
	count(0, 1, COUNTER(rx_bytes), 4000);
	whole[0].head.number = 40;
	sample_as(0, 41, 3 * SECOND_NS, 0);
	count(0, 1, COUNTER(rx_bytes), 10000);
	sample_as(0, 60, 4 * SECOND_NS, 1);
	r = report(5 * SECOND_NS);
	t = &r->transport[0];
	assert_int_equal(t->samples, 3);
	assert_int_equal(t->nic_bytes, 9000);
	assert_int_equal(t->nic_known_ns, 3 * SECOND_NS);
	assert_int_equal(t->n_rates, 2);
	ct_report_free(r);
}

static void of_the_processes_of_a_host_that_tell_one_counts(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job(4, CT_BACKEND_GLOO);
	for (int rank = 0; rank < 2; rank++) {
		nic(rank, 1, "eth0", 0);
		for (uint64_t k = 0; k < (rank ? 4 : 3); k++) {
			count(rank, 1, COUNTER(rx_bytes), 100 * k);
			sample(rank, SECOND_NS * k);
		}
	}
	r = report(5 * SECOND_NS);
	assert_int_equal(r->n_transport, 1);
	assert_int_equal(r->transport[0].rank, 1);
	assert_int_equal(r->transport[0].nic_bytes, 300);
	ct_report_free(r);
}

static void long_runs_have_no_more_rates_than_short_ones(void **state)
{
	const struct ct_report_transport *t;
	struct ct_report *r;
	uint64_t sum = 0;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	nic(0, 1, "eth0", 0);
	for (uint64_t k = 0; k <= 1000; k++) {
		count(0, 1, COUNTER(rx_bytes), 500 * k);
		sample(0, SECOND_NS * k);
	}
	r = report(1001 * SECOND_NS);
	t = &r->transport[0];
	assert_in_range(t->n_rates, 64, CT_PORT_RATES);
	assert_int_equal(t->rates[0].begin_at_ns, 0);
	assert_int_equal(t->rates[t->n_rates - 1].end_at_ns, 1000 * SECOND_NS);
	for (size_t i = 0; i < t->n_rates; i++) {
		assert_int_equal(t->rates[i].nic_Bps, 500);
		assert_true(i == 0 || t->rates[i].begin_at_ns == t->rates[i - 1].end_at_ns);
		sum += t->rates[i].end_at_ns - t->rates[i].begin_at_ns;
	}
	assert_int_equal(sum, 1000 * SECOND_NS);
	assert_int_equal(t->nic_bytes, 500000);
	ct_report_free(r);
}

static void bad_records_are_left_out(void **state)
{
	struct ct_port_rec rec = { .id = 65, .kind = 1 };
	uint8_t junk[200];
	struct ct_report *r;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	memset(junk, 0xff, sizeof(junk));
	job_rare(&job, 0, CT_KIND_PORT, &rec, sizeof(rec));
	job_rare(&job, 0, CT_KIND_PORT, &rec, 5);
	job_rare(&job, 0, CT_KIND_COUNTERS, junk, 0);
	job_rare(&job, 0, CT_KIND_COUNTERS, junk, sizeof(junk));
	rec = (struct ct_port_rec){ .id = 1, .kind = 77, .layer = 9, .state = 8 };
	port_is(0, rec, "e\033[31m\xff");
	count(0, 1, COUNTER(rx_bytes), 1);
	sample(0, 5);
	sample(0, 4); /* time goes back */
	sample(0, SECOND_NS);
	r = report(2 * SECOND_NS);
	assert_int_equal(r->n_transport, 1);
	assert_string_equal(r->transport[0].ports[0].name, "e?[31m?");
	assert_int_equal(r->transport[0].nic_bytes, CT_UNKNOWN);
	ct_report_free(r);
}

/* ---- LINK_ERRORS ---- */

struct errors {
	const char *name;
	unsigned counter;
	uint64_t grew;
	uint64_t in_ns;
	int found;
	enum ct_severity severity;
};

/* Two InfiniBand ports that share the load, one of which has errors; both had plenty before. */
static struct ct_report *with_errors(const struct errors *e)
{
	open_job(2, CT_BACKEND_GLOO);
	for (uint32_t p = 1; p <= 2; p++) {
		infiniband(0, p, p == 1 ? "mlx5_0/1" : "mlx5_1/1", CT_PORT_UP);
		count(0, p, COUNTER(port_rcv_data), 0);
		for (unsigned id = 16; id < CT_PORT_COUNTER_IDS; id++)
			if (ct_port_counters[id].of == CT_PORT_IB)
				count(0, p, id, ct_port_counters[id].largest < 100 ? 1 : 5);
	}
	sample(0, 0);
	for (uint32_t p = 1; p <= 2; p++)
		count(0, p, COUNTER(port_rcv_data), 1000000);
	count(0, 2, e->counter, now[0].values[1].value[e->counter] + e->grew);
	sample(0, e->in_ns);
	return report(e->in_ns + SECOND_NS);
}

static void errors_that_grew_are_told_by_how_bad_they_are(void **state)
{
	static const struct errors cases[] = {
		{ "a link that went down", COUNTER(link_downed), 1, HOUR_NS, 1,
		  CT_SEVERITY_SEVERE },
		{ "a link that recovered", COUNTER(link_error_recovery), 2, 60 * SECOND_NS, 1,
		  CT_SEVERITY_SEVERE },
		{ "few symbols", COUNTER(symbol_error), 119, HOUR_NS, 0, 0 },
		{ "few symbols in no time", COUNTER(symbol_error), 100, SECOND_NS, 0, 0 },
		{ "symbols", COUNTER(symbol_error), 500, HOUR_NS, 1, CT_SEVERITY_WARN },
		{ "as many in days", COUNTER(symbol_error), 500, 100 * HOUR_NS, 0, 0 },
		{ "few damaged packets", COUNTER(port_rcv_errors), 10, HOUR_NS, 0, 0 },
		{ "damaged packets", COUNTER(port_rcv_errors), 11, HOUR_NS, 1, CT_SEVERITY_WARN },
		{ "timeouts", COUNTER(local_ack_timeout_err), 5000, HOUR_NS, 1, CT_SEVERITY_INFO },
		{ "out of sequence", COUNTER(out_of_sequence), 5000000, HOUR_NS, 0, 0 },
		{ "congestion", COUNTER(np_cnp_sent), 5000000, HOUR_NS, 0, 0 },
		{ "nothing", COUNTER(symbol_error), 0, HOUR_NS, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ct_report *r = with_errors(&cases[i]);
		const struct ct_finding *f = job_finding(r, CT_FINDING_LINK_ERRORS);
		char expected[96];

		print_message("%s\n", cases[i].name);
		assert_int_equal(f != NULL, cases[i].found);
		if (f) {
			assert_int_equal(f->severity, cases[i].severity);
			assert_int_equal(f->confidence, CT_CONFIDENCE_HIGH);
			assert_int_equal(f->loss_ns, CT_UNKNOWN);
			assert_int_equal(f->n_ranks, 2);
			assert_int_equal(f->n_hosts, 1);
			snprintf(expected, sizeof(expected), "host=host0 port=mlx5_1/1 %s=%llu in=",
				 ct_port_counters[cases[i].counter].name,
				 (unsigned long long)cases[i].grew);
			assert_memory_equal(f->line, expected, strlen(expected));
			assert_string_equal(f->evidence[0].name,
					    ct_port_counters[cases[i].counter].name);
			assert_true(f->evidence[0].value == (double)cases[i].grew);
		}
		ct_report_free(r);
	}
}

static void a_port_that_carries_nothing_is_of_little_interest_and_one_without_a_link_of_none(
	void **state)
{
	const struct ct_finding *f;
	struct ct_report *r;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	infiniband(0, 1, "mlx5_0/1", CT_PORT_UP);
	infiniband(0, 2, "mlx5_1/1", CT_PORT_UP);
	infiniband(0, 3, "mlx5_2/1", CT_PORT_NOT_UP);
	for (uint64_t k = 0; k < 2; k++) {
		count(0, 1, COUNTER(port_rcv_data), 1000000 * k);
		count(0, 2, COUNTER(port_rcv_data), 10 * k);
		count(0, 2, COUNTER(link_downed), k);
		count(0, 3, COUNTER(port_rcv_data), 0);
		count(0, 3, COUNTER(link_downed), k);
		sample(0, HOUR_NS * k);
	}
	r = report(HOUR_NS + 1);
	f = job_finding(r, CT_FINDING_LINK_ERRORS);
	assert_non_null(f);
	assert_int_equal(f->severity, CT_SEVERITY_INFO);
	assert_int_equal(f->confidence, CT_CONFIDENCE_LOW);
	assert_non_null(strstr(f->line, "port=mlx5_1/1"));
	assert_int_equal(r->n_findings, 1);
	/* it is no verdict */
	assert_int_equal(r->verdict.code, CT_VERDICT_NOT_COMMUNICATION);
	ct_report_free(r);
}

static void no_more_than_the_worst_ports_are_findings(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job(2, CT_BACKEND_GLOO);
	for (uint32_t p = 1; p <= 30; p++) {
		char name[16];

		snprintf(name, sizeof(name), "mlx5_%u/1", p);
		infiniband(0, p, name, CT_PORT_UP);
	}
	for (uint64_t k = 0; k < 2; k++) {
		for (uint32_t p = 1; p <= 30; p++) {
			count(0, p, COUNTER(port_rcv_data), 1000000 * k);
			count(0, p, COUNTER(symbol_error), 1000 * k);
			count(0, p, COUNTER(link_downed), p == 29 ? k : 0);
		}
		sample(0, HOUR_NS * k);
	}
	r = report(HOUR_NS + 1);
	assert_int_equal(r->n_findings, 8);
	assert_non_null(strstr(r->findings[0].line, "port=mlx5_29/1 "));
	assert_int_equal(r->transport[0].ib_errors, 30001);
	ct_report_free(r);
}

/* ---- SOCKET_FALLBACK ---- */

static void what_must_cross_follows_from_the_operation(void **state)
{
	(void)state;
	/* 8 members, 2 of them here, 6 elsewhere */
	assert_true(ct_crossing_of(CT_OP_AllReduce, 1000, 8, 2, 6) == 2000);
	assert_true(ct_crossing_of(CT_OP_AllGather, 800, 8, 2, 6) == 800);
	assert_true(ct_crossing_of(CT_OP_ReduceScatter, 800, 8, 2, 6) == 800);
	assert_true(ct_crossing_of(CT_OP_AllToAll, 800, 8, 2, 6) == 2 * 800 * 12 / 8.0);
	/* of two nobody knows where they are */
	assert_true(ct_crossing_of(CT_OP_AllGather, 800, 8, 2, 4) == 600);
	assert_true(ct_crossing_of(CT_OP_Broadcast, 800, 8, 2, 6) == 0);
	assert_true(ct_crossing_of(CT_OP_AllReduce, 1000, 8, 8, 0) == 0);
	assert_true(ct_crossing_of(CT_OP_AllReduce, 1000, 8, 0, 8) == 0);
}

/* 20 all-reduces of 1 MB would be 40 MB in and out of each host; here each counts 250 times as much. */
#define NEEDED 10000000000.0

struct fall {
	const char *name;
	int ranks; /* two to a host */
	unsigned backend;
	double nic, ib; /* of what is needed, in and out of each host */
	enum ct_port_state state;
	int has_ib;
	const char *setting;
	int found;
};

static struct ct_report *fallen(const struct fall *c)
{
	open_job(c->ranks, c->backend);
	for (int rank = 0; rank < c->ranks; rank += 2) {
		nic(rank, 1, "eth0", 0);
		if (c->has_ib)
			infiniband(rank, 2, "mlx5_0/1", c->state);
		if (c->setting)
			job_rare(&job, rank, CT_KIND_ENV, c->setting, strlen(c->setting));
		for (int k = 0; k < 2; k++) {
			count(rank, 1, COUNTER(rx_bytes), (uint64_t)(k * c->nic * NEEDED / 2));
			count(rank, 1, COUNTER(tx_bytes), (uint64_t)(k * c->nic * NEEDED / 2));
			count(rank, 2, COUNTER(port_rcv_data), (uint64_t)(k * c->ib * NEEDED / 8));
			count(rank, 2, COUNTER(port_xmit_data), (uint64_t)(k * c->ib * NEEDED / 8));
			if (!c->has_ib)
				now[rank].ports = 1;
			sample(rank, 10 * SECOND_NS * (uint64_t)k);
		}
	}
	for (int k = 0; k < 20; k++) {
		uint64_t at = 1000000 + (uint64_t)k * 100000000;

		for (int r = 0; r < c->ranks; r++)
			job_collective(&job, r, CT_OP_AllReduce, 62500000, at, at + 50000000);
	}
	job_close(&job, 11 * SECOND_NS);
	return job_report(&job, -1);
}

static void traffic_over_ethernet_beside_idle_infiniband_is_told(void **state)
{
	const unsigned nccl = CT_BACKEND_NCCL, up = CT_PORT_UP, not_up = CT_PORT_NOT_UP;
	const struct fall cases[] = {
		{ "all of it", 4, nccl, 2, 0, up, 1, NULL, 1 },
		{ "all of it, with MPI", 4, CT_BACKEND_MPI, 2, 0, up, 1, NULL, 1 },
		{ "most of it", 4, nccl, 0.75, 0.01, up, 1, NULL, 1 },
		{ "as told to", 4, nccl, 2, 0, up, 1, "env.NCCL_IB_DISABLE=1", 1 },
		{ "much more, as told to", 4, nccl, 10, 0, up, 1, "env.NCCL_NET=Socket", 1 },
		{ "too little", 4, nccl, 0.6, 0, up, 1, NULL, 0 },
		{ "much more, of something else", 4, nccl, 10, 0, up, 1, NULL, 0 },
		{ "IB is not disabled", 4, nccl, 10, 0, up, 1, "env.NCCL_IB_DISABLE=0", 0 },
		{ "over InfiniBand", 4, nccl, 0.01, 2, up, 1, NULL, 0 },
		{ "over both", 4, nccl, 1, 1, up, 1, NULL, 0 },
		{ "InfiniBand is not up", 4, nccl, 2, 0, not_up, 1, NULL, 0 },
		{ "there is none", 4, nccl, 2, 0, up, 0, NULL, 0 },
		{ "one host", 2, nccl, 2, 0, up, 1, NULL, 0 },
		{ "Gloo knows nothing else", 4, CT_BACKEND_GLOO, 2, 0, up, 1, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ct_report *r = fallen(&cases[i]);
		const struct ct_finding *f = job_finding(r, CT_FINDING_SOCKET_FALLBACK);

		print_message("%s\n", cases[i].name);
		assert_int_equal(f != NULL, cases[i].found);
		if (f) {
			assert_int_equal(f->confidence, CT_CONFIDENCE_MEDIUM);
			assert_int_equal(f->severity, CT_SEVERITY_WARN);
			assert_int_equal(f->loss_ns, CT_UNKNOWN);
			assert_int_equal(f->n_hosts, 2);
			assert_int_equal(f->n_ranks, 4);
			assert_true(f->evidence[0].value == 2 * NEEDED);
			if (cases[i].setting)
				assert_non_null(strstr(f->line, cases[i].setting + 4));
			else
				assert_null(strstr(f->line, "NCCL_"));
		}
		ct_report_free(r);
	}
}

/* All over Ethernet, beside what makes it doubtful. */
enum doubt { NONE, LITTLE, GLOOS_OWN, GAP, OVER_IPOIB, IPOIB_AND_MORE };

static void ops_of(uint32_t comm, uint64_t count, uint64_t begin)
{
	for (uint64_t k = 0; k < 20; k++)
		for (int r = 0; r < 4; r++)
			job_op(&job, r,
			       (struct ct_op){ .comm = comm,
					       .enter_ns = begin + k * 100000000,
					       .return_ns = begin + k * 100000000 + 40000000,
					       .count = count,
					       .seq = k,
					       .peer = -1,
					       .op = CT_OP_AllReduce,
					       .dtype = CT_DTYPE_float32,
					       .redop = CT_REDOP_sum });
}

static int is_told(enum doubt doubt)
{
	static const int all[] = { 0, 1, 2, 3 };
	uint64_t share = doubt == LITTLE ? 250 : 1;
	struct ct_report *r;
	int told;

	open_job(4, CT_BACKEND_NCCL);
	job.o.backend = CT_BACKEND_GLOO;
	job_comm(&job, 2, 2222, "gloo", all, 4);
	for (int rank = 0; rank < 4; rank += 2) {
		nic(rank, 1, "eth0", 0);
		infiniband(rank, 2, "mlx5_0/1", CT_PORT_UP);
		port_is(rank,
			(struct ct_port_rec){ .id = 3,
					      .kind = CT_PORT_NET,
					      .layer = CT_LAYER_INFINIBAND,
					      .state = CT_PORT_UP },
			"ib0");
		count(rank, 3, COUNTER(rx_bytes), 0);
		for (uint64_t k = 0; k < 3; k++) {
			if (doubt < OVER_IPOIB) {
				count(rank, 1, COUNTER(rx_bytes), k * 10000000000ull / share);
				count(rank, 2, COUNTER(port_rcv_data),
				      doubt == GAP && k == 2 ? 1 : 5);
			} else {
				count(rank, 1, COUNTER(rx_bytes), 0);
				count(rank, 3, COUNTER(rx_bytes), k * 10000000000ull);
				/* in words of four bytes; 3 % of headers */
				count(rank, 2, COUNTER(port_rcv_data),
				      k * (doubt == OVER_IPOIB ? 2575000000ull : 5000000000ull));
			}
			sample(rank, 10 * SECOND_NS * k);
		}
	}
	ops_of(1, 62500000 / share, 1000);
	if (doubt == GLOOS_OWN)
		ops_of(2, 62500000, 50001000);
	job_close(&job, 21 * SECOND_NS);
	r = job_report(&job, -1);
	told = job_finding(r, CT_FINDING_SOCKET_FALLBACK) != NULL;
	ct_report_free(r);
	return told;
}

static void little_traffic_gloos_own_and_gaps_in_the_counters_tell_nothing(void **state)
{
	(void)state;
	assert_true(is_told(NONE));
	assert_false(is_told(LITTLE));
	assert_false(is_told(GLOOS_OWN));
	assert_false(is_told(GAP));
	/* IP over InfiniBand is sockets, too, and its bytes are those of the port */
	assert_true(is_told(OVER_IPOIB));
	assert_false(is_told(IPOIB_AND_MORE));
}

static void only_the_hosts_that_fell_back_are_named(void **state)
{
	const struct ct_finding *f;
	struct ct_report *r;

	(void)state;
	open_job(6, CT_BACKEND_NCCL);
	for (int rank = 0; rank < 6; rank += 2) {
		nic(rank, 1, "eth0", 0);
		infiniband(rank, 2, "mlx5_0/1", CT_PORT_UP);
		for (uint64_t k = 0; k < 2; k++) {
			count(rank, 1, COUNTER(rx_bytes),
			      rank == 2 ? 20000000000ull * k : 1000 * k);
			count(rank, 2, COUNTER(port_rcv_data), rank == 2 ? 0 : 5000000000ull * k);
			sample(rank, 10 * SECOND_NS * k);
		}
	}
	for (int k = 0; k < 20; k++)
		for (int rank = 0; rank < 6; rank++)
			job_collective(&job, rank, CT_OP_AllReduce, 62500000,
				       (uint64_t)k * 100000000 + 1000,
				       (uint64_t)k * 100000000 + 50000000);
	job_close(&job, 11 * SECOND_NS);
	r = job_report(&job, -1);
	f = job_finding(r, CT_FINDING_SOCKET_FALLBACK);
	assert_non_null(f);
	assert_int_equal(f->n_hosts, 1);
	assert_string_equal(f->hosts[0], "host1");
	assert_int_equal(f->n_ranks, 2);
	assert_int_equal(f->ranks[0], 2);
	ct_report_free(r);
}

static void runs_without_counters_say_so(void **state)
{
	struct ct_report *r;
	json_t *json;
	char *text;

	(void)state;
	open_job(4, CT_BACKEND_NCCL);
	r = report(SECOND_NS);
	assert_int_equal(r->n_transport, 0);
	text = job_text(r, 1);
	assert_non_null(strstr(text, "bytes in and out)\nn/a\n"));
	free(text);
	text = job_text(r, 0);
	assert_null(strstr(text, "\nnetwork "));
	free(text);
	json = ct_info_json(r);
	assert_int_equal(json_object_size(json_object_get(json, "transport")), 0);
	json_decref(json);
	ct_report_free(r);
}

static void json_has_a_host_each_and_null_for_what_is_not_known(void **state)
{
	json_t *json, *host;
	struct ct_report *r;

	(void)state;
	open_job(4, CT_BACKEND_NCCL);
	for (int rank = 0; rank < 4; rank += 2) {
		nic(rank, 1, "eth0", 0);
		for (uint64_t k = 0; k < 2; k++) {
			count(rank, 1, COUNTER(rx_bytes), 100 * k + 7);
			sample(rank, SECOND_NS * k);
		}
	}
	r = report(2 * SECOND_NS);
	json = ct_info_json(r);
	host = json_object_get(json_object_get(json, "transport"), "host1");
	assert_int_equal(json_integer_value(json_object_get(host, "nic_bytes")), 100);
	assert_true(json_is_null(json_object_get(host, "ib_bytes")));
	assert_true(json_is_null(json_object_get(host, "ib_errors")));
	assert_int_equal(json_array_size(json_object_get(host, "rates")), 1);
	json_decref(json);
	ct_report_free(r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
		TEST(bytes_and_rates_are_what_the_counters_grew_by),
		TEST(a_counter_that_goes_back_is_unknown_for_that_time_and_never_negative),
		TEST(what_stands_at_its_largest_value_is_not_known_to_stand_still),
		TEST(a_port_that_vanishes_leaves_its_time_unknown),
		TEST(more_than_the_link_can_carry_is_not_believed),
		TEST(data_that_is_counted_in_two_places_counts_once),
		TEST(a_whole_sample_that_comes_again_changes_nothing_and_a_lost_one_costs_what_leans_on_it),
		TEST(of_the_processes_of_a_host_that_tell_one_counts),
		TEST(long_runs_have_no_more_rates_than_short_ones),
		TEST(bad_records_are_left_out),
		TEST(errors_that_grew_are_told_by_how_bad_they_are),
		TEST(a_port_that_carries_nothing_is_of_little_interest_and_one_without_a_link_of_none),
		TEST(no_more_than_the_worst_ports_are_findings),
		TEST(what_must_cross_follows_from_the_operation),
		TEST(traffic_over_ethernet_beside_idle_infiniband_is_told),
		TEST(little_traffic_gloos_own_and_gaps_in_the_counters_tell_nothing),
		TEST(only_the_hosts_that_fell_back_are_named),
		TEST(runs_without_counters_say_so),
		TEST(json_has_a_host_each_and_null_for_what_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
