/* SPDX-License-Identifier: Apache-2.0 */
/* Start records that the test writes, as the analysis puts them side by side. */
#include "tests/unit/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/model/environment_facts.h"
#include "trace/invisible.h"
#include "trace/ops.h"

static struct job job;

static void open_job(int ranks, const char *run)
{
	job_open(&job, &(struct job_options){ .run = run, .ranks = ranks, .ranks_per_host = 2 });
}

static void fact(int rank, const char *text)
{
	job_rare(&job, rank, CT_KIND_ENV, text, strlen(text));
}

static void everywhere(const char *text)
{
	for (int r = 0; r < job.o.ranks; r++)
		fact(r, text);
}

static struct ct_report *report(void)
{
	for (int c = 0; c < 20; c++) {
		uint64_t at = 1000000 + (uint64_t)c * 10000000;

		for (int r = 0; r < job.o.ranks; r++)
			job_collective(&job, r, CT_OP_AllReduce, 250000, at, at + 1000000);
	}
	job_close(&job, 300000000);
	return job_report(&job, -1);
}

static const struct ct_report_env_differs *differs(const struct ct_report *r, const char *name)
{
	for (size_t i = 0; i < r->environment.n_differs; i++)
		if (strcmp(r->environment.differs[i].name, name) == 0)
			return &r->environment.differs[i];
	return NULL;
}

static const char *same(const struct ct_report *r, const char *name)
{
	for (size_t i = 0; i < r->environment.n_same; i++)
		if (strcmp(r->environment.same[i].name, name) == 0)
			return r->environment.same[i].value;
	return NULL;
}

static const char *own(const struct ct_report *r, size_t nth, const char *name)
{
	for (size_t i = 0; i < r->environment.ranks[nth].n_facts; i++)
		if (strcmp(r->environment.ranks[nth].facts[i].name, name) == 0)
			return r->environment.ranks[nth].facts[i].value;
	return NULL;
}

static void a_program_is_what_the_process_runs_else_its_executable(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job(3, "run");
	fact(0, "program=/data/job/train.py");
	fact(1, "program=-m pkg.train");
	r = report();
	assert_string_equal(r->processes[0].program, "train.py");
	assert_string_equal(r->processes[1].program, "-m pkg.train");
	assert_string_equal(r->processes[2].program, "python3");
	assert_string_equal(r->processes[0].exe, "/usr/bin/python3");
	ct_report_free(r);
}

static void exactly_what_differs_is_listed_with_who_has_what(void **state)
{
	const struct ct_report_env_differs *d;
	const struct ct_finding *f;
	struct ct_report *r;

	(void)state;
	open_job(4, "run");
	everywhere("lib.nccl.version=2.28.9");
	everywhere("env.NCCL_DEBUG=WARN");
	for (int rank = 0; rank < 4; rank++) {
		char text[64];

		fact(rank, rank == 3 ? "env.NCCL_ALGO=Tree" : "env.NCCL_ALGO=Ring");
		fact(rank, rank < 2 ? "nvidia.driver=580.1" : "nvidia.driver=580.2");
		snprintf(text, sizeof(text), "cpu.affinity=%d-%d", 8 * rank, 8 * rank + 7);
		fact(rank, text);
		/* what is each one's own */
		snprintf(text, sizeof(text), "env.RANK=%d", rank);
		fact(rank, text);
		snprintf(text, sizeof(text), "env.CUDA_VISIBLE_DEVICES=%d", rank);
		fact(rank, text);
		snprintf(text, sizeof(text), "gpu.0.uuid=GPU-%d", rank);
		fact(rank, text);
		snprintf(text, sizeof(text), "gpu.0.pci=0000:%02x:00.0", rank);
		fact(rank, text);
	}
	r = report();
	assert_int_equal(r->environment.n_differs, 3);
	assert_int_equal(r->environment.n_same, 2);
	assert_string_equal(same(r, "lib.nccl.version"), "2.28.9");
	d = differs(r, "env.NCCL_ALGO");
	assert_non_null(d);
	assert_true(d->matters);
	assert_int_equal(d->n_values, 2);
	assert_string_equal(d->values[0].value, "Ring");
	assert_int_equal(d->values[0].n_ranks, 3);
	assert_int_equal(d->values[0].ranks[2], 2);
	assert_string_equal(d->values[1].value, "Tree");
	assert_int_equal(d->values[1].n_ranks, 1);
	assert_int_equal(d->values[1].ranks[0], 3);
	assert_true(differs(r, "nvidia.driver")->matters);
	assert_false(differs(r, "cpu.affinity")->matters);
	assert_int_equal(differs(r, "cpu.affinity")->n_values, 4);
	assert_int_equal(r->environment.n_ranks, 4);
	assert_string_equal(own(r, 2, "gpu.0.uuid"), "GPU-2");
	assert_string_equal(own(r, 1, "env.CUDA_VISIBLE_DEVICES"), "1");
	f = job_finding(r, CT_FINDING_ENVIRONMENT_DIFFERS);
	assert_non_null(f);
	assert_int_equal(f->severity, CT_SEVERITY_WARNING);
	assert_non_null(strstr(job_pairs(f), "names=env.NCCL_ALGO,nvidia.driver "));
	assert_null(strstr(f->cause, "affinity"));
	/* 3 by the algorithm; of the driver two have one and two another: no rank is odd, all are
	 * named */
	assert_int_equal(f->n_ranks, 4);
	assert_int_equal(f->ranks[0], 0);
	/* it is not a reason to doubt that the run was healthy */
	assert_int_equal(r->verdict.code, CT_VERDICT_HEALTHY);
	ct_report_free(r);
}

