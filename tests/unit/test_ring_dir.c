/* SPDX-License-Identifier: Apache-2.0 */
/* The ring directory: who lives, and who is asked to be dead. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/oom.h"
#include "trace/ring_dir.h"
#include "trace/ring_read.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const char *const *rings(void)
{
	static char path[512];
	static const char *dirs[3];

	snprintf(path, sizeof(path), "%s", fx_path("rings"));
	dirs[0] = "/nonexistent";
	dirs[1] = path;
	dirs[2] = NULL;
	return dirs;
}

static int make_dirs(void **state)
{
	if (fx_setup(state) != 0)
		return -1;
	fx_mkdir("rings");
	fx_mkdir("run");
	return 0;
}

/* A ring with 10 ops of process `p`, which is gone. */
static void put_ring(struct ct_process *p)
{
	struct fx_ring r;

	fx_ring_open(&r, p, "rings");
	for (uint64_t n = 0; n < 10; n++)
		fx_ring_op(&r, n, 1);
	fx_ring_leave(&r);
}

static struct ct_ring_header header_of_only_ring(void)
{
	struct ct_ring_header h;
	int lives;

	assert_int_equal(ct_ring_header_read(fx_path(fx_only("rings", ".ring")), &h, &lives, NULL),
			 CT_OK);
	return h;
}

/* ---- names and directories
 * --------------------------------------------------------------------------- */

static void directories_come_once_in_order(void **state)
{
	const char *dirs[4];

	(void)state;
	ct_ring_dirs("/dev/shm", "/scratch", dirs);
	assert_string_equal(dirs[0], "/dev/shm");
	assert_string_equal(dirs[1], "/scratch");
	assert_string_equal(dirs[2], "/tmp");
	assert_null(dirs[3]);
	ct_ring_dirs("/tmp", "", dirs);
	assert_string_equal(dirs[0], "/tmp");
	assert_null(dirs[1]);
	ct_ring_dirs(NULL, NULL, dirs);
	assert_string_equal(dirs[0], "/tmp");
	assert_null(dirs[1]);
}

static void ring_names_are_distinguished_from_others(void **state)
{
	static const char *const others[] = {
		"commtrace.1.2.rin",
		"commtrace.1.2.ring.zst",
		"commtrace..2.ring",
		"commtrace.1.ring",
		"commtrace.1.2.ring.",
		"commtrace.1.2.ring.3",
		"commtrace.01.2.ring",
		"commtrace.-1.2.ring",
		"commtrace.1.4294967296.ring",
		"xcommtrace.1.2.ring",
		"",
		"commtrace.",
	};
	char name[CT_RING_NAME_MAX];
	uint32_t ns, pid;

	(void)state;
	ct_ring_name(name, 4026531836u, 12);
	assert_int_equal(ct_ring_name_parse(name, &ns, &pid), CT_RING_NAME_OWN);
	assert_true(ns == 4026531836u && pid == 12);
	assert_int_equal(ct_ring_name_parse("commtrace.0.5.ring.17632.ring", &ns, &pid),
			 CT_RING_NAME_ASIDE);
	assert_true(ns == 0 && pid == 5);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_int_equal(ct_ring_name_parse(others[i], &ns, &pid), CT_RING_NAME_NONE);
}

static int count_path(const char *path, void *arg)
{
	assert_non_null(strstr(path, "/rings/commtrace."));
	return ++*(int *)arg == 3;
}

static void a_scan_sees_ring_files_and_nothing_else(void **state)
{
	char name[64];
	int n = 0;

	(void)state;
	fx_write("rings/commtrace.1.1.ring", "", 0);
	fx_write("rings/commtrace.1.2.ring", "", 0);
	fx_write("rings/other", "", 0);
	fx_mkdir("rings/commtrace.1.3.ring");
	assert_int_equal(symlink("/etc/passwd", fx_path("rings/commtrace.1.4.ring")), 0);
	assert_int_equal(mkfifo(fx_path("rings/commtrace.1.5.ring"), 0600), 0);
	assert_int_equal(ct_ring_dir_scan(rings(), count_path, &n), 0);
	assert_int_equal(n, 2);
	/* stops when asked to; many entries need several readings of the directory */
	for (int i = 10; i < 400; i++) {
		snprintf(name, sizeof(name), "rings/commtrace.1.%d.ring", i);
		fx_write(name, "", 0);
	}
	n = 0;
	assert_int_equal(ct_ring_dir_scan(rings(), count_path, &n), 1);
	assert_int_equal(n, 3);
	n = 3;
	assert_int_equal(ct_ring_dir_scan(rings(), count_path, &n), 0);
	assert_int_equal(n, 3 + 392);
	n = 0;
	assert_int_equal(ct_ring_dir_scan_of(rings(), 12345, count_path, &n), 0);
	assert_int_equal(n, 0);
}

