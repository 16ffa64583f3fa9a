/* SPDX-License-Identifier: Apache-2.0 */
/* record.h — a play as a recorder in each process would have seen it, written into segments as the
 * play goes on: by each host's clock, with the errors of the timing that was chosen. Memory: one
 * block a process. One thread. */
#ifndef CT_TOOLS_SYNTH_RECORD_H
#define CT_TOOLS_SYNTH_RECORD_H

#include "tools/synth/clocks.h"

struct ct_synth_record;

/* For that job into the directory; both, and the clocks, are borrowed. NULL, with *err. */
struct ct_synth_record *ct_synth_record_make(const struct ct_synth_options *options,
					     const struct ct_workload *workload,
					     struct ct_synth_clocks *clocks, int dirfd,
					     struct ct_err *err);

/* Where the play reports what happens. A negative status: *err above says why. */
const struct ct_play_sink *ct_synth_record_sink(struct ct_synth_record *record);

/* The play is over; what did not exit cleanly did so at kill_ns. 0 or a negative status. */
int ct_synth_record_finish(struct ct_synth_record *record, uint64_t kill_ns);

void ct_synth_record_free(struct ct_synth_record *record);

#endif
