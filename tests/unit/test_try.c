/* SPDX-License-Identifier: Apache-2.0 */
/* ADVICE: each piece on a report that the test fills in, with what speaks for it, and without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyzer/findings/advice.h"
#include "trace/ops.h"

enum { HOST_COMM, CROSS_COMM, COMMS };

static struct ct_report report;
static struct ct_findings list;
static struct ct_report_fact facts[8];
static struct ct_report_comm comms[COMMS];
static struct ct_report_link links[COMMS];
static struct ct_report_op ops[4];
static struct ct_report_stream_idle gaps[1];
static struct ct_report_process processes[1];

/* A job whose links are as fast as expected, and whose compute waits for little. */
static int set_up(void **state)
{
	(void)state;
	memset(&report, 0, sizeof(report));
	memset(ops, 0, sizeof(ops));
	report.memory = ct_arena_new();
	list = (struct ct_findings){ .memory = report.memory };
	report.environment.same = facts;
	for (int c = 0; c < COMMS; c++) {
		comms[c] = (struct ct_report_comm){
			.hash = (uint64_t)(c + 1) << 60,
			.backend = CT_BACKEND_NCCL,
			.n_hosts = c == CROSS_COMM ? 2 : 1,
			.role = "dp",
			.steps_exposed_ns = 1,
			.peak = { .Bps = 100e9, .from = "the expected" },
		};
		links[c] = (struct ct_report_link){
			.comm_hash = comms[c].hash,
			.beta_Bps = 90000000000,
			.beta_err_Bps = 1000000000,
		};
	}
	report.comms = comms;
	report.n_comms = COMMS;
	report.links = links;
	report.n_links = COMMS;
	report.ops = ops;
	report.stream_idle = gaps;
	report.n_stream_idle = 1;
	gaps[0] = (struct ct_report_stream_idle){ .steps_ns = 1000, .idle_host_bound_ns = 10 };
	report.processes = processes;
	report.n_processes = 1;
	processes[0] = (struct ct_report_process){ .n_ranks = 1 };
	report.run.duration_ns = 1000000000;
	report.steps.count = 100;
	return report.memory ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	ct_findings_fini(&list);
	ct_arena_free(report.memory);
	return 0;
}

static void fact(const char *name, const char *value)
{
	facts[report.environment.n_same++] = (struct ct_report_fact){ name, value };
}

/* 100 operations, one a step, of so many bytes. */
static struct ct_report_op *op(int comm, unsigned which, unsigned dtype, uint64_t bytes)
{
	struct ct_report_op *row = &ops[report.n_ops++];

	*row = (struct ct_report_op){
		.comm_hash = comms[comm].hash,
		.backend = comms[comm].backend,
		.op = which,
		.op_name = ct_op_name(which),
		.dtype = dtype,
		.instances = 100,
		.bytes = 100 * bytes,
		.bytes_each = bytes,
		.span_each_ns = CT_UNKNOWN,
	};
	return row;
}

static void slow(int comm)
{
	links[comm].beta_Bps = 30000000000;
}

/* Compute waits for this communicator; severity of that. */
static void exposed(int comm, enum ct_severity severity)
{
	struct ct_finding *f = ct_findings_add(&list, CT_FINDING_EXPOSED_COMM);

	f->severity = severity;
	f->comm_hash = comms[comm].hash;
	f->time_lost_pct = 40;
}

/* Is it advised, with these words in advice or headline? Whatever else is advised does not count. */
static int is_advised(const char *words)
{
	int found = 0;
	size_t before = list.n;

	ct_advice_find(&report, &list);
	for (size_t i = before; i < list.n; i++) {
		const struct ct_finding *f = &list.all[i];

		assert_int_equal(f->kind, CT_FINDING_ADVICE);
		assert_int_equal(f->severity, CT_SEVERITY_INFO);
		assert_true(f->headline && f->advice && f->n_pairs == 1 && f->n_evidence == 1);
		assert_true(strlen(f->headline) < 73);
		found |= strstr(f->advice, words) || strstr(f->headline, words);
	}
	while (list.n > before)
		ct_findings_drop_last(&list);
	return found;
}