/* ---- who lives
 * --------------------------------------------------------------------------------------- */

static int lives(const struct ct_process *p, uint64_t beat_ns, int fd)
{
	struct ct_ring_header h = { .process = *p };

	atomic_store(&h.beat_ns, beat_ns);
	return ct_ring_owner_lives(&h, fd);
}

static void a_process_lives_while_pid_and_start_time_agree(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	int pid = fx_child();

	(void)state;
	fx_become(&p, pid);
	assert_true(p.start_ticks != 0);
	assert_true(lives(&p, 0, -1));
	assert_true(ct_process_lives(&p));
	p.start_ticks++; /* the pid was given to another one */
	assert_false(lives(&p, now_ns(), -1));
	assert_false(ct_process_lives(&p));
	p.start_ticks--;
	kill(pid, SIGKILL);
	while (lives(&p, now_ns(), -1)) /* a zombie until it is waited for, and that is dead */
		usleep(1000);
	assert_true(ct_pid_start_ticks(pid) != 0);
	waitpid(pid, NULL, 0);
	assert_int_equal(ct_pid_start_ticks(pid), 0);
	assert_false(lives(&p, now_ns(), -1));
}

/* A process whose parent has ended, and which became ours. */
static int make_orphan(uint32_t *parent)
{
	int to[2], pid, middle;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe(to), 0);
	middle = fork();
	if (middle == 0) {
		pid = fork();
		if (pid == 0) {
			for (;;)
				pause();
		}
		_exit(write(to[1], &pid, sizeof(pid)) == (ssize_t)sizeof(pid) ? 0 : 1);
	}
	assert_int_equal(read(to[0], &pid, sizeof(pid)), sizeof(pid));
	assert_int_equal(waitpid(middle, NULL, 0), middle);
	close(to[0]);
	close(to[1]);
	*parent = (uint32_t)middle;
	return pid;
}

static void a_zombie_is_awaited_until_its_parent_has_reported(void **state)
{
	struct ct_ring_header h = { .process = fx_process(0, NULL) };
	struct ct_process *p = &h.process;
	int pid = fx_child();

	(void)state;
	fx_become(p, pid);
	assert_int_equal(ct_ring_owner(&h, -1), CT_OWNER_LIVES);
	kill(pid, SIGKILL);
	while (ct_ring_owner(&h, -1) == CT_OWNER_LIVES)
		usleep(1000);
	assert_int_equal(ct_ring_owner(&h, -1), CT_OWNER_AWAITED);
	atomic_store(&h.death_seen_ns, 6); /* its parent has reported */
	assert_int_equal(ct_ring_owner(&h, -1), CT_OWNER_DEAD);
	atomic_store(&h.death_seen_ns, 0);
	waitpid(pid, NULL, 0);
	assert_int_equal(ct_ring_owner(&h, -1), CT_OWNER_DEAD);
}

static void no_rank_waits_for_an_orphan(void **state)
{
	struct ct_ring_header h = { .process = fx_process(0, NULL) };
	uint32_t parent;
	int pid = make_orphan(&parent);

	(void)state;
	fx_become(&h.process, pid);
	h.process.ppid = parent;
	assert_int_equal(ct_ring_owner(&h, -1), CT_OWNER_LIVES);
	assert_int_equal(ct_pid_parent(pid), getpid());
	kill(pid, SIGKILL);
	while (ct_ring_owner_lives(&h, -1))
		usleep(1000);
	assert_true(ct_pid_start_ticks(pid) != 0); /* a zombie without a wait */
	assert_int_equal(ct_ring_owner(&h, -1), CT_OWNER_DEAD);
	h.process.ppid = (uint32_t)getpid();
	assert_int_equal(ct_ring_owner(&h, -1), CT_OWNER_AWAITED);
	waitpid(pid, NULL, 0);
}

static void another_namespace_is_judged_by_lock_and_beat(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd, pid, status;
	int hold[2];

	(void)state;
	p.pidns = 1;
	assert_true(lives(&p, now_ns(), -1));
	assert_false(lives(&p, now_ns() - 11000000000ull, -1));
	assert_false(lives(&p, now_ns() + 11000000000ull,
			   -1)); /* another time namespace: the lock shows */
	fx_write("locked", "", 0);
	assert_int_equal(pipe(hold), 0);
	pid = fork();
	if (pid == 0) {
		char c;

		fd = open(fx_path("locked"), O_RDWR);
		c = fcntl(fd, F_SETLK, &whole) == 0;
		if (write(hold[1], &c, 1) != 1)
			_exit(1);
		pause();
		_exit(0);
	}
	{
		char c = 0;

		assert_int_equal(read(hold[0], &c, 1), 1);
		assert_int_equal(c, 1);
	}
	fd = open(fx_path("locked"), O_RDWR);
	assert_true(lives(&p, 0, fd));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_false(lives(&p, 0, fd));
	close(fd);
	close(hold[0]);
	close(hold[1]);
}

