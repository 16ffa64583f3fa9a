/* SPDX-License-Identifier: Apache-2.0 */
/* fake_gloo.c — a libgloo whose functions do what a test wants done. Built as several shared
 * libraries that differ in FAKE_ID, so that tests can show which copy was called. */
#include "tests/interpose/fake_gloo.h"

#include <stdatomic.h>
#include <stddef.h>

#define FAKE __attribute__((visibility("default")))

static _Atomic(fake_body) body;

FAKE void fake_set_body(fake_body function)
{
	atomic_store(&body, function);
}

FAKE int fake_id(void)
{
	return FAKE_ID;
}

static void act(void *arg)
{
	fake_body function = atomic_load(&body);

	if (function)
		function(arg);
}

FAKE void fake_barrier(void *options) __asm__("_ZN4gloo7barrierERNS_14BarrierOptionsE");
FAKE void fake_barrier(void *options)
{
	act(options);
	((struct fake_options *)options)->called_id = FAKE_ID;
}

/* As the real one does it: the address blob of this rank goes into the store, those of the others
 * come out of it. The tests' store is the body. */
FAKE void fake_mesh(void *context, void *store,
		    void *device) __asm__("_ZN4gloo10rendezvous7Context15connectFullMeshERNS0_"
					  "5StoreERSt10shared_ptrINS_9transport6DeviceEE");
FAKE void fake_mesh(void *context, void *store, void *device)
{
	(void)context;
	(void)device;
	act(store);
}

FAKE void fake_send(void *buffer, int peer, uint64_t slot, uint64_t offset,
		    uint64_t bytes) __asm__("_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm");
FAKE void fake_send(void *buffer, int peer, uint64_t slot, uint64_t offset, uint64_t bytes)
{
	(void)peer;
	(void)slot;
	(void)offset;
	(void)bytes;
	act(buffer);
}

FAKE _Bool fake_wait_send(void *buffer, int *rank, int64_t timeout_ms) __asm__(
	"_ZN4gloo9transport3tcp13UnboundBuffer8waitSendEPiNSt6chrono8durationIlSt5ratioILl1ELl1000E"
	"EEE");
FAKE _Bool fake_wait_send(void *buffer, int *rank, int64_t timeout_ms)
{
	(void)timeout_ms;
	*rank = 1;
	act(buffer);
	return 1;
}
