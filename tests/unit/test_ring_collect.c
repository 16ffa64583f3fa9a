/* SPDX-License-Identifier: Apache-2.0 */
/* Where the rings of the dead go: into their runs, or away, and never those of the living. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace/reader.h"
#include "trace/ring_dir.h"
#include "trace/run_id.h"

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

static struct ct_collected collect(void)
{
	struct ct_collected c;

	errno = 77;
	ct_ring_dir_collect(rings(), NULL, &c);
	assert_int_equal(errno, 77);
	return c;
}

static int make_dirs(void **state)
{
	if (fx_setup(state) != 0)
		return -1;
	fx_mkdir("rings");
	fx_mkdir("run");
	return 0;
}

/* A ring with 10 ops of process `p`, which is gone. Its header page is given for changes. */
static void put_ring(struct ct_process *p, void (*change)(struct ct_ring_header *h))
{
	struct fx_ring r;

	fx_ring_open(&r, p, "rings");
	for (uint64_t n = 0; n < 10; n++)
		fx_ring_op(&r, n, 1);
	if (change)
		change(r.ring.header);
	fx_ring_leave(&r);
}

static void just_now(struct ct_ring_header *h)
{
	atomic_store(&h->beat_ns, now_ns());
}

static void a_dead_ring_moves_into_its_run(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_collected c;
	struct ct_run *run;
	const char *path = fx_path("run");

	(void)state;
	put_ring(&p, NULL);
	c = collect();
	assert_int_equal(c.moved, 1);
	assert_int_equal(c.removed + c.kept, 0);
	assert_int_equal(c.bytes, CT_RING_MIN_BYTES);
	assert_non_null(strstr(fx_only("run", ".ring.zst"), "/n0."));
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(run->processes[0].ring, CT_RING_ARCHIVED);
	ct_run_close(run);
	c = collect();
	assert_int_equal(c.moved + c.removed + c.kept, 0);
}

static void a_live_ring_is_never_touched(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_collected c;

	(void)state;
	fx_become(&p, fx_child());
	put_ring(&p, NULL);
	c = collect();
	assert_int_equal(c.moved + c.removed + c.kept, 0);
	fx_only("rings", ".ring");
}

static void a_zombie_is_waited_for_by_its_own_parent_only(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_collected c;
	int pid = fork();

	(void)state;
	if (pid == 0)
		_exit(3);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	fx_become(&p, pid);
	put_ring(&p, just_now);
	c = collect();
	assert_int_equal(c.kept, 1); /* the parent may show how it ended */
	assert_int_equal(c.moved, 0);
	assert_int_equal(unlink(fx_path(fx_only("rings", ".ring"))), 0);
	p.ppid++; /* that has gone, and the zombie is init's, which does not care */
	put_ring(&p, just_now);
	c = collect();
	assert_int_equal(c.kept, 0);
	assert_int_equal(c.moved, 1);
	waitpid(pid, NULL, 0);
}

