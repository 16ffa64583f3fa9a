/* SPDX-License-Identifier: Apache-2.0 */
/* The line that says how far a command is: on a terminal, after a second, with the time left;
 * elsewhere nothing. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/commtrace/base/progress.h"

static char said[65536];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Half of it is done, for as long as it takes to be reported with the time left, or until
 * `give_up_ns`; what was written to stderr, which is `to`, goes to `said`. */
static void half_of_it(int to, int from, uint64_t give_up_ns)
{
	int own = dup(STDERR_FILENO);
	uint64_t begin = now_ns();
	size_t n = 0;

	assert_true(own >= 0 && dup2(to, STDERR_FILENO) >= 0);
	assert_int_equal(fcntl(from, F_SETFL, O_NONBLOCK), 0);
	ct_progress_begin("reading");
	while (now_ns() - begin < give_up_ns) {
		const struct timespec pause = { .tv_nsec = 10000000 };
		ssize_t more;

		ct_progress_at(50, 100);
		more = read(from, said + n, sizeof(said) - 1 - n);
		n += more > 0 ? (size_t)more : 0;
		said[n] = '\0'; /* a terminal may hand a line on in parts */
		if (strstr(said, " left"))
			break;
		nanosleep(&pause, NULL);
	}
	ct_progress_end();
	said[n] = '\0';
	assert_true(dup2(own, STDERR_FILENO) >= 0);
	close(own);
}

static void a_terminal_shows_how_much_is_done_and_the_time_left(void **state)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), side;
	uint64_t begin = now_ns();
	long left, whole;
	char *at;

	(void)state;
	assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	side = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_true(side >= 0);
	half_of_it(side, terminal, 60000000000ull);
	assert_non_null(strstr(said, "reading ["));
	at = strstr(said, "50 %, ");
	assert_non_null(at);
	/* as long as it has taken, which is a second at least */
	left = strtol(at + strlen("50 %, "), &at, 10);
	whole = (long)((now_ns() - begin) / 1000000000ull);
	assert_int_equal(strncmp(at, " s left", 7), 0);
	assert_in_range(left, 1, whole + 1);
	close(side);
	close(terminal);
}

static void what_is_no_terminal_is_asked_nothing(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	half_of_it(ends[1], ends[0], 1500000000ull);
	assert_string_equal(said, "");
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_shows_how_much_is_done_and_the_time_left),
		cmocka_unit_test(what_is_no_terminal_is_asked_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
