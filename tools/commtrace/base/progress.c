/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/progress.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "trace/clock.h"

#define FIRST_AFTER_NS 1000000000ull /* size: what takes less needs no bar */
#define EVERY_NS 100000000ull	     /* size: ten times a second it seems to move */
#define BAR 40			     /* size: half of a line; the rest says what is done */

static struct {
	const char *what; /* NULL: nothing under way */
	uint64_t next_ns;
	uint64_t begun_ns, done; /* it began again when less was done than before */
	int drawn;
} progress;

void ct_progress_begin(const char *what)
{
	int saved = errno; /* perhaps of a write, to be reported at the end */

	progress.what = isatty(STDERR_FILENO) ? what : NULL;
	errno = saved;
	progress.begun_ns = ct_clock_ns(CLOCK_MONOTONIC);
	progress.next_ns = progress.begun_ns + FIRST_AFTER_NS;
	progress.done = 0;
	progress.drawn = 0;
}

/* ", 12 s left": as long as what is done took, for what is not. Seconds to 99, minutes to 99. */
static void add_time_left(uint64_t now, double part)
{
	double left = part > 0 ? (double)(now - progress.begun_ns) / 1e9 * (1 - part) / part : 0;

	if (part <= 0 || now - progress.begun_ns < FIRST_AFTER_NS)
		fputs("\033[K", stderr);
	else if (left < 99.5)
		fprintf(stderr, ", %.0f s left\033[K", left);
	else if (left < 99.5 * 60)
		fprintf(stderr, ", %.0f min left\033[K", left / 60);
	else
		fprintf(stderr, ", %.1f h left\033[K", left / 3600);
}

static void draw_bar(uint64_t now, uint64_t done, uint64_t total)
{
	double part = done < total ? (double)done / (double)total : 1;
	int full = (int)(part * BAR);
	char bar[BAR + 1];

	for (int i = 0; i < BAR; i++)
		bar[i] = i < full ? '#' : '.';
	bar[BAR] = '\0';
	fprintf(stderr, "\r%s [%s] %3d %%", progress.what, bar, (int)(part * 100));
	add_time_left(now, part);
}

void ct_progress_at(uint64_t done, uint64_t total)
{
	uint64_t now;

	if (!progress.what)
		return;
	now = ct_clock_ns(CLOCK_MONOTONIC);
	if (done < progress.done)
		progress.begun_ns = now;
	progress.done = done;
	if (now < progress.next_ns)
		return;
	progress.next_ns = now + EVERY_NS;
	if (total)
		draw_bar(now, done, total);
	else
		fprintf(stderr, "\r%s ... %" PRIu64, progress.what, done);
	fflush(stderr);
	progress.drawn = 1;
}

void ct_progress_clear(void)
{
	if (!progress.drawn)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress.drawn = 0;
}

void ct_progress_end(void)
{
	ct_progress_clear();
	progress.what = NULL;
}
