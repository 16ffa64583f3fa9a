/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/attempts.h"

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
		      struct ct_attempts *attempts)
{
	struct ct_table by_key = { 0 };

	attempts->hosts = calloc(run->n_processes, sizeof(*attempts->hosts));
	if (!attempts->hosts)
		return CT_NOMEM;
	for (size_t i = 0; i < run->n_processes; i++) {
		const struct ct_process *id = &run->processes[order[i].process].id;
		struct ct_host *host = ct_table_get(&by_key, id->hostkey);

		if (!host) {
			host = &attempts->hosts[attempts->n_hosts++];
			host->hostkey = id->hostkey;
			host->unix_minus_mono = id->start_unix_ns - id->start_ns;
			host->name = id->host;
			if (ct_table_put(&by_key, id->hostkey, host) != CT_OK) {
				ct_table_fini(&by_key);
				return CT_NOMEM;
			}
		}
		attempts->places[order[i].process].host = (uint32_t)(host - attempts->hosts);
	}
	ct_table_fini(&by_key);
	return CT_OK;
}

/* Walk through the processes by start; ends[rank] is the attempt's process of that rank. */
static int find_attempts(const struct ct_run *run, const struct started *order,
			 struct ct_attempts *attempts)
{
	struct ct_table of_rank = { 0 };
	uint32_t restart = 0;
	int attempt = 0;
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

		if (i > 0 && (info->id.restart > restart || again)) {
			attempt++;
			ct_table_fini(&of_rank);
		}
		if (i == 0 || info->id.restart > restart || again)
			restart = info->id.restart;
		attempts->places[order[i].process].attempt = attempt;
		if (info->id.rank >= 0)
			st = ct_table_put(&of_rank, key, (void *)(uintptr_t)info);
	}
	ct_table_fini(&of_rank);
	attempts->n_attempts = attempt + 1;
	return st;
}

int ct_attempts_find(const struct ct_run *run, struct ct_attempts *attempts)
{
	struct started *order = calloc(run->n_processes ? run->n_processes : 1, sizeof(*order));
	int st = CT_NOMEM;

	*attempts = (struct ct_attempts){ 0 };
	attempts->places = calloc(run->n_processes ? run->n_processes : 1,
				  sizeof(*attempts->places));
	if (!order || !attempts->places)
		goto out;
	for (size_t i = 0; i < run->n_processes; i++)
		order[i] = (struct started){ run->processes[i].id.start_unix_ns, (uint32_t)i };
	qsort(order, run->n_processes, sizeof(*order), by_start);
	st = find_hosts(run, order, attempts) ?: find_attempts(run, order, attempts);
out:
	free(order);
	if (st != CT_OK)
		ct_attempts_fini(attempts);
	return st;
}

int ct_attempts_seats(const struct ct_run *run, struct ct_attempts *attempts, int attempt,
		      int **out, uint32_t *n_seats)
{
	int *ranks = calloc(run->n_processes ? run->n_processes : 1, sizeof(*ranks));
	uint32_t n = 0, n_ranks;

	if (!ranks)
		return CT_NOMEM;
	for (size_t i = 0; i < run->n_processes; i++) {
		if (attempts->places[i].attempt == attempt && run->processes[i].id.rank >= 0)
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

		if (attempts->places[i].attempt != attempt)
			continue;
		if (rank < 0) {
			attempts->places[i].seat = n;
			ranks[n++] = -1;
			continue;
		}
		at = bsearch(&rank, ranks, n_ranks, sizeof(*ranks), ct_by_int);
		attempts->places[i].seat = (uint32_t)(at - ranks);
	}
	if (n + attempts->more.n > 0) {
		int *all = realloc(ranks, (n + attempts->more.n) * sizeof(*ranks));

		if (!all) {
			free(ranks);
			return CT_NOMEM;
		}
		ranks = all;
	}
	for (size_t i = 0; i < attempts->more.n; i++)
		ranks[n++] = -1;
	*out = ranks;
	*n_seats = attempts->n_seats = n;
	return CT_OK;
}

int64_t ct_attempts_seat(struct ct_attempts *attempts, uint32_t process, uint32_t local)
{
	uint64_t key = (uint64_t)process << 32 | local;
	void *seat = local ? ct_table_get(&attempts->more, key) : NULL;

	if (seat)
		return (int64_t)(uintptr_t)seat - 1;
	if (!local)
		return attempts->places[process].seat;
	if (ct_table_put(&attempts->more, key, (void *)(uintptr_t)(attempts->n_seats + 1)) != CT_OK)
		return -1;
	return attempts->n_seats++;
}

void ct_attempts_fini(struct ct_attempts *attempts)
{
	ct_table_fini(&attempts->more);
	free(attempts->places);
	free(attempts->hosts);
	*attempts = (struct ct_attempts){ 0 };
}
