/* SPDX-License-Identifier: Apache-2.0 */
/* exposures.h — when ranks waited for communication, kept one by one for analyses of steps.
 *
 * Bounded: kept are the stretches of the run that the instance log has, too (sample.h). Times are
 * ns since the run began, on the run's clock. One thread. */
#ifndef CT_ANALYZER_OVERLAP_EXPOSURES_H
#define CT_ANALYZER_OVERLAP_EXPOSURES_H

#include "analyzer/stream/sample.h"

/* size: kept at most, by default: 2 M, 96 MB. */
#define CT_EXPOSURES_MOST (1u << 21)

struct ct_exposure {
	uint64_t begin_ns,
		end_ns;	   /* it was blocked; if that is unknown, the span of the operation */
	uint64_t start_ns; /* of the operation that it waited for */
	uint32_t slot;
	uint32_t comm;	 /* index of the communicator */
	uint32_t err_ns; /* of its length */
	uint32_t is_known;
};

struct ct_exposures {
	struct ct_exposure *all; /* once closed: by slot, then by begin */
	uint32_t n;
	uint32_t *slot_first; /* once closed: of slot s are all[slot_first[s]] .. all[slot_first[s +
				 1] - 1] */
	uint32_t n_slots;
	uint64_t seen;
	/* private */
	struct ct_sample *sample;
	uint32_t cap, most;
	uint32_t one_of; /* of the sample, as far as what it does not keep was forgotten */
};

/* The sample is borrowed; it is halved when there are `most`, 0: CT_EXPOSURES_MOST. */
void ct_exposures_init(struct ct_exposures *stalls, struct ct_sample *sample, uint32_t most);
void ct_exposures_fini(struct ct_exposures *stalls);

/* 0 or CT_NOMEM, both. */
int ct_exposures_add(struct ct_exposures *stalls, const struct ct_exposure *stall);
int ct_exposures_close(struct ct_exposures *stalls, uint32_t n_slots);

/* Is all of [begin, end) in stretches that are kept? */
int ct_exposures_keep(const struct ct_exposures *stalls, uint64_t begin_ns, uint64_t end_ns);

#endif
