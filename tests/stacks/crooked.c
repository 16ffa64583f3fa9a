/* SPDX-License-Identifier: Apache-2.0 */
/* crooked.c — a process with a stack that is hard to read, by its argument: overwritten (what lies
 * above a frame), deep (a million frames), aside (on memory of its own), nowhere (dies in a call
 * through a null pointer). Says "ready" where it stays. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))

static volatile int after; /* what is done behind a call keeps it from being a jump */

KEEP static void waits(void)
{
	const struct timespec hour = { .tv_sec = 3600 };

	puts("ready");
	fflush(stdout);
	while (!after)
		nanosleep(&hour, NULL);
}

/* The frame of its caller's callers is gone. */
KEEP static void overwrites(void)
{
	volatile unsigned char *above = __builtin_frame_address(0);

	for (int i = 0; i < 4096; i++)
		above[i] = (unsigned char)(0xa5 ^ i * 37);
	waits();
	after++;
}

KEEP static void room_above(void)
{
	volatile unsigned char room[8192];

	room[0] = room[8191] = 1;
	overwrites();
	after += room[0];
}

KEEP static void recurses(int n)
{
	if (n > 0)
		recurses(n - 1);
	else
		waits();
	after++;
}

KEEP static void on_another_stack(void)
{
	waits();
	after++;
}

KEEP static void goes_nowhere(void (*nowhere)(void))
{
	nowhere();
	after++;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (strcmp(how, "overwritten") == 0) {
		room_above();
	} else if (strcmp(how, "deep") == 0) {
		recurses(100000);
	} else if (strcmp(how, "aside") == 0) {
		static ucontext_t here, there;

		getcontext(&there);
		there.uc_stack.ss_size = 1 << 20;
		there.uc_stack.ss_sp = malloc(there.uc_stack.ss_size);
		there.uc_link = &here;
		makecontext(&there, on_another_stack, 0);
		swapcontext(&here, &there);
	} else if (strcmp(how, "nowhere") == 0) {
		void (*volatile null)(void) = NULL;

		goes_nowhere(null);
		after++;
	}
	return 2;
}
