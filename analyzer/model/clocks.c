/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/clocks.h"

#include <math.h>
#include <stdlib.h>

#include "trace/status.h"

const char *ct_clock_quality_name(enum ct_clock_quality quality)
{
	static const char *const names[] = {
#define NAME(name) #name,
		CT_CLOCK_QUALITY_MAP(NAME)
#undef NAME
	};

	return names[quality];
}

const char *ct_clock_conflict_text(enum ct_clock_conflict_kind kind)
{
	static const char *const texts[] = {
		[CT_CONFLICT_NONE] = "none",
		[CT_CONFLICT_CAUSE] = "operations end before all their members have begun",
		[CT_CONFLICT_JUMP] = "the clock was set, or slewed fast",
		[CT_CONFLICT_ENDS] = "ends of operations contradict their starts",
		[CT_CONFLICT_ORDER] = "operations stand in no order of time",
		[CT_CONFLICT_DRIFT] = "the clocks drift apart by more than 300 ppm",
	};

	return texts[kind];
}

void ct_clocks_free(struct ct_clocks *c)
{
	for (uint32_t h = 0; c && c->maps && h < c->n_hosts; h++)
		ct_map_fini(&c->maps[h]);
	if (c) {
		free(c->maps);
		free(c->hosts);
	}
	free(c);
}

struct ct_clocks *ct_clocks_copy(const struct ct_clocks *from)
{
	struct ct_clocks *c = from ? calloc(1, sizeof(*c)) : NULL;
	int st = CT_OK;

	if (!c)
		return NULL;
	c->n_hosts = from->n_hosts;
	c->reference = from->reference;
	c->hosts = calloc(c->n_hosts + 1, sizeof(*c->hosts));
	c->maps = calloc(c->n_hosts + 1, sizeof(*c->maps));
	if (!c->hosts || !c->maps)
		st = CT_NOMEM;
	for (uint32_t h = 0; h < c->n_hosts && st == CT_OK; h++) {
		c->hosts[h] = from->hosts[h];
		if (from->maps[h].n)
			st = ct_map_copy(&from->maps[h], &c->maps[h]);
	}
	if (st != CT_OK) {
		ct_clocks_free(c);
		return NULL;
	}
	return c;
}

uint32_t ct_clocks_reference(const struct ct_clocks *c)
{
	return c ? c->reference : 0;
}

const struct ct_clock_host *ct_clocks_host(const struct ct_clocks *c, uint32_t host)
{
	return c && host < c->n_hosts ? &c->hosts[host] : NULL;
}

int ct_clocks_at(const struct ct_clocks *c, uint32_t host, uint64_t mono_ns, uint64_t *ref_ns,
		 uint64_t *err_ns)
{
	double err = 0;

	if (!c || host >= c->n_hosts)
		return 0;
	if (host == c->reference)
		*ref_ns = mono_ns;
	else if (c->maps[host].n && c->hosts[host].quality != CT_CLOCK_FAIL)
		*ref_ns = ct_map_at(&c->maps[host], mono_ns, &err);
	else
		return 0;
	if (err_ns)
		*err_ns = (uint64_t)ceil(err);
	return 1;
}

uint64_t ct_clocks_shift(const struct ct_clocks *c, uint32_t host, uint64_t mono_ns,
			 const uint64_t *shifts)
{
	uint64_t at;

	if (!ct_clocks_at(c, host, mono_ns, &at, NULL))
		return shifts[host];
	return at - mono_ns + shifts[c->reference];
}
