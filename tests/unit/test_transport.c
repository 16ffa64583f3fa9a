/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of network ports that the test writes into traces, and what the analysis makes of them:
 * sums, rates, the JSON. */
#include "tests/unit/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/load/port_sums.h"
#include "analyzer/render/render.h"

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
	assert_non_null(strstr(text, "\nhost host0, rank 0, nic 8.38 GiB, ib 5.59 GiB, ib errors "
				     "3, in 30.0 s; at most "));
	assert_non_null(strstr(
		text, "port mlx5_0/1, kind ib, layer infiniband, state up, rate 50.0 GB/s, "
		      "rx 2.79 GiB, tx 2.79 GiB\n        symbol_error 3, np_cnp_sent 300\n"));
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

static void what_is_at_its_largest_value_is_not_known_to_stall(void **state)
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

static void data_that_two_counters_have_counts_once(void **state)
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

static void of_the_processes_of_a_host_that_report_one_counts(void **state)
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

/* ---- the report ---- */

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
	assert_non_null(strstr(text, "bytes in and out)\nnot recorded\n"));
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
		TEST(what_is_at_its_largest_value_is_not_known_to_stall),
		TEST(a_port_that_vanishes_leaves_its_time_unknown),
		TEST(more_than_the_link_can_carry_is_not_believed),
		TEST(data_that_two_counters_have_counts_once),
		TEST(a_whole_sample_that_comes_again_changes_nothing_and_a_lost_one_costs_what_leans_on_it),
		TEST(of_the_processes_of_a_host_that_report_one_counts),
		TEST(long_runs_have_no_more_rates_than_short_ones),
		TEST(bad_records_are_left_out),
		TEST(runs_without_counters_say_so),
		TEST(json_has_a_host_each_and_null_for_what_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
