/* SPDX-License-Identifier: Apache-2.0 */
/* Profiler plugins: found by path, and given calls, launches and kernels in the terms of their
 * version. Each test is a process of its own, because a plugin is loaded once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/ranks.h"
#include "tools/sim/driver.h"
#include "tools/sim/nccl/hash.h"
#include "tools/sim/nccl/job.h"

static char log_path[64];
static _Atomic uint64_t hash;

static void works(struct rank *r)
{
	float *p = device_memory(r, 256);

	hash = sim_hash_bytes(r->id.internal, 128);
	join(r);
	for (int i = 0; i < 2; i++)
		CHECK(r, !ncclAllReduce(p, p, 4, ncclFloat32, ncclSum, r->comm, r->stream));
	CHECK(r, !ncclGroupStart());
	CHECK(r, !ncclSend(p, 3, ncclFloat32, 1 - r->rank, r->comm, r->stream));
	CHECK(r, !ncclRecv(p + 8, 3, ncclFloat32, 1 - r->rank, r->comm, r->stream));
	CHECK(r, !ncclGroupEnd());
	/* made of sends and receives; counted in bytes */
	CHECK(r, !ncclAlltoAll(p + 16, p + 20, 2, ncclFloat32, r->comm, r->stream));
	CHECK(r, !ncclAllGather(p + 16, p + 20, 2, ncclFloat32, r->comm, r->stream));
	/* dropped where it comes in */
	CHECK(r, !ncclAllReduce(p, p, 0, ncclFloat32, ncclSum, r->comm, r->stream));
}

/* How many lines have both. */
static int lines(const char *a, const char *b)
{
	FILE *f = fopen(log_path, "r");
	char line[256];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, a) && strstr(line, b);
	if (f)
		fclose(f);
	return n;
}

