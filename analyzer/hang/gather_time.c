/* SPDX-License-Identifier: Apache-2.0 */
/* Times of several hosts on one clock, by their time of day. */
#include "analyzer/hang/gather.h"

uint64_t ct_gather_at(const struct ct_gather *g, uint32_t process, uint64_t mono_ns)
{
	uint64_t at = mono_ns + g->shift[g->attempts.places[process].host];

	return (int64_t)at < 0 ? 0 : at;
}

uint64_t ct_gather_err(const struct ct_gather *g, uint32_t process)
{
	const struct ct_process_facts *facts = &g->processes[process].facts;

	if (g->attempts.places[process].host == g->attempts.places[0].host)
		return 0;
	return facts->wall_unset || !facts->clocks ? CT_GATHER_ERR_UNSET : facts->wall_err_ns;
}

void ct_gather_set_begin(struct ct_gather *g)
{
	g->begin_unix_ns = UINT64_MAX;
	for (uint32_t h = 0; h < g->attempts.n_hosts; h++)
		g->shift[h] = g->attempts.hosts[h].unix_minus_mono;
	for (size_t p = 0; p < g->run->n_processes; p++) {
		uint64_t at = g->run->processes[p].id.start_ns +
			      g->shift[g->attempts.places[p].host];

		if (g->attempts.places[p].attempt == g->attempt && at < g->begin_unix_ns)
			g->begin_unix_ns = at;
	}
	for (uint32_t h = 0; h < g->attempts.n_hosts; h++)
		g->shift[h] -= g->begin_unix_ns;
}