static void a_setting_that_limits_is_reported_where_the_rate_is_low(void **state)
{
	static const struct {
		const char *name, *value, *other; /* a value that takes nothing away */
		int comm;			  /* whose links it is about */
		const char *needs, *needed;
	} rows[] = {
		{ "env.NCCL_P2P_DISABLE", "1", "0", HOST_COMM, NULL, NULL },
		{ "env.NCCL_P2P_LEVEL", "PIX", "SYS", HOST_COMM, NULL, NULL },
		{ "env.NCCL_BUFFSIZE", "1048576", "8388608", CROSS_COMM, NULL, NULL },
		{ "env.NCCL_MAX_NCHANNELS", "2", NULL, HOST_COMM, NULL, NULL },
		{ "env.NCCL_MAX_CTAS", "2", NULL, CROSS_COMM, NULL, NULL },
		{ "env.NCCL_NVLS_ENABLE", "0", "1", HOST_COMM, "gpu.0.compute", "9.0" },
		{ "env.NCCL_PROTO", "LL", "Simple", CROSS_COMM, NULL, NULL },
		{ "env.NCCL_IB_HCA", "mlx5_0", NULL, CROSS_COMM, NULL, NULL },
		{ "env.NCCL_NET_GDR_LEVEL", "LOC", "SYS", CROSS_COMM, NULL, NULL },
		{ "env.NCCL_DMABUF_ENABLE", "0", "1", CROSS_COMM, NULL, NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *name = rows[i].name + strlen("env.");

		tear_down(state);
		set_up(state);
		if (rows[i].needs)
			fact(rows[i].needs, rows[i].needed);
		slow(rows[i].comm);
		assert_false(is_advised(name)); /* it is not set */
		fact(rows[i].name, rows[i].value);
		if (!is_advised(name))
			fail_msg("%s", name);
		links[rows[i].comm].beta_err_Bps = CT_UNKNOWN;
		assert_false(is_advised(name)); /* how slow is not known */
		links[rows[i].comm].beta_err_Bps = 50000000000;
		assert_false(is_advised(name)); /* it may be fast */
		links[rows[i].comm].beta_err_Bps = 0;
		comms[rows[i].comm].peak.Bps = NAN;
		assert_false(is_advised(name)); /* what to expect is not known */
		comms[rows[i].comm].peak.Bps = 40e9;
		assert_false(is_advised(name)); /* and here it is enough */
		comms[rows[i].comm].peak.Bps = 100e9;
		comms[rows[i].comm].backend = CT_BACKEND_MPI;
		assert_false(is_advised(name)); /* nor is it NCCL's */
		comms[rows[i].comm].backend = CT_BACKEND_NCCL;
		assert_true(is_advised(name));
		if (rows[i].other) {
			facts[report.environment.n_same - 1].value = rows[i].other;
			assert_false(is_advised(name));
		}
	}
	/* of a host's links nothing follows for the network's, nor the other way around */
	tear_down(state);
	set_up(state);
	fact("env.NCCL_IB_HCA", "mlx5_0");
	slow(HOST_COMM);
	assert_false(is_advised("NCCL_IB_HCA"));
	/* older GPUs have no NVLink SHARP; with its module NCCL needs no DMA-BUF */
	fact("env.NCCL_NVLS_ENABLE", "0");
	fact("gpu.0.compute", "8.0");
	fact("env.NCCL_DMABUF_ENABLE", "0");
	fact("nvidia.peermem", "580.1");
	slow(CROSS_COMM);
	assert_false(is_advised("NCCL_NVLS_ENABLE"));
	assert_false(is_advised("NCCL_DMABUF_ENABLE"));
}

static void gradients_that_compute_waits_for_are_accumulated_and_halved(void **state)
{
	(void)state;
	op(CROSS_COMM, CT_OP_AllReduce, CT_DTYPE_float32, 1 << 25);
	assert_false(is_advised("no_sync"));
	exposed(CROSS_COMM, CT_SEVERITY_INFO);
	assert_false(is_advised("no_sync"));
	exposed(CROSS_COMM, CT_SEVERITY_WARNING);
	assert_true(is_advised("no_sync"));
	assert_true(is_advised("bf16_compress_hook"));
	assert_false(is_advised("powerSGD"));
	/* in 16 bits already: then only compression is left, where the link is as fast as it can be
	 */
	ops[0].dtype = CT_DTYPE_bfloat16;
	assert_true(is_advised("no_sync"));
	assert_false(is_advised("bf16_compress_hook"));
	assert_true(is_advised("powerSGD"));
	slow(CROSS_COMM);
	assert_false(is_advised("powerSGD"));
	/* activations of a layer are no gradients, nor are gathered parameters */
	comms[CROSS_COMM].role = "tp";
	assert_false(is_advised("no_sync"));
	comms[CROSS_COMM].role = "dp";
	ops[0].op = CT_OP_AllGather;
	assert_false(is_advised("no_sync"));
}

static void the_bitmap_of_unused_parameters_is_an_int32_once_a_step(void **state)
{
	struct ct_report_op *bitmap;

	(void)state;
	op(CROSS_COMM, CT_OP_AllReduce, CT_DTYPE_float32, 1 << 25);
	fact("lib.torch.path", "/usr/lib/libtorch_cpu.so");
	assert_false(is_advised("find_unused_parameters"));
	bitmap = op(CROSS_COMM, CT_OP_AllReduce, CT_DTYPE_int32, 4 * 150);
	assert_true(is_advised("find_unused_parameters"));
	bitmap->instances = 50; /* not each step */
	assert_false(is_advised("find_unused_parameters"));
	bitmap->instances = 100;
	bitmap->bytes_each = 4; /* a counter */
	assert_false(is_advised("find_unused_parameters"));
	bitmap->bytes_each = 600;
	bitmap->dtype = CT_DTYPE_int64;
	assert_false(is_advised("find_unused_parameters"));
	bitmap->dtype = CT_DTYPE_int32;
	facts[0].name = "lib.mpi.path"; /* not PyTorch */
	assert_false(is_advised("find_unused_parameters"));
}

static void gloo_on_gpus_is_reported_where_it_takes_time(void **state)
{
	struct ct_report_op *row;

	(void)state;
	comms[CROSS_COMM].backend = CT_BACKEND_GLOO;
	row = op(CROSS_COMM, CT_OP_AllReduce, CT_DTYPE_elem4, 1 << 25);
	row->span_each_ns = 200000000;
	assert_false(is_advised("backend=")); /* no GPU */
	fact("gpu.0.name", "NVIDIA H100 80GB HBM3");
	assert_true(is_advised("backend="));
	row->span_each_ns = 20000000;
	assert_false(is_advised("backend="));
	row->span_each_ns = 200000000;
	row->bytes_each = 8;
	assert_false(is_advised("backend="));
}

static void threads_and_processes_are_reported_where_the_host_is_late(void **state)
{
	(void)state;
	processes[0].n_ranks = 8;
	fact("env.OMP_NUM_THREADS", "16");
	fact("env.LOCAL_WORLD_SIZE", "8");
	fact("cpu.usable", "64");
	assert_false(is_advised("one process for each GPU"));
	assert_false(is_advised("OMP_NUM_THREADS"));
	gaps[0].idle_host_bound_ns = 100;
	assert_true(is_advised("one process for each GPU"));
	assert_true(is_advised("OMP_NUM_THREADS"));
	processes[0].n_ranks = 1;
	facts[2].value = "128";
	assert_false(is_advised("one process for each GPU"));
	assert_false(is_advised("OMP_NUM_THREADS"));
	facts[2].value = "64";
	facts[0].value = "many";
	assert_false(is_advised("OMP_NUM_THREADS"));
	processes[0].n_ranks = 8;
	gaps[0].idle_host_bound_ns = CT_UNKNOWN;
	assert_false(is_advised("one process for each GPU"));
}

static void without_gpudirect_rdma_its_module_is_reported(void **state)
{
	struct ct_report_env_differs differs = { .name = "nvidia.peermem" };

	(void)state;
	fact("nvidia.driver", "535.1");
	fact("kernel.release", "5.10.0-28-amd64");
	comms[CROSS_COMM].peak.via = "infiniband";
	assert_false(is_advised("nvidia_peermem")); /* fast */
	slow(HOST_COMM);
	assert_false(is_advised("nvidia_peermem")); /* within a host */
	slow(CROSS_COMM);
	assert_true(is_advised("nvidia_peermem"));
	comms[CROSS_COMM].peak.via = "ethernet";
	assert_false(is_advised("nvidia_peermem"));
	comms[CROSS_COMM].peak.via = "infiniband";
	facts[1].value = "5.15.0-91-generic"; /* DMA-BUF does as well */
	assert_false(is_advised("nvidia_peermem"));
	facts[1].value = "unknown";
	assert_false(is_advised("nvidia_peermem"));
	facts[1].value = "4.18.0-553.el8";
	assert_true(is_advised("nvidia_peermem"));
	/* some hosts have it */
	report.environment.differs = &differs;
	report.environment.n_differs = 1;
	assert_false(is_advised("nvidia_peermem"));
	report.environment.n_differs = 0;
	fact("nvidia.peermem", "535.1");
	assert_false(is_advised("nvidia_peermem"));
	facts[2].name = "something";
	facts[0].name = "another"; /* no GPU's driver */
	assert_false(is_advised("nvidia_peermem"));
}

static void answers_that_came_too_late_speak_for_a_longer_timeout(void **state)
{
	struct ct_report_counter counter = { .name = "local_ack_timeout_err", .grew = 5000 };
	struct ct_report_port port = { .name = "mlx5_0/1", .counters = &counter, .n_counters = 1 };
	struct ct_report_transport transport = { .host = "node7", .ports = &port, .n_ports = 1 };

	(void)state;
	assert_false(is_advised("NCCL_IB_TIMEOUT")); /* no counters */
	report.transport = &transport;
	report.n_transport = 1;
	assert_true(is_advised("NCCL_IB_TIMEOUT"));
	assert_true(is_advised("node7 mlx5_0/1"));
	counter.grew = 50; /* a few are usual */
	assert_false(is_advised("NCCL_IB_TIMEOUT"));
	counter.grew = CT_UNKNOWN;
	assert_false(is_advised("NCCL_IB_TIMEOUT"));
	counter.grew = 5000;
	counter.name = "packet_seq_err";
	assert_false(is_advised("NCCL_IB_TIMEOUT"));
	counter.name = "local_ack_timeout_err";
	fact("env.NCCL_IB_TIMEOUT", "22"); /* it is long */
	assert_false(is_advised("NCCL_IB_TIMEOUT"));
	facts[0].value = "14";
	assert_true(is_advised("NCCL_IB_TIMEOUT 14"));
	comms[CROSS_COMM].backend = CT_BACKEND_MPI; /* NCCL stays within its host */
	assert_false(is_advised("NCCL_IB_TIMEOUT"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_setting_that_limits_is_reported_where_the_rate_is_low),
		TEST(gradients_that_compute_waits_for_are_accumulated_and_halved),
		TEST(the_bitmap_of_unused_parameters_is_an_int32_once_a_step),
		TEST(gloo_on_gpus_is_reported_where_it_takes_time),
		TEST(threads_and_processes_are_reported_where_the_host_is_late),
		TEST(without_gpudirect_rdma_its_module_is_reported),
		TEST(answers_that_came_too_late_speak_for_a_longer_timeout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
