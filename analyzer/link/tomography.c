/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/link/tomography.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/sort.h"
#include "analyzer/base/stats.h"
#include "trace/status.h"

double ct_tomo_reference(double *ratios, size_t n)
{
	qsort(ratios, n, sizeof(*ratios), ct_by_double);
	return n ? ct_quantile(ratios, n, 0.75) : NAN;
}

enum ct_tomo_state ct_tomo_state_of(double ratio, double reference)
{
	if (ratio < CT_SLOW_LINK * reference)
		return CT_TOMO_SLOW_ONE;
	return ratio >= CT_NEARLY_ALL * reference ? CT_TOMO_GOOD_ONE : CT_TOMO_UNKNOWN;
}

/* What is worked on. */
struct link_search {
	uint8_t *cleared;   /* by unit: in a good communicator */
	uint32_t *explains; /* by unit: slow ones left that it is in */
	uint8_t *in_group;  /* by unit */
	uint8_t *left;	    /* by communicator: slow, and not explained yet */
};

static void count(const struct ct_tomo_comm *comms, size_t n, uint32_t n_units,
		  struct link_search *s)
{
	memset(s->explains, 0, n_units * sizeof(*s->explains));
	for (size_t c = 0; c < n; c++) {
		for (uint32_t u = 0; u < comms[c].n && s->left[c]; u++) {
			if (!s->cleared[comms[c].units[u]])
				s->explains[comms[c].units[u]]++;
		}
	}
}

static int touches(const struct ct_tomo_comm *comm, const uint8_t *in_group)
{
	for (uint32_t u = 0; u < comm->n; u++) {
		if (in_group[comm->units[u]])
			return 1;
	}
	return 0;
}

/* All that explain as much as this one, and partly the same tracks: they are interchangeable. A
 * unit that explains as much of other tracks is another cause. */
static void group_with(const struct ct_tomo_comm *comms, size_t n, uint32_t unit,
		       struct link_search *s)
{
	uint32_t most = s->explains[unit];
	int grows = 1;

	s->in_group[unit] = 1;
	while (grows) {
		grows = 0;
		for (size_t c = 0; c < n; c++) {
			if (!s->left[c] || !touches(&comms[c], s->in_group))
				continue;
			for (uint32_t u = 0; u < comms[c].n; u++) {
				uint32_t other = comms[c].units[u];

				if (s->explains[other] == most && !s->in_group[other])
					grows = s->in_group[other] = 1;
			}
		}
	}
}

/* One more group around this unit; what it explains is done with. */
static void take_unit(const struct ct_tomo_comm *comms, size_t n, uint32_t n_units, uint32_t unit,
		      struct link_search *s, struct ct_tomo *out)
{
	struct ct_tomo_group *group = &out->groups[out->n_groups++];

	group->first = out->n_groups > 1 ? group[-1].first + group[-1].n : 0;
	group->explains = s->explains[unit];
	memset(s->in_group, 0, n_units);
	group_with(comms, n, unit, s);
	for (uint32_t u = 0; u < n_units; u++) {
		if (s->in_group[u])
			out->suspects[group->first + group->n++] = u;
	}
	for (size_t c = 0; c < n; c++) {
		if (s->left[c] && touches(&comms[c], s->in_group))
			s->left[c] = 0;
	}
}

/* Tracks that some unit may explain are no longer considered. */
static void forget(const struct ct_tomo_comm *comms, size_t n, struct link_search *s)
{
	for (size_t c = 0; c < n; c++) {
		for (uint32_t u = 0; u < comms[c].n && s->left[c]; u++) {
			if (!s->cleared[comms[c].units[u]])
				s->left[c] = 0;
		}
	}
}

static void solve(struct ct_tomo_comm *comms, size_t n, uint32_t n_units, struct link_search *s,
		  struct ct_tomo *out)
{
	for (size_t c = 0; c < n; c++) {
		comms[c].unresolved = 0;
		s->left[c] = comms[c].state == CT_TOMO_SLOW_ONE;
		for (uint32_t u = 0; u < comms[c].n && comms[c].state == CT_TOMO_GOOD_ONE; u++)
			s->cleared[comms[c].units[u]] = 1;
	}
	for (;;) {
		uint32_t best = 0;

		count(comms, n, n_units, s);
		for (uint32_t u = 0; u < n_units; u++)
			best = s->explains[u] > s->explains[best] ? u : best;
		if (!n_units || !s->explains[best])
			break;
		if (out->n_groups == CT_TOMO_GROUPS) {
			forget(comms, n, s);
			continue;
		}
		take_unit(comms, n, n_units, best, s, out);
	}
	for (size_t c = 0; c < n; c++) {
		comms[c].unresolved = s->left[c];
		out->n_unresolved += s->left[c];
	}
}

int ct_tomo_solve(struct ct_tomo_comm *comms, size_t n, uint32_t n_units, struct ct_tomo *out)
{
	struct link_search s = { 0 };
	int st = CT_NOMEM;

	*out = (struct ct_tomo){ 0 };
	s.cleared = calloc((size_t)n_units + 1, 1);
	s.explains = calloc((size_t)n_units + 1, sizeof(*s.explains));
	s.in_group = calloc((size_t)n_units + 1, 1);
	s.left = calloc(n + 1, 1);
	out->suspects = calloc((size_t)n_units + 1, sizeof(*out->suspects));
	out->groups = calloc(CT_TOMO_GROUPS, sizeof(*out->groups));
	if (s.cleared && s.explains && s.in_group && s.left && out->suspects && out->groups) {
		solve(comms, n, n_units, &s, out);
		st = CT_OK;
	}
	free(s.cleared);
	free(s.explains);
	free(s.in_group);
	free(s.left);
	return st;
}

void ct_tomo_fini(struct ct_tomo *tomo)
{
	free(tomo->suspects);
	free(tomo->groups);
	*tomo = (struct ct_tomo){ 0 };
}
