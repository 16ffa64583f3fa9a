/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h — a reading of its own before the others, of a run on several hosts: how their clocks stand.
 * One thread. */
#ifndef CT_CLOCK_COLLECT_H
#define CT_CLOCK_COLLECT_H

#include "analyzer/model/attempts.h"
#include "analyzer/model/clocks.h"
#include "analyzer/stream/stream.h"

/* Reads the attempt and relates its hosts to that of rank 0 (if no rank is known to be 0, to the first one); `options` says to
 * whom progress is told. *clocks is the caller's; NULL if all is on one host. 0, CT_NOMEM, CT_IO. */
int ct_clocks_of_run(const struct ct_run *run, struct ct_attempts *attempts, int attempt,
		     const struct ct_stream_options *options, struct ct_clocks **clocks,
		     struct ct_err *err);

#endif
