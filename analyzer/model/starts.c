/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/starts.h"

#include <stdlib.h>

#include "analyzer/base/sort.h"
#include "analyzer/base/table.h"

struct started {
	uint64_t unix_ns;
	uint32_t process;
};

CT_SORT_BY(by_start, struct started, CT_UP(unix_ns) ?: CT_UP(process))

/* The latest moment at which the process is known to have lived, as CLOCK_REALTIME. */
static uint64_t last_alive(const struct ct_process_info *info)
{
	uint64_t mono = info->last_beat_ns > info->end.after_ns ? info->last_beat_ns
								: info->end.after_ns;

	if (mono <= info->id.start_ns)
		return info->id.start_unix_ns;
	return info->id.start_unix_ns + (mono - info->id.start_ns);
}

static int find_hosts(const struct ct_run *run, const struct started *order,
		      struct ct_starts *starts)
{
	struct ct_table by_key = { 0 };

	starts->hosts = calloc(run->n_processes, sizeof(*starts->hosts));
	if (!starts->hosts)
		return CT_NOMEM;
	for (size_t i = 0; i < run->n_processes; i++) {
		const struct ct_process *id = &run->processes[order[i].process].id;
		struct ct_host *host = ct_table_get(&by_key, id->hostkey);

		if (!host) {
			host = &starts->hosts[starts->n_hosts++];
			host->hostkey = id->hostkey;
			host->unix_minus_mono = id->start_unix_ns - id->start_ns;
			host->name = id->host;
			if (ct_table_put(&by_key, id->hostkey, host) != CT_OK) {
				ct_table_fini(&by_key);
				return CT_NOMEM;
			}
		}
		starts->processes[order[i].process].host = (uint32_t)(host - starts->hosts);
	}
	ct_table_fini(&by_key);
	return CT_OK;
}

/* Walk through the processes by start; ends[rank] is the start's process of that rank. */
static int find_starts(const struct ct_run *run, const struct started *order,
		       struct ct_starts *starts)
{
	struct ct_table of_rank = { 0 };
	uint32_t launcher_restart = 0;
	int restart = 0;
	int st = CT_OK;

	for (size_t i = 0; i < run->n_processes && st == CT_OK; i++) {
		const struct ct_process_info *info = &run->processes[order[i].process];
		uint64_t key = (uint64_t)(uint32_t)info->id.rank + 1;
		const struct ct_process_info *other = info->id.rank >= 0
							      ? ct_table_get(&of_rank, key)
							      : NULL;
		int again = other && info->id.nth == 0 && info->id.ppid != other->id.pid &&
			    last_alive(other) < info->id.start_unix_ns &&
			    other->end.how != CT_END_RUNNING;

		if (i > 0 && (info->id.restart > launcher_restart || again)) {
			restart++;
			ct_table_fini(&of_rank);
		}
		if (i == 0 || info->id.restart > launcher_restart || again)
			launcher_restart = info->id.restart;
		starts->processes[order[i].process].restart = restart;
		if (info->id.rank >= 0)
			st = ct_table_put(&of_rank, key, (void *)(uintptr_t)info);
	}
	ct_table_fini(&of_rank);
	starts->n_starts = restart + 1;
	return st;
}

int ct_starts_find(const struct ct_run *run, struct ct_starts *starts)
{
	struct started *order = calloc(run->n_processes ? run->n_processes : 1, sizeof(*order));
	int st = CT_NOMEM;

	*starts = (struct ct_starts){ 0 };
	starts->processes = calloc(run->n_processes ? run->n_processes : 1,
				   sizeof(*starts->processes));
	if (!order || !starts->processes)
		goto out;
	for (size_t i = 0; i < run->n_processes; i++)
		order[i] = (struct started){ run->processes[i].id.start_unix_ns, (uint32_t)i };
	qsort(order, run->n_processes, sizeof(*order), by_start);
	st = find_hosts(run, order, starts) ?: find_starts(run, order, starts);
out:
	free(order);
	if (st != CT_OK)
		ct_starts_fini(starts);
	return st;
}

int ct_starts_slots(const struct ct_run *run, struct ct_starts *starts, int restart, int **out,
		    uint32_t *n_slots)
{
	int *ranks = calloc(run->n_processes ? run->n_processes : 1, sizeof(*ranks));
	uint32_t n = 0, n_ranks;

	if (!ranks)
		return CT_NOMEM;
	for (size_t i = 0; i < run->n_processes; i++) {
		if (starts->processes[i].restart == restart && run->processes[i].id.rank >= 0)
			ranks[n++] = run->processes[i].id.rank;
	}
	qsort(ranks, n, sizeof(*ranks), ct_by_int);
	n_ranks = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (n_ranks == 0 || ranks[n_ranks - 1] != ranks[i])
			ranks[n_ranks++] = ranks[i];
	}
	n = n_ranks;
	for (size_t i = 0; i < run->n_processes; i++) {
		int rank = run->processes[i].id.rank;
		const int *at;

		if (starts->processes[i].restart != restart)
			continue;
		if (rank < 0) {
			starts->processes[i].slot = n;
			ranks[n++] = -1;
			continue;
		}
		at = bsearch(&rank, ranks, n_ranks, sizeof(*ranks), ct_by_int);
		starts->processes[i].slot = (uint32_t)(at - ranks);
	}
	if (n + starts->more.n > 0) {
		int *all = realloc(ranks, (n + starts->more.n) * sizeof(*ranks));

		if (!all) {
			free(ranks);
			return CT_NOMEM;
		}
		ranks = all;
	}
	for (size_t i = 0; i < starts->more.n; i++)
		ranks[n++] = -1;
	*out = ranks;
	*n_slots = starts->n_slots = n;
	return CT_OK;
}

int64_t ct_starts_slot(struct ct_starts *starts, uint32_t process, uint32_t local)
{
	uint64_t key = (uint64_t)process << 32 | local;
	void *slot = local ? ct_table_get(&starts->more, key) : NULL;

	if (slot)
		return (int64_t)(uintptr_t)slot - 1;
	if (!local)
		return starts->processes[process].slot;
	if (ct_table_put(&starts->more, key, (void *)(uintptr_t)(starts->n_slots + 1)) != CT_OK)
		return -1;
	return starts->n_slots++;
}

int ct_starts_thinned(const struct ct_run *run, const struct ct_starts *starts, int restart)
{
	for (size_t p = 0; p < run->n_processes; p++)
		if (run->processes[p].is_thinned && starts->processes[p].restart == restart)
			return 1;
	return 0;
}

void ct_starts_fini(struct ct_starts *starts)
{
	ct_table_fini(&starts->more);
	free(starts->processes);
	free(starts->hosts);
	*starts = (struct ct_starts){ 0 };
}
