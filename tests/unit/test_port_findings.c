/* SPDX-License-Identifier: Apache-2.0 */
/* What counters of network ports that the test writes into traces are findings of: errors of links,
 * traffic that fell back to sockets. */
#include "tests/unit/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/link/crossing.h"
#include "analyzer/load/port_sums.h"
#include "trace/ops.h"

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

static void errors_that_grew_are_reported_by_how_bad_they_are(void **state)
{
	static const struct errors cases[] = {
		{ "a link that went down", COUNTER(link_downed), 1, HOUR_NS, 1,
		  CT_SEVERITY_CRITICAL },
		{ "a link that recovered", COUNTER(link_error_recovery), 2, 60 * SECOND_NS, 1,
		  CT_SEVERITY_CRITICAL },
		{ "few symbols", COUNTER(symbol_error), 119, HOUR_NS, 0, 0 },
		{ "few symbols in no time", COUNTER(symbol_error), 100, SECOND_NS, 0, 0 },
		{ "symbols", COUNTER(symbol_error), 500, HOUR_NS, 1, CT_SEVERITY_WARNING },
		{ "as many in days", COUNTER(symbol_error), 500, 100 * HOUR_NS, 0, 0 },
		{ "few damaged packets", COUNTER(port_rcv_errors), 10, HOUR_NS, 0, 0 },
		{ "damaged packets", COUNTER(port_rcv_errors), 11, HOUR_NS, 1,
		  CT_SEVERITY_WARNING },
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
			assert_int_equal(f->time_lost_ns, CT_UNKNOWN);
			assert_int_equal(f->n_ranks, 2);
			assert_int_equal(f->n_hosts, 1);
			snprintf(expected, sizeof(expected),
				 "ranks=0,1 hosts=host0 port=mlx5_1/1 %s=%llu in=",
				 ct_port_counters[cases[i].counter].name,
				 (unsigned long long)cases[i].grew);
			assert_memory_equal(job_pairs(f), expected, strlen(expected));
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
	assert_non_null(strstr(job_pairs(f), "port=mlx5_1/1"));
	assert_int_equal(r->n_findings, 1);
	/* it is not a verdict */
	assert_int_equal(r->verdict.code, CT_VERDICT_HEALTHY);
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
	assert_non_null(strstr(job_pairs(&r->findings[0]), "port=mlx5_29/1 "));
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
	/* the hosts of two are unknown */
	assert_true(ct_crossing_of(CT_OP_AllGather, 800, 8, 2, 4) == 600);
	assert_true(ct_crossing_of(CT_OP_Broadcast, 800, 8, 2, 6) == 0);
	assert_true(ct_crossing_of(CT_OP_AllReduce, 1000, 8, 8, 0) == 0);
	assert_true(ct_crossing_of(CT_OP_AllReduce, 1000, 8, 0, 8) == 0);
}

/* 20 all-reduces of 1 MB would be 40 MB in and out of each host; here each counts 250 times as
 * much. */
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

static void traffic_over_ethernet_beside_idle_infiniband_is_reported(void **state)
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
			assert_int_equal(f->severity, CT_SEVERITY_WARNING);
			assert_int_equal(f->time_lost_ns, CT_UNKNOWN);
			assert_int_equal(f->n_hosts, 2);
			assert_int_equal(f->n_ranks, 4);
			assert_true(f->evidence[0].value == 2 * NEEDED);
			if (cases[i].setting)
				assert_non_null(strstr(job_pairs(f), cases[i].setting + 4));
			else
				assert_null(strstr(job_pairs(f), "NCCL_"));
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

static int is_known_lag(enum doubt doubt)
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

static void little_traffic_gloos_own_and_gaps_in_the_counters_say_nothing(void **state)
{
	(void)state;
	assert_true(is_known_lag(NONE));
	assert_false(is_known_lag(LITTLE));
	assert_false(is_known_lag(GLOOS_OWN));
	assert_false(is_known_lag(GAP));
	/* IP over InfiniBand is sockets, too, and its bytes are those of the port */
	assert_true(is_known_lag(OVER_IPOIB));
	assert_false(is_known_lag(IPOIB_AND_MORE));
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
		TEST(errors_that_grew_are_reported_by_how_bad_they_are),
		TEST(a_port_that_carries_nothing_is_of_little_interest_and_one_without_a_link_of_none),
		TEST(no_more_than_the_worst_ports_are_findings),
		TEST(what_must_cross_follows_from_the_operation),
		TEST(traffic_over_ethernet_beside_idle_infiniband_is_reported),
		TEST(little_traffic_gloos_own_and_gaps_in_the_counters_say_nothing),
		TEST(only_the_hosts_that_fell_back_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
