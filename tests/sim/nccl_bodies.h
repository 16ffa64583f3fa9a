/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_bodies.h — what ranks do (ranks.h), the same in threads and in processes: each moves data
 * and looks at it. */
#ifndef CT_TESTS_SIM_NCCL_BODIES_H
#define CT_TESTS_SIM_NCCL_BODIES_H

#include "tests/sim/ranks.h"

void reduces_every_type(struct rank *rank);
void moves_blocks(struct rank *rank);	/* all collectives, short and of many rounds, in-place and
					   out-of-place */
void spreads_blocks(struct rank *rank); /* all-to-all, gather, scatter */
void exchanges_messages(struct rank *rank); /* sends and receives of all sizes in groups */
void sends_ahead(struct rank *rank);	    /* short messages before the receive */
void splits_and_shrinks(struct rank *rank);
void grows(struct rank *rank);			 /* four ranks: a pair becomes all */
void puts_and_signals(struct rank *rank);	 /* around the ring */
void runs_ahead_of_receivers(struct rank *rank); /* the root of short broadcasts */

#endif
