/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/report/unrelated.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "analyzer/base/union_find.h"
#include "analyzer/stream/stream.h"

struct jobs {
	const struct ct_run *run;
	uint32_t *sets;	       /* by process: those of one job are one set */
	struct ct_table first; /* (job, world size), (job, host), communicator -> process + 1 */
	struct ct_table ranks; /* rank + 1 -> process + 1 */
};

static const char *job_of(const struct jobs *jobs, uint32_t process)
{
	return jobs->run->processes[process].id.job;
}

/* The process before this one that has the key; this one: it is the first. CT_NOMEM. */
static int64_t first_of(struct ct_table *table, uint64_t key, uint32_t process)
{
	uint64_t is = (uint64_t)(uintptr_t)ct_table_get(table, key);

	if (is)
		return (int64_t)is - 1;
	if (ct_table_put(table, key, (void *)(uintptr_t)(process + 1)) != CT_OK)
		return CT_NOMEM;
	return process;
}

static int join(struct jobs *jobs, uint64_t key, uint32_t process)
{
	int64_t first = first_of(&jobs->first, key, process);

	if (first < 0)
		return (int)first;
	ct_group_join(jobs->sets, (uint32_t)first, process);
	return CT_OK;
}

/* Joins what its name makes one job. 1: its rank is one of a job with another name. */
static int add(struct jobs *jobs, uint32_t process, uint32_t others[2])
{
	const struct ct_process *id = &jobs->run->processes[process].id;
	uint64_t job = ct_hash_text(id->job);
	int64_t same;

	if (!*id->job)
		return CT_OK;
	if (join(jobs, ct_mix(job + 2 * (uint64_t)(uint32_t)id->world_size), process) != CT_OK ||
	    join(jobs, ct_mix(job ^ ct_mix(id->hostkey)), process) != CT_OK)
		return CT_NOMEM;
	same = id->rank < 0 ? process : first_of(&jobs->ranks, (uint64_t)id->rank + 1, process);
	if (same < 0)
		return CT_NOMEM;
	others[0] = (uint32_t)same;
	others[1] = process;
	return strcmp(job_of(jobs, (uint32_t)same), id->job) != 0;
}

/* 1 and a process of each where there are two sets. */
static int are_several(struct jobs *jobs, uint32_t others[2])
{
	uint32_t first = UINT32_MAX;

	for (uint32_t p = 0; p < jobs->run->n_processes; p++) {
		if (!*job_of(jobs, p))
			continue;
		if (first == UINT32_MAX)
			first = p;
		others[0] = first;
		others[1] = p;
		if (ct_group_of(jobs->sets, p) != ct_group_of(jobs->sets, first))
			return 1;
	}
	return 0;
}

static int on_comm(void *arg, const struct ct_stream *stream, uint32_t process,
		   const struct ct_load_comm *comm, uint32_t slot)
{
	struct jobs *jobs = arg;

	(void)stream;
	(void)slot;
	return *job_of(jobs, process) && comm->rec.key ? join(jobs, comm->rec.key, process) : CT_OK;
}

/* A launcher may only name its processes in its own way: a communicator joins them. */
static int join_by_comms(struct jobs *jobs, struct ct_err *err)
{
	const struct ct_observer observer = { .comm = on_comm, .arg = jobs };
	const struct ct_stream_options options = {
		.observers = &observer, .n_observers = 1, .only_ops = 1, .skims = 1
	};
	struct ct_starts starts = { 0 };
	int st = ct_starts_find(jobs->run, &starts);

	for (int restart = 0; st == CT_OK && restart < starts.n_starts; restart++) {
		struct ct_stream stream = { 0 };

		st = ct_stream_run(&stream, jobs->run, &starts, restart, &options, err);
		ct_stream_fini(&stream);
	}
	ct_starts_fini(&starts);
	return st;
}

int ct_unrelated_jobs(const struct ct_run *run, uint32_t processes[2], struct ct_err *err)
{
	struct jobs jobs = { .run = run };
	int found = 0;

	jobs.sets = calloc(run->n_processes + 1, sizeof(*jobs.sets));
	if (!jobs.sets)
		return CT_NOMEM;
	for (uint32_t p = 0; p < run->n_processes; p++)
		jobs.sets[p] = p;
	for (uint32_t p = 0; p < run->n_processes && !found; p++)
		found = add(&jobs, p, processes);
	if (!found && are_several(&jobs, processes)) {
		found = join_by_comms(&jobs, err);
		if (!found)
			found = are_several(&jobs, processes);
	}
	ct_table_fini(&jobs.first);
	ct_table_fini(&jobs.ranks);
	free(jobs.sets);
	return found;
}
