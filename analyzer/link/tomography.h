/* SPDX-License-Identifier: Apache-2.0 */
/* tomography.h — which ranks are behind slow communicators. All members of a collective see the
 * same slowness, so one communicator does not show whose it is; but a member that is fast in
 * another one is cleared.
 *
 * Suspects are the members of slow communicators that are in no good one. A greedy search finds few
 * units that explain all slow ones. Units that explain as much as the chosen one, and partly the
 * same, are reported with it. Pure functions over numbers of units, which may be ranks or hosts. */
#ifndef CT_ANALYZER_LINK_TOMOGRAPHY_H
#define CT_ANALYZER_LINK_TOMOGRAPHY_H

#include <stddef.h>
#include <stdint.h>

/* size: reported causes; the one that explains most comes first. */
#define CT_TOMO_GROUPS 64u

enum ct_tomo_state { CT_TOMO_UNKNOWN, CT_TOMO_GOOD_ONE, CT_TOMO_SLOW_ONE };

struct ct_tomo_comm {
	const uint32_t *units; /* each at most once */
	uint32_t n;
	enum ct_tomo_state state;
	int unresolved; /* set: slow, and all of its units are cleared: a link between them */
};

/* One cause: `n` units of which each may be it, since they explain as many of the same
 * communicators. n 1: it is this. */
struct ct_tomo_group {
	uint32_t first, n; /* of suspects */
	uint32_t explains; /* slow communicators */
};

struct ct_tomo {
	uint32_t *suspects;
	struct ct_tomo_group *groups;
	uint32_t n_groups;
	uint32_t n_unresolved;
};

/* The 75th percentile of n ratios, which are reordered; NAN of none. */
double ct_tomo_reference(double *ratios, size_t n);

/* What a communicator is that reaches `ratio` where those alike reach `reference`; NAN: unknown. */
enum ct_tomo_state ct_tomo_state_of(double ratio, double reference);

/* Units are below n_units. 0 or CT_NOMEM; ct_tomo_fini() in any case. */
int ct_tomo_solve(struct ct_tomo_comm *comms, size_t n, uint32_t n_units, struct ct_tomo *out);
void ct_tomo_fini(struct ct_tomo *tomo);

#endif
