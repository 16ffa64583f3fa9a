/* SPDX-License-Identifier: Apache-2.0 */
/* step_anchor.h — finds the operation that marks the steps of a periodic program, from the order of
 * its operations alone.
 *
 * Of every kind of operation (a symbol) that carries 0.2 % of the bytes and occurs three times: m
 * is the commonest distance between two occurrences, in operations; regularity the share of
 * distances within max(2, 10 %) of it; coverage occurrences * m / operations. Kept with regularity
 * >= 0.6 and coverage >= 0.5; the anchor is the one with the largest m, of those within 10 % of it
 * the most regular, then the one with most idle time before it.
 *
 * That finds the layer, not the step, if no operation occurs once per step (FSDP with units only).
 * Then many bytes are in distances other than the anchor's. If it is a tenth, the period is
 * searched over several occurrences of an unevenly spaced symbol: the smallest j whose distances
 * deviate by 15 % at most, half as much as those of j - 1 and 0.85 times as much as those of j + 1.
 * Of several the shortest whose steps consist of the same operations of weight (90 % of them),
 * else that of the fewest occurrences. Otherwise only symbols with 5 % of the bytes and j <= 8 are
 * tried, for a period half as long again (an exchange in each layer, and gradients in some).
 *
 * Source: measured on twelve patterns of training (unit.step_anchor); the second part on
 * tools/workload. Pure. */
#ifndef CT_ANALYZER_STEPS_STEP_ANCHOR_H
#define CT_ANALYZER_STEPS_STEP_ANCHOR_H

#include <stdint.h>

/* One operation of the rank, in order. */
struct ct_anchor_op {
	uint64_t at_ns;	  /* entry of its call */
	uint64_t end_ns;  /* 0 unknown */
	uint64_t idle_ns; /* from the entry of the one before it to its own */
	uint32_t symbol;
	uint32_t index; /* among all operations, also those that are not listed */
};

struct ct_anchor_symbol {
	uint64_t n, bytes; /* occurrences and their bytes, those that are not listed too */
	int partial;	   /* some are not listed: no anchor */
};

struct ct_anchor {
	uint32_t symbol;
	uint32_t every; /* so many occurrences make a step ... */
	uint32_t first; /* ... beginning with this one */
	uint32_t ops;	/* in a step, mostly */
	double regularity, coverage;
};

/* 0 and *anchor; CT_NOTFOUND: nothing recurs; CT_NOMEM. n_ops: operations in all. */
int ct_anchor_find(const struct ct_anchor_op *listed, uint32_t n, uint64_t n_ops,
		   const struct ct_anchor_symbol *symbols, uint32_t n_symbols,
		   struct ct_anchor *anchor);

#endif
