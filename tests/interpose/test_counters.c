/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of network ports, out of a /sys that the test makes: by the functions themselves, by the
 * sampler's thread, and in what a recorded process leaves behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interpose/account.h"
#include "interpose/environ/counters.h"
#include "interpose/environ/environ.h"
#include "interpose/environ/ports.h"
#include "interpose/recorder.h"
#include "interpose/threads.h"
#include "tests/interpose/fake_gloo.h"
#include "tests/interpose/recorded.h"

#define SECOND_NS 1000000000ull

static char root[64];
static struct ct_ports ports;
static struct ct_port_sample sample;

/* Who makes threads is counted (the linker sends the library's calls here). */
int __real_ct_thread_start(void *(*body)(void *), void *arg);
int __wrap_ct_thread_start(void *(*body)(void *), void *arg);
static int started;

int __wrap_ct_thread_start(void *(*body)(void *), void *arg)
{
	started++;
	return __real_ct_thread_start(body, arg);
}

static int set_up(void **state)
{
	(void)state;
	memset(&ports, 0, sizeof(ports));
	snprintf(root, sizeof(root), "/tmp/commtrace-counters.XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static const char *below(const char *path)
{
	static char full[640];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return full;
}

static void make(const char *path, const char *text)
{
	char full[640];
	FILE *file;

	snprintf(full, sizeof(full), "%s", below(path));
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		assert_true(mkdir(full, 0700) == 0 || errno == EEXIST);
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void make_nic(const char *name, const char *state, int has_device, unsigned long long rx)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "/sys/class/net/%s/operstate", name);
	make(path, state);
	snprintf(path, sizeof(path), "/sys/class/net/%s/type", name);
	make(path, "1\n");
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/rx_bytes", name);
	snprintf(text, sizeof(text), "%llu\n", rx);
	make(path, text);
	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/tx_bytes", name);
	make(path, "7\n");
	snprintf(path, sizeof(path), "/sys/class/net/%s/device", name);
	if (has_device)
		assert_int_equal(symlink("../../../devices/x/0000:5e:00.0", below(path)), 0);
}

static void make_infiniband(const char *name, unsigned long long words)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/state", name);
	make(path, "4: ACTIVE\n");
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/link_layer", name);
	make(path, "InfiniBand\n");
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/rate", name);
	make(path, "400 Gb/sec (4X NDR)\n");
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/counters/port_rcv_data",
		 name);
	snprintf(text, sizeof(text), "%llu\n", words);
	make(path, text);
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/counters/link_downed", name);
	make(path, "0\n");
}

static const struct ct_port *port_of(const char *name)
{
	for (uint32_t i = 0; i < ports.n; i++)
		if (strcmp(ports.ports[i].name, name) == 0)
			return &ports.ports[i];
	return NULL;
}

/* Of the sample that was read last: 1 and *value, 0 if it is not in it. */
static int value_in(const struct ct_port_sample *from, uint32_t id, unsigned counter,
		    uint64_t *value)
{
	if (!(from->ports >> (id - 1) & 1) || !(from->values[id - 1].present >> counter & 1))
		return 0;
	*value = from->values[id - 1].value[counter];
	return 1;
}

