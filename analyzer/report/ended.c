/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes of this start of the job did not end well, the first to fail first. */
#include <stdlib.h>

#include "analyzer/model/exit_order.h"
#include "analyzer/report/fill.h"

static uint64_t at(const void *arg, uint32_t process, uint64_t mono_ns, uint64_t *err_ns)
{
	const struct ct_model *model = arg;
	uint32_t host = model->starts->processes[process].host;
	uint64_t ref_ns;

	if (!ct_clocks_at(model->starts->clocks, host, mono_ns, &ref_ns, err_ns))
		*err_ns = model->starts->n_hosts > 1 ? UINT64_MAX : 0;
	return ct_model_at(model, process, mono_ns);
}

/* Of communicators whose members are known; a slot's process is its latest one. */
static int take_reach(const struct ct_model *model, struct ct_exits *exits)
{
	size_t n = 0;

	for (uint32_t c = 0; c < model->comms.n; c++)
		n += model->comms.all[c]->nranks;
	exits->reach = calloc(n + 1, sizeof(*exits->reach));
	if (!exits->reach)
		return CT_NOMEM;
	for (uint32_t c = 0; c < model->comms.n; c++) {
		const struct ct_comm *comm = model->comms.all[c];

		for (uint32_t m = 0; m < comm->nranks; m++) {
			if (comm->slots[m])
				exits->reach[exits->n_reach++] = (struct ct_exit_reach){
					.process = model->slots[comm->slots[m] - 1].process,
					.comm = c,
					.reached = comm->reached[m],
				};
		}
	}
	return CT_OK;
}

static int take_exits(const struct ct_model *model, struct ct_exits *exits)
{
	uint8_t *waited = calloc(model->run->n_processes + 1, 1);

	exits->all = calloc(model->run->n_processes + 1, sizeof(*exits->all));
	for (uint32_t i = 0; waited && i < model->n_unreturned; i++)
		waited[model->unreturned[i].process] |= model->unreturned[i].stuck == CT_STUCK_LATE;
	for (uint32_t p = 0; waited && exits->all && p < model->run->n_processes; p++) {
		const struct ct_process_info *info = &model->run->processes[p];
		struct ct_exit_facts facts;

		if (model->starts->processes[p].restart != model->restart)
			continue;
		facts = ct_model_exit_facts(model, p);
		facts.waited = waited[p];
		exits->all[exits->n++] = ct_exit_of(&facts);
		if (model->processes[p].read)
			exits->late_ns = ct_exits_late(info, exits->late_ns);
		if (info->id.hang_after_ns > exits->hang_after_ns)
			exits->hang_after_ns = info->id.hang_after_ns;
	}
	free(waited);
	return waited && exits->all ? take_reach(model, exits) : CT_NOMEM;
}

int ct_fill_ended(const struct ct_model *model, struct ct_report *report)
{
	const struct ct_exit_clock clock = { .at = at, .arg = model };
	struct ct_exits exits = { .n = 0 };
	int st = take_exits(model, &exits);

	st = st ?: ct_exits_judge(&exits, &clock);
	report->ended = ct_arena_calloc(report->memory, exits.n + 1, sizeof(*report->ended));
	if (!report->ended)
		st = CT_NOMEM;
	for (uint32_t i = 0; i < exits.n && st == CT_OK; i++) {
		struct ct_report_process *p = &report->processes[exits.all[i].facts.process];

		p->ended_badly = exits.all[i].bad;
		p->silent_ns = exits.all[i].silent_ns;
		if (i < exits.n_bad)
			report->ended[report->n_ended++] = exits.all[i].facts.process;
	}
	report->n_ended_first = exits.n_first;
	report->ended_together = exits.n_bad && st == CT_OK &&
				 ct_exits_together(&exits, &exits.all[0]);
	report->run.processes_running = exits.running;
	free(exits.reach);
	free(exits.all);
	return st;
}
