/* SPDX-License-Identifier: Apache-2.0 */
/* The preload under the real libgloo: gloo_job's ranks print the same with and without it, and what
 * was recorded is what they did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/interpose/recorded.h"

enum { RANKS = 3, THREADS = 2, OPS = 40 };

static char work[64];
static char job[4200];
static char preload[4200];
static const char *mode;
static int with_preload;

static void put_path(char *path, size_t size, const char *what, int rank)
{
	snprintf(path, size, "%s/%s.%d.%d", work, what, with_preload, rank);
}

static void exec_rank(int rank)
{
	char number[12], path[128], store[128];
	int out;

	snprintf(number, sizeof(number), "%d", rank);
	snprintf(store, sizeof(store), "%s/store.%d", work, with_preload);
	put_path(path, sizeof(path), "out", rank);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(out, STDOUT_FILENO);
	setenv("RANK", number, 1);
	if (with_preload)
		setenv("LD_PRELOAD", preload, 1);
	execl(job, job, "--rank", number, "--size", "3", "--threads", "2", "--ops", "40", "--mode",
	      mode, "--store", store, (char *)NULL);
	_exit(127);
}

/* The launcher: its exit status says whether all ranks ended with 0. */
static void launch(void)
{
	pid_t pids[RANKS];
	char store[128];
	int bad = 0;

	snprintf(store, sizeof(store), "%s/store.%d", work, with_preload);
	mkdir(store, 0700);
	for (int r = 0; r < RANKS; r++) {
		pids[r] = fork();
		if (pids[r] == 0)
			exec_rank(r);
	}
	for (int r = 0; r < RANKS; r++) {
		int status = -1;

		if (waitpid(pids[r], &status, 0) != pids[r] || status != 0)
			bad = 1;
	}
	_exit(bad);
}

static void read_output(int preloaded, int rank, char text[4096])
{
	char path[128];
	FILE *f;

	with_preload = preloaded;
	put_path(path, sizeof(path), "out", rank);
	f = fopen(path, "r");
	assert_non_null(f);
	text[fread(text, 1, 4095, f)] = '\0';
	fclose(f);
}

static struct recorded run_mode(const char *what)
{
	char bare[4096], traced[4096];

	mode = what;
	snprintf(work, sizeof(work), "/tmp/ct-gloo-XXXXXX");
	assert_non_null(mkdtemp(work));
	for (with_preload = 0; with_preload < 2; with_preload++)
		assert_int_equal(recorded_run(launch, NULL), 0);
	for (int r = 0; r < RANKS; r++) {
		read_output(0, r, bare);
		read_output(1, r, traced);
		assert_non_null(strstr(bare, "checksum="));
		assert_string_equal(bare, traced);
	}
	snprintf(bare, sizeof(bare), "rm -rf %s", work);
	assert_int_equal(system(bare), 0);
	return recorded_read();
}

static void all_losses_are_zero(const struct recorded *r)
{
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
}

static void every_collective_is_recorded_and_keys_agree(void **state)
{
	struct recorded r = run_mode("collectives");

	(void)state;
	assert_int_equal(r.processes, RANKS);
	assert_int_equal(r.ops, RANKS * THREADS * OPS);
	assert_int_equal(r.unreturned, 0);
	assert_int_equal(r.exceptions, 0);
	assert_int_equal(r.hosts_ended, RANKS * THREADS);
	/* keys are counted once each: all members of a communicator have the same one */
	assert_int_equal(r.comms, THREADS);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(r.key_sources[i], CT_KEY_RENDEZVOUS);
	all_losses_are_zero(&r);
	assert_int_equal(recorded_rings_left(), 0);
	recorded_free(&r);
}

static void every_transfer_has_its_launch(void **state)
{
	struct recorded r = run_mode("p2p");

	(void)state;
	assert_true(r.ops > 0);
	assert_int_equal(r.launches, r.ops);
	assert_int_equal(r.unreturned, 0);
	all_losses_are_zero(&r);
	recorded_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_collective_is_recorded_and_keys_agree),
		cmocka_unit_test(every_transfer_has_its_launch),
	};
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *build = getenv("CT_BUILD");
	int failed;

	if (n <= 0 || !build)
		return 1;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(job, sizeof(job), "%s/gloo_job", self);
	snprintf(preload, sizeof(preload), "%s/lib/libcommtrace.so", build);
	failed = cmocka_run_group_tests_name("gloo", tests, NULL, NULL);
	recorded_remove();
	return failed;
}
