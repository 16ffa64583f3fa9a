/* SPDX-License-Identifier: Apache-2.0 */
/* What an interrupted command leaves of its result: nothing, from the moment that others can see
 * the file. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/signals.h"

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

/* A process that waits for the file interrupts its maker before open(2) has returned. */
int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;
	int fd;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	fd = __real_open(path, flags, mode);
	if (flags & O_CREAT && fd >= 0)
		raise(SIGTERM);
	return fd;
}

static void a_file_that_was_just_made_does_not_stay(void **state)
{
	char dir[] = "/tmp/ct_out.XXXXXX", path[64];
	int status;
	pid_t child;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/result", dir);
	child = fork();
	if (!child) {
		struct ct_out out;

		dup2(__real_open("/dev/null", O_WRONLY), STDERR_FILENO);
		ct_signals_begin();
		_exit(ct_out_open(&out, path, 0) ? 2 : 3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
	assert_int_equal(rmdir(dir), 0); /* nothing is in it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_was_just_made_does_not_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
