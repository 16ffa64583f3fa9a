/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "interpose/hydra.h"
#include "interpose/identity.h"

static struct ct_process identify(const char *const *env)
{
	struct ct_process process;
	struct ct_settings settings;
	struct ct_notes notes = { .n = 0 };

	memset(&process, 0, sizeof(process));
	ct_settings_read(&settings, (char *const *)(uintptr_t)env, &notes);
	ct_identity_read(&process, &settings, (char *const *)(uintptr_t)env);
	return process;
}

#define IDENTIFY(...) identify((const char *const[]){ __VA_ARGS__, NULL })

static void the_process_is_this_one(void **state)
{
	struct ct_process p = IDENTIFY("A=b"), q = IDENTIFY("A=b");

	(void)state;
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.ppid, getppid());
	assert_int_equal(p.uid, geteuid());
	assert_true(p.start_ticks > 0);
	assert_true(p.pidns > 0);
	assert_true(p.hostkey != 0 && p.hostkey == q.hostkey);
	assert_int_equal(strlen(p.boot_id), 36);
	assert_true(strstr(p.exe, "identity") != NULL);
	assert_int_equal(p.rank, -1);
	assert_int_equal(p.world_size, -1);
	assert_int_equal(p.local_rank, -1);
	assert_int_equal(p.restart, 0);
}

static void the_host_can_be_named(void **state)
{
	struct ct_process p = IDENTIFY("COMMTRACE_HOST=a"), q = IDENTIFY("COMMTRACE_HOST=b"),
			  r = IDENTIFY("A=b");

	(void)state;
	assert_string_equal(p.host, "a");
	assert_true(p.hostkey != q.hostkey && p.hostkey != r.hostkey);
}

static void the_nearest_launcher_reports_the_rank(void **state)
{
	struct ct_process p;

	(void)state;
	p = IDENTIFY("SLURM_PROCID=9", "SLURM_NTASKS=16", "SLURM_LOCALID=1");
	assert_int_equal(p.rank, 9);
	assert_int_equal(p.world_size, 16);
	assert_int_equal(p.local_rank, 1);
	p = IDENTIFY("SLURM_PROCID=9", "PMI_RANK=3", "PMI_SIZE=4");
	assert_int_equal(p.rank, 3);
	p = IDENTIFY("PMI_RANK=3", "PMIX_RANK=2");
	assert_int_equal(p.rank, 2);
	p = IDENTIFY("PMIX_RANK=2", "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=8",
		     "OMPI_COMM_WORLD_LOCAL_RANK=0");
	assert_int_equal(p.rank, 1);
	assert_int_equal(p.world_size, 8);
	p = IDENTIFY("MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=8",
		     "MV2_COMM_WORLD_LOCAL_RANK=0", "PMI_RANK=7");
	assert_int_equal(p.rank, 1);
	assert_int_equal(p.world_size, 8);
	p = IDENTIFY("OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=8", "RANK=5", "WORLD_SIZE=6",
		     "LOCAL_RANK=2", "TORCHELASTIC_RESTART_COUNT=3");
	assert_int_equal(p.rank, 5);
	assert_int_equal(p.world_size, 6);
	assert_int_equal(p.local_rank, 2);
	assert_int_equal(p.restart, 3);
	p = IDENTIFY("RANK=5", "WORLD_SIZE=6", "COMMTRACE_RANK=4");
	assert_int_equal(p.rank, 4);
	assert_int_equal(p.world_size, 6);
}

static void what_is_no_rank_is_none(void **state)
{
	(void)state;
	assert_int_equal(IDENTIFY("RANK=x").rank, -1);
	assert_int_equal(IDENTIFY("RANK=").rank, -1);
	assert_int_equal(IDENTIFY("RANK=-2").rank, -1);
	assert_int_equal(IDENTIFY("RANK=99999999999").rank, -1);
	assert_int_equal(IDENTIFY("RANK=1x", "PMI_RANK=2").rank, 2);
}

static void the_job_is_named_by_who_knows_it(void **state)
{
	(void)state;
	assert_string_equal(IDENTIFY("MASTER_ADDR=10.0.0.1", "MASTER_PORT=29500").job,
			    "10.0.0.1-29500");
	assert_string_equal(
		IDENTIFY("MASTER_ADDR=a", "MASTER_PORT=1", "TORCHELASTIC_RUN_ID=none").job, "a-1");
	assert_string_equal(
		IDENTIFY("MASTER_ADDR=a", "MASTER_PORT=1", "TORCHELASTIC_RUN_ID=run7").job, "run7");
	assert_string_equal(IDENTIFY("TORCHELASTIC_RUN_ID=run7", "PMIX_NAMESPACE=n.1").job, "n.1");
	assert_string_equal(IDENTIFY("PMIX_NAMESPACE=n.1", "SLURM_JOB_ID=77").job, "77.0");
	assert_string_equal(IDENTIFY("SLURM_JOB_ID=77", "SLURM_STEP_ID=2").job, "77.2");
	assert_string_equal(IDENTIFY("SLURM_JOB_ID=77", "COMMTRACE_JOB=mine").job, "mine");
	assert_true(strchr(IDENTIFY("A=b").job, '-') != NULL);
	assert_string_equal(IDENTIFY("A=b").job, IDENTIFY("A=b").job);
}

