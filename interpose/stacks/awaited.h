/* SPDX-License-Identifier: Apache-2.0 */
/* awaited.h — does another process of this host and run wait for this one? A rank that is busy
 * elsewhere has nothing stalled itself, and another of its threads may communicate: only the peers'
 * rings show that they wait for it. Read, never mapped: a ring may be cut or removed at any time.
 * One thread; may wait for the file system of the rings; allocates nothing. */
#ifndef CT_INTERPOSE_STACKS_AWAITED_H
#define CT_INTERPOSE_STACKS_AWAITED_H

#include <stdint.h>

#include "trace/ring.h"

/* Since when one has been ahead of this process in a communicator of both, without having entered
 * anything more on it for `after_ns`; UINT64_MAX: none. `mine` is this process's ring. */
uint64_t ct_awaited_since(const struct ct_ring *mine, uint64_t after_ns, uint64_t now_ns);

#endif
