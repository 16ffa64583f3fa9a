/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.h — this library as NVTX's injection library: it records the ranges that mark steps.
 *
 * A range is recorded if its name marks a step (marker_names.h); for other ranges a callback only
 * looks at the first letter. Callbacks return what NVTX returns without an injection library,
 * except for handles. Exported: nvtx_calls.def. */
#ifndef CT_INTERPOSE_NVTX_NVTX_H
#define CT_INTERPOSE_NVTX_NVTX_H

#include "interpose/abi/nvtx.h"

/* Each copy of NVTX in the process calls this at its first call, on any thread. Returns 1 if
 * callbacks are set. Returns 0 if recording or COMMTRACE_NVTX is switched off; this copy's
 * functions then do nothing. */
int ct_nvtx_inject(ct_nvtx_export_fn export_table);

#endif
