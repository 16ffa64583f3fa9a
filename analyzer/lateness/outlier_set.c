/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/lateness/outlier_set.h"

#include <math.h>

#include "analyzer/base/stats.h"
#include "analyzer/model/model.h"

/* Times by which they lie farther from the rest than the rest lies apart. */
#define FARTHER 2.0
/* How unlikely it must be that a set drawn at random is a host's. */
#define HOST_BY_CHANCE 1e-2

static int is_host_by_no_chance(const struct ct_model *model, const uint8_t *in_set, double in,
				double all)
{
	uint32_t host = UINT32_MAX, hosts = 0;

	for (uint32_t s = 0; s < model->n_seats; s++) {
		hosts = model->seats[s].host >= hosts ? model->seats[s].host + 1 : hosts;
		if (in_set[s] && host == UINT32_MAX)
			host = model->seats[s].host;
	}
	for (uint32_t s = 0; s < model->n_seats; s++) {
		if ((in_set[s] != 0) != (model->seats[s].host == host))
			return 0;
	}
	return log(hosts) - ct_log_choose(all, in) < log(HOST_BY_CHANCE);
}

int ct_set_stands_apart(const struct ct_model *model, const double *slowness, const uint8_t *in_set)
{
	double least = INFINITY, most = -INFINITY, low = INFINITY, in = 0, all = 0;

	for (uint32_t s = 0; s < model->n_seats; s++) {
		if (isnan(slowness[s]))
			continue;
		all++;
		if (in_set[s]) {
			in++;
			least = fmin(least, slowness[s]);
		} else {
			most = fmax(most, slowness[s]);
			low = fmin(low, slowness[s]);
		}
	}
	return least - most >= FARTHER * (most - low) ||
	       is_host_by_no_chance(model, in_set, in, all);
}
