/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_AFTER_NS 1000000000ull
#define EVERY_NS 100000000ull
#define BAR 40

static struct {
	const char *what; /* NULL: nothing under way */
	uint64_t next_ns;
	int drawn;
} progress;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

void ct_progress_begin(const char *what)
{
	progress.what = isatty(STDERR_FILENO) ? what : NULL;
	progress.next_ns = now_ns() + FIRST_AFTER_NS;
	progress.drawn = 0;
}

static void draw_bar(uint64_t done, uint64_t total)
{
	double part = done < total ? (double)done / (double)total : 1;
	int full = (int)(part * BAR);
	char bar[BAR + 1];

	for (int i = 0; i < BAR; i++)
		bar[i] = i < full ? '#' : '.';
	bar[BAR] = '\0';
	fprintf(stderr, "\r%s [%s] %3d %%", progress.what, bar, (int)(part * 100));
}

void ct_progress_at(uint64_t done, uint64_t total)
{
	uint64_t now;

	if (!progress.what)
		return;
	now = now_ns();
	if (now < progress.next_ns)
		return;
	progress.next_ns = now + EVERY_NS;
	if (total)
		draw_bar(done, total);
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
