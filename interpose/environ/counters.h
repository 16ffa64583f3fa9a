/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h — what the host's network ports count, sampled into the trace (ports.h says which
 * ports).
 *
 * One process of a host does it: local rank 0, and every process that does not know its local rank.
 * A thread of our own reads /sys, since a driver that hangs hangs its files; it lives as long as
 * the recording, so that none has to be started at the end. The write thread requests a sample,
 * never waits for one except briefly at the end, and copies samples into blocks. A sample and the
 * list of ports belong to that thread while one is requested, else to the write thread. */
#ifndef CT_INTERPOSE_ENVIRON_COUNTERS_H
#define CT_INTERPOSE_ENVIRON_COUNTERS_H

#include "trace/block.h"

/* Forget everything, also what a parent process knew. Before there are threads. */
void ct_counters_reset(void);

/* Start the thread and ask for the first sample, if it is this process's to do. every_ns 0: never.
 * By the thread that starts the recording, before there is a write thread. */
void ct_counters_begin(const struct ct_process *process, uint64_t every_ns);

/* Takes a finished sample, and requests the next one if it is time. Called by the write thread
 * regularly. */
void ct_counters_serve(uint64_t now_ns);

/* Recording ends: one more sample, if it comes within `timeout_ns`. The write thread. */
void ct_counters_finish(uint64_t timeout_ns);

/* What of it is in segments. */
struct ct_counters_seen {
	uint32_t ports;	 /* changes of the list */
	uint32_t base;	 /* number of the latest whole sample */
	uint32_t number; /* of the latest sample */
};

/* Add what is new since `seen` to a block; with `all`, what later blocks lean on: every port and
 * the latest whole sample. The write thread. 0, CT_NOMEM. */
int ct_counters_add(struct ct_counters_seen *seen, struct ct_block *block, int all);

#endif
