/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/wait.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long a sleeper may overlook that it was stopped between its look and its sleep. */
#define NAP_NS 100000000

static void wake_all(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void nap(_Atomic uint32_t *word, uint32_t seen)
{
	static const struct timespec limit = { .tv_nsec = NAP_NS };

	syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

void sim_gate_add(struct sim_gate *gate, uint32_t lap)
{
	uint32_t now = atomic_fetch_add(&gate->value, 1) + 1;

	if (now % lap == 0 && atomic_load(&gate->sleepers))
		wake_all(&gate->value);
}

/* Sleeps once, if the value is still `seen`. */
static void sleep_on(struct sim_gate *gate, uint32_t seen, const struct sim_waiter *who)
{
	atomic_store(who->on, &gate->value);
	atomic_fetch_add(&gate->sleepers, 1);
	if (!who->stopped(who))
		nap(&gate->value, seen);
	atomic_fetch_sub(&gate->sleepers, 1);
	atomic_store(who->on, NULL);
}

bool sim_gate_wait(struct sim_gate *gate, uint32_t target, const struct sim_waiter *who)
{
	uint32_t seen;

	for (;;) {
		if (who->stopped(who))
			return false;
		seen = atomic_load(&gate->value);
		if ((int32_t)(seen - target) >= 0)
			return true;
		sleep_on(gate, seen, who);
	}
}

bool sim_gate_change(struct sim_gate *gate, uint32_t seen, const struct sim_waiter *who)
{
	while (!who->stopped(who)) {
		if (atomic_load(&gate->value) != seen)
			return true;
		sleep_on(gate, seen, who);
	}
	return false;
}

void sim_hang(const struct sim_waiter *who)
{
	struct sim_gate never = { 0 };

	sim_gate_change(&never, 0, who);
}

void sim_wake(_Atomic(_Atomic uint32_t *) *on)
{
	_Atomic uint32_t *word = atomic_load(on);

	/* The word may be gone by now; waking no thread there is not an error. */
	if (word)
		wake_all(word);
}
