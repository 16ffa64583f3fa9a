/* SPDX-License-Identifier: Apache-2.0 */
/* beat.h — the beat thread: once a second it stores the time into the ring header.
 *
 * It takes no lock, does no I/O and allocates nothing, so a file system or a driver that hangs
 * never makes a living process look dead.
 */
#ifndef CT_INTERPOSE_BEAT_H
#define CT_INTERPOSE_BEAT_H

/* Starts it, with all signals blocked. 0, or -1 if no thread can be created. */
int ct_beat_start(void);

#endif
