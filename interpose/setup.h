/* SPDX-License-Identifier: Apache-2.0 */
/* setup.h — everything that is made when recording starts, in order. Called by the one thread that
 * starts it; may allocate and do I/O. What it made is never unmade but by the end of the process. */
#ifndef CT_INTERPOSE_SETUP_H
#define CT_INTERPOSE_SETUP_H

#include <stdint.h>

/* Is recording wanted in this process at all? Looks at the environment and the loader's secure
 * mode. */
int ct_setup_wanted(void);

/* Make settings, identity, run directory, ring, tables and threads; say the start line. `nth`: how
 * often this line of processes has started before. 0, or -1: recording is not possible here. */
int ct_setup_recording(uint32_t nth);

#endif