/* One rank of each node of an OpenMPI job in a Slurm allocation: only the second was started
 * through a step. */
static void the_ranks_of_an_mpirun_agree_on_their_job(void **state)
{
#define RANK_OF_OMPI "OMPI_COMM_WORLD_RANK=1", "PMIX_NAMESPACE=7", "SLURM_JOB_ID=77"
#define URI "OMPI_MCA_orte_hnp_uri=6.0;tcp://192.0.2.2:"
	struct ct_process here, there, next;

	(void)state;
	here = IDENTIFY(RANK_OF_OMPI, URI "1000");
	there = IDENTIFY(RANK_OF_OMPI, URI "1000", "SLURM_STEP_ID=3", "SLURM_PROCID=0");
	next = IDENTIFY(RANK_OF_OMPI, URI "1001");
	assert_string_equal(here.job, there.job);
	assert_string_not_equal(here.job, next.job);
	assert_memory_equal(here.job, "77.7-", 5);
	assert_string_equal(IDENTIFY("OMPI_COMM_WORLD_RANK=1", "PMIX_NAMESPACE=prte-a-9@1").job,
			    "prte-a-9_1");
	assert_string_equal(IDENTIFY("PMI_RANK=1", "I_MPI_HYDRA_UUID=ab-1", "A=b").job, "ab-1");
}

/* MPICH's mpirun says nothing, srun says it all. */
static void a_pmi_rank_without_a_proxy_falls_back(void **state)
{
	(void)state;
	assert_string_equal(IDENTIFY("PMI_RANK=1", "SLURM_JOB_ID=77", "SLURM_STEP_ID=2").job,
			    "77.2");
	assert_string_equal(IDENTIFY("PMI_RANK=1", "A=b").job, IDENTIFY("A=b").job);
}

#define PARSE(arguments) ct_hydra_parse(arguments, sizeof(arguments), name, sizeof(name))
static void a_proxy_is_reported_where_its_mpiexec_listens(void **state)
{
	char name[100];

	(void)state;
	assert_int_equal(PARSE("/usr/bin/hydra_pmi_proxy\0--control-port\0n1:4002\0--pgid\0000"),
			 0);
	assert_string_equal(name, "n1:4002");
	/* spawned ranks count from 0 again, so they are another job */
	assert_int_equal(PARSE("hydra_pmi_proxy\0--pgid\0001\0--control-port\0n1:4002"), 0);
	assert_string_equal(name, "n1:4002.1");
	assert_int_equal(PARSE("/bin/bash\0run.sh\0--control-port\0n1:4002"), -1);
	assert_string_equal(name, "");
	assert_int_equal(PARSE("hydra_pmi_proxy\0--control-port"), -1);
	assert_int_equal(PARSE("hydra_pmi_proxy"), -1);
}

static void srun_with_pmix_reports_the_size_in_its_own_words(void **state)
{
	struct ct_process p;

	(void)state;
	p = IDENTIFY("PMIX_RANK=3", "PMIX_NAMESPACE=slurm.pmix.77.0", "SLURM_PROCID=3",
		     "SLURM_NTASKS=8", "SLURM_LOCALID=1");
	assert_int_equal(p.rank, 3);
	assert_int_equal(p.world_size, 8);
	assert_int_equal(p.local_rank, 1);
	/* Another launcher inside a step: its ranks are none of Slurm's. */
	p = IDENTIFY("PMIX_RANK=0", "PMIX_NAMESPACE=prte@1", "SLURM_PROCID=0", "SLURM_NTASKS=8");
	assert_int_equal(p.rank, 0);
	assert_int_equal(p.world_size, -1);
}

static void a_job_name_is_a_file_name(void **state)
{
	struct ct_process p = IDENTIFY("COMMTRACE_JOB=../a b/\xc3\xa4\n;x");
	char name[400];

	(void)state;
	assert_string_equal(p.job, "_._a_b_____x");
	memset(name, 'j', sizeof(name));
	memcpy(name, "COMMTRACE_JOB=", 14);
	name[sizeof(name) - 1] = '\0';
	p = IDENTIFY(name);
	assert_int_equal(strlen(p.job), sizeof(p.job) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_process_is_this_one),
		cmocka_unit_test(the_host_can_be_named),
		cmocka_unit_test(the_nearest_launcher_reports_the_rank),
		cmocka_unit_test(what_is_no_rank_is_none),
		cmocka_unit_test(the_job_is_named_by_who_knows_it),
		cmocka_unit_test(the_ranks_of_an_mpirun_agree_on_their_job),
		cmocka_unit_test(a_pmi_rank_without_a_proxy_falls_back),
		cmocka_unit_test(a_proxy_is_reported_where_its_mpiexec_listens),
		cmocka_unit_test(srun_with_pmix_reports_the_size_in_its_own_words),
		cmocka_unit_test(a_job_name_is_a_file_name),
	};

	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
