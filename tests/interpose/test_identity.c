/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

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

static void the_nearest_launcher_tells_the_rank(void **state)
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
		cmocka_unit_test(the_nearest_launcher_tells_the_rank),
		cmocka_unit_test(what_is_no_rank_is_none),
		cmocka_unit_test(the_job_is_named_by_who_knows_it),
		cmocka_unit_test(a_job_name_is_a_file_name),
	};

	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
