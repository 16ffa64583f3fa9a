/* SPDX-License-Identifier: Apache-2.0 */
/* What a communicator can be expected to reach, from start records that the test writes. The truth
 * is arithmetic on what the makers say. */
#include "tests/unit/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/link/peaks.h"

static struct ct_environment_facts facts;
static struct ct_arena *memory;
static struct job job;

static int set_up(void **state)
{
	memory = ct_arena_new();
	memset(&facts, 0, sizeof(facts));
	return memory ? fx_setup(state) : -1;
}

static int tear_down(void **state)
{
	ct_facts_fini(&facts);
	ct_arena_free(memory);
	return fx_teardown(state);
}

static void fact(const char *text)
{
	assert_int_equal(ct_facts_take(&facts, memory, (const uint8_t *)text, strlen(text)), CT_OK);
}

static void gpu(unsigned n, const char *name, const char *width, const char *speed)
{
	char text[128];

	snprintf(text, sizeof(text), "gpu.%u.name=%s", n, name);
	fact(text);
	if (width) {
		snprintf(text, sizeof(text), "gpu.%u.pcie_width=%s", n, width);
		fact(text);
	}
	if (speed) {
		snprintf(text, sizeof(text), "gpu.%u.pcie_speed_max=%s", n, speed);
		fact(text);
	}
	snprintf(text, sizeof(text), "gpu.%u.device=%u", n, n);
	fact(text);
}

static struct ct_peak of_gpus(void)
{
	struct ct_peak peak;

	assert_int_equal(ct_peak_gpu(&facts, memory, &peak), CT_OK);
	return peak;
}

static double out_of_host(uint32_t members, int sockets)
{
	struct ct_peak peak;

	assert_int_equal(ct_peak_network(&facts, members, sockets, memory, &peak), CT_OK);
	return peak.Bps;
}

static void gpus_are_as_fast_as_their_make_or_their_slot(void **state)
{
	static const struct {
		const char *name, *width, *speed;
		double GBps; /* 0 unknown */
	} cases[] = {
		{ "NVIDIA H100 80GB HBM3", "16", "32.0 GT/s PCIe", 450 },
		{ "NVIDIA H200", "16", "32.0 GT/s PCIe", 450 },
		{ "NVIDIA H200 NVL", "16", "32.0 GT/s PCIe", 0 },
		{ "NVIDIA H100 NVL", "16", "32.0 GT/s PCIe", 0 },
		{ "NVIDIA H100 PCIe", "16", "32.0 GT/s PCIe", 48 },
		{ "NVIDIA A100-SXM4-80GB", "16", "16.0 GT/s PCIe", 300 },
		{ "NVIDIA A100-PCIE-40GB", "16", "16.0 GT/s PCIe", 24 },
		{ "NVIDIA A100 80GB PCIe", "8", "16.0 GT/s PCIe", 12 },
		{ "NVIDIA L40S", "16", "16.0 GT/s PCIe", 24 },
		{ "Tesla V100-SXM2-32GB", "16", "8.0 GT/s PCIe", 150 },
		{ "NVIDIA B200", "16", "32.0 GT/s PCIe", 900 },
		{ "NVIDIA GeForce RTX 3090", "16", "8.0 GT/s PCIe", 12 },
		{ "Some GPU", NULL, "16.0 GT/s PCIe", 0 },
		{ "Some GPU", "16", NULL, 0 },
		{ "Some GPU", "0", "16.0 GT/s PCIe", 0 },
		{ "Some GPU", "16", "Unknown", 0 },
		{ "Some GPU", "1000000", "16.0 GT/s PCIe", 0 },
	};

	(void)state;
	assert_true(isnan(of_gpus().Bps));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ct_peak peak;

		print_message("%s\n", cases[i].name);
		ct_facts_fini(&facts);
		memset(&facts, 0, sizeof(facts));
		gpu(0, cases[i].name, cases[i].width, cases[i].speed);
		peak = of_gpus();
		if (cases[i].GBps > 0) {
			assert_true(fabs(peak.Bps - cases[i].GBps * 1e9) < 1);
			assert_non_null(peak.from);
		} else {
			assert_true(isnan(peak.Bps));
		}
	}
}

static void of_several_gpus_the_slowest_counts_and_all_must_be_known(void **state)
{
	(void)state;
	gpu(0, "A", "16", "16.0 GT/s PCIe");
	gpu(1, "A", "8", "16.0 GT/s PCIe");
	assert_true(of_gpus().Bps == 12e9);
	assert_string_equal(of_gpus().from, "PCIe x8, 16.0 GT/s PCIe");
	gpu(2, "A", NULL, NULL);
	assert_true(isnan(of_gpus().Bps));
}