/* The ranks that do not read the variable; -1: it is not listed. */
static int n_unread(const struct ct_report *r, const char *name)
{
	for (size_t i = 0; i < r->environment.n_unread; i++)
		if (strcmp(r->environment.unread[i].name, name) == 0)
			return (int)r->environment.unread[i].n_ranks;
	return -1;
}

static void a_setting_that_no_library_of_nccl_contains_is_reported(void **state)
{
	const struct ct_finding *f;
	struct ct_report *r;

	(void)state;
	open_job(4, "run");
	everywhere("lib.nccl.path=/usr/lib/libnccl.so.2");
	/* the last name was cut */
	everywhere("lib.nccl.unread=NCCL_MAX_RINGS,NCCL_VERSION,NCCL_OFI_X,NCCL_LIB_DIR,NCCL_TOO_"
		   "LO...");
	/* a plugin on two ranks: it reads one name; on one of them it was not searched */
	fact(1, "lib.nccl_net.path=/usr/lib/libnccl-net.so");
	fact(1, "lib.nccl_net.unread=NCCL_MAX_RINGS");
	fact(2, "lib.nccl_net.path=/usr/lib/libnccl-net.so");
	r = report();
	assert_int_equal(r->environment.n_unread, 2);
	assert_int_equal(n_unread(r, "NCCL_MAX_RINGS"), 3);
	assert_int_equal(n_unread(r, "NCCL_OFI_X"), 2);
	f = job_finding(r, CT_FINDING_SETTING_NOT_READ);
	assert_non_null(f);
	assert_int_equal(f->severity, CT_SEVERITY_INFO);
	assert_string_equal(f->headline, "NCCL does not read NCCL_MAX_RINGS, NCCL_OFI_X");
	assert_non_null(strstr(f->advice, "NCCL_MAX_NCHANNELS"));
	assert_int_equal(r->verdict.code, CT_VERDICT_HEALTHY);
	ct_report_free(r);
}

static void a_setting_of_another_version_is_not_called_misspelt(void **state)
{
	const struct ct_finding *f;
	struct ct_report *r;

	(void)state;
	open_job(2, "run");
	everywhere("lib.nccl.path=/usr/lib/libnccl.so.2");
	everywhere("lib.nccl.unread=NCCL_BUFFSIZE");
	r = report();
	f = job_finding(r, CT_FINDING_SETTING_NOT_READ);
	assert_non_null(f);
	assert_int_equal(f->severity, CT_SEVERITY_INFO);
	assert_non_null(strstr(f->advice, "NCCL_BUFFSIZE: NCCL 2.28.9 reads it"));
	ct_report_free(r);
}

