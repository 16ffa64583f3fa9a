/* SPDX-License-Identifier: Apache-2.0 */
/* What of a run is not there, as far as it matters for a verdict on a hang. */
#include <inttypes.h>

#include "analyzer/base/units.h"
#include "analyzer/hang/gather.h"

#define MOST 16u /* sentences: files that could not be read are told of one by one */

static int add(struct ct_hang_run *out, const char *text)
{
	if (!text)
		return CT_NOMEM;
	out->missing_data[out->n_missing_data++] = text;
	return CT_OK;
}

/* Processes that run, or ended without a word, and whose ring is gone: what they did last may not be there. */
static int add_lost_rings(struct ct_gather *g, struct ct_hang_run *out)
{
	uint32_t n = 0;

	for (size_t p = 0; p < g->run->n_processes; p++) {
		const struct ct_process_info *info = &g->run->processes[p];
		const struct ct_hang_process *process = &g->processes[p];

		if (!ct_gather_has(g, (uint32_t)p) || ct_process_is_imported(&info->id) ||
		    info->ring != CT_RING_NOT_FOUND || g->model->processes[p].facts.has_end ||
		    process->manner == CT_MANNER_WELL)
			continue;
		n++;
	}
	if (!n)
		return CT_OK;
	return add(out, ct_arena_printf(g->memory,
					"the rings of %" PRIu32
					" processes are gone: what they did after they last wrote "
					"to the run (every 10 s at least) is not known",
					n));
}

/* Files that cannot be read in whole. */
static int add_damaged(struct ct_gather *g, struct ct_hang_run *out)
{
	uint32_t n = 0;

	for (size_t p = 0; p < g->run->n_processes; p++)
		n += ct_gather_has(g, (uint32_t)p) && g->processes[p].damaged;
	return !n ? CT_OK
		  : add(out, ct_arena_printf(
				     g->memory,
				     "files of %" PRIu32 " processes are damaged or cut off "
				     "(commtrace info tells which): what stood there is not known",
				     n));
}

/* Who asks CUDA how far operations are, and is kept waiting. */
static int add_blind(struct ct_gather *g, struct ct_hang_run *out)
{
	uint32_t n = 0;

	for (size_t p = 0; p < g->run->n_processes; p++)
		n += ct_gather_has(g, (uint32_t)p) && g->processes[p].blind;
	return !n ? CT_OK
		  : add(out, ct_arena_printf(g->memory,
					     "CUDA did not answer the recorder in %" PRIu32
					     " processes: how far operations came on their GPUs is "
					     "not known",
					     n));
}

/* Somebody who was to run did not: then others may be late for no other reason. */
static int add_busy(struct ct_gather *g, struct ct_hang_run *out)
{
	if (!out->is_busy)
		return CT_OK;
	return add(out,
		   ct_arena_printf(g->memory,
				   "a host was so busy that a process waited %s for a "
				   "processor: only what stood still for longer than %s counts",
				   ct_text_ns(out->late_ns).s, ct_text_ns(out->limit_ns).s));
}

int ct_hang_missing(struct ct_gather *g, struct ct_hang_run *out)
{
	int st;

	out->missing_data = ct_arena_calloc(g->memory, MOST + 4u, sizeof(*out->missing_data));
	if (!out->missing_data)
		return CT_NOMEM;
	st = add_lost_rings(g, out);
	if (st == CT_OK)
		st = add_damaged(g, out);
	if (st == CT_OK)
		st = add_blind(g, out);
	if (st == CT_OK)
		st = add_busy(g, out);
	for (size_t w = 0; w < g->run->n_warnings && w < MOST && st == CT_OK; w++)
		st = add(out, ct_arena_printf(g->memory, "%s", g->run->warnings[w]));
	return st;
}
