/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.c — spans in which a GPU is stalled, or has no SMs for communication; and the length of a
 * union of spans. */
#include <string.h>

#include "tools/synth/play_private.h"

/* The oldest give way: a stream that still works then is long behind the CPU that began the newest.
 */
void ct_play_span_add(struct spans *spans, uint64_t begin_ns, uint64_t ns)
{
	if (spans->n == SPANS)
		memmove(spans->at, spans->at + 1, --spans->n * sizeof(spans->at[0]));
	spans->at[spans->n++] = (struct span){ begin_ns, begin_ns + ns };
}

uint64_t ct_play_span_leave(const struct spans *spans, uint64_t ns)
{
	for (uint32_t i = 0; i < spans->n; i++) {
		if (spans->at[i].begin_ns <= ns && ns < spans->at[i].end_ns)
			ns = spans->at[i].end_ns;
	}
	return ns;
}

uint64_t ct_play_span_work(const struct spans *spans, uint64_t begin_ns, uint64_t ns)
{
	uint64_t end = ct_play_span_leave(spans, begin_ns) + ns;

	for (uint32_t i = 0; i < spans->n; i++) {
		if (spans->at[i].begin_ns >= begin_ns && spans->at[i].begin_ns < end)
			end += spans->at[i].end_ns - spans->at[i].begin_ns;
	}
	return end;
}

/* The older half is done with when there is no space. */
static void make_room(struct cover *cover)
{
	if (cover->n < SPANS)
		return;
	for (uint32_t i = 0; i < SPANS / 2; i++)
		cover->done_ns += cover->at[i].end_ns - cover->at[i].begin_ns;
	cover->n = SPANS / 2;
	memmove(cover->at, cover->at + SPANS / 2, cover->n * sizeof(cover->at[0]));
}

/* Behind all others, as nearly always; else joined with all that it touches. */
void ct_play_cover_add(struct cover *cover, uint64_t begin_ns, uint64_t end_ns)
{
	uint32_t kept = 0, at = 0;

	if (end_ns <= begin_ns)
		return;
	make_room(cover);
	if (!cover->n || cover->at[cover->n - 1].end_ns < begin_ns) {
		cover->at[cover->n++] = (struct span){ begin_ns, end_ns };
		return;
	}
	for (uint32_t i = 0; i < cover->n; i++) {
		const struct span s = cover->at[i];

		if (s.begin_ns <= end_ns && begin_ns <= s.end_ns) {
			begin_ns = s.begin_ns < begin_ns ? s.begin_ns : begin_ns;
			end_ns = s.end_ns > end_ns ? s.end_ns : end_ns;
		} else {
			cover->at[kept++] = s;
		}
	}
	cover->n = kept;
	while (at < cover->n && cover->at[at].begin_ns < begin_ns)
		at++;
	memmove(cover->at + at + 1, cover->at + at, (cover->n - at) * sizeof(cover->at[0]));
	cover->at[at] = (struct span){ begin_ns, end_ns };
	cover->n++;
}

uint64_t ct_play_cover_sum(const struct cover *cover)
{
	uint64_t sum = cover->done_ns;

	for (uint32_t i = 0; i < cover->n; i++)
		sum += cover->at[i].end_ns - cover->at[i].begin_ns;
	return sum;
}
