/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/process_exit.h"

#include <signal.h>
#include <stdlib.h>

#include "analyzer/model/clocks.h"
#include "analyzer/model/model.h"

struct ct_end ct_end_whole(const struct ct_process_info *info, const struct ct_process_facts *facts)
{
	struct ct_end end = info->end;

	if (end.how != CT_END_UNKNOWN || !facts->has_end)
		return end;
	end.how = CT_END_CLEAN;
	end.unasked = (facts->end.kind & CT_EXIT_UNASKED) != 0;
	if (CT_EXIT_KIND(facts->end.kind) == CT_EXIT_UNDERSCORE)
		end.how = CT_END_EXIT;
	if (CT_EXIT_KIND(facts->end.kind) == CT_EXIT_ABORT) {
		end.how = CT_END_SIGNAL;
		end.signal = SIGABRT;
	}
	end.exit_code = (int)(facts->end.code & 0xff);
	end.after_ns = end.said_ns = facts->end.end_ns;
	return end;
}

int ct_end_is_well(const struct ct_end *end)
{
	return end->how == CT_END_RUNNING || (end->how == CT_END_CLEAN && end->exit_code <= 0) ||
	       (end->how == CT_END_EXIT && end->exit_code == 0);
}

/* Did it end of the signal that somebody was seen to send it? A handler of that may have ended it in order, and a
 * launcher that has waited long enough sends SIGKILL. */
int ct_end_was_sent(const struct ct_end *end)
{
	if (!end->kill_ns || (end->said_ns && end->said_ns < end->kill_ns))
		return 0;
	return end->how != CT_END_SIGNAL || end->signal == end->kill_signal ||
	       end->signal == SIGKILL || end->after_ns >= end->kill_ns;
}

struct ct_ends_moment ct_ends_moment_of(const struct ct_end *end)
{
	struct ct_ends_moment m = { .lo_ns = end->after_ns, .hi_ns = end->before_ns };

	m.how_unknown = end->how == CT_END_UNKNOWN;
	/* whom the kernel kills for want of memory has failed by itself */
	m.was_killed = end->how == CT_END_SIGNAL && !end->for_memory &&
		       (end->signal == SIGTERM || end->signal == SIGKILL);
	if (ct_end_was_sent(end)) {
		m.was_killed = 1;
		m.lo_ns = m.hi_ns = end->kill_ns;
	} else if (end->said_ns) {
		m.lo_ns = m.hi_ns = end->said_ns;
	}
	return m;
}

/* ---- the order ---- */

static int by_likelihood(const void *a, const void *b)
{
	const struct ct_ends_moment *x = a, *y = b;

	if (x->how_unknown != y->how_unknown)
		return x->how_unknown - y->how_unknown;
	if (x->was_killed != y->was_killed)
		return x->was_killed - y->was_killed;
	if (x->lo_ns != y->lo_ns)
		return x->lo_ns < y->lo_ns ? -1 : 1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static int by_time(const void *a, const void *b)
{
	const struct ct_ends_moment *x = a, *y = b;

	if (x->lo_ns != y->lo_ns)
		return x->lo_ns < y->lo_ns ? -1 : 1;
	return by_likelihood(a, b);
}

size_t ct_ends_sort(struct ct_ends_moment *moments, size_t n)
{
	uint64_t first_gone_ns = UINT64_MAX;
	size_t n_first = 0;

	for (size_t i = 0; i < n; i++) {
		if (moments[i].hi_ns < first_gone_ns)
			first_gone_ns = moments[i].hi_ns;
	}
	if (n > 1)
		qsort(moments, n, sizeof(*moments), by_time);
	/* who still lived when the first one was gone is not the first */
	while (n_first < n && moments[n_first].lo_ns <= first_gone_ns)
		n_first++;
	if (n_first > 1)
		qsort(moments, n_first, sizeof(*moments), by_likelihood);
	return n_first;
}

/* ---- of a report ---- */

static uint64_t moved(uint64_t ns, int64_t by)
{
	if (ns == UINT64_MAX)
		return ns;
	if (by < 0)
		return ns > (uint64_t)-by ? ns - (uint64_t)-by : 0;
	return ns < UINT64_MAX - (uint64_t)by ? ns + (uint64_t)by : UINT64_MAX - 1;
}

/* On the clock of the reference, wider by what is not known of it. */
static void relate(const struct ct_model *model, struct ct_ends_moment *m)
{
	const struct ct_clocks *clocks = model->attempts->clocks;
	uint32_t host = model->attempts->places[m->process].host;
	uint64_t err_ns = 0, lo = m->lo_ns, hi = m->hi_ns;

	if (!ct_clocks_at(clocks, host, lo, &m->lo_ns, &err_ns)) {
		m->lo_ns = 0;
		m->hi_ns = UINT64_MAX;
		return;
	}
	m->lo_ns = moved(m->lo_ns, -(int64_t)(err_ns < INT64_MAX ? err_ns : INT64_MAX));
	if (hi == UINT64_MAX || !ct_clocks_at(clocks, host, hi, &m->hi_ns, &err_ns))
		m->hi_ns = UINT64_MAX;
	else
		m->hi_ns = moved(m->hi_ns, (int64_t)(err_ns < INT64_MAX ? err_ns : INT64_MAX));
}

int ct_fill_ended(const struct ct_model *model, struct ct_report *report)
{
	const struct ct_place *places = model->attempts->places;
	struct ct_ends_moment *moments = ct_arena_calloc(report->memory, report->n_processes,
							 sizeof(*moments));
	int one_clock = 1;

	report->ended = ct_arena_calloc(report->memory, report->n_processes,
					sizeof(*report->ended));
	if (!report->ended || !moments)
		return CT_NOMEM;
	for (size_t p = 0; p < report->n_processes; p++) {
		struct ct_ends_moment *m = &moments[report->n_ended];

		if (places[p].attempt != model->attempt)
			continue;
		report->run.processes_running += report->processes[p].how.how == CT_END_RUNNING;
		if (!report->processes[p].ended_badly)
			continue;
		*m = ct_ends_moment_of(&report->processes[p].how);
		m->process = p;
		one_clock &= places[p].host == places[moments[0].process].host;
		report->n_ended++;
	}
	for (size_t i = 0; i < report->n_ended && !one_clock; i++)
		relate(model, &moments[i]);
	report->n_ended_first = ct_ends_sort(moments, report->n_ended);
	for (size_t i = 0; i < report->n_ended; i++)
		report->ended[i] = moments[i].process;
	return CT_OK;
}
