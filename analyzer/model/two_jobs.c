/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/two_jobs.h"
#include "analyzer/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "trace/status.h"

#define NONE UINT32_MAX

static const char *job_of(const struct ct_model *model, uint32_t process)
{
	return model->run->processes[process].id.job;
}

static int differ(const struct ct_model *model, uint32_t a, uint32_t b)
{
	return a != NONE && b != NONE && strcmp(job_of(model, a), job_of(model, b)) != 0;
}

/* Does a communicator hold ranks of both? Then a launcher only names its processes in its own way. */
static int have_met(const struct ct_model *model, const uint32_t *process_of)
{
	for (uint32_t c = 0; c < model->comms.n; c++) {
		const struct ct_comm *comm = model->comms.all[c];
		uint32_t first = NONE;

		for (uint32_t r = 0; r < comm->nranks; r++) {
			uint32_t of = comm->slots[r] ? process_of[comm->slots[r] - 1] : NONE;

			if (differ(model, first, of))
				return 1;
			first = first == NONE ? of : first;
		}
	}
	return 0;
}

int ct_two_jobs(const struct ct_model *model, uint32_t processes[2])
{
	uint32_t *process_of = malloc(((size_t)model->n_slots + 1) * sizeof(*process_of));
	uint32_t first = NONE, other = NONE;
	int collide = 0;

	if (!process_of)
		return CT_NOMEM;
	for (uint32_t s = 0; s < model->n_slots; s++)
		process_of[s] = model->slots[s].local ? model->slots[s].process : NONE;
	for (uint32_t p = 0; p < model->run->n_processes && !collide; p++) {
		const struct ct_process_start *at = &model->starts->processes[p];

		if (at->restart != model->restart || !*job_of(model, p))
			continue;
		first = first == NONE ? p : first;
		if (differ(model, process_of[at->slot], p)) {
			collide = 1;
			first = process_of[at->slot];
			other = p;
		} else if (other == NONE && differ(model, first, p)) {
			other = p;
		}
		process_of[at->slot] = process_of[at->slot] == NONE ? p : process_of[at->slot];
	}
	if (other != NONE && !collide && have_met(model, process_of))
		other = NONE;
	free(process_of);
	processes[0] = first;
	processes[1] = other;
	return other != NONE;
}
