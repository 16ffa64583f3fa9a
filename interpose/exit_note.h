/* SPDX-License-Identifier: Apache-2.0 */
/* exit_note.h — a process that ends by itself notes it in its ring.
 *
 * Called on the way out, by the one thread that ends the process; also in signal handlers. Only the
 * ring's header is written, errno is left as it is. */
#ifndef CT_INTERPOSE_EXIT_NOTE_H
#define CT_INTERPOSE_EXIT_NOTE_H

#include "trace/format.h"

/* It ends now, of its own accord, with this status (CT_EXIT_ABORT: with this signal). */
void ct_exit_note(struct ct_ring_header *header, enum ct_exit_kind kind, int code);

#endif