static void our_own_ring_keeps_its_lock(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_collected c;
	struct fx_ring r;
	int pid, status;

	(void)state;
	fx_become(&p, getpid());
	fx_ring_open(&r, &p, "rings");
	c = collect();
	ct_ring_note_kill(rings(), -getpgrp(), SIGTERM, now_ns());
	assert_int_equal(c.moved + c.removed + c.kept, 0);
	pid = fork();
	if (pid == 0) {
		struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
		int fd = open(r.ring.path, O_RDWR);

		_exit(fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	fx_ring_leave(&r);
	/* no longer mapped, but with our pid: from before an exec */
	c = collect();
	assert_int_equal(c.moved, 1);
}

static void a_ring_that_was_set_aside_moves_though_its_process_lives(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_collected c;
	struct fx_ring r;

	(void)state;
	fx_become(&p, fx_child());
	put_ring(&p, NULL);
	p.start_ns++; /* the same process, another program */
	fx_ring_open(&r, &p, "rings");
	c = collect();
	assert_int_equal(c.moved, 1);
	fx_only("run", ".ring.zst");
	fx_only("rings", ".ring");
	fx_ring_leave(&r);
}

static void end_it(struct ct_ring_header *h)
{
	atomic_store(&h->state, CT_RING_ENDED);
}

static void a_ring_that_is_all_in_segments_is_removed(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_collected c;
	struct fx_ring r;

	(void)state;
	fx_ring_open(&r, &p, "rings");
	for (uint64_t n = 0; n < 10; n++)
		fx_ring_op(&r, n, 1);
	atomic_store(&ct_lane_chunk(&r.lane)->drained, 10);
	end_it(r.ring.header);
	fx_ring_leave(&r);
	c = collect();
	assert_int_equal(c.removed, 1);
	assert_int_equal(c.moved + c.kept, 0);
}

static void an_ended_ring_with_records_left_moves(void **state)
{
	struct ct_process p = fx_process(0, "run");

	(void)state;
	put_ring(&p, end_it);
	assert_int_equal(collect().moved, 1);
}

static void end_it_and_kill_it(struct ct_ring_header *h)
{
	struct ct_chunk *chunks = (struct ct_chunk *)((char *)h + h->chunks_at);

	for (uint32_t i = 0; i < h->n_chunks; i++)
		atomic_store(&chunks[i * CT_CHUNK_SLOTS + i].drained, 10);
	end_it(h);
	atomic_store(&h->death_note, 1ull << 32 | SIGSEGV);
	atomic_store(&h->death_seen_ns, 5000000);
}

static void a_death_that_the_segments_do_not_know_moves_with_its_ring(void **state)
{
	struct ct_process p = fx_process(0, "run");
	const char *path = fx_path("run");
	struct ct_run *run;

	(void)state;
	put_ring(&p, end_it_and_kill_it);
	assert_int_equal(collect().moved, 1);
	assert_int_equal(ct_run_open(&path, 1, NULL, &run, NULL), CT_OK);
	assert_int_equal(run->processes[0].end.signal, SIGSEGV);
	ct_run_close(run);
}

static void set_times(time_t mtime, uint64_t beat_ns)
{
	const struct timespec times[2] = { { .tv_sec = mtime }, { .tv_sec = mtime } };
	int fd = open(fx_path(fx_only("rings", ".ring")), O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, &beat_ns, 8, offsetof(struct ct_ring_header, beat_ns)), 8);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static void evidence_waits_a_day_for_a_directory_that_is_gone(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_collected c;

	(void)state;
	put_ring(&p, NULL);
	assert_int_equal(rename(fx_path("run"), fx_path("elsewhere")), 0);
	c = collect();
	assert_int_equal(c.kept, 1);
	assert_int_equal(c.moved + c.removed, 0);
	assert_non_null(strstr(c.why_kept, "not where it was"));
	fx_mkdir("run"); /* another directory of the same name is not the run */
	assert_int_equal(collect().kept, 1);

	/* old by the file's time, but its process was alive a minute ago */
	set_times(time(NULL) - 25 * 3600, now_ns() - 60000000000ull);
	assert_int_equal(collect().kept, 1);
	/* old by its beat, but the file is new */
	set_times(time(NULL), 0);
	assert_int_equal(collect().kept, 1);

	/* back again: all is well */
	assert_int_equal(rmdir(fx_path("run")), 0);
	assert_int_equal(rename(fx_path("elsewhere"), fx_path("run")), 0);
	assert_int_equal(collect().moved, 1);
}

static void after_a_day_it_goes_unless_its_run_is_asked_for(void **state)
{
	struct ct_process p = fx_process(0, "run");
	const struct ct_run_id run = p.run;
	struct ct_collected c;

	(void)state;
	put_ring(&p, NULL);
	assert_int_equal(rmdir(fx_path("run")), 0);
	/* A machine that has been up for less than a day cannot have a beat so old: of an earlier
	 * boot, then. */
	memset(&p, 0, sizeof(p));
	{
		int fd = open(fx_path(fx_only("rings", ".ring")), O_RDWR);
		const size_t at = offsetof(struct ct_ring_header, process) +
				  offsetof(struct ct_process, boot_id);
		char host[64] = { 0 };

		gethostname(host, sizeof(host));
		assert_int_equal(pwrite(fd, "00000000", 8, (off_t)at), 8);
		assert_int_equal(pwrite(fd, host, sizeof(host),
					(off_t)(offsetof(struct ct_ring_header, process) +
						offsetof(struct ct_process, host))),
				 sizeof(host));
		close(fd);
	}
	set_times(time(NULL) - 23 * 3600, 0);
	assert_int_equal(collect().kept, 1);
	set_times(time(NULL) - 25 * 3600, 0);
	ct_ring_dir_collect(rings(), &run, &c);
	assert_int_equal(c.removed, 0);
	assert_int_equal(c.kept, 1);
	c = collect();
	assert_int_equal(c.removed, 1);
	assert_int_equal(c.kept, 0);
}

/* 80 MB of rings, sparse after the first pages; the limit is 64 MB. Their directory is called
 * otherwise now. */
static struct ct_run_id put_many_orphans(void)
{
	struct ct_process p;
	struct ct_ring ring;

	for (int i = 0; i < 5; i++) {
		p = fx_process(i, "run");
		assert_int_equal(ct_ring_create(&ring, &p, rings(), CT_RING_MIN_BYTES, NULL),
				 CT_OK);
		atomic_store(&ring.header->beat_ns, (uint64_t)i + 1);
		assert_int_equal(truncate(ring.path, 16 << 20), 0);
		ct_ring_close(&ring, 0);
	}
	assert_int_equal(rename(fx_path("run"), fx_path("elsewhere")), 0);
	return p.run;
}

static void orphans_do_not_fill_the_directory(void **state)
{
	struct ct_collected c;

	(void)state;
	put_many_orphans();
	c = collect();
	assert_int_equal(c.kept, 4);
	assert_int_equal(c.removed, 1);
	assert_int_equal(collect().kept, 4);
}

static void a_run_that_is_asked_for_loses_no_ring_for_having_moved(void **state)
{
	const struct ct_run_id id = put_many_orphans();
	struct ct_collected c;

	(void)state;
	ct_ring_dir_collect(rings(), &id, &c);
	assert_int_equal(c.kept, 5);
	assert_int_equal(c.moved + c.removed, 0);
}

static void a_run_that_cannot_be_written_keeps_its_ring_where_it_is(void **state)
{
	struct ct_process p = fx_process(0, "run");
	char name[CT_SEGMENT_NAME_MAX + 32] = "run/";
	struct ct_collected c;

	(void)state;
	put_ring(&p, NULL);
	/* a directory in the way of the archive */
	ct_segment_stem(name + 4, &p);
	strcat(name, ".ring.zst");
	fx_mkdir(name);
	c = collect();
	assert_int_equal(c.kept, 1);
	assert_int_equal(c.moved, 0);
	assert_non_null(strstr(c.why_kept, "rename"));
	fx_only("rings", ".ring");
	strcat(name, ".tmp");
	assert_false(fx_exists(name));
	name[strlen(name) - 4] = '\0';
	assert_int_equal(rmdir(fx_path(name)), 0);
	/* the remains of a dead collector do no harm */
	strcat(name, ".tmp");
	fx_write(name, "half", 4);
	assert_int_equal(collect().moved, 1);
	assert_false(fx_exists(name));
}

static void of_several_collectors_one_does_it(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int pid, status;
	int fd;

	(void)state;
	put_ring(&p, NULL);
	fd = open(fx_path(fx_only("rings", ".ring")), O_RDWR);
	assert_int_equal(fcntl(fd, F_SETLK, &whole), 0);
	pid = fork();
	if (pid == 0) {
		struct ct_collected c;

		ct_ring_dir_collect(rings(), NULL, &c);
		_exit((int)(c.moved + c.removed + c.kept));
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	close(fd);
	assert_int_equal(collect().moved, 1);
}

static void only_the_run_that_is_asked_for_is_collected(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_process q;
	struct ct_collected c;

	(void)state;
	fx_mkdir("other");
	q = fx_process(1, "other");
	put_ring(&p, NULL);
	put_ring(&q, NULL);
	ct_ring_dir_collect(rings(), &q.run, &c);
	assert_int_equal(c.moved, 1);
	fx_only("other", ".ring.zst");
	fx_only("rings", ".ring");
}

/* A file system hands the inode of a removed directory to the next one that is made. */
static void a_new_directory_with_an_old_inode_is_another_run(void **state)
{
	struct ct_process p = fx_process(0, "run");
	struct ct_run_id id = p.run;

	(void)state;
	id.born_ns = p.run.born_ns = 7; /* whatever this file system shows */
	assert_true(ct_run_id_same(&id, &p.run));
	p.run.born_ns = 8;
	assert_false(ct_run_id_same(&id, &p.run));
	p.run.born_ns = 0; /* recorded where the file system did not show */
	assert_true(ct_run_id_same(&id, &p.run));
	p.run.ino++;
	put_ring(&p, NULL);
	assert_int_equal(collect().moved, 0);
	fx_only("rings", ".ring");
}

static void a_ring_that_was_never_made_is_swept_away(void **state)
{
	static char zeros[CT_RING_MIN_BYTES];
	char name[CT_RING_NAME_MAX + 8] = "rings/";
	int pid = fx_child();

	(void)state;
	ct_ring_name(name + 6, ct_pidns_self(), (uint32_t)pid);
	fx_write(name, zeros, sizeof(zeros));
	assert_int_equal(collect().removed, 0); /* being made */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(collect().removed, 1);
	/* what is not ours stays, whatever its name */
	fx_write("rings/commtrace.1.4000000.ring", "my own notes", 12);
	memset(zeros, 'x', sizeof(zeros));
	fx_write("rings/commtrace.1.4000001.ring", zeros, sizeof(zeros));
	assert_int_equal(collect().removed, 0);
	assert_true(fx_exists("rings/commtrace.1.4000000.ring"));
	assert_true(fx_exists("rings/commtrace.1.4000001.ring"));
}

static void a_ring_file_that_was_only_named_is_swept_away(void **state)
{
	char name[CT_RING_NAME_MAX + 8] = "rings/";
	int pid = fx_child();

	(void)state;
	ct_ring_name(name + 6, ct_pidns_self(), (uint32_t)pid);
	fx_write(name, "", 0);
	assert_int_equal(collect().removed, 0); /* its process lives: about to allocate it */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(collect().removed, 1);
	fx_write(name, "short", 5); /* not something that we left */
	assert_int_equal(collect().removed, 0);
}

#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, make_dirs, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DIR_TEST(a_dead_ring_moves_into_its_run),
		DIR_TEST(a_live_ring_is_never_touched),
		DIR_TEST(a_zombie_is_waited_for_by_its_own_parent_only),
		DIR_TEST(our_own_ring_keeps_its_lock),
		DIR_TEST(a_ring_that_was_set_aside_moves_though_its_process_lives),
		DIR_TEST(a_ring_that_is_all_in_segments_is_removed),
		DIR_TEST(an_ended_ring_with_records_left_moves),
		DIR_TEST(a_death_that_the_segments_do_not_know_moves_with_its_ring),
		DIR_TEST(evidence_waits_a_day_for_a_directory_that_is_gone),
		DIR_TEST(after_a_day_it_goes_unless_its_run_is_asked_for),
		DIR_TEST(orphans_do_not_fill_the_directory),
		DIR_TEST(a_run_that_is_asked_for_loses_no_ring_for_having_moved),
		DIR_TEST(a_run_that_cannot_be_written_keeps_its_ring_where_it_is),
		DIR_TEST(of_several_collectors_one_does_it),
		DIR_TEST(only_the_run_that_is_asked_for_is_collected),
		DIR_TEST(a_new_directory_with_an_old_inode_is_another_run),
		DIR_TEST(a_ring_that_was_never_made_is_swept_away),
		DIR_TEST(a_ring_file_that_was_only_named_is_swept_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