static void as_many_active_ports_count_as_there_are_members(void **state)
{
	(void)state;
	assert_true(isnan(out_of_host(1, 0)));
	fact("nic.eth0.state=up");
	fact("nic.eth0.speed=25000");
	fact("nic.eth1.state=down");
	fact("nic.eth1.speed=100000");
	fact("nic.eth2.speed=100000");
	assert_true(out_of_host(8, 0) == 3.125e9);
	fact("ib.mlx5_0.rate=400 Gb/sec (4X NDR)");
	fact("ib.mlx5_0.state=4: ACTIVE");
	fact("ib.mlx5_1.rate=200 Gb/sec (4X HDR)");
	fact("ib.mlx5_1.state=4: ACTIVE");
	fact("ib.mlx5_2.rate=400 Gb/sec (4X NDR)");
	fact("ib.mlx5_2.state=1: DOWN");
	assert_true(out_of_host(1, 0) == 50e9);
	assert_true(out_of_host(2, 0) == 75e9);
	assert_true(out_of_host(8, 0) == 75e9);
	assert_true(out_of_host(8, 1) == 3.125e9);
}

static void everywhere(const char *text)
{
	for (int r = 0; r < job.o.ranks; r++)
		job_rare(&job, r, CT_KIND_ENV, text, strlen(text));
}

static const struct ct_report_comm *comm_of(const struct ct_report *r, uint64_t key)
{
	for (size_t i = 0; i < r->n_comms; i++)
		if (r->comms[i].hash == key)
			return &r->comms[i];
	fail();
	return NULL;
}

static void communicators_are_as_fast_as_their_slowest_part(void **state)
{
	static const int first_host[] = { 0, 1 }, across[] = { 0, 2 };
	const struct ct_report_comm *c;
	struct ct_report *r;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "run",
					      .ranks = 4,
					      .ranks_per_host = 2,
					      .backend = CT_BACKEND_NCCL });
	job_comm(&job, 2, 22, "tp", first_host, 2);
	job_comm(&job, 3, 33, "dp", across, 2);
	everywhere("gpu.0.name=NVIDIA H100 80GB HBM3");
	everywhere("gpu.0.device=0");
	everywhere("ib.mlx5_0.state=4: ACTIVE");
	everywhere("ib.mlx5_1.state=4: ACTIVE");
	for (int rank = 0; rank < 4; rank++) {
		const char *text = rank < 2 ? "ib.mlx5_0.rate=400 Gb/sec (4X NDR)"
					    : "ib.mlx5_0.rate=200 Gb/sec (4X HDR)";

		job_rare(&job, rank, CT_KIND_ENV, text, strlen(text));
	}
	everywhere("ib.mlx5_1.rate=100 Gb/sec (4X EDR)");
	job_close(&job, 1000000);
	r = job_report(&job, -1);
	c = comm_of(r, 22);
	assert_int_equal(c->n_hosts, 1);
	assert_true(c->peak.Bps == 450e9);
	c = comm_of(r, 33);
	assert_int_equal(c->n_hosts, 2);
	assert_true(c->peak.Bps == 25e9);
	assert_string_equal(c->peak.from, "1 InfiniBand port, 200 Gb/s");
	c = comm_of(r, JOB_COMM);
	assert_int_equal(c->n_hosts, 2);
	assert_true(c->peak.Bps == 37.5e9);
	ct_report_free(r);
}

static void without_gpus_the_network_counts_and_without_records_nothing_is_known(void **state)
{
	struct ct_report *r;

	(void)state;
	job_open(&job, &(struct job_options){ .run = "mpi",
					      .ranks = 4,
					      .ranks_per_host = 2,
					      .backend = CT_BACKEND_MPI });
	everywhere("ib.mlx5_0.state=4: ACTIVE");
	everywhere("ib.mlx5_0.rate=100 Gb/sec (4X EDR)");
	job_close(&job, 1000000);
	r = job_report(&job, -1);
	assert_true(r->comms[0].peak.Bps == 12.5e9);
	ct_report_free(r);
	/* one rank shows nothing */
	job_open(&job, &(struct job_options){ .run = "mpi2",
					      .ranks = 2,
					      .ranks_per_host = 1,
					      .backend = CT_BACKEND_MPI });
	job_rare(&job, 0, CT_KIND_ENV, "ib.mlx5_0.state=4: ACTIVE", 25);
	job_rare(&job, 0, CT_KIND_ENV, "ib.mlx5_0.rate=100 Gb/sec (4X EDR)", 34);
	job_close(&job, 1000000);
	r = job_report(&job, -1);
	assert_int_equal(r->comms[0].n_hosts, 2);
	assert_true(isnan(r->comms[0].peak.Bps));
	ct_report_free(r);
	/* within a host there is nothing to hold it against */
	job_open(&job,
		 &(struct job_options){ .run = "one", .ranks = 2, .backend = CT_BACKEND_MPI });
	everywhere("ib.mlx5_0.state=4: ACTIVE");
	everywhere("ib.mlx5_0.rate=100 Gb/sec (4X EDR)");
	job_close(&job, 1000000);
	r = job_report(&job, -1);
	assert_true(isnan(r->comms[0].peak.Bps));
	ct_report_free(r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(gpus_are_as_fast_as_their_make_or_their_slot),
		TEST(of_several_gpus_the_slowest_counts_and_all_must_be_known),
		TEST(as_many_active_ports_count_as_there_are_members),
		TEST(communicators_are_as_fast_as_their_slowest_part),
		TEST(without_gpus_the_network_counts_and_without_records_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
