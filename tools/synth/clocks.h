/* SPDX-License-Identifier: Apache-2.0 */
/* clocks.h — what each host's CLOCK_MONOTONIC shows at a moment of the job: another zero, off from
 * real time, fast or slow, and at a rate that wanders. Piecewise linear, a knot each second where
 * it wanders. One thread. */
#ifndef CT_TOOLS_SYNTH_CLOCKS_H
#define CT_TOOLS_SYNTH_CLOCKS_H

#include "tools/synth/synth.h"

#define CT_SYNTH_UNIX_NS 1700000000000000000ull /* real time when the job began */

struct ct_synth_clocks *ct_synth_clocks_make(
	const struct ct_synth_options *options); /* NULL: no memory */
void ct_synth_clocks_free(struct ct_synth_clocks *clocks);

/* What the host's clock shows then. */
uint64_t ct_synth_clock(struct ct_synth_clocks *clocks, int host, uint64_t at_ns);

/* CLOCK_REALTIME minus CLOCK_MONOTONIC, which never changes, and by how much the first can be wrong
 * at that moment. */
uint64_t ct_synth_clock_real(const struct ct_synth_clocks *clocks, int host);
uint64_t ct_synth_clock_maxerror(const struct ct_synth_clocks *clocks, uint64_t at_ns);

/* The host's clock minus the job's time. Between knots (1 s apart if it wanders, else 0: none) it
 * changes evenly. */
int64_t ct_synth_clock_offset(struct ct_synth_clocks *clocks, int host, uint64_t at_ns);
uint64_t ct_synth_clock_step(const struct ct_synth_clocks *clocks);

#endif
