/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h — waiting for another rank: a counter in shared memory that grows, and threads that sleep
 * until it has come far enough. A rank that was killed is waited for without end; aborting one's
 * own communicator ends the wait. */
#ifndef CT_TOOLS_SIM_NCCL_WAIT_H
#define CT_TOOLS_SIM_NCCL_WAIT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_gate {
	_Atomic uint32_t value; /* wraps */
	_Atomic uint32_t sleepers;
};

/* A waiting thread: given up when stopped() says so. `on` is where sim_wake() finds the sleeper. */
struct sim_waiter {
	bool (*stopped)(const struct sim_waiter *self);
	_Atomic(_Atomic uint32_t *) *on;
};

/* Adds one and wakes those that wait, if anyone can wait for the new value: for all of them, or for
 * a multiple of `lap` only. */
void sim_gate_add(struct sim_gate *gate, uint32_t lap);

/* Until value - target, as a signed number, is not negative. False if stopped. */
bool sim_gate_wait(struct sim_gate *gate, uint32_t target, const struct sim_waiter *who);

/* Until the value is another one than `seen`. False if stopped. */
bool sim_gate_change(struct sim_gate *gate, uint32_t seen, const struct sim_waiter *who);

/* Waits forever; returns when stopped. */
void sim_hang(const struct sim_waiter *who);

/* Lets the one that sleeps there look at stopped() again. */
void sim_wake(_Atomic(_Atomic uint32_t *) *on);

#endif
