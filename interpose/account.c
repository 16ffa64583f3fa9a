/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/account.h"

#include <stdatomic.h>
#include <sys/resource.h>

#include "interpose/threads.h"

/* Each thread stores its own. */
static struct {
	_Atomic uint64_t cpu_ns, voluntary, involuntary;
} accounts[CT_OURS];

void ct_account_reset(void)
{
	for (int i = 0; i < CT_OURS; i++) {
		atomic_store_explicit(&accounts[i].cpu_ns, 0, memory_order_relaxed);
		atomic_store_explicit(&accounts[i].voluntary, 0, memory_order_relaxed);
		atomic_store_explicit(&accounts[i].involuntary, 0, memory_order_relaxed);
	}
}

static void store(enum ct_our_thread thread, struct ct_account before)
{
	struct rusage used = { .ru_nvcsw = 0 };

	getrusage(RUSAGE_THREAD, &used);
	/* its times are as old as the last tick */
	atomic_store_explicit(&accounts[thread].cpu_ns, before.cpu_ns + ct_thread_cpu_ns(),
			      memory_order_relaxed);
	atomic_store_explicit(&accounts[thread].voluntary,
			      before.voluntary + (uint64_t)used.ru_nvcsw, memory_order_relaxed);
	atomic_store_explicit(&accounts[thread].involuntary,
			      before.involuntary + (uint64_t)used.ru_nivcsw, memory_order_relaxed);
}

void ct_account_note(enum ct_our_thread thread)
{
	store(thread, (struct ct_account){ 0 });
}

void ct_account_end(enum ct_our_thread thread)
{
	store(thread, ct_account_of(thread));
}

struct ct_account ct_account_of(enum ct_our_thread thread)
{
	return (struct ct_account){
		.cpu_ns = atomic_load_explicit(&accounts[thread].cpu_ns, memory_order_relaxed),
		.voluntary = atomic_load_explicit(&accounts[thread].voluntary,
						  memory_order_relaxed),
		.involuntary = atomic_load_explicit(&accounts[thread].involuntary,
						    memory_order_relaxed),
	};
}
