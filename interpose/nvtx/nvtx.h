/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.h — this library as the one that is injected into NVTX: what a program says of its own phases.
 *
 * Of all ranges those are recorded whose name says that they are a cycle (marker_names.h); for the others a callback is
 * a look at the first letter. What the program gets back is what it gets without a library, but for handles. Exported:
 * nvtx_calls.def. */
#ifndef CT_NVTX_H
#define CT_NVTX_H

#include "interpose/abi/nvtx.h"

/* Called by each copy of NVTX in the process with its first call, by any thread. 1: callbacks are set; 0: this copy's
 * functions may do nothing at all, since recording is switched off, or COMMTRACE_NVTX is. */
int ct_nvtx_inject(ct_nvtx_export_fn export_table);

#endif
