/* SPDX-License-Identifier: Apache-2.0 */
/* The start record of this very process, from an environment and a /sys that the test makes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "interpose/environ/environ.h"
#include "interpose/environ/program.h"
#include "interpose/environ/system.h"
#include "interpose/recorder.h"
#include "interpose/threads.h"
#include "trace/topology.h"

static char root[64];

/* Who makes threads is counted (the linker sends the library's calls here). */
int __real_ct_thread_start(void *(*body)(void *), void *arg);
int __wrap_ct_thread_start(void *(*body)(void *), void *arg);
static int started;

int __wrap_ct_thread_start(void *(*body)(void *), void *arg)
{
	started++;
	return __real_ct_thread_start(body, arg);
}

static void read_environment(const char *const *env)
{
	ct_environ_read((char *const *)(uintptr_t)env);
}

static void make_bytes(const char *path, const char *bytes, size_t len)
{
	char full[640];
	size_t above = strlen(root);

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *slash = full + above + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		assert_true(mkdir(full, 0700) == 0 || errno == EEXIST);
	}
	if (bytes) {
		FILE *file = fopen(full, "w");

		assert_non_null(file);
		fwrite(bytes, 1, len, file);
		fclose(file);
	}
}

static void make(const char *path, const char *text)
{
	make_bytes(path, text, text ? strlen(text) : 0);
}

static void make_link(const char *target, const char *path)
{
	char full[256];

	make(path, NULL);
	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(symlink(target, full), 0);
}

static int set_up(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/commtrace-environ.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[96];

	const struct timespec nap = { 0, 1000000 };

	(void)state;
	/* the thread may still be on its way out with the root and the lists of this test */
	while (ct_environ_is_looking())
		nanosleep(&nap, NULL);
	ct_environ_root = "";
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

/* The latest value of a key in the records of a block; NULL: none. `kind` INVISIBLE: of an ID. */
static const char *recorded_as(enum ct_kind kind, const char *key)
{
	static char value[CT_FACTS_BYTES];
	struct ct_environ_seen seen;
	struct ct_block block;
	const char *found = NULL;
	size_t len = strlen(key);

	memset(&block, 0, sizeof(block));
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(ct_environ_add(&seen, &block, 1), CT_OK);
	for (uint32_t i = 0; i < block.n_rares; i++) {
		const struct ct_rare *rare = &block.rares[i];
		const char *bytes = (const char *)block.bytes + rare->at;

		if (rare->kind != kind || rare->len <= len || memcmp(bytes, key, len) != 0 ||
		    bytes[len] != '=')
			continue;
		memcpy(value, bytes + len + 1, rare->len - len - 1);
		value[rare->len - len - 1] = '\0';
		found = value;
	}
	ct_block_fini(&block);
	return found;
}

static const char *recorded(const char *key)
{
	return recorded_as(CT_KIND_ENV, key);
}

/* Total bytes and number of records. */
static size_t record_all(uint32_t *n)
{
	struct ct_environ_seen seen;
	struct ct_block block;
	size_t bytes = 0;

	memset(&block, 0, sizeof(block));
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(ct_environ_add(&seen, &block, 1), CT_OK);
	for (uint32_t i = 0; i < block.n_rares; i++)
		bytes += block.rares[i].len;
	*n = block.n_rares;
	ct_block_fini(&block);
	return bytes;
}

static void only_what_is_allowed_is_recorded(void **state)
{
	static const char *const env[] = { "NCCL_ALGO=Ring",
					   "NCCLX=1",
					   "HOME=/somewhere",
					   "CUDA_VISIBLE_DEVICES=3",
					   "OMP_NUM_THREADS=8",
					   "NOTHING",
					   "=",
					   "TORCH_DISTRIBUTED_DEBUG=",
					   NULL };

	(void)state;
	read_environment(env);
	assert_string_equal(recorded("env.NCCL_ALGO"), "Ring");
	assert_string_equal(recorded("env.CUDA_VISIBLE_DEVICES"), "3");
	assert_string_equal(recorded("env.OMP_NUM_THREADS"), "8");
	assert_string_equal(recorded("env.TORCH_DISTRIBUTED_DEBUG"), "");
	assert_null(recorded("env.NCCLX"));
	assert_null(recorded("env.HOME"));
}

/* By the name, whatever it is allowed by, and by what it looks like. */
static void secrets_are_never_recorded(void **state)
{
	static const char *const env[] = { "NCCL_API_TOKEN=hush",
					   "NCCL_Password=hush",
					   "UCX_SECRET=hush",
					   "FI_KEYFILE=hush",
					   "GLOO_DEVICE_TRANSPORT_TCP_TLS_PKEY=hush",
					   "NCCL_AUTH=hush",
					   "NCCL_RAS_ADDR=x://me:hush@there",
					   "AWS_SECRET_ACCESS_KEY=hush",
					   "HF_TOKEN=hush",
					   NULL };
	uint32_t n;

	(void)state;
	read_environment(env);
	record_all(&n);
	assert_int_equal(n, 0);
}

static void a_thousand_long_variables_are_bounded_and_counted(void **state)
{
	static char text[1000][700];
	static const char *env[1002];
	uint32_t n;
	int kept = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(text[i], sizeof(text[i]), "UCX_%04d=", i);
		memset(text[i] + 9, 'x', sizeof(text[i]) - 10);
		env[i] = text[i];
	}
	/* what matters most comes last in the environment, and is kept all the same */
	env[1000] = "NCCL_ALGO=Tree";
	read_environment(env);
	assert_in_range(record_all(&n), 1, CT_FACTS_BYTES + 100);
	assert_string_equal(recorded("env.NCCL_ALGO"), "Tree");
	for (int i = 0; i < 1000; i++) {
		char key[32];
		const char *value;

		snprintf(key, sizeof(key), "env.UCX_%04d", i);
		value = recorded(key);
		kept += value != NULL;
		if (value) {
			assert_int_equal(strlen(value), CT_FACT_VALUE - 1);
			assert_string_equal(value + CT_FACT_VALUE - 4, "...");
		}
	}
	assert_in_range(kept, 1, 999);
	assert_int_equal(atoi(recorded("env_left_out")), 1000 - kept);
}

