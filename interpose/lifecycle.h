/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.h — from a process that knows nothing of us to one that is recorded, and to its end.
 *
 *     COLD ──first call──► STARTING ──► ON ──exit──► OFF
 *      │ fork: the child reads COLD, and is CHILD until it makes a communicator of its own: then
 * STARTING └─ COMMTRACE=0, set-user-id, no memory: OFF for good, children too
 *
 * Nothing happens before the first call, in a constructor least of all. It is made by the thread
 * that calls first, before the real function is entered; others that come meanwhile wait for at
 * most two seconds and then pass unrecorded (counted). The end is an on_exit handler: at most two
 * seconds for the last flush.
 */
#ifndef CT_INTERPOSE_LIFECYCLE_H
#define CT_INTERPOSE_LIFECYCLE_H

/* What ct_guard_slow() in guard.h is the entrance of. */

/* End the recording in order: what the exit handler does. Once; later calls do nothing. */
void ct_lifecycle_end(int exit_code);

#endif
