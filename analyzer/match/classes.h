/* SPDX-License-Identifier: Apache-2.0 */
/* classes.h — sums and percentiles by class of operation: (communicator, operation, element type, power of two
 * of the bytes). Memory follows the number of classes that occur, not the length of the run. One thread. */
#ifndef CT_CLASSES_H
#define CT_CLASSES_H

#include "analyzer/match/comms.h"
#include "analyzer/match/hist.h"

struct ct_class {
	struct ct_comm *comm;
	uint32_t index; /* in order of first sight */
	unsigned op, dtype;
	uint64_t bytes_class; /* 0, or the 2^k with 2^k <= bytes < 2^(k+1) */
	uint64_t instances, bytes;
	uint64_t judged; /* instances of which wait_ns holds the waits */
	uint64_t wait_ns;
	uint64_t time_err_ns; /* largest error of one span */
	struct ct_hist span, transfer, algbw;
	uint32_t *last_count; /* by rank in the communicator; NULL as long as nobody was clear last */
	uint64_t *last_cost_ns;
	struct ct_class *same_key;
};

struct ct_classes {
	struct ct_table by_key;
	struct ct_class **all;
	uint32_t n, cap;
	struct ct_arena *memory;
};

int ct_classes_init(struct ct_classes *classes); /* 0 or CT_NOMEM */
void ct_classes_fini(struct ct_classes *classes);

/* The class of an operation that moves `bytes` in all; made if it is new. NULL: out of memory. */
struct ct_class *ct_classes_get(struct ct_classes *classes, struct ct_comm *comm, unsigned op,
				unsigned dtype, uint64_t bytes);

/* The rank was clear last in one instance and the others waited `cost_ns` for it alone. 0 or CT_NOMEM. */
int ct_class_last(struct ct_class *class, uint32_t rank, uint64_t cost_ns);

#endif