static void a_ring_from_before_a_reboot_is_dead(void **state)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	struct ct_process p = fx_process(0, NULL);
	int fd;

	(void)state;
	fx_become(&p, getpid());
	assert_true(lives(&p, now_ns(), -1));
	memcpy(p.boot_id, "00000000-0000-0000-0000-000000000000", 36);
	gethostname(p.host, sizeof(p.host));
	assert_false(lives(&p, now_ns(), -1));
	/* of another host that shares the file system: by the file's time, in doubt it lives */
	strcpy(p.host, "no-such-host");
	assert_true(lives(&p, now_ns(), -1));
	fx_write("file", "x", 1);
	fd = open(fx_path("file"), O_RDWR);
	assert_true(lives(&p, now_ns(), fd));
	assert_int_equal(futimens(fd, old), 0);
	assert_false(lives(&p, now_ns(), fd));
	close(fd);
}

/* ---- notes
 * ------------------------------------------------------------------------------------------- */

static void the_first_note_of_a_death_stays(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_ring_header h;

	(void)state;
	p.ppid = (uint32_t)getpid();
	put_ring(&p);
	errno = 55;
	assert_int_equal(ct_ring_note_death(rings(), (pid_t)p.pid, SIGKILL, 2000000), 1);
	assert_int_equal(ct_ring_note_death(rings(), (pid_t)p.pid, 0, 3000000), 1);
	assert_int_equal(errno, 55);
	h = header_of_only_ring();
	assert_int_equal(atomic_load(&h.death_seen_ns), 2000000);
	assert_true(atomic_load(&h.death_note) == ((uint64_t)getpid() << 32 | SIGKILL));
}

/* What the ring of a process holds after this end, that had this counter at this number before. */
static uint64_t oom_seen(uint64_t where, uint64_t kills, uint64_t kill_ns, int status)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_ring_header h;
	struct fx_ring r;

	p.ppid = (uint32_t)getpid();
	fx_ring_open(&r, &p, "rings");
	atomic_store(&r.ring.header->oom_where, where);
	atomic_store(&r.ring.header->oom_kills, kills);
	atomic_store(&r.ring.header->kill_ns, kill_ns);
	fx_ring_leave(&r);
	assert_int_equal(ct_ring_note_death(rings(), (pid_t)p.pid, status, 2000000), 1);
	h = header_of_only_ring();
	unlink(fx_path(fx_only("rings", ".ring")));
	return atomic_load(&h.oom_seen);
}

/* The counter is this machine's own; where it has none, nothing is reported. */
static void a_kill_that_no_one_sent_reports_the_kernels(void **state)
{
	struct ct_oom oom = { 0 };
	int known = ct_oom_read("", &oom);

	(void)state;
	assert_int_equal(oom_seen(oom.where, oom.kills, 0, SIGKILL), known ? oom.kills + 1 : 0);
	/* another counter, another end, a recorded sender */
	assert_int_equal(oom_seen(oom.where + 1, oom.kills, 0, SIGKILL), 0);
	assert_int_equal(oom_seen(oom.where, oom.kills, 0, SIGSEGV), 0);
	assert_int_equal(oom_seen(oom.where, oom.kills, 1500000, SIGKILL), 0);
}

static void only_ends_are_noted_and_only_in_the_right_ring(void **state)
{
	struct ct_process p = fx_process(0, "run");
	const int stopped = SIGSTOP << 8 | 0x7f;
	struct ct_ring_header h;

	(void)state;
	p.ppid = 1;
	put_ring(&p);
	errno = 55;
	assert_int_equal(ct_ring_note_death(rings(), (pid_t)p.pid, stopped, now_ns()), 0);
	assert_int_equal(ct_ring_note_death(rings(), (pid_t)p.pid, 0xffff, now_ns()),
			 0); /* continued */
	assert_int_equal(ct_ring_note_death(rings(), (pid_t)p.pid + 1, 0, now_ns()), 0);
	assert_int_equal(ct_ring_note_death(rings(), getpid(), 0, now_ns()), 0);
	assert_int_equal(ct_ring_note_death(rings(), -1, 0, now_ns()), 0);
	/* another process's child, and no heartbeat for long: an earlier process of this pid */
	assert_int_equal(ct_ring_note_death(rings(), (pid_t)p.pid, 0, 100000000000ull), 0);
	/* before it started: another clock */
	assert_int_equal(ct_ring_note_death(rings(), (pid_t)p.pid, 0, 1), 0);
	assert_int_equal(errno, 55);
	h = header_of_only_ring();
	assert_int_equal(atomic_load(&h.death_seen_ns), 0);
	assert_int_equal(atomic_load(&h.death_note), 0);
	assert_int_equal(ct_ring_note_death(rings(), (pid_t)p.pid, 0, 2000000), 1);
}