static void the_kernel_reports_gpus_and_network_devices(void **state)
{
	static struct ct_facts facts;

	(void)state;
	make("/sys/bus/pci/devices/0000:3b:00.0/current_link_width", "8\n");
	make("/sys/bus/pci/devices/0000:3b:00.0/max_link_width", "16\n");
	make("/sys/bus/pci/devices/0000:3b:00.0/current_link_speed", "16.0 GT/s PCIe\n");
	make("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
	make("/sys/class/net/eth7/operstate", "up\n");
	make("/sys/class/net/eth7/speed", "25000\n");
	make("/sys/class/net/eth7/mtu", "9000\n");
	make("/sys/devices/x/0000:5e:00.0/numa_node", "-1\n");
	make_link("../../../devices/x/0000:5e:00.0", "/sys/class/net/eth7/device");
	make_link("../../../bus/pci/drivers/mlx5_core", "/sys/devices/x/0000:5e:00.0/driver");
	make("/sys/class/net/veth1/operstate", "down\n");
	make("/sys/class/net/lo/operstate", "up\n");
	make("/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
	make("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	make_link("../../../devices/x/0000:5e:00.0", "/sys/class/infiniband/mlx5_0/device");
	ct_facts_clear(&facts);
	ct_topology_gpu(root, 2, "0000:3B:00.0", &facts); /* the driver's spelling */
	ct_topology_gpu(root, 3, "../../../../etc", &facts);
	ct_topology_nics(root, &facts);
	ct_topology_infiniband(root, &facts);
	assert_string_equal(ct_facts_find(&facts, "gpu.2.pcie_width"), "8");
	assert_string_equal(ct_facts_find(&facts, "gpu.2.pcie_width_max"), "16");
	assert_string_equal(ct_facts_find(&facts, "gpu.2.pcie_speed"), "16.0 GT/s PCIe");
	assert_string_equal(ct_facts_find(&facts, "gpu.2.numa"), "1");
	assert_string_equal(ct_facts_find(&facts, "nic.eth7.speed"), "25000");
	assert_string_equal(ct_facts_find(&facts, "nic.eth7.driver"), "mlx5_core");
	assert_string_equal(ct_facts_find(&facts, "nic.eth7.pci"), "0000:5e:00.0");
	assert_null(ct_facts_find(&facts, "nic.eth7.numa")); /* -1 is not a node */
	assert_null(ct_facts_find(&facts, "nic.veth1.state"));
	assert_null(ct_facts_find(&facts, "nic.lo.state"));
	assert_string_equal(ct_facts_find(&facts, "ib.mlx5_0.rate"), "400 Gb/sec (4X NDR)");
	assert_string_equal(ct_facts_find(&facts, "ib.mlx5_0.state"), "4: ACTIVE");
}

static void a_kernel_that_lies_does_no_harm(void **state)
{
	static struct ct_facts facts;
	char path[128];

	(void)state;
	make("/sys/class/net/e\001il/operstate", "up\n");
	make("/sys/class/net/eth1/operstate", "up\n");
	make("/sys/class/net/eth1/speed", "\033[31m\n0000\nmore\n");
	make("/sys/class/net/eth1/mtu", "");
	make("/sys/fs/cgroup/memory.max", "max\n");
	make("/proc/self/cgroup", "0::/../../..\n");
	make("/memory.max", "777\n");
	make("/proc/meminfo", "MemTotal: nonsense\n");
	make("/proc/cpuinfo", "model name\n");
	make("/sys/devices/system/cpu/online", NULL);
	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", root);
	assert_int_equal(mkdir(path, 0700), 0); /* a directory where a file should be */
	for (int i = 0; i < 300; i++) {
		char name[64];

		snprintf(name, sizeof(name), "/sys/class/infiniband/dev%d/ports/1/rate", i);
		make(name, "100 Gb/sec");
	}
	ct_facts_clear(&facts);
	ct_system_read(root, &facts);
	ct_topology_nics(root, &facts);
	ct_topology_infiniband(root, &facts);
	assert_string_equal(ct_facts_find(&facts, "nic.eth1.speed"), " [31m");
	assert_null(ct_facts_find(&facts, "nic.eth1.mtu"));
	assert_null(ct_facts_find(&facts, "memory.total"));
	assert_null(ct_facts_find(&facts, "cpu.model"));
	assert_null(ct_facts_find(&facts, "cpu.online"));
	assert_null(ct_facts_find(&facts, "cgroup.memory_max"));
	assert_in_range(atomic_load(&facts.used), 1, CT_FACTS_BYTES);
}

static void limits_of_the_control_group_are_those_of_the_nearest_group_that_has_one(void **state)
{
	static struct ct_facts facts;

	(void)state;
	make("/proc/self/cgroup", "12:cpu:/old\n0::/slice/job/step\n");
	make("/sys/fs/cgroup/slice/job/step/memory.max", "max\n");
	make("/sys/fs/cgroup/slice/job/memory.max", "1073741824\n");
	make("/sys/fs/cgroup/slice/memory.max", "4294967296\n");
	make("/sys/fs/cgroup/slice/job/step/cpu.max", "400000 100000\n");
	make("/proc/meminfo", "MemFree: 1 kB\nMemTotal:       527942792 kB\n");
	ct_facts_clear(&facts);
	ct_system_read(root, &facts);
	assert_string_equal(ct_facts_find(&facts, "cgroup.memory_max"), "1073741824");
	assert_string_equal(ct_facts_find(&facts, "cgroup.cpu_max"), "400000 100000");
	assert_string_equal(ct_facts_find(&facts, "memory.total"), "503 GiB");
}

/* A command line as /proc has it: the words with their NULs, and space after them. */
struct line {
	const char *words;
	size_t len;
	const char *program; /* NULL: none is recorded */
};
#define LINE(words, program)                                                                       \
	{                                                                                          \
		(words), sizeof(words), (program)                                                  \
	}

static void the_program_is_the_script_that_python_runs(void **state)
{
	static const struct line lines[] = {
		LINE("python3\0-u\0train.py\0--token\0hush", "train.py"),
		LINE("python3\0/data/job/train.py", "/data/job/train.py"),
		LINE("python3\0/usr/bin/torchrun\0train.py", "/usr/bin/torchrun"),
		LINE("python3\0-m\0torch.distributed.run\0train.py", "-m torch.distributed.run"),
		LINE("python3\0-um\0pkg.train\0--x", "-m pkg.train"),
		LINE("python3\0-mpkg.train", "-m pkg.train"),
		LINE("python3\0-X\0faulthandler\0-Wignore\0-OO\0train.py", "train.py"),
		LINE("python3\0-W\0ignore::UserWarning:cm\0-Bsm\0pkg", "-m pkg"),
		LINE("python3\0--check-hash-based-pycs\0never\0train.py", "train.py"),
		LINE("python3\0--\0train.py", "train.py"),
		LINE("python3\0job/", "job"),
		LINE("python3\0tr\033ain\n.py", "tr ain"),
		LINE("python3\0-c\0key='hush'\0train.py", NULL),
		LINE("python3\0-Bckey='hush'\0train.py", NULL),
		LINE("python3\0-\0train.py", NULL),
		LINE("python3\0-m", NULL),
		LINE("python3\0--", NULL),
		LINE("python3", NULL),
		LINE("python3: epoch 3\0\0train.py", NULL), /* renamed itself */
		LINE("", NULL),
	};
	static struct ct_facts facts;

	(void)state;
	make_link("/usr/bin/python3.11", "/proc/self/exe");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		make_bytes("/proc/self/cmdline", lines[i].words, lines[i].len);
		ct_facts_clear(&facts);
		ct_program_read(root, &facts);
		if (!lines[i].program)
			assert_null(ct_facts_find(&facts, "program"));
		else
			assert_string_equal(ct_facts_find(&facts, "program"), lines[i].program);
	}
}

static void no_program_is_recorded_where_it_is_not_python_or_not_known(void **state)
{
	static const char words[] = "bash\0train.sh";
	static char word_without_end[1 << 16];
	static struct ct_facts facts;
	char path[256];

	(void)state;
	ct_facts_clear(&facts);
	ct_program_read(root, &facts); /* no /proc */
	make_link("/usr/bin/bash", "/proc/self/exe");
	make_bytes("/proc/self/cmdline", words, sizeof(words));
	ct_program_read(root, &facts);
	snprintf(path, sizeof(path), "%s/proc/self/exe", root);
	assert_int_equal(unlink(path), 0);
	make_link("/usr/bin/python3.11", "/proc/self/exe");
	memset(word_without_end, 'x', sizeof(word_without_end));
	memcpy(word_without_end, "python3", sizeof("python3"));
	make_bytes("/proc/self/cmdline", word_without_end, sizeof(word_without_end));
	ct_program_read(root, &facts);
	assert_int_equal(atomic_load(&facts.used), 0);
}

static void the_affinity_is_what_was_set(void **state)
{
	static struct ct_facts facts;
	cpu_set_t before, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(1, &one);
	if (!CPU_ISSET(1, &before)) {
		CPU_ZERO(&one);
		CPU_SET(0, &one);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	ct_facts_clear(&facts);
	ct_system_read(root, &facts);
	sched_setaffinity(0, sizeof(before), &before);
	assert_string_equal(ct_facts_find(&facts, "cpu.affinity"), CPU_ISSET(1, &one) ? "1" : "0");
	assert_string_equal(ct_facts_find(&facts, "cpu.usable"), "1");
}

static void waits_for_a_processor_are_reported_at_the_end_and_when_they_change(void **state)
{
	static const char *const env[] = { NULL };
	const uint64_t now = ct_now_ns() - 200000000000ull;

	(void)state;
	ct_environ_root = root;
	read_environment(env);
	make("/proc/self/schedstat", "7 1000000000 9\n");
	ct_environ_serve(now);
	assert_null(recorded("cpu.waited_ppm"));
	make("/proc/self/schedstat", "7 2000000000 9\n");
	ct_environ_serve(now + 10000000000ull);
	assert_string_equal(recorded("cpu.waited_ppm"), "100000");
	/* hardly another share */
	make("/proc/self/schedstat", "7 3100000000 9\n");
	ct_environ_serve(now + 20000000000ull);
	assert_string_equal(recorded("cpu.waited_ppm"), "100000");
	make("/proc/self/schedstat", "7 11000000000 9\n");
	ct_environ_serve(now + 100000000000ull);
	make("/proc/self/schedstat", "7 51000000000 9\n");
	ct_environ_serve(now + 100000000001ull);
	assert_string_equal(recorded("cpu.waited_ppm"), "100000");
	ct_environ_serve(now + 150000000000ull);
	assert_string_equal(recorded("cpu.waited_ppm"), "333333");
	ct_environ_finish(1000000000ull);
	assert_in_range(atoi(recorded("cpu.waited_ppm")), 200000, 250000);
}

/* Serve like the write thread until `key` is there; one that never comes ends the test by its time
 * limit. */
static void serve_until(const char *key)
{
	const struct timespec nap = { 0, 5000000 };

	for (;;) {
		ct_environ_serve(ct_now_ns());
		if (recorded(key))
			return;
		nanosleep(&nap, NULL);
	}
}

/* A fifo without a writer: opening it blocks forever, like a driver that does not answer. */
static void files_that_hang_stop_nothing_and_are_named(void **state)
{
	static const char *const env[] = { "NCCL_ALGO=Ring", NULL };
	char path[128];
	uint64_t begin, took, since;
	int fd;

	(void)state;
	make("/sys/class/net/eth1/operstate", "up\n");
	make("/sys/class/net/eth1/speed", NULL);
	snprintf(path, sizeof(path), "%s/sys/class/net/eth1/speed", root);
	assert_int_equal(mkfifo(path, 0600), 0);
	ct_environ_root = root;
	read_environment(env);
	since = ct_now_ns();
	/* what comes before it in the same look-around is on record meanwhile */
	serve_until("nic.eth1.state");
	assert_string_equal(recorded("env.NCCL_ALGO"), "Ring");
	assert_non_null(recorded("kernel.release"));
	begin = ct_now_ns();
	ct_environ_finish(100000000);
	took = ct_now_ns() - begin;
	assert_in_range(took, 50000000, 5000000000ull);
	/* unless the machine itself took so long */
	if (ct_now_ns() - since < 4000000000ull)
		assert_null(recorded("unanswered"));
	ct_environ_serve(ct_now_ns() + 6000000000ull); /* as if 6 s had passed */
	assert_string_equal(recorded("unanswered"), "the network devices in /sys");
	/* and no thread waits for it any more */
	begin = ct_now_ns();
	ct_environ_finish(10000000000ull);
	assert_in_range(ct_now_ns() - begin, 0, 5000000000ull);
	/* let the thread go */
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "100\n", 4), 4);
	close(fd);
	serve_until("nic.eth1.speed");
}

static void the_libraries_of_this_process_are_named(void **state)
{
	static const char *const env[] = { NULL };

	(void)state;
	ct_environ_root = root;
	read_environment(env);
	serve_until("lib.glibc.version");
	ct_environ_finish(1000000000ull);
	assert_non_null(recorded("kernel.release"));
	assert_null(recorded_as(CT_KIND_INVISIBLE, "NCCL_HIDDEN"));
}

/* Some library under the name of one that is looked for: its path, which is kept. */
static const char *load_library(const char *name)
{
	static char path[128];
	char command[600], exe[400];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	assert_true(n > 0);
	exe[n] = '\0';
	*strrchr(exe, '/') = '\0';
	snprintf(path, sizeof(path), "%s/%s", root, name);
	snprintf(command, sizeof(command), "cp '%s/libfake_gloo1.so' '%s'", exe, path);
	assert_int_equal(system(command), 0);
	assert_non_null(dlopen(path, RTLD_NOW));
	return path;
}

static void what_is_loaded_last_is_found_at_the_end_without_a_thread(void **state)
{
	static const char *const env[] = { NULL };
	const char *path;

	(void)state;
	ct_environ_root = root;
	read_environment(env);
	serve_until("kernel.release");
	ct_environ_finish(10000000000ull);
	assert_null(recorded("lib.ucp.path"));
	path = load_library("libucp.so.0");
	started = 0;
	ct_environ_finish(10000000000ull);
	assert_string_equal(recorded("lib.ucp.path"), path);
	assert_null(recorded("unanswered"));
	assert_int_equal(started, 0);
}

static void when_mpi_is_over_no_thread_is_started(void **state)
{
	static const char *const env[] = { NULL };
	const char *path;

	(void)state;
	ct_environ_root = root;
	read_environment(env);
	serve_until("kernel.release");
	ct_environ_finish(10000000000ull);
	ct_environ_unshared();
	started = 0;
	path = load_library("libucc.so.1");
	serve_until("lib.ucc.path");
	assert_string_equal(recorded("lib.ucc.path"), path);
	assert_int_equal(started, 0);
}

static void what_there_is_no_time_for_is_reported_as_unanswered(void **state)
{
	static const char *const env[] = { NULL };

	(void)state;
	ct_environ_root = root;
	read_environment(env);
	serve_until("kernel.release");
	ct_environ_finish(10000000000ull);
	load_library("libsharp.so.5");
	ct_environ_finish(0);
	assert_null(recorded("lib.sharp.path"));
	assert_string_equal(recorded("unanswered"), "some of the loaded objects");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_allowed_is_recorded),
		cmocka_unit_test(secrets_are_never_recorded),
		cmocka_unit_test(a_thousand_long_variables_are_bounded_and_counted),
		cmocka_unit_test_setup_teardown(the_kernel_reports_gpus_and_network_devices, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_kernel_that_lies_does_no_harm, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			limits_of_the_control_group_are_those_of_the_nearest_group_that_has_one,
			set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_program_is_the_script_that_python_runs, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			no_program_is_recorded_where_it_is_not_python_or_not_known, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(the_affinity_is_what_was_set, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			waits_for_a_processor_are_reported_at_the_end_and_when_they_change, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(files_that_hang_stop_nothing_and_are_named, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_loaded_last_is_found_at_the_end_without_a_thread, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(when_mpi_is_over_no_thread_is_started, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_there_is_no_time_for_is_reported_as_unanswered,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_libraries_of_this_process_are_named, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
