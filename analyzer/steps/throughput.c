/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/throughput.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/limits.h"
#include "analyzer/base/stats.h"

/* Blocks of twice as many steps, half as many. */
static void widen(struct ct_throughput *t)
{
	for (uint32_t b = 0; b < CT_RATE_BLOCKS; b++) {
		struct ct_rate_block block = t->blocks[b];

		t->blocks[b] = (struct ct_rate_block){ 0 };
		t->blocks[b / 2].samples += block.samples;
		t->blocks[b / 2].ns += block.ns;
		t->blocks[b / 2].n += block.n;
	}
	t->shift++;
}

static int on_nvtx(void *arg, const struct ct_stream *stream, uint32_t process, uint32_t slot,
		   const struct ct_nvtx_rec *rec)
{
	struct ct_throughput *t = arg;
	struct ct_rate_rank *rank;
	struct ct_rate_block *block;
	struct ct_step_mark mark;
	uint64_t behind, last_ns;

	(void)stream;
	(void)process;
	if (rec->how != CT_NVTX_STEP)
		return CT_OK;
	memcpy(&mark, rec->name, sizeof(mark));
	if (ct_grow_zeroed(&t->ranks, &t->n_ranks, slot + 1, sizeof(*t->ranks)))
		return CT_NOMEM;
	rank = &t->ranks[slot];
	last_ns = rank->last_ns;
	rank->last_ns = rec->begin_ns;
	if (rank->n++ <= t->skip || rec->begin_ns <= last_ns)
		return CT_OK;
	if (!t->shift && !t->blocks[0].n)
		t->first_step = mark.step;
	/* a program that begins to count anew, or a rank that is behind the first */
	behind = mark.step > t->first_step ? mark.step - t->first_step : 0;
	while (behind >> t->shift >= CT_RATE_BLOCKS)
		widen(t);
	block = &t->blocks[behind >> t->shift];
	block->samples += (double)mark.samples;
	block->ns += (double)(rec->begin_ns - last_ns);
	block->n++;
	return CT_OK;
}

void ct_throughput_observe(struct ct_throughput *t, struct ct_observer *observer)
{
	*observer = (struct ct_observer){ .nvtx = on_nvtx, .arg = t };
}

/* All ranks work at the same time: their mean time is that of the job. */
static double rate(double samples, double ns, uint32_t ranks)
{
	return samples * ranks / ns * 1e9;
}

void ct_throughput_fill(const struct ct_throughput *t, struct ct_report *report)
{
	struct ct_report_throughput *to = &report->throughput;
	struct ct_rate_block all = { 0 };
	double square = 0;

	to->per_s = to->err_per_s = NAN;
	for (uint32_t s = 0; s < t->n_ranks; s++)
		to->ranks += t->ranks[s].n > t->skip + 1u;
	for (uint32_t b = 0; b < CT_RATE_BLOCKS; b++) {
		const struct ct_rate_block *block = &t->blocks[b];

		all.samples += block->samples;
		all.ns += block->ns;
		all.n += block->n;
		if (block->samples > 0)
			to->blocks[to->n_blocks++] = rate(block->samples, block->ns, to->ranks);
	}
	if (!(all.samples > 0))
		return;
	to->samples = ct_round_whole(all.samples);
	to->marks = all.n;
	/* with fewer blocks its error is not known: neither is the rate then */
	if (to->n_blocks < CT_LEAST_STEPS)
		return;
	to->per_s = rate(all.samples, all.ns, to->ranks);
	for (size_t b = 0; b < to->n_blocks; b++)
		square += pow(to->blocks[b] - to->per_s, 2);
	square *= ct_inflation(ct_neighbours(to->blocks, to->n_blocks));
	to->err_per_s = 2 * sqrt(square / (double)(to->n_blocks - 1) / (double)to->n_blocks);
}

void ct_throughput_fini(struct ct_throughput *t)
{
	free(t->ranks);
	*t = (struct ct_throughput){ 0 };
}
