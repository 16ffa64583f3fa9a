/* SPDX-License-Identifier: Apache-2.0 */
/* roots.h — the root causes that all stalled operations wait for, and their codes. For the files of
 * hang/ only. */
#ifndef CT_ANALYZER_HANG_ROOTS_H
#define CT_ANALYZER_HANG_ROOTS_H

#include "analyzer/hang/scc.h"

struct ct_root {
	enum ct_hang_code code;
	uint32_t *nodes; /* of the graph */
	uint32_t n_nodes;
	uint32_t *ranks; /* index, ascending */
	uint32_t n_ranks;
	uint32_t first;	    /* of a circle: the instance where it began; NONE */
	uint8_t circle;	    /* its ranks wait for each other */
	uint8_t asks;	    /* ... one of them in a call that any other may end: a probe, a lock */
	uint8_t soft;	    /* ... by what is only probable */
	uint8_t fresh;	    /* no rank has waited in it for long: it may be slow */
	uint8_t unseen;	    /* without seeing when kernels start */
	uint8_t inverted;   /* its ops were issued in different order */
	uint8_t unnamed;    /* a circle through ranks that are not recorded */
	uint8_t tie;	    /* which ranks are right is unknown */
	uint8_t died_first; /* only ops that are not unusually old lead to it */
	uint8_t killed; /* a process died because of it: of a difference, or an error reported to it
			 */
	/* victims.c */
	uint32_t *victims; /* ranks (index), ascending, without `ranks` */
	uint32_t n_victims;
	uint8_t hard;	 /* some stalled op leads to it by nothing that is only probable */
	uint8_t excused; /* requests that may be complete, while their ranks wait for another root */
	uint8_t by_any;	 /* another rank might end every wait that leads to it */
	uint8_t lacks;	 /* its victims also wait for a rank without a trace */
	uint8_t graph;	 /* launches of graphs lead to it */
	uint32_t met; /* the instance or joint call (node) at which others wait for it, the first;
			 NONE */
};

struct ct_roots {
	struct ct_root *all;
	uint32_t n;
};

/* Roots that belong together are one. Arrays are the arena's of the graph's index. 0 or CT_NOMEM. */
int ct_roots_find(const struct ct_waiting *w, const struct ct_components *c,
		  struct ct_roots *roots);

/* The code of a circle; *first: the instance that caused it, or NONE: all of it. roots_circle.c */
enum ct_hang_code ct_root_circle_code(const struct ct_waiting *w, const struct ct_components *c,
				      uint32_t component, uint32_t *first);

/* Joins instances (leaves) of different communicators that ranks issued in different order, which
 * become ORDER_DEADLOCK: order_inversion.c. `group` is by component: those with the same number are
 * one root. 0 or CT_NOMEM. */
int ct_roots_inversions(const struct ct_waiting *w, const struct ct_components *c, uint32_t *group,
			uint8_t *inverted);

/* The victims of each root, and how they depend on it: victims.c. 0 or CT_NOMEM. */
int ct_roots_victims(const struct ct_waiting *w, struct ct_roots *roots);

/* Calls with unknown missing members that all ranks wait for. After the victims. 0
 * or CT_NOMEM. */
int ct_roots_unknown_members(const struct ct_waiting *w, struct ct_roots *roots);

#endif
