/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interpose/gpu_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "interpose/gpu/event_prealloc.h"
#include "interpose/gpu/poll.h"

CUcontext context;
CUstream stream;
static uint32_t next_id;

static int set_up_with(size_t ring_bytes)
{
	static const char *const nowhere[] = { NULL };
	struct ct_process process = { .pid = (uint32_t)getpid() };

	memset(&ct_self, 0, sizeof(ct_self));
	if (ct_ring_create(&ct_recorder.ring, &process, nowhere, ring_bytes, NULL) != CT_OK)
		return -1;
	next_id = 1;
	ct_cuda_use(fake_cuda());
	context = fake_context(3);
	stream = fake_stream(context);
	fake_set_current(context);
	return ct_gpu_init(CT_GPU_TIMED);
}

int set_up(void **state)
{
	(void)state;
	return set_up_with(1 << 20);
}

int set_up_small(void **state)
{
	(void)state;
	return set_up_with(256 << 10);
}

int tear_down(void **state)
{
	(void)state;
	/* what a failed test left as it was */
	fake_lock()->queries_hang = 0;
	fake_unlock();
	if (!ct_poll_finish(10 * SECOND_NS))
		return -1;
	ct_ring_close(&ct_recorder.ring, 0);
	ct_cuda_use(NULL);
	return 0;
}

void finish(void)
{
	assert_int_equal(ct_poll_finish(10 * SECOND_NS), 1);
}

void wait_for_events_of(unsigned nth)
{
	ct_gpu_prealloc_ask();
	WAIT_FOR(ct_gpu_context_nth(nth) &&
		 ct_gpu_events_ready(&ct_gpu_context_nth(nth)->events) >= 512);
	usleep(20000);
}

void wait_for_events(void)
{
	wait_for_events_of(0);
}

struct ct_gpu_launch make_launch(CUstream on)
{
	return (struct ct_gpu_launch){
		.enter_ns = ct_now_ns(),
		.seq = 7,
		.bytes = 4096,
		.stream = on,
		.comm = 5,
		.n_ops = 2,
		.peer = -1,
		.op = 1,
	};
}

struct ct_gpu_span *begin(CUstream on)
{
	struct ct_gpu_launch launch = make_launch(on);

	launch.id = next_id++;
	return ct_gpu_begin(&launch);
}

int records(uint32_t id, struct ct_launch *launch)
{
	struct ct_ring *ring = &ct_recorder.ring;
	int n = 0;

	for (uint32_t i = 0; i < ring->header->n_chunks; i++) {
		struct ct_chunk *chunk = ct_ring_chunk(ring, i);
		uint64_t state = atomic_load(&chunk->state);
		uint64_t w[8];

		for (unsigned k = 0; (state & 0xff) != CT_CHUNK_FREE && k < CT_CHUNK_SLOTS; k++) {
			struct ct_launch l;

			if (!ct_slot_copy(&ct_chunk_slots(chunk)[k], (uint32_t)(state >> 8), w))
				break;
			if (CT_TAG_KIND(w[0]) != CT_KIND_LAUNCH)
				continue;
			ct_launch_unpack(w, &l);
			if (l.id != id)
				continue;
			*launch = l;
			n++;
		}
	}
	return n;
}

struct ct_launch the_record(uint32_t id)
{
	struct ct_launch launch;

	memset(&launch, 0, sizeof(launch));
	assert_int_equal(records(id, &launch), 1);
	return launch;
}

struct ct_ring_open *open_entry(uint32_t id)
{
	struct ct_ring *ring = &ct_recorder.ring;

	for (uint32_t i = 0; i < ring->header->n_opens; i++)
		if (atomic_load(&ring->opens[i].tag) == (1ull << 32 | id))
			return &ring->opens[i];
	return NULL;
}

uint64_t losses(enum ct_loss reason)
{
	return atomic_load(&ct_recorder.ring.header->losses[reason]);
}

void assert_no_losses(void)
{
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(losses((enum ct_loss)i), 0);
}

void assert_near(uint64_t ns, uint32_t err_ns, uint64_t truth_ns)
{
	uint64_t off = ns > truth_ns ? ns - truth_ns : truth_ns - ns;

	assert_true(off <= err_ns + 500u);
}

void assert_untimed(const struct ct_launch *launch)
{
	assert_int_equal(launch->start_source, CT_SOURCE_NONE);
	assert_int_equal(launch->end_source, CT_SOURCE_NONE);
	assert_int_equal(launch->start_ns, 0);
	assert_int_equal(launch->end_ns, 0);
}

void pass(CUstream on)
{
	struct ct_gpu_span *span = begin(on);

	fake_advance(on);
	ct_gpu_end(span);
	fake_advance(on);
}