#define assert_counted(port, counter, want)                                                        \
	do {                                                                                       \
		uint64_t value_ = 0;                                                               \
		assert_int_equal(value_in(&sample, port_of(port)->rec.id,                          \
					  CT_PORT_COUNTER_##counter, &value_),                     \
				 1);                                                               \
		assert_int_equal(value_, want);                                                    \
	} while (0)
#define assert_not_counted(port, counter)                                                          \
	do {                                                                                       \
		uint64_t value_;                                                                   \
		assert_int_equal(value_in(&sample, port_of(port)->rec.id,                          \
					  CT_PORT_COUNTER_##counter, &value_),                     \
				 0);                                                               \
	} while (0)

/* ---- which ports, and what they say ---- */

static void devices_that_are_up_and_every_infiniband_port_are_read(void **state)
{
	(void)state;
	make_nic("eth0", "up\n", 1, 1000);
	make("/sys/class/net/eth0/speed", "25000\n");
	make("/sys/class/net/eth0/statistics/rx_crc_errors", "3\n");
	make("/sys/class/net/eth0/carrier_down_count", "2\n");
	make_nic("eth1", "down\n", 1, 1);
	make_nic("bond0", "up\n", 0, 1000); /* what goes over eth0, again */
	make_nic("lo", "unknown\n", 0, 1);
	make_infiniband("mlx5_0", 123);
	make_infiniband("mlx5_1", 18446744073709551614ull);
	make("/sys/class/infiniband/mlx5_1/ports/1/hw_counters/local_ack_timeout_err", "5\n");
	make("/sys/class/infiniband/mlx5_1/ports/1/rate", "2.5 Gb/sec (1X SDR)\n");
	make("/sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
	make("/sys/class/infiniband/mlx5_1/ports/1/link_layer", "Ethernet\n");
	ct_ports_read(&ports, root, &sample);
	assert_int_equal(ports.n, 3);
	assert_counted("eth0", rx_bytes, 1000);
	assert_counted("eth0", tx_bytes, 7);
	assert_counted("eth0", rx_crc_errors, 3);
	assert_counted("eth0", carrier_down_count, 2);
	assert_not_counted("eth0", tx_errors);
	assert_counted("mlx5_0/1", port_rcv_data, 123);
	assert_counted("mlx5_0/1", link_downed, 0);
	assert_not_counted("mlx5_0/1", port_xmit_data);
	assert_counted("mlx5_1/1", port_rcv_data, 18446744073709551614ull);
	assert_counted("mlx5_1/1", local_ack_timeout_err, 5);
	assert_int_equal(port_of("eth0")->rec.kind, CT_PORT_NET);
	assert_int_equal(port_of("eth0")->rec.layer, CT_LAYER_ETHERNET);
	assert_int_equal(port_of("eth0")->rec.state, CT_PORT_UP);
	assert_int_equal(port_of("eth0")->rec.rate_Bps, 3125000000ull);
	assert_int_equal(port_of("mlx5_0/1")->rec.kind, CT_PORT_IB);
	assert_int_equal(port_of("mlx5_0/1")->rec.layer, CT_LAYER_INFINIBAND);
	assert_int_equal(port_of("mlx5_0/1")->rec.state, CT_PORT_UP);
	assert_int_equal(port_of("mlx5_0/1")->rec.rate_Bps, 50000000000ull);
	assert_int_equal(port_of("mlx5_1/1")->rec.rate_Bps, 312500000ull);
	assert_int_equal(port_of("mlx5_1/1")->rec.state, CT_PORT_NOT_UP);
	assert_int_equal(port_of("mlx5_1/1")->rec.layer, CT_LAYER_ETHERNET);
}

static void where_there_is_no_device_what_is_up_is_read(void **state)
{
	(void)state;
	make_nic("eth0", "up\n", 0, 5);
	make_nic("veth1", "lowerlayerdown\n", 0, 5);
	make_nic("lo", "up\n", 0, 1);
	ct_ports_read(&ports, root, &sample);
	assert_int_equal(ports.n, 1);
	assert_counted("eth0", rx_bytes, 5);
	assert_true(port_of("eth0")->rec.is_software);
	assert_int_equal(port_of("eth0")->rec.rate_Bps, 0);
}

static void garbage_is_left_out(void **state)
{
	(void)state;
	make_nic("eth0", "up\n", 1, 1);
	make("/sys/class/net/eth0/statistics/rx_bytes", "-1\n");
	make("/sys/class/net/eth0/statistics/rx_errors", "");
	make("/sys/class/net/eth0/statistics/tx_errors", "12 apples\n");
	make("/sys/class/net/eth0/statistics/tx_dropped", "99999999999999999999999\n");
	make("/sys/class/net/eth0/statistics/rx_dropped", "18446744073709551616\n");
	make("/sys/class/net/eth0/speed", "-1\n");
	make_infiniband("mlx5_0", 1);
	make("/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "N/A (no PMA)\n");
	make("/sys/class/infiniband/mlx5_0/ports/1/rate", "fast\n");
	make("/sys/class/infiniband/mlx5_0/ports/evil/counters/link_downed", "1\n");
	make("/sys/class/infiniband/mlx5_0/ports/123456789012/counters/link_downed", "1\n");
	ct_ports_read(&ports, root, &sample);
	assert_int_equal(ports.n, 2);
	assert_not_counted("eth0", rx_bytes);
	assert_not_counted("eth0", rx_errors);
	assert_not_counted("eth0", tx_errors);
	assert_not_counted("eth0", tx_dropped);
	assert_not_counted("eth0", rx_dropped);
	assert_counted("eth0", tx_bytes, 7);
	assert_int_equal(port_of("eth0")->rec.rate_Bps, 0);
	assert_not_counted("mlx5_0/1", port_rcv_data);
	assert_int_equal(port_of("mlx5_0/1")->rec.rate_Bps, 0);
}

static void a_port_that_goes_and_comes_keeps_its_number(void **state)
{
	uint32_t id, changes;
	char gone[640];
	uint64_t value;

	(void)state;
	make_nic("eth0", "up\n", 1, 10);
	make_infiniband("mlx5_0", 1);
	ct_ports_read(&ports, root, &sample);
	id = port_of("mlx5_0/1")->rec.id;
	changes = ports.changes;
	ct_ports_read(&ports, root, &sample);
	assert_int_equal(ports.changes, changes); /* nothing new is nothing to show */
	snprintf(gone, sizeof(gone), "%s", below("/gone"));
	assert_int_equal(rename(below("/sys/class/infiniband"), gone), 0);
	ct_ports_read(&ports, root, &sample);
	assert_false(sample.ports >> (id - 1) & 1);
	assert_counted("eth0", rx_bytes, 10);
	assert_int_equal(rename(gone, below("/sys/class/infiniband")), 0);
	make("/sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	ct_ports_read(&ports, root, &sample);
	assert_int_equal(ports.n, 2);
	assert_int_equal(value_in(&sample, id, CT_PORT_COUNTER_port_rcv_data, &value), 1);
	assert_int_equal(ports.changes, changes + 1);
	assert_int_equal(port_of("mlx5_0/1")->rec.rate_Bps, 12500000000ull);
}

static void more_ports_than_there_is_room_for_are_left_out(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "eth%02d", i);
		make_nic(name, "up\n", 1, 1);
		snprintf(name, sizeof(name), "mlx5_%02d", i);
		make_infiniband(name, 1);
	}
	ct_ports_read(&ports, root, &sample);
	assert_int_equal(ports.n, CT_PORTS_MOST);
	assert_non_null(port_of("eth00"));
	assert_non_null(port_of("mlx5_00/1"));
	assert_true(ports.left_out > 0);
}

/* ---- the sampler ---- */

static struct ct_port_sample base, taken;
static uint32_t wholes, differences, ports_told;

/* What ct_counters_add() puts into a block, read as a reader does. */
static void add(struct ct_counters_seen *seen, int all)
{
	struct ct_block block;

	memset(&block, 0, sizeof(block));
	wholes = differences = ports_told = 0;
	assert_int_equal(ct_counters_add(seen, &block, all), CT_OK);
	for (uint32_t i = 0; i < block.n_rares; i++) {
		const struct ct_rare *rare = &block.rares[i];

		ports_told += rare->kind == CT_KIND_PORT;
		if (rare->kind != CT_KIND_COUNTERS)
			continue;
		assert_int_equal(
			ct_port_sample_decode(&taken, &base, block.bytes + rare->at, rare->len), 1);
		if (taken.head.base) {
			differences++;
		} else {
			wholes++;
			base = taken;
		}
	}
	ct_block_fini(&block);
}

static void begin(int32_t local_rank, uint64_t every_ns)
{
	struct ct_process process = { .local_rank = local_rank };

	memset(&base, 0, sizeof(base));
	started = 0;
	ct_environ_root = root;
	ct_counters_reset();
	ct_counters_begin(&process, every_ns);
}

/* Serve as the write thread does, until sample `number` has come; what never comes ends the test by
 * its time limit. */
static void serve_until(struct ct_counters_seen *seen, uint32_t number)
{
	const struct timespec nap = { 0, 1000000 };

	while (seen->number < number) {
		ct_counters_serve(ct_now_ns());
		add(seen, 0);
		nanosleep(&nap, NULL);
	}
}

/* The thread of one test would serve the next: each runs in a child. */
static void in_a_child(void (*body)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		body();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void sample_twice(void)
{
	struct ct_counters_seen seen = { 0 }, again = { 0 };

	make_nic("eth0", "up\n", 1, 1000);
	make_infiniband("mlx5_0", 50);
	begin(0, 1);
	assert_int_equal(started, 1);
	serve_until(&seen, 1);
	assert_int_equal(wholes, 1);
	assert_int_equal(differences, 0);
	assert_int_equal(ports_told, 2);
	assert_int_equal(taken.values[0].value[CT_PORT_COUNTER_rx_bytes], 1000);
	assert_true(taken.head.begin_ns <= taken.head.end_ns);
	make("/sys/class/net/eth0/statistics/rx_bytes", "900\n"); /* it was set back */
	serve_until(&seen, seen.number + 2); /* the first may have been read before that */
	assert_int_equal(wholes, 0);
	assert_int_equal(differences, 1);
	assert_int_equal(ports_told, 0);
	assert_int_equal(taken.values[0].value[CT_PORT_COUNTER_rx_bytes], 900);
	assert_int_equal(taken.values[0].value[CT_PORT_COUNTER_tx_bytes], 7);
	assert_int_equal(taken.values[1].value[CT_PORT_COUNTER_port_rcv_data], 50);
	add(&seen, 0);
	assert_int_equal(wholes + differences + ports_told, 0);
	/* a checkpoint has what later blocks lean on */
	add(&seen, 1);
	assert_int_equal(wholes, 1);
	assert_int_equal(ports_told, 2);
	assert_int_equal(taken.values[0].value[CT_PORT_COUNTER_rx_bytes], 1000);
	/* what did not get into a segment comes again */
	add(&again, 0);
	assert_int_equal(wholes, 1);
	assert_int_equal(differences, 1);
	assert_int_equal(ports_told, 2);
	assert_int_equal(taken.head.number, seen.number);
	/* a whole one now and then */
	serve_until(&seen, 61);
	assert_int_equal(base.head.number, 61);
	assert_int_equal(started, 1);
	assert_true(ct_account_of(CT_OURS_COUNTERS).cpu_ns > 0);
}

static void samples_come_whole_and_then_as_differences(void **state)
{
	(void)state;
	in_a_child(sample_twice);
}

static void end_in_time(void)
{
	struct ct_counters_seen seen = { 0 };

	make_nic("eth0", "up\n", 1, 1000);
	begin(-1, 3600 * SECOND_NS);
	serve_until(&seen, 1);
	ct_counters_serve(ct_now_ns() + 60 * SECOND_NS);
	add(&seen, 0);
	assert_int_equal(seen.number, 1);
	make("/sys/class/net/eth0/statistics/rx_bytes", "5000\n");
	ct_counters_finish(600 * SECOND_NS);
	add(&seen, 0);
	assert_int_equal(seen.number, 2);
	assert_int_equal(taken.values[0].value[CT_PORT_COUNTER_rx_bytes], 5000);
	assert_int_equal(started, 1);
}

static void the_end_has_a_sample_of_its_own(void **state)
{
	(void)state;
	in_a_child(end_in_time);
}

static void sample_nothing(void)
{
	struct ct_counters_seen seen = { 0 };

	make_nic("eth0", "up\n", 1, 1000);
	for (int i = 0; i < 2; i++) {
		begin(i ? 0 : 1, i ? 0 : SECOND_NS);
		ct_counters_serve(ct_now_ns() + 100 * SECOND_NS);
		ct_counters_finish(SECOND_NS);
		add(&seen, 1);
		assert_int_equal(wholes + differences + ports_told, 0);
		assert_int_equal(started, 0);
	}
}

static void other_local_ranks_and_those_switched_off_read_nothing(void **state)
{
	(void)state;
	in_a_child(sample_nothing);
}

static const char *hanging = "/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data";

static const char *watched(const char *key)
{
	static char value[128];
	struct ct_environ_seen seen;
	struct ct_block block;
	const char *found = NULL;
	size_t len = strlen(key);

	memset(&block, 0, sizeof(block));
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(ct_environ_add(&seen, &block, 1), CT_OK);
	for (uint32_t i = 0; i < block.n_rares; i++) {
		const struct ct_rare *rare = &block.rares[i];

		if (rare->len <= len || memcmp(block.bytes + rare->at, key, len) != 0)
			continue;
		snprintf(value, sizeof(value), "%.*s", (int)(rare->len - len - 1),
			 (const char *)block.bytes + rare->at + len + 1);
		found = value;
	}
	ct_block_fini(&block);
	return found;
}

static void hang(void)
{
	static char *const env[] = { NULL };
	struct ct_counters_seen seen = { 0 };
	uint64_t begun;
	int fd;

	make_nic("eth0", "up\n", 1, 1000);
	make_infiniband("mlx5_0", 50);
	ct_environ_read(env);
	begin(0, 1);
	serve_until(&seen, 1);
	assert_int_equal(mkfifo(below(hanging), 0600), 0);
	/* there is a writer as soon as there is a reader, and it says nothing */
	while ((fd = open(below(hanging), O_WRONLY | O_NONBLOCK)) < 0) {
		ct_counters_serve(ct_now_ns());
		add(&seen, 0);
	}
	/* no thread waits: the write thread runs as often as it likes, and can write everything */
	add(&seen, 1);
	assert_int_equal(wholes, 1);
	assert_int_equal(ports_told, 2);
	assert_null(watched("unanswered_counters"));
	ct_counters_serve(ct_now_ns() + 6 * SECOND_NS);
	assert_string_equal(watched("unanswered_counters"), "mlx5_0/1");
	begun = ct_now_ns();
	ct_counters_finish(600 * SECOND_NS);
	assert_in_range(ct_now_ns() - begun, 0, 300 * SECOND_NS);
	/* it answers after all */
	assert_int_equal(write(fd, "1\n", 2), 2);
	unlink(below(hanging));
	close(fd);
	serve_until(&seen, seen.number + 1);
}

static void a_port_that_hangs_holds_up_no_one_and_is_named(void **state)
{
	(void)state;
	in_a_child(hang);
}

/* ---- a recorded process ---- */

static struct fake_context context = { .rank = 0, .size = 2 };
static struct fake_options barrier = { .context = &context };

static uint32_t walked_samples, walked_ports, walked_ends;
static uint64_t walked_last;

static void walk(const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_rares; i++) {
		const struct ct_rare *rare = &block->rares[i];

		walked_ports += rare->kind == CT_KIND_PORT;
		walked_ends += rare->kind == CT_KIND_END;
		if (rare->kind != CT_KIND_COUNTERS)
			continue;
		walked_samples++;
		if (ct_port_sample_decode(&taken, &base, block->bytes + rare->at, rare->len) != 1)
			continue;
		if (!taken.head.base)
			base = taken;
		walked_last = taken.values[0].value[CT_PORT_COUNTER_rx_bytes];
	}
}

static void walk_run(void)
{
	uint64_t losses[CT_LOSS_MAX];

	memset(&base, 0, sizeof(base));
	walked_samples = walked_ports = walked_ends = 0;
	walked_last = 0;
	assert_int_equal(recorded_walk(0, walk, losses), 1);
}

static void job_that_communicates(void)
{
	ct_environ_root = root;
	gloo_barrier(&barrier);
	for (int i = 0; i < 3000 && ct_account_of(CT_OURS_COUNTERS).cpu_ns == 0; i++) {
		const struct timespec nap = { 0, 10000000 };

		nanosleep(&nap, NULL);
	}
	make("/sys/class/net/eth0/statistics/rx_bytes", "777000\n");
}

static void a_recorded_process_has_them_at_its_beginning_and_its_end(void **state)
{
	(void)state;
	make_nic("eth0", "up\n", 1, 1000);
	assert_int_equal(recorded_run(job_that_communicates, NULL), 0);
	walk_run();
	assert_true(walked_samples >= 2);
	assert_true(walked_ports >= 1);
	assert_int_equal(walked_ends, 1);
	assert_int_equal(walked_last, 777000);
	recorded_remove();
}

/* Each sample takes the thread some time on its processor. */
static void job_that_goes_on(void)
{
	const struct timespec nap = { 0, 10000000 };
	uint64_t before = 0;

	ct_environ_root = root;
	gloo_barrier(&barrier);
	for (int samples = 0, naps = 0; samples < 4 && naps < 3000; naps++) {
		uint64_t now = ct_account_of(CT_OURS_COUNTERS).cpu_ns;

		samples += now != before;
		before = now;
		nanosleep(&nap, NULL);
	}
}

static void a_recorded_process_has_them_in_between(void **state)
{
	static const char *const env[] = { "COMMTRACE_COUNTERS=50ms", "COMMTRACE_FLUSH=50ms",
					   NULL };

	(void)state;
	make_nic("eth0", "up\n", 1, 1000);
	assert_int_equal(recorded_run(job_that_goes_on, env), 0);
	walk_run();
	/* some are asked for before they can be written, of which the latest counts */
	assert_true(walked_samples >= 3);
	recorded_remove();
}

static void job_whose_port_hangs(void)
{
	ct_environ_root = root;
	for (int i = 0; i < 1000; i++)
		gloo_barrier(&barrier);
}

static void a_recorded_process_whose_port_hangs_is_whole(void **state)
{
	struct recorded r;

	(void)state;
	make_nic("eth0", "up\n", 1, 1000);
	make_infiniband("mlx5_0", 50);
	assert_int_equal(mkfifo(below(hanging), 0600), 0);
	assert_int_equal(recorded_run(job_whose_port_hangs, NULL), 0);
	walk_run();
	assert_int_equal(walked_samples, 0);
	assert_int_equal(walked_ends, 1);
	r = recorded_read();
	assert_int_equal(r.ops, 1000);
	assert_int_equal(recorded_rings_left(), 0);
	recorded_free(&r);
	recorded_remove();
}

/* CPU time of a sample of two network devices and eight InfiniBand ports that have every counter,
 * in files without a driver behind them. */
static int measure(void)
{
	uint64_t before;

	if (set_up(NULL) != 0)
		return 1;
	for (int i = 0; i < 10; i++) {
		char name[16], path[128];

		snprintf(name, sizeof(name), i < 2 ? "eth%d" : "mlx5_%d", i);
		if (i < 2)
			make_nic(name, "up\n", 1, 1);
		else
			make_infiniband(name, 1);
		for (unsigned id = 0; id < CT_PORT_COUNTER_IDS; id++) {
			const struct ct_port_counter *row = &ct_port_counters[id];

			if (row->of != (i < 2 ? CT_PORT_NET : CT_PORT_IB))
				continue;
			snprintf(path, sizeof(path), "/sys/class/%s/%s%s/%s",
				 i < 2 ? "net" : "infiniband", name, i < 2 ? "" : "/ports/1",
				 row->file);
			make(path, "123456789012\n");
		}
	}
	ct_ports_read(&ports, root, &sample);
	before = ct_thread_cpu_ns();
	for (int i = 0; i < 100; i++)
		ct_ports_read(&ports, root, &sample);
	printf("%u ports: %.2f ms of CPU time a sample\n", ports.n,
	       (double)(ct_thread_cpu_ns() - before) / 100 / 1e6);
	return tear_down(NULL);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(devices_that_are_up_and_every_infiniband_port_are_read),
		TEST(where_there_is_no_device_what_is_up_is_read),
		TEST(garbage_is_left_out),
		TEST(a_port_that_goes_and_comes_keeps_its_number),
		TEST(more_ports_than_there_is_room_for_are_left_out),
		TEST(samples_come_whole_and_then_as_differences),
		TEST(the_end_has_a_sample_of_its_own),
		TEST(other_local_ranks_and_those_switched_off_read_nothing),
		TEST(a_port_that_hangs_holds_up_no_one_and_is_named),
		TEST(a_recorded_process_has_them_at_its_beginning_and_its_end),
		TEST(a_recorded_process_has_them_in_between),
		TEST(a_recorded_process_whose_port_hangs_is_whole),
	};

	if (argc > 1 && strcmp(argv[1], "--measure") == 0)
		return measure();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