static void a_misspelt_setting_is_reported_with_the_near_one(void **state)
{
	const struct ct_finding *f;
	struct ct_report *r;

	(void)state;
	open_job(2, "run");
	everywhere("lib.nccl.path=/usr/lib/libnccl.so.2");
	everywhere(
		"lib.nccl.unread=NCCL_IB_TIMEOT,NCCL_BUFSIZE,NCCL_IB_MTU,NCCL_OUR_OWN_THING,NCCL_"
		"IB");
	r = report();
	f = job_finding(r, CT_FINDING_SETTING_NOT_READ);
	assert_non_null(f);
	assert_int_equal(f->severity, CT_SEVERITY_WARNING);
	assert_non_null(strstr(f->advice, "NCCL_IB_TIMEOT: did you mean NCCL_IB_TIMEOUT?"));
	assert_non_null(strstr(f->advice, "NCCL_BUFSIZE: did you mean NCCL_BUFFSIZE?"));
	/* of old names more is known, others resemble none, and a beginning is not a name */
	for (size_t i = 0; i < r->environment.n_unread; i++)
		assert_int_equal(r->environment.unread[i].is_misspelt,
				 strcmp(r->environment.unread[i].name, "NCCL_IB_TIMEOT") == 0 ||
					 strcmp(r->environment.unread[i].name, "NCCL_BUFSIZE") ==
						 0);
	ct_report_free(r);
}

/* Facts of both ranks, of rank 1 only, and the settings that are reported; NULL: none. */
static void check_conflict(const char *const *facts, const char *other, const char *expected)
{
	static int runs;
	const struct ct_finding *f;
	struct ct_report *r;
	char run[16];

	snprintf(run, sizeof(run), "run%d", runs++);
	open_job(2, run);
	for (; *facts; facts++)
		everywhere(*facts);
	if (other)
		fact(1, other);
	r = report();
	f = job_finding(r, CT_FINDING_SETTING_CONFLICT);
	if (!expected && f)
		fail_msg("%s", f->headline);
	if (expected) {
		assert_non_null(f);
		assert_string_equal(f->headline, expected);
		assert_int_equal(f->n_ranks, other ? 1 : 2);
		assert_true(f->cause && f->advice);
	}
	ct_report_free(r);
}

