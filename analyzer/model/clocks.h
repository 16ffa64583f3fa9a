/* SPDX-License-Identifier: Apache-2.0 */
/* clocks.h — the clocks of a run's hosts in terms of one of them.
 *
 * Processes of one host share CLOCK_MONOTONIC; what relates the clocks of two hosts is found out by
 * clock/ from the operations that both took part in (docs/dev/algorithms/clocks.md). Read-only once
 * solved, by any number of threads. */
#ifndef CT_ANALYZER_MODEL_CLOCKS_H
#define CT_ANALYZER_MODEL_CLOCKS_H

#include <stdint.h>

#include "analyzer/model/clock_map.h"

/* The five words of Trace Compass, whose meaning here is in docs/dev/algorithms/clocks.md. */
#define CT_CLOCK_QUALITY_MAP(XX)                                                                   \
	XX(ABSENT)                                                                                 \
	XX(INCOMPLETE)                                                                             \
	XX(APPROXIMATE)                                                                            \
	XX(ACCURATE)                                                                               \
	XX(FAIL)

enum ct_clock_quality {
#define CT_CLOCK_ENUM(name) CT_CLOCK_##name,
	CT_CLOCK_QUALITY_MAP(CT_CLOCK_ENUM)
#undef CT_CLOCK_ENUM
};
const char *ct_clock_quality_name(enum ct_clock_quality quality);

/* How a clock contradicts itself. */
enum ct_clock_conflict_kind {
	CT_CONFLICT_NONE,
	CT_CONFLICT_CAUSE, /* things would have ended before what they needed had begun */
	CT_CONFLICT_JUMP,  /* neighbouring windows of ends disagree about the moment between them */
	CT_CONFLICT_ENDS,  /* ends disagree with cause and effect */
	CT_CONFLICT_ORDER, /* operations are not in order of time */
	CT_CONFLICT_DRIFT, /* the clocks drift apart faster than clocks do */
};
const char *ct_clock_conflict_text(enum ct_clock_conflict_kind kind);

struct ct_clock_conflict {
	enum ct_clock_conflict_kind kind;
	double by_ns, limit_ns;
	uint64_t at_ns;	     /* CLOCK_MONOTONIC of `host` */
	uint32_t host, with; /* the two whose clocks contradict each other */
};

#define CT_CLOCK_UNKNOWN UINT64_MAX

struct ct_clock_host {
	enum ct_clock_quality quality;
	uint64_t err_ns; /* u_h, the largest of the times measured; CT_CLOCK_UNKNOWN: not related */
	/* The median distance between the ends of two ranks of this host, whose true one is 0: what
	 * the ends of operations are good for. CT_CLOCK_UNKNOWN: no two ranks. */
	uint64_t selftest_ns;
	uint64_t first_ns, last_ns;	   /* times measured, on its own clock; 0: none */
	uint32_t hops;			   /* hosts between it and the reference, plus 1 */
	uint32_t conflicts;		   /* with so many hosts ... */
	uint32_t compared;		   /* ... of so many */
	struct ct_clock_conflict conflict; /* the worst of these */
};

/* Every host's clock in terms of the reference's. */
struct ct_clocks {
	uint32_t n_hosts, reference;
	struct ct_clock_host *hosts;
	struct ct_clock_map *maps; /* by host; without knots: not related */
};

void ct_clocks_free(struct ct_clocks *clocks);

uint32_t ct_clocks_reference(const struct ct_clocks *clocks);

/* NULL: no such host, or `clocks` is NULL. */
const struct ct_clock_host *ct_clocks_host(const struct ct_clocks *clocks, uint32_t host);

/* A time of a host's CLOCK_MONOTONIC as the reference's. 1, and the error if err_ns is not NULL; 0:
 * the two are not related, or contradict each other, or `clocks` is NULL. O(log knots). */
int ct_clocks_at(const struct ct_clocks *clocks, uint32_t host, uint64_t mono_ns, uint64_t *ref_ns,
		 uint64_t *err_ns);

/* What to add to a time of the host (modulo 2^64) to have the run's, if `shifts`, by host, say what
 * to add where clocks are not related: then shifts[host], else what the reference's clock makes of
 * it. */
uint64_t ct_clocks_shift(const struct ct_clocks *clocks, uint32_t host, uint64_t mono_ns,
			 const uint64_t *shifts);

/* The same clocks once more; NULL: out of memory, or there are none. */
struct ct_clocks *ct_clocks_copy(const struct ct_clocks *clocks);

#endif
