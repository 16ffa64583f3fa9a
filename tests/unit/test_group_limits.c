/* SPDX-License-Identifier: Apache-2.0 */
/* What a container leaves of its memory and its threads, from files as both versions of cgroups
 * have them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fixture.h"
#include "trace/limits.h"

#define GB "000000000"

static char why[160];

static int is_tight(enum ct_limit limit)
{
	char root[4096];
	int tight;

	snprintf(root, sizeof(root), "%s", fx_path("."));
	errno = 55;
	why[0] = '\0';
	tight = ct_group_limit_is_tight(root, limit, why, sizeof(why));
	assert_int_equal(errno, 55);
	assert_int_equal(tight, why[0] != '\0');
	return tight;
}

static void without_a_limit_there_is_room(void **state)
{
	(void)state;
	assert_false(is_tight(CT_LIMIT_GROUP_MEMORY));
	assert_false(is_tight(CT_LIMIT_GROUP_THREADS));
	fx_put("proc/self/cgroup", "0::/job\n");
	fx_put("sys/fs/cgroup/job/memory.max", "max\n");
	fx_put("sys/fs/cgroup/job/memory.current", "9" GB "\n");
	fx_put("sys/fs/cgroup/job/pids.max", "max\n");
	assert_false(is_tight(CT_LIMIT_GROUP_MEMORY));
	assert_false(is_tight(CT_LIMIT_GROUP_THREADS));
}

static void memory_that_the_kernel_can_take_back_is_left(void **state)
{
	(void)state;
	fx_put("proc/self/cgroup", "0::/job\n");
	fx_put("sys/fs/cgroup/job/memory.max", "4" GB "\n");
	fx_put("sys/fs/cgroup/job/memory.current", "3900000000\n");
	fx_put("sys/fs/cgroup/job/memory.stat",
	       "anon 1\nfile 2\ninactive_file 2" GB "\nactive_file 3\n");
	assert_false(is_tight(CT_LIMIT_GROUP_MEMORY));
	fx_put("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 5000000\n");
	assert_true(is_tight(CT_LIMIT_GROUP_MEMORY));
	assert_string_equal(
		why, "100 MB of memory are left to this container (memory.max), less than 512 MB");
}

static void the_tightest_group_above_counts(void **state)
{
	(void)state;
	fx_put("proc/self/cgroup", "0::/pod/main\n");
	fx_put("sys/fs/cgroup/pod/main/memory.max", "max\n");
	fx_put("sys/fs/cgroup/pod/main/pids.max", "max\n");
	fx_put("sys/fs/cgroup/pod/memory.max", "1" GB "\n");
	fx_put("sys/fs/cgroup/pod/memory.current", "800000000\n");
	fx_put("sys/fs/cgroup/pod/pids.max", "1000\n");
	fx_put("sys/fs/cgroup/pod/pids.current", "900\n");
	assert_true(is_tight(CT_LIMIT_GROUP_MEMORY));
	assert_true(is_tight(CT_LIMIT_GROUP_THREADS));
	assert_string_equal(why,
			    "100 threads are left to this container (pids.max), less than 192");
	fx_put("sys/fs/cgroup/pod/pids.max", "2000\n");
	assert_false(is_tight(CT_LIMIT_GROUP_THREADS));
}

static void version_1_has_a_group_for_each_controller(void **state)
{
	(void)state;
	fx_put("proc/self/cgroup", "9:pids:/many\n4:cpuset,memory:/job\n1:cpu:/\n0::/\n");
	fx_put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
	fx_put("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "5" GB "\n");
	fx_put("sys/fs/cgroup/pids/many/pids.max", "64\n");
	fx_put("sys/fs/cgroup/pids/many/pids.current", "3\n");
	assert_false(is_tight(CT_LIMIT_GROUP_MEMORY));
	assert_true(is_tight(CT_LIMIT_GROUP_THREADS));
	fx_put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "5200000000\n");
	assert_true(is_tight(CT_LIMIT_GROUP_MEMORY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_limit_there_is_room, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(memory_that_the_kernel_can_take_back_is_left,
						fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(the_tightest_group_above_counts, fx_setup,
						fx_teardown),
		cmocka_unit_test_setup_teardown(version_1_has_a_group_for_each_controller, fx_setup,
						fx_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
