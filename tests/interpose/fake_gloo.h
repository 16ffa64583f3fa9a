/* SPDX-License-Identifier: Apache-2.0 */
/* fake_gloo.h — a library with a few of Gloo's functions, and objects that look like Gloo's to the
 * wrappers. */
#ifndef CT_TESTS_INTERPOSE_FAKE_GLOO_H
#define CT_TESTS_INTERPOSE_FAKE_GLOO_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* gloo::Context as it was until 2024-09. */
struct fake_context {
	const void *table;
	int32_t rank;
	int32_t size;
	uint64_t rest[3];
	const void *transport;
	uint64_t more[4];
};

/* gloo::BarrierOptions, with space behind it for a test's own. */
struct fake_options {
	struct fake_context *context;
	uint64_t a[2];
	uint32_t tag;
	int32_t called_id;
	void *own;
};

/* transport::Context and tcp::UnboundBuffer. */
struct fake_transport {
	const void *table;
	int32_t rank;
	int32_t size;
};

struct fake_buffer {
	const void *table;
	void *data;
	uint64_t bytes;
	struct fake_transport *transport;
};

typedef void (*fake_body)(void *arg);
void fake_set_body(fake_body function);
int fake_id(void);

/* What the test program calls; in it the wrappers stand before them. */
void gloo_barrier(void *options) __asm__("_ZN4gloo7barrierERNS_14BarrierOptionsE");
void gloo_mesh(void *context, void *store,
	       void *device) __asm__("_ZN4gloo10rendezvous7Context15connectFullMeshERNS0_"
				     "5StoreERSt10shared_ptrINS_9transport6DeviceEE");
void gloo_send(void *buffer, int peer, uint64_t slot, uint64_t offset,
	       uint64_t bytes) __asm__("_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm");
#ifndef __cplusplus
_Bool gloo_wait_send(void *buffer, int *rank,
		     int64_t timeout_ms) __asm__("_ZN4gloo9transport3tcp13UnboundBuffer8waitSendEPi"
						 "NSt6chrono8durationIlSt5ratioILl1ELl1000EEEE");
#endif

#ifdef __cplusplus
}
#endif

#endif
