/* SPDX-License-Identifier: Apache-2.0 */
/* Missing data that matters for a verdict on a hang. */
#include <inttypes.h>

#include "analyzer/base/template.h"
#include "analyzer/base/units.h"
#include "analyzer/hang/gather.h"

#define MOST 16u /* size: sentences, of which each unreadable file adds one */

static int add(struct ct_hang_run *out, const char *text)
{
	if (!text)
		return CT_NOMEM;
	out->missing_data[out->n_missing_data++] = text;
	return CT_OK;
}

/* Nothing if no process is affected. */
static int add_processes(struct ct_gather *g, struct ct_hang_run *out, enum ct_hang_text text,
			 uint32_t n)
{
	const struct ct_word words[] = {
		{ "{processes}",
		  ct_arena_printf(g->memory, "%" PRIu32 " process%s", n, n == 1 ? "" : "es") },
	};

	return n ? add(out, ct_template_fill(g->memory, ct_hang_text_of(text), words, 1)) : CT_OK;
}

/* Processes that run, or ended without an end record, and whose ring is gone: their last records
 * may be missing. */
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
	return add_processes(g, out, CT_HANG_TEXT_RINGS_GONE, n);
}

static int add_damaged(struct ct_gather *g, struct ct_hang_run *out)
{
	uint32_t n = 0;

	for (size_t p = 0; p < g->run->n_processes; p++)
		n += ct_gather_has(g, (uint32_t)p) && g->processes[p].damaged;
	return add_processes(g, out, CT_HANG_TEXT_DAMAGED, n);
}

/* Processes whose CUDA queries did not return. */
static int add_blind(struct ct_gather *g, struct ct_hang_run *out)
{
	uint32_t n = 0;

	for (size_t p = 0; p < g->run->n_processes; p++)
		n += ct_gather_has(g, (uint32_t)p) && g->processes[p].blind;
	return add_processes(g, out, CT_HANG_TEXT_NOT_POLLED, n);
}

/* A busy host delayed a process, so that ranks may be late for no other reason. */
static int add_busy(struct ct_gather *g, struct ct_hang_run *out)
{
	const struct ct_word words[] = {
		{ "{time}", ct_arena_printf(g->memory, "%s", ct_prose_ns(out->late_ns).s) },
		{ "{limit}", ct_arena_printf(g->memory, "%s", ct_prose_ns(out->limit_ns).s) },
	};

	if (!out->is_busy)
		return CT_OK;
	return add(out,
		   ct_template_fill(g->memory, ct_hang_text_of(CT_HANG_TEXT_BUSY_HOST), words, 2));
}

int ct_hang_missing(struct ct_gather *g, struct ct_hang_run *out)
{
	int st;

	out->missing_data = ct_arena_calloc(g->memory, MOST + 4u, sizeof(*out->missing_data));
	if (!out->missing_data)
		return CT_NOMEM;
	st = add_lost_rings(g, out);
	st = st ?: add_damaged(g, out);
	st = st ?: add_blind(g, out);
	st = st ?: add_busy(g, out);
	for (size_t w = 0; w < g->run->n_warnings && w < MOST && st == CT_OK; w++)
		st = add(out, ct_arena_printf(g->memory, "%s", g->run->warnings[w]));
	return st;
}
