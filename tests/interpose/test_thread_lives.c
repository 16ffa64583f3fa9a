/* SPDX-License-Identifier: Apache-2.0 */
/* Which threads have ended: the write thread takes over their chunks. A wrong answer would take the
 * chunk of a living one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/threads.h"

static void *own_id(void *arg)
{
	*(uint32_t *)arg = (uint32_t)syscall(SYS_gettid);
	return NULL;
}

/* The number of a thread that has ended. The kernel may still be removing a thread that was joined.
 */
static uint32_t ended_thread(void)
{
	uint32_t tid = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, own_id, &tid) != 0 || pthread_join(thread, NULL) != 0)
		return 0;
	for (int i = 0; i < 1000 && ct_thread_lives(tid); i++)
		usleep(1000);
	return tid;
}

static void a_thread_lives_until_it_has_ended(void **state)
{
	(void)state;
	assert_true(ct_thread_lives((uint32_t)syscall(SYS_gettid)));
	assert_false(ct_thread_lives(ended_thread()));
}

static void a_thread_of_another_process_is_none(void **state)
{
	(void)state;
	assert_false(ct_thread_lives((uint32_t)getppid()));
}

/* In a process whose root is an empty directory. */
static int is_right_without_proc(const char *root)
{
	/* only some containers let their root user do it, most let others do it in a user namespace
	 */
	if (chroot(root) != 0 && (unshare(CLONE_NEWUSER) != 0 || chroot(root) != 0))
		return 1;
	return access("/proc", F_OK) != 0 && ct_thread_lives((uint32_t)syscall(SYS_gettid)) &&
	       !ct_thread_lives(ended_thread());
}

static void without_proc_a_living_thread_lives(void **state)
{
	char root[] = "/tmp/ct-no-proc-XXXXXX";
	int status;
	pid_t pid;

	(void)state;
	assert_non_null(mkdtemp(root));
	pid = fork();
	if (pid == 0)
		_exit(is_right_without_proc(root) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(rmdir(root), 0);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_lives_until_it_has_ended),
		cmocka_unit_test(a_thread_of_another_process_is_none),
		cmocka_unit_test(without_proc_a_living_thread_lives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
