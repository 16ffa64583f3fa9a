/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/model.h"

/* If clocks are synchronized, the reference's clock determines which process is the first. */
void ct_model_set_begin(struct ct_model *model)
{
	const struct ct_starts *starts = model->starts;

	model->begin_unix_ns = UINT64_MAX;
	for (uint32_t h = 0; h < starts->n_hosts; h++)
		model->shift[h] = starts->hosts[h].unix_minus_mono;
	for (size_t p = 0; p < model->run->n_processes; p++) {
		uint64_t start_ns = model->run->processes[p].id.start_ns, unix_ns;

		if (starts->processes[p].restart != model->restart)
			continue;
		unix_ns = start_ns + ct_clocks_shift(starts->clocks, starts->processes[p].host,
						     start_ns, model->shift);
		model->begin_unix_ns = unix_ns < model->begin_unix_ns ? unix_ns
								      : model->begin_unix_ns;
	}
	for (uint32_t h = 0; h < starts->n_hosts; h++)
		model->shift[h] -= model->begin_unix_ns;
}

/* Before the beginning by a hair: the host's clocks were read one after the other. */
static uint64_t not_before(uint64_t at)
{
	return (int64_t)at < 0 ? 0 : at;
}

uint64_t ct_model_host_at(const struct ct_model *model, uint32_t host, uint64_t mono_ns)
{
	return not_before(mono_ns +
			  ct_clocks_shift(model->starts->clocks, host, mono_ns, model->shift));
}

uint64_t ct_model_at(const struct ct_model *model, uint32_t process, uint64_t mono_ns)
{
	return ct_model_host_at(model, model->starts->processes[process].host, mono_ns);
}

uint64_t ct_model_slot_at(const struct ct_model *model, uint32_t slot, uint64_t mono_ns)
{
	return not_before(mono_ns + model->shift[model->host_of[slot]]);
}

struct ct_exit_facts ct_model_exit_facts(const struct ct_model *model, uint32_t process)
{
	const struct ct_model_process *kept = &model->processes[process];
	struct ct_exit_facts facts = ct_exit_facts_of(&model->run->processes[process], &kept->facts,
						      kept->read ? &kept->gaps : NULL);

	facts.process = process;
	facts.host = model->starts->processes[process].host;
	facts.failed_ns = kept->failed_ns;
	return facts;
}

uint64_t ct_model_age(const struct ct_model *model, const struct ct_unreturned *u)
{
	const struct ct_process_facts *facts = &model->processes[u->process].facts;
	uint64_t until = facts->beat_ns > facts->last_ns ? facts->beat_ns : facts->last_ns;

	return until > u->op.enter_ns ? until - u->op.enter_ns : 0;
}

void ct_stuck_sum(const struct ct_model *model, struct ct_stuck_sum *sum)
{
	*sum = (struct ct_stuck_sum){ 0 };
	for (uint32_t i = 0; i < model->n_unreturned; i++) {
		const struct ct_unreturned *u = &model->unreturned[i];
		int runs = model->run->processes[u->process].end.how == CT_END_RUNNING;
		uint64_t age = ct_model_age(model, u);

		sum->all += !runs || u->stuck != CT_STUCK_NOT;
		sum->late += u->stuck == CT_STUCK_LATE;
		sum->unusual += runs && u->stuck == CT_STUCK_UNUSUAL;
		if (u->stuck != CT_STUCK_NOT && age > sum->longest_ns)
			sum->longest_ns = age;
	}
}

uint64_t ct_model_order_lost(const struct ct_model *model)
{
	uint64_t n = 0;

	for (size_t p = 0; p < model->run->n_processes; p++)
		if (model->processes[p].read)
			n += model->processes[p].gaps.losses[CT_LOSS_GRAPH_LOST];
	return n;
}