static void run_body(const char *plugin, int tells_comms, void (*body)(struct rank *r))
{
	char init[32];
	int status, fd;
	pid_t pid;

	snprintf(log_path, sizeof(log_path), "/tmp/sim-profiler-XXXXXX");
	fd = mkstemp(log_path);
	assert_true(fd >= 0);
	close(fd);
	pid = fork();
	if (!pid) {
		setenv("NCCL_PROFILER_PLUGIN", plugin, 1);
		setenv("PROFILER_LOG", log_path, 1);
		status = in_threads(2, body);
		/* Both ranks are listed, by the name that the communicator has in NCCL's log. */
		snprintf(init, sizeof(init), "init %016llx", (unsigned long long)hash);
		_exit(status || lines(init, "ranks 2") != (tells_comms ? 2 : 0));
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void run_with(const char *plugin, int tells_comms)
{
	run_body(plugin, tells_comms, works);
}

/* Every event ends once, kernels after they began, and the plugin last. */
static void check_ends(void)
{
	FILE *f = fopen(log_path, "r");
	char line[256], what[16];
	unsigned long long begins[512] = { 0 }, at;
	int ends[512] = { 0 }, n, last = 0;
	char *timer;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%d %15s", &n, what) != 2)
			continue;
		assert_in_range(n, 1, 511);
		last = n > last ? n : last;
		ends[n] += !strcmp(what, "stop");
		timer = strstr(line, " at ");
		at = timer ? strtoull(timer + 4, NULL, 10) : 0;
		if (timer && !strcmp(what, "start"))
			begins[n] = at;
		else if (timer)
			assert_true(begins[n] && at > begins[n] && at - begins[n] < 10000000000u);
		assert_true(at % 1024 == 0);
	}
	fclose(f);
	for (n = 1; n <= last; n++)
		assert_int_equal(ends[n], 1);
	assert_int_equal(lines("finalize", ""), 2);
	unlink(log_path);
}

static void check_calls(const char *plugin)
{
	run_with(plugin, 1);
	assert_int_equal(lines("start 0x100 below 0", ""), 10); /* 5 groups of 2 ranks */
	assert_int_equal(lines("state 23", ""), 10);
	assert_int_equal(lines("state 24", ""), 10);
	assert_int_equal(lines("start 0x200", ""), 6);
	assert_int_equal(lines("start 0x400", ""), 4 + 8);
	assert_int_equal(lines("start 0x400", "rank 1"), 0); /* calls do not show it */
	assert_int_equal(lines("start 0x800", ""), 10);
	assert_int_equal(lines("start 0x1 ", ""), 10);
	assert_int_equal(lines("start 0x2 ", "AllReduce 4 ncclFloat32 seq 0"), 2);
	assert_int_equal(lines("start 0x2 ", "AllReduce 4 ncclFloat32 seq 1"), 2);
	assert_int_equal(lines("start 0x2 ", "AllGather 8 ncclInt8 seq 0"), 2);
	assert_int_equal(lines("start 0x4 ", "Send 3 to 1"), 1);
	assert_int_equal(lines("start 0x4 ", "Recv 3 to 0"), 1);
	assert_int_equal(lines("start 0x4 ", "Send 2 to"), 4);
	assert_int_equal(lines("start 0x40 ", " at "), 10 + 8);
	assert_int_equal(lines("state 22", ""), 10 + 8);
	assert_int_equal(lines("start 0x40 below 0", ""), 0);
	assert_int_equal(lines("start 0x2 below 0", ""), 0);
	check_ends();
}

static void version_6_gets_what_version_5_gets(void **state)
{
	(void)state;
	check_calls(PLUGIN_V6);
}

static void version_5_gets_calls_launches_and_kernels(void **state)
{
	(void)state;
	check_calls(PLUGIN_V5);
}

static void version_4_gets_groups_and_kernels(void **state)
{
	(void)state;
	run_with(PLUGIN_V4, 1);
	assert_int_equal(lines("start 0x1 below 0", ""), 10);
	assert_int_equal(lines("start 0x2 ", "AllReduce 4 ncclFloat32 seq 1"), 2);
	assert_int_equal(lines("start 0x2 below 0", ""), 0);
	assert_int_equal(lines("start 0x4 ", "3 to"), 4);
	assert_int_equal(lines("start 0x40 ", " at "), 10 + 8);
	assert_int_equal(lines("00 below", ""), 0);
	check_ends();
}

static void version_3_does_not_get_the_times_of_kernels(void **state)
{
	(void)state;
	run_with(PLUGIN_V3, 0);
	assert_int_equal(lines("start 0x1 below 0", ""), 10);
	assert_int_equal(lines("start 0x2 ", "AllReduce 4 ncclFloat32 seq 1"), 2);
	assert_int_equal(lines("start 0x4 ", "3 to"), 4);
	assert_int_equal(lines("start 0x40 ", ""), 10 + 8);
	assert_int_equal(lines("state", ""), 0);
	assert_int_equal(lines("00 below", ""), 0);
	check_ends();
}

/* ---- graphs
 * -------------------------------------------------------------------------------------------------------
 */

enum { LAUNCHES = 3, CAPTURED = 2, RANKS = 2 };

/* In each rank the same, and how many host nodes there must be afterwards. */
static void replays(struct rank *r, uint64_t host_nodes)
{
	float *p = device_memory(r, 256);
	CUgraphExec exec = NULL;
	CUgraph graph = NULL;

	hash = sim_hash_bytes(r->id.internal, 128);
	join(r);
	CHECK(r, !cuStreamBeginCapture_v2(r->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	for (int i = 0; i < CAPTURED; i++)
		CHECK(r, !ncclAllReduce(p, p, 4, ncclFloat32, ncclSum, r->comm, r->stream));
	CHECK(r, !cuStreamEndCapture(r->stream, &graph));
	CHECK(r, !cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < LAUNCHES; i++)
		CHECK(r, !cuGraphLaunch(exec, r->stream));
	finish(r);
	/* the other rank's have been captured by now */
	CHECK(r, simNcclHostNodes() == host_nodes);
	CHECK(r, !simFirstMisuse());
	CHECK(r, !cuGraphExecDestroy(exec));
	CHECK(r, !cuGraphDestroy(graph));
}

static void with_host_nodes(struct rank *r)
{
	replays(r, CAPTURED * RANKS);
}

static void without_host_nodes(struct rank *r)
{
	replays(r, 0);
}

static void asked_for_channels_it_puts_host_nodes_into_graphs(void **state)
{
	(void)state;
	run_body(PLUGIN_V5, 1, with_host_nodes);
	assert_int_equal(lines("start 0x2 ", "AllReduce"), LAUNCHES * CAPTURED * RANKS);
	assert_int_equal(lines("start 0x40 ", " at "), LAUNCHES * CAPTURED * RANKS);
	assert_int_equal(lines("start 0x200", "captured"), CAPTURED * RANKS);
	check_ends();
}

static void without_channels_graphs_are_reported_once(void **state)
{
	(void)state;
	setenv("PROFILER_MASK", "0xfbf", 1);
	run_body(PLUGIN_V5, 1, without_host_nodes);
	unsetenv("PROFILER_MASK");
	assert_int_equal(lines("start 0x2 ", "AllReduce"), CAPTURED * RANKS);
	assert_int_equal(lines("start 0x40 ", ""), 0);
	check_ends();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_5_gets_calls_launches_and_kernels),
		cmocka_unit_test(version_6_gets_what_version_5_gets),
		cmocka_unit_test(version_4_gets_groups_and_kernels),
		cmocka_unit_test(version_3_does_not_get_the_times_of_kernels),
		cmocka_unit_test(asked_for_channels_it_puts_host_nodes_into_graphs),
		cmocka_unit_test(without_channels_graphs_are_reported_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
