/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's counter of processes killed for lack of memory, from files as both versions of
 * cgroups have them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/fixture.h"
#include "trace/oom.h"

static int read_here(struct ct_oom *oom)
{
	char root[4096];

	snprintf(root, sizeof(root), "%s", fx_path("."));
	errno = 55;
	*oom = (struct ct_oom){ 0 };
	if (!ct_oom_read(root, oom)) {
		assert_int_equal(errno, 55);
		return 0;
	}
	assert_int_equal(errno, 55);
	assert_int_not_equal(oom->where, 0);
	return 1;
}

#define EVENTS "low 0\nhigh 0\nmax 12\noom 4\noom_kill 3\noom_group_kill 0\n"

static void version_2_reports_by_group(void **state)
{
	struct ct_oom oom, other;

	(void)state;
	fx_put("proc/self/cgroup", "0::/job/step_0\n");
	fx_put("sys/fs/cgroup/job/step_0/memory.events", EVENTS);
	fx_put("sys/fs/cgroup/job/memory.events", "oom_kill 9\n");
	assert_true(read_here(&oom));
	assert_int_equal(oom.kills, 3);
	fx_put("proc/self/cgroup", "0::/job\n");
	assert_true(read_here(&other));
	assert_int_equal(other.kills, 9);
	assert_true(oom.where != other.where);
}

static void version_1_reports_by_group(void **state)
{
	struct ct_oom oom;

	(void)state;
	fx_put("proc/self/cgroup", "9:name=systemd:/x\n4:cpuset,memory:/job\n1:cpu:/\n0::/\n");
	fx_put("sys/fs/cgroup/memory/job/memory.oom_control",
	       "oom_kill_disable 0\nunder_oom 0\noom_kill 17\n");
	assert_true(read_here(&oom));
	assert_int_equal(oom.kills, 17);
}

/* As in a container whose own group is mounted as the root. */
static void of_a_group_that_cannot_be_seen_the_nearest_above_reports(void **state)
{
	struct ct_oom oom;

	(void)state;
	fx_put("proc/self/cgroup", "0::/kubepods/pod1/main\n");
	fx_put("sys/fs/cgroup/memory.events", EVENTS);
	assert_true(read_here(&oom));
	assert_int_equal(oom.kills, 3);
}

static void where_nothing_counts_nothing_is_known(void **state)
{
	struct ct_oom oom;

	(void)state;
	assert_false(read_here(&oom));
	fx_put("proc/self/cgroup", "0::/job\n");
	assert_false(read_here(&oom));
	fx_put("sys/fs/cgroup/job/memory.events", "low 0\noom 4\n");
	assert_false(read_here(&oom));
	fx_put("proc/self/cgroup", "nonsense");
	assert_false(read_here(&oom));
	fx_put("proc/self/cgroup", "");
	assert_false(read_here(&oom));
}

#define OOM_TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OOM_TEST(version_2_reports_by_group),
		OOM_TEST(version_1_reports_by_group),
		OOM_TEST(of_a_group_that_cannot_be_seen_the_nearest_above_reports),
		OOM_TEST(where_nothing_counts_nothing_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