static void settings_that_contradict_each_other_are_reported(void **state)
{
#define NCCL "lib.nccl.path=/usr/lib/libnccl.so.2"
#define GPU "gpu.0.device=0"
#define TORCH "lib.torch.path=/usr/lib/libtorch_cpu.so"
	static const struct {
		const char *all[3],
			*last; /* what makes it appear, the last fact on one rank only */
		const char *expected;
		const char *harmless; /* instead of it */
	} rows[] = {
		{ { NCCL, "env.NCCL_NET=IB" },
		  "env.NCCL_IB_DISABLE=1",
		  "NCCL_NET=IB with NCCL_IB_DISABLE=1",
		  "env.NCCL_IB_DISABLE=0" },
		{ { NCCL, "env.NCCL_IB_HCA=mlx5" },
		  "env.NCCL_IB_DISABLE=1",
		  "NCCL_IB_DISABLE=1 with NCCL_IB_HCA=mlx5",
		  "env.NCCL_IB_DISABLE=0" },
		{ { NCCL, "env.NCCL_IB_HCA=mlx5" },
		  "env.NCCL_NET=Socket",
		  "NCCL_NET=Socket with NCCL_IB_HCA=mlx5",
		  "env.NCCL_NET=IB" },
		{ { NCCL, "env.NCCL_P2P_DISABLE=1" },
		  "env.NCCL_SHM_DISABLE=1",
		  "NCCL_P2P_DISABLE=1 with NCCL_SHM_DISABLE=1",
		  "env.NCCL_SHM_DISABLE=0" },
		{ { NCCL, "env.NCCL_P2P_DISABLE=1" },
		  "env.NCCL_P2P_LEVEL=SYS",
		  "NCCL_P2P_DISABLE=1 with NCCL_P2P_LEVEL=SYS",
		  "env.NCCL_SHM_DISABLE=0" },
		{ { NCCL },
		  "env.NCCL_P2P_LEVEL=PIX",
		  "NCCL_P2P_LEVEL=PIX",
		  "env.NCCL_P2P_LEVEL=SYS" },
		{ { NCCL }, "env.NCCL_P2P_LEVEL=1", "NCCL_P2P_LEVEL=1", "env.NCCL_P2P_LEVEL=5" },
		{ { NCCL },
		  "env.NCCL_P2P_LEVEL=LOC",
		  "NCCL_P2P_LEVEL=LOC",
		  "env.NCCL_P2P_LEVEL=NVL" },
		{ { NCCL, "env.NCCL_ALGO=NVLSTree" },
		  "env.NCCL_NVLS_ENABLE=0",
		  "NCCL_NVLS_ENABLE=0 with NCCL_ALGO=NVLSTree",
		  "env.NCCL_NVLS_ENABLE=1" },
		{ { NCCL, "env.NCCL_NET_GDR_READ=1" },
		  "env.NCCL_NET_GDR_LEVEL=LOC",
		  "NCCL_NET_GDR_LEVEL=LOC with NCCL_NET_GDR_READ=1",
		  "env.NCCL_NET_GDR_LEVEL=SYS" },
		{ { NCCL }, "env.NCCL_IB_TIMEOUT=0", "NCCL_IB_TIMEOUT=0", "env.NCCL_IB_TIMEOUT=22" },
		{ { NCCL, "env.NCCL_MAX_NCHANNELS=8" },
		  "env.NCCL_MIN_NCHANNELS=16",
		  "NCCL_MIN_NCHANNELS=16 with NCCL_MAX_NCHANNELS=8",
		  "env.NCCL_MIN_NCHANNELS=8" },
		{ { NCCL, "env.NCCL_MAX_CTAS=8" },
		  "env.NCCL_MIN_CTAS=16",
		  "NCCL_MIN_CTAS=16 with NCCL_MAX_CTAS=8",
		  "env.NCCL_MIN_CTAS=x" },
		{ { GPU },
		  "env.CUDA_LAUNCH_BLOCKING=1",
		  "CUDA_LAUNCH_BLOCKING=1",
		  "env.CUDA_LAUNCH_BLOCKING=0" },
		{ { TORCH },
		  "env.TORCH_DISTRIBUTED_DEBUG=DETAIL",
		  "TORCH_DISTRIBUTED_DEBUG=DETAIL",
		  "env.TORCH_DISTRIBUTED_DEBUG=INFO" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* without the library, or the GPU, no one reads it */
		const char *unread[] = { rows[i].all[1], NULL };

		check_conflict(rows[i].all, rows[i].last, rows[i].expected);
		check_conflict(rows[i].all, rows[i].harmless, NULL);
		check_conflict(rows[i].all, NULL, NULL);
		check_conflict(unread, rows[i].last, NULL);
	}
}

static void devices_that_are_not_what_they_could_be_are_counted(void **state)
{
	const struct ct_report_topology *t;
	struct ct_report *r;

	(void)state;
	open_job(4, "run");
	for (int rank = 0; rank < 4; rank++) {
		fact(rank, rank == 2 ? "gpu.0.pcie_width=8" : "gpu.0.pcie_width=16");
		fact(rank, "gpu.0.pcie_width_max=16");
		fact(rank, "gpu.0.pcie_speed=2.5 GT/s PCIe"); /* it idles */
		fact(rank, "gpu.0.pcie_speed_max=32.0 GT/s PCIe");
		fact(rank, rank == 2 ? "gpu.0.pci=0000:5d:00.0" : "gpu.0.pci=0000:3b:00.0");
		fact(rank, rank == 3 ? "gpu.0.numa=1" : "gpu.0.numa=0");
		/* 16 lanes at 16 GT/s carry 200 Gb/s and not 400 */
		fact(rank, "ib.mlx5_0.pcie_width=16");
		fact(rank, "ib.mlx5_0.pcie_speed=16.0 GT/s PCIe");
		fact(rank, rank < 2 ? "ib.mlx5_0.rate=200 Gb/sec (4X HDR)"
				    : "ib.mlx5_0.rate=400 Gb/sec (4X NDR)");
		fact(rank, "ib.mlx5_0.state=4: ACTIVE");
		fact(rank, "ib.mlx5_0.numa=0");
		/* without a cable, and with one on the second host */
		fact(rank, rank < 2 ? "ib.mlx5_1.state=1: DOWN" : "ib.mlx5_1.state=2: INIT");
		fact(rank, "ib.mlx5_1.numa=1");
	}
	r = report();
	t = r->environment.topology;
	/* 4 GPUs, and of each host the card once */
	assert_int_equal(t[CT_TOPOLOGY_PCIE].known, 6);
	assert_int_equal(t[CT_TOPOLOGY_PCIE].wrong, 2);
	assert_non_null(strstr(t[CT_TOPOLOGY_PCIE].first, "gpu.0 0000:5d:00.0: 8 of 16 lanes"));
	assert_int_equal(t[CT_TOPOLOGY_PORTS].known, 3);
	assert_int_equal(t[CT_TOPOLOGY_PORTS].wrong, 1);
	assert_non_null(strstr(t[CT_TOPOLOGY_PORTS].first, "ib.mlx5_1: 2: INIT"));
	assert_int_equal(t[CT_TOPOLOGY_NUMA].known, 4);
	assert_int_equal(t[CT_TOPOLOGY_NUMA].wrong, 1);
	ct_report_free(r);
}

static void devices_that_are_not_on_record_are_not_counted(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job(2, "run");
	everywhere("gpu.0.pcie_width=16");
	everywhere("gpu.0.numa=0");
	everywhere("ib.mlx5_0.rate=400 Gb/sec (4X NDR)");
	everywhere("ib.mlx5_0.state=1: DOWN");
	everywhere("nic.eth0.speed=25000");
	r = report();
	for (int i = 0; i < CT_TOPOLOGY_CHECKS; i++)
		assert_int_equal(r->environment.topology[i].known, 0);
	ct_report_free(r);
}

static void settings_that_are_read_or_not_searched_are_no_finding(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job(4, "run");
	everywhere("env.NCCL_ALGO=Ring");
	fact(0, "lib.nccl.path=/usr/lib/libnccl.so.2");
	fact(1, "lib.nccl.path=/usr/lib/libnccl.so.2");
	fact(1, "lib.nccl.unread=none");
	r = report();
	assert_int_equal(r->environment.n_unread, 0);
	assert_null(job_finding(r, CT_FINDING_SETTING_NOT_READ));
	ct_report_free(r);
}

static void equal_environments_are_no_finding(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job(4, "run");
	everywhere("env.NCCL_ALGO=Ring");
	for (int rank = 0; rank < 4; rank++)
		fact(rank, rank ? "cpu.affinity=1" : "cpu.affinity=0");
	r = report();
	assert_int_equal(r->environment.n_differs, 1);
	assert_null(job_finding(r, CT_FINDING_ENVIRONMENT_DIFFERS));
	ct_report_free(r);
}

static void a_variable_that_only_some_have_differs_another_fact_is_unknown(void **state)
{
	const struct ct_report_env_differs *d;
	struct ct_report *r;

	(void)state;
	open_job(4, "run");
	everywhere("kernel.release=6.1");
	fact(1, "env.NCCL_PROTO=LL");
	fact(1, "nic.eth0.speed=25000");
	fact(3, "env_left_out=7"); /* it is unknown whether 3 has it */
	r = report();
	assert_int_equal(r->environment.n_differs, 1);
	d = differs(r, "env.NCCL_PROTO");
	assert_int_equal(d->n_values, 2);
	assert_null(d->values[1].value);
	assert_int_equal(d->values[1].n_ranks, 2);
	assert_int_equal(d->values[1].ranks[1], 2);
	assert_string_equal(same(r, "nic.eth0.speed"), "25000");
	ct_report_free(r);
}

static void pcie_width_is_compared_between_gpus_of_one_make(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job(4, "run");
	for (int rank = 0; rank < 4; rank++) {
		fact(rank, rank < 2 ? "gpu.0.name=A" : "gpu.0.name=B");
		fact(rank, rank < 2 ? "gpu.0.pcie_width=16" : "gpu.0.pcie_width=8");
	}
	r = report();
	assert_false(differs(r, "gpu.0.pcie_width")->matters);
	ct_report_free(r);
	open_job(4, "run2");
	for (int rank = 0; rank < 4; rank++) {
		fact(rank, "gpu.0.name=A");
		fact(rank, rank == 2 ? "gpu.0.pcie_width=8" : "gpu.0.pcie_width=16");
	}
	r = report();
	assert_true(differs(r, "gpu.0.pcie_width")->matters);
	assert_int_equal(job_finding(r, CT_FINDING_ENVIRONMENT_DIFFERS)->ranks[0], 2);
	ct_report_free(r);
}

static void ranks_on_different_mpis_are_reported_with_a_finding(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job(4, "run");
	everywhere("lib.mpi.flavour=mpich");
	for (int rank = 0; rank < 4; rank++)
		fact(rank, rank == 3 ? "lib.mpi.version=MPICH Version: 4.1"
				     : "lib.mpi.version=MPICH Version: 4.0.2");
	r = report();
	assert_string_equal(same(r, "lib.mpi.flavour"), "mpich");
	assert_true(differs(r, "lib.mpi.version")->matters);
	assert_int_equal(job_finding(r, CT_FINDING_ENVIRONMENT_DIFFERS)->n_ranks, 1);
	assert_int_equal(job_finding(r, CT_FINDING_ENVIRONMENT_DIFFERS)->ranks[0], 3);
	ct_report_free(r);
}

static void the_last_value_of_a_fact_counts(void **state)
{
	struct ct_report *r;

	(void)state;
	open_job(2, "run");
	everywhere("nic.eth0.state=down");
	everywhere("nic.eth0.state=up");
	r = report();
	assert_string_equal(same(r, "nic.eth0.state"), "up");
	ct_report_free(r);
}

static void bad_records_are_left_out_and_the_rest_is_kept(void **state)
{
	static char big[20000];
	struct ct_report *r;
	char *text;

	(void)state;
	open_job(2, "run");
	memset(big, 'k', sizeof(big));
	job_rare(&job, 0, CT_KIND_ENV, "", 0);
	job_rare(&job, 0, CT_KIND_ENV, "=", 1);
	job_rare(&job, 0, CT_KIND_ENV, "novalue", 7);
	job_rare(&job, 0, CT_KIND_ENV, "a\0b=c", 5);
	job_rare(&job, 0, CT_KIND_ENV, "esc=\033[31m\xff", 10);
	job_rare(&job, 0, CT_KIND_ENV, big, sizeof(big)); /* a key without end */
	big[20] = '=';
	job_rare(&job, 0, CT_KIND_ENV, big, sizeof(big)); /* a value without end */
	job_rare(&job, 0, CT_KIND_INVISIBLE, "", 0);
	job_rare(&job, 0, CT_KIND_INVISIBLE, "NVSHMEM", 7);
	job_rare(&job, 0, CT_KIND_INVISIBLE, "FROM_THE_FUTURE=/lib/x.so", 25);
	for (int i = 0; i < 5000; i++) {
		char key[32];

		snprintf(key, sizeof(key), "k%d=v", i);
		fact(0, key);
		snprintf(key, sizeof(key), "NVSHMEM=/lib/%d", i);
		job_rare(&job, 0, CT_KIND_INVISIBLE, key, strlen(key));
	}
	r = report();
	assert_string_equal(same(r, "esc"), "?[31m?");
	assert_string_equal(same(r, "k0"), "v");
	assert_int_equal(strlen(same(r, "kkkkkkkkkkkkkkkkkkkk")), CT_FACTS_VALUE_MOST);
	assert_in_range(r->environment.n_same, 1000, CT_FACTS_MOST);
	assert_int_equal(r->n_invisible, CT_UNSEEN_MOST);
	text = job_text(r, 1);
	assert_non_null(strstr(text, "FROM_THE_FUTURE"));
	free(text);
	ct_report_free(r);
}

/* Bytes of few values, so that keys meet again. */
static void whatever_a_record_holds_is_survived(void **state)
{
	const char *seed_text = getenv("CT_SEED");
	unsigned seed = seed_text ? (unsigned)atoi(seed_text) : (unsigned)time(NULL);
	struct ct_environment_facts facts = { 0 }, copied;
	struct ct_arena *memory = ct_arena_new();

	(void)state;
	print_message("CT_SEED=%u\n", seed);
	srandom(seed);
	for (int i = 0; i < 20000; i++) {
		size_t len = (size_t)random() % (i % 100 ? 12 : 6000);
		uint8_t *bytes = malloc(len ? len : 1); /* no space behind it */

		for (size_t b = 0; b < len; b++)
			bytes[b] = (uint8_t) "ab.=\0\n\xc3\xa9"[random() % 8];
		assert_int_equal(ct_facts_take(&facts, memory, bytes, len), CT_OK);
		assert_int_equal(ct_facts_take_unseen(&facts, memory, bytes, len), CT_OK);
		free(bytes);
	}
	assert_in_range(facts.n, 1, CT_FACTS_MOST);
	for (uint32_t i = 0; i < facts.n; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(facts.facts[i].name, facts.facts[k].name);
	assert_int_equal(ct_facts_copy(&copied, memory, &facts), CT_OK);
	ct_facts_fini(&facts);
	ct_arena_free(memory);
}

static void what_passes_unseen_is_reported_once_with_reason_and_remedy(void **state)
{
	static const char seen[] = "NCCL_HIDDEN=/opt/app/libtrain.so";
	const struct ct_invisible_row *row = ct_invisible_by_id("NCCL_HIDDEN");
	struct ct_report *r;

	(void)state;
	open_job(4, "run");
	everywhere("env.NCCL_ALGO=Ring");
	for (int rank = 1; rank < 4; rank++)
		job_rare(&job, rank, CT_KIND_INVISIBLE, seen, sizeof(seen) - 1);
	r = report();
	assert_int_equal(r->n_invisible, 1);
	assert_string_equal(r->invisible[0].what, row->what);
	assert_non_null(strstr(r->invisible[0].why, row->why));
	assert_non_null(strstr(r->invisible[0].why, "/opt/app/libtrain.so on ranks 1-3"));
	assert_string_equal(r->invisible[0].remedy, row->remedy);
	ct_report_free(r);
}

static void runs_without_start_records_say_so(void **state)
{
	struct ct_report *r;
	char *text;

	(void)state;
	open_job(2, "run");
	r = report();
	assert_int_equal(r->environment.n_ranks, 0);
	text = job_text(r, 1);
	assert_non_null(strstr(text, "\nenvironment\nnot recorded\n"));
	free(text);
	ct_report_free(r);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)
		TEST(a_program_is_what_the_process_runs_else_its_executable),
		TEST(exactly_what_differs_is_listed_with_who_has_what),
		TEST(a_setting_that_no_library_of_nccl_contains_is_reported),
		TEST(a_setting_of_another_version_is_not_called_misspelt),
		TEST(a_misspelt_setting_is_reported_with_the_near_one),
		TEST(settings_that_contradict_each_other_are_reported),
		TEST(devices_that_are_not_what_they_could_be_are_counted),
		TEST(devices_that_are_not_on_record_are_not_counted),
		TEST(settings_that_are_read_or_not_searched_are_no_finding),
		TEST(equal_environments_are_no_finding),
		TEST(a_variable_that_only_some_have_differs_another_fact_is_unknown),
		TEST(pcie_width_is_compared_between_gpus_of_one_make),
		TEST(ranks_on_different_mpis_are_reported_with_a_finding),
		TEST(the_last_value_of_a_fact_counts),
		TEST(bad_records_are_left_out_and_the_rest_is_kept),
		TEST(whatever_a_record_holds_is_survived),
		TEST(what_passes_unseen_is_reported_once_with_reason_and_remedy),
		TEST(runs_without_start_records_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
