/* SPDX-License-Identifier: Apache-2.0 */
/* census.h — the first reading of a run, through the eyes of an analysis: who is there, which communicators, what
 * the instances came to, and how much there is to draw. All that the second reading leans on. One thread. */
#ifndef CT_CENSUS_H
#define CT_CENSUS_H

#include "analyzer/chart/budget.h"
#include "analyzer/chart/chart.h"
#include "analyzer/chart/kept.h"
#include "analyzer/clock/clocks.h"
#include "analyzer/load.h"

struct ct_census_comm {
	uint64_t id; /* ct_kept_comm() */
	uint32_t nranks;
	unsigned backend;
	uint32_t label; /* texts: "world:ee01", */
	uint32_t hash;	/* "00000000c0ffee01" */
};

struct ct_census_process {
	uint32_t seat; /* of its first rank */
	uint32_t host;
	uint8_t drawn; /* one of its ranks is */
};

struct ct_census_seat {
	int rank; /* -1 unknown */
	uint32_t host;
	uint8_t drawn;
};

struct ct_census_host {
	const char *name; /* in the arena of the texts */
	uint8_t drawn;
};

struct ct_census {
	const struct ct_chart_options *options;
	struct ct_texts texts;
	struct ct_kept *kept;
	struct ct_budget *budget;
	uint8_t *wanted; /* by seat, while reading */
	uint32_t n_wanted;
	struct ct_table more_seats;	     /* (process, which of its ranks) -> seat + 1 */
	struct ct_census_process *processes; /* by process of the run */
	uint32_t n_processes;
	struct ct_census_seat *seats;
	uint32_t n_seats;
	struct ct_census_host *hosts;
	uint32_t n_hosts;
	struct ct_clocks *clocks;     /* NULL: not related */
	uint64_t *shifts;	      /* by host: see ct_clocks_shift() */
	struct ct_census_comm *comms; /* by index */
	uint32_t n_comms;
	struct ct_table comm_by_id;
	uint64_t begin_unix_ns, duration_ns;
	uint64_t last_ns; /* latest time of any op: what did not end lasts until then at least */
	uint64_t from_ns, to_ns; /* what is to be drawn */
};

/* Read the run. *report as ct_analyze() makes it. 0 or as ct_chart_draw(). ct_census_fini() in any case. */
int ct_census_take(struct ct_census *census, const struct ct_run *run,
		   const struct ct_chart_options *options, struct ct_chart_result *result,
		   struct ct_report **report, struct ct_err *err);
void ct_census_fini(struct ct_census *census);

/* The seat of one of the ranks of a process. */
uint32_t ct_census_seat(const struct ct_census *census, uint32_t process, uint32_t local);

/* NULL: not known. */
const struct ct_census_comm *ct_census_find(const struct ct_census *census, uint64_t key,
					    uint32_t nranks);

/* A host's time as ns since the run began: never before it, and never so late that it means something else. */
static inline uint64_t ct_census_at(const struct ct_census *census, uint32_t host, uint64_t mono_ns)
{
	uint64_t at = mono_ns + ct_clocks_shift(census->clocks, host, mono_ns, census->shifts);

	return (int64_t)at < 0 ? 0 : at;
}

/* What of an op can be seen: from its call or its work, whichever began first, to the end of both; CT_CHART_OPEN if
 * one of them did not end. */
void ct_census_interval(const struct ct_census *census, uint32_t host, const struct ct_load_op *op,
			uint64_t *begin_ns, uint64_t *end_ns);

static inline int ct_census_inside(const struct ct_census *census, uint64_t begin_ns,
				   uint64_t end_ns)
{
	return end_ns >= census->from_ns && begin_ns <= census->to_ns;
}

#endif
