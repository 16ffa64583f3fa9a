/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/gpu/freeze.h"

#include "interpose/recorder.h"

/* size: far more than there are communicators at a time: one that was frozen is forgotten when
 * another with the same slot is, long after the last of its launches. */
#define SLOTS 4096u

static struct {
	_Atomic uint32_t comm;
	_Atomic uint64_t ns;
} frozen[SLOTS];
static _Atomic uint32_t any;

void ct_freeze_init(void)
{
	for (uint32_t i = 0; i < SLOTS && atomic_load_explicit(&any, memory_order_relaxed); i++)
		atomic_store_explicit(&frozen[i].comm, 0, memory_order_relaxed);
	atomic_store_explicit(&any, 0, memory_order_relaxed);
}

/* Two threads freeze one communicator at about the same time: either moment will do. */
static void set(uint32_t comm, uint64_t ns)
{
	atomic_store_explicit(&frozen[comm % SLOTS].comm, 0, memory_order_relaxed);
	atomic_store_explicit(&frozen[comm % SLOTS].ns, ns, memory_order_release);
	/* release: pairs with the acquire in frozen_ns() */
	atomic_store_explicit(&frozen[comm % SLOTS].comm, comm, memory_order_release);
	atomic_store_explicit(&any, 1, memory_order_release);
}

/* 0: it is not. */
static uint64_t frozen_ns(uint32_t comm)
{
	uint64_t ns;

	if (!atomic_load_explicit(&any, memory_order_acquire) ||
	    atomic_load_explicit(&frozen[comm % SLOTS].comm, memory_order_acquire) != comm)
		return 0;
	ns = atomic_load_explicit(&frozen[comm % SLOTS].ns, memory_order_acquire);
	return atomic_load_explicit(&frozen[comm % SLOTS].comm, memory_order_relaxed) == comm ? ns
											      : 0;
}

uint64_t ct_freeze(uint32_t comm)
{
	uint64_t was = comm ? frozen_ns(comm) : 0;

	if (comm)
		set(comm, ct_now_ns());
	return was;
}

void ct_freeze_undo(uint32_t comm, uint64_t was)
{
	if (comm)
		set(comm, was);
}

void ct_freeze_apply(struct ct_launch *launch, uint64_t called_ns)
{
	uint64_t ns = frozen_ns(launch->comm);

	if (!ns || launch->result || called_ns > ns)
		return;
	if (launch->end_source && launch->end_ns + launch->end_err_ns < ns)
		return;
	launch->result = CT_RESULT_ABORTED;
	launch->end_ns = 0;
	launch->end_err_ns = 0;
	launch->end_source = CT_SOURCE_NONE;
	if (launch->start_ns < ns)
		return;
	launch->start_ns = 0;
	launch->start_err_ns = 0;
	launch->start_source = CT_SOURCE_NONE;
}