static void what_is_no_ring_is_never_written_to(void **state)
{
	char name[CT_RING_NAME_MAX + 8] = "rings/";
	size_t bytes;
	char *data;

	(void)state;
	ct_ring_name(name + 6, ct_pidns_self(), 4000000);
	fx_write("victim", "victim", 6);
	assert_int_equal(symlink(fx_path("victim"), fx_path(name)), 0);
	assert_int_equal(ct_ring_note_death(rings(), 4000000, 0, now_ns()), 0);
	assert_int_equal(unlink(fx_path(name)), 0);
	assert_int_equal(mkfifo(fx_path(name), 0600), 0);
	assert_int_equal(ct_ring_note_death(rings(), 4000000, 0, now_ns()), 0);
	assert_int_equal(unlink(fx_path(name)), 0);
	data = calloc(1, 8192);
	fx_write(name, data, 8192);
	assert_int_equal(ct_ring_note_death(rings(), 4000000, 0, now_ns()), 0);
	fx_write(name, data, 100);
	assert_int_equal(ct_ring_note_death(rings(), 4000000, 0, now_ns()), 0);
	free(data);
	data = fx_read(name, &bytes);
	for (size_t i = 0; i < bytes; i++)
		assert_int_equal(data[i], 0);
	free(data);
}

static void the_first_kill_stays_and_reports_who(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_ring_header h;
	int pid = fx_child();

	(void)state;
	fx_become(&p, pid);
	put_ring(&p);
	errno = 55;
	ct_ring_note_kill(rings(), pid, 0, now_ns());
	ct_ring_note_kill(rings(), pid, SIGUSR1, now_ns());
	ct_ring_note_kill(rings(), pid, SIGSTOP, now_ns());
	h = header_of_only_ring();
	assert_int_equal(atomic_load(&h.kill_ns), 0);
	ct_ring_note_kill(rings(), pid, SIGTERM, 7000000);
	ct_ring_note_kill(rings(), pid, SIGKILL, 8000000);
	assert_int_equal(errno, 55);
	h = header_of_only_ring();
	assert_int_equal(atomic_load(&h.kill_ns), 7000000);
	assert_true(atomic_load(&h.kill_note) == ((uint64_t)getpid() << 32 | SIGTERM));
}

static void a_kill_of_a_group_reaches_its_rings(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_ring_header h;
	int pid = fx_child();

	(void)state;
	assert_int_equal(setpgid(pid, pid), 0);
	fx_become(&p, pid);
	put_ring(&p);
	ct_ring_note_kill(rings(), -getpgrp(), SIGTERM, 7000000);
	ct_ring_note_kill(rings(), -1, SIGTERM, 7000000);
	ct_ring_note_kill(rings(), 0, SIGTERM, 7000000);
	h = header_of_only_ring();
	assert_int_equal(atomic_load(&h.kill_ns), 0);
	ct_ring_note_kill(rings(), -pid, SIGTERM, 7000000);
	h = header_of_only_ring();
	assert_int_equal(atomic_load(&h.kill_ns), 7000000);
}

static void a_kill_does_not_reach_an_earlier_process_of_the_pid(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_ring_header h;
	int pid = fx_child();

	(void)state;
	fx_become(&p, pid);
	p.start_ticks--;
	put_ring(&p);
	ct_ring_note_kill(rings(), pid, SIGTERM, 7000000);
	assert_int_equal(ct_ring_note_death(rings(), pid, SIGTERM, 7000000), 0);
	h = header_of_only_ring();
	assert_int_equal(atomic_load(&h.kill_ns), 0);
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, make_dirs, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DIR_TEST(directories_come_once_in_order),
		DIR_TEST(ring_names_are_distinguished_from_others),
		DIR_TEST(a_scan_sees_ring_files_and_nothing_else),
		DIR_TEST(a_process_lives_while_pid_and_start_time_agree),
		DIR_TEST(a_zombie_is_awaited_until_its_parent_has_reported),
		DIR_TEST(no_rank_waits_for_an_orphan),
		DIR_TEST(another_namespace_is_judged_by_lock_and_beat),
		DIR_TEST(a_ring_from_before_a_reboot_is_dead),
		DIR_TEST(the_first_note_of_a_death_stays),
		DIR_TEST(a_kill_that_no_one_sent_reports_the_kernels),
		DIR_TEST(only_ends_are_noted_and_only_in_the_right_ring),
		DIR_TEST(what_is_no_ring_is_never_written_to),
		DIR_TEST(the_first_kill_stays_and_reports_who),
		DIR_TEST(a_kill_of_a_group_reaches_its_rings),
		DIR_TEST(a_kill_does_not_reach_an_earlier_process_of_the_pid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
