/* SPDX-License-Identifier: Apache-2.0 */
/* Several ranks in one process: data, groups, times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tests/sim/nccl_bodies.h"
#include "tools/sim/driver.h"
#include "tools/sim/nccl/hash.h"
#include "tools/sim/nccl/job.h"

#define MAX_SPANS 256

static struct sim_nccl_span spans[MAX_SPANS];
static int n_spans;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of both, while ranks run */

static void note(const struct sim_nccl_span *span)
{
	pthread_mutex_lock(&lock);
	if (n_spans < MAX_SPANS)
		spans[n_spans++] = *span;
	pthread_mutex_unlock(&lock);
}

/* Exact links: no jitter, no skew. */
static const struct sim_links plain = {
	.alpha_ns = 10000, .hop_ns = 1000, .node_Bps = 1000000000, .net_Bps = 1000000000
};

static void watch(const struct sim_links *links)
{
	n_spans = 0;
	simNcclLinks(links);
	simNcclOnKernel(note);
}

static const struct sim_nccl_span *span_of(int rank, uint64_t launch)
{
	for (int i = 0; i < n_spans; i++)
		if (spans[i].rank == rank && spans[i].launch == launch)
			return &spans[i];
	fail_msg("no kernel %d of rank %d", (int)launch, rank);
	return NULL;
}

static void all_ranks_of_a_process_can_be_threads(void **state)
{
	(void)state;
	assert_int_equal(in_threads(4, moves_blocks), 0);
	assert_int_equal(in_threads(4, reduces_every_type), 0);
	assert_int_equal(in_threads(4, spreads_blocks), 0);
	assert_int_equal(in_threads(4, exchanges_messages), 0);
	assert_int_equal(in_threads(4, splits_and_shrinks), 0);
	assert_int_equal(in_threads(2, sends_ahead), 0);
	assert_int_equal(in_threads(3, runs_ahead_of_receivers), 0);
	assert_int_equal(in_threads(1, reduces_every_type), 0);
	assert_int_equal(in_threads(1, moves_blocks), 0);
	assert_null(simFirstMisuse());
}

static void nothing_shared_is_left_open(void **state)
{
	(void)state;
	assert_int_equal(shared_files(), 0);
}

/* Rank 3 computes 5 ms longer than the others. */
static void waits_for_the_last(struct rank *r)
{
	uint32_t *p = device_memory(r, 400000);

	join(r);
	if (r->rank == 3)
		CHECK(r, !simCompute(r->stream, 5000000));
	CHECK(r, !ncclAllReduce(p, p, 100000, ncclUint32, ncclSum, r->comm, r->stream));
	finish(r);
	release(r, p);
}

static uint64_t last_start(uint64_t launch, int n)
{
	uint64_t last = 0;

	for (int i = 0; i < n; i++)
		if (span_of(i, launch)->start_ns > last)
			last = span_of(i, launch)->start_ns;
	return last;
}

static void a_collective_ends_together_after_its_last_rank_came(void **state)
{
	uint64_t last;

	(void)state;
	watch(&plain);
	assert_int_equal(in_threads(4, waits_for_the_last), 0);
	last = last_start(0, 4);
	/* alpha + 3 hops + 2 * 3/4 of 400 kB at 1 GB/s */
	for (int i = 0; i < 4; i++)
		assert_int_equal(span_of(i, 0)->end_ns, last + 10000 + 3000 + 600000);
}

static void ranks_end_apart_by_no_more_than_the_skew(void **state)
{
	struct sim_links skewed = plain;

	(void)state;
	skewed.end_skew_ns = 200000;
	watch(&skewed);
	assert_int_equal(in_threads(4, waits_for_the_last), 0);
	for (int i = 0; i < 4; i++) {
		uint64_t late = span_of(i, 0)->end_ns - last_start(0, 4) - 613000;

		assert_true(late < 200000);
		assert_true(i == 3 || span_of(i, 0)->end_ns != span_of(i + 1, 0)->end_ns);
	}
}

static void uses_a_slow_link(struct rank *r)
{
	uint32_t *p = device_memory(r, 400000);

	join(r);
	simNcclSlowLink(1, 2, 0.5);
	CHECK(r, !ncclAllReduce(p, p, 100000, ncclUint32, ncclSum, r->comm, r->stream));
	CHECK(r, !ncclGroupStart());
	if (r->rank == 1)
		CHECK(r, !ncclSend(p, 100000, ncclUint32, 2, r->comm, r->stream));
	if (r->rank == 2)
		CHECK(r, !ncclRecv(p, 100000, ncclUint32, 1, r->comm, r->stream));
	CHECK(r, !ncclGroupEnd());
	finish(r);
	release(r, p);
}

static void a_slow_link_slows_the_ring_and_its_own_messages(void **state)
{
	uint64_t last;

	(void)state;
	watch(&plain);
	assert_int_equal(in_threads(4, uses_a_slow_link), 0);
	simNcclSlowLink(1, 2, 1);
	assert_int_equal(span_of(0, 0)->end_ns, last_start(0, 4) + 13000 + 1200000);
	last = span_of(1, 1)->start_ns > span_of(2, 1)->start_ns ? span_of(1, 1)->start_ns
								 : span_of(2, 1)->start_ns;
	assert_int_equal(span_of(1, 1)->end_ns, last + 10000 + 800000);
	assert_int_equal(span_of(2, 1)->end_ns, last + 10000 + 800000);
}

/* Two collectives and messages on two streams. */
static void groups_two_streams(struct rank *r)
{
	uint32_t *p = device_memory(r, 4 * 8);
	CUstream other;
	CUevent before = NULL, after = NULL;
	uint64_t began = 0, ended = 0;

	join(r);
	CHECK(r, !cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	CHECK(r, !cuEventCreate(&before, 0) && !cuEventCreate(&after, 0));
	p[0] = 1;
	p[1] = 10;
	CHECK(r, !simCompute(r->stream, 2000000));
	CHECK(r, !cuEventRecord(before, r->stream));
	CHECK(r, !ncclGroupStart() && !ncclGroupStart());
	CHECK(r, !ncclAllReduce(p, p, 1, ncclUint32, ncclSum, r->comm, r->stream));
	CHECK(r, !ncclAllReduce(p + 1, p + 1, 1, ncclUint32, ncclSum, r->comm, other));
	CHECK(r, !ncclSend(p, 1, ncclUint32, (r->rank + 1) % r->n, r->comm, r->stream));
	CHECK(r, !ncclRecv(p + 2, 1, ncclUint32, (r->rank + 1) % r->n, r->comm, r->stream));
	CHECK(r, !ncclGroupEnd());
	usleep(20000);
	CHECK(r, cuStreamQuery(other) == CUDA_SUCCESS); /* nothing is launched yet */
	CHECK(r, !ncclGroupEnd());
	CHECK(r, !cuEventRecord(after, r->stream));
	finish(r);
	CHECK(r, p[0] == 2 && p[1] == 20 && p[2] == 2);
	/* The stream that was first seen last has the kernels; the other one waits for it and is
	 * waited for. */
	CHECK(r, !simEventTime(before, &began) && !simEventTime(after, &ended));
	pthread_mutex_lock(&lock);
	for (int i = 0; i < n_spans; i++) {
		const struct sim_nccl_span *s = &spans[i];

		CHECK(r, s->rank != r->rank || (s->stream == other && s->n_ops == 2 &&
						s->start_ns >= began && s->end_ns <= ended));
	}
	pthread_mutex_unlock(&lock);
	CHECK(r, !cuStreamSynchronize(other) && !cuStreamDestroy_v2(other));
	release(r, p);
}

static void a_group_is_launched_at_its_outermost_end_on_the_stream_seen_last(void **state)
{
	(void)state;
	watch(&plain);
	assert_int_equal(in_threads(2, groups_two_streams), 0);
	assert_int_equal(n_spans, 4);
}

static void simulates_a_group(struct rank *r)
{
	uint32_t *p = device_memory(r, 4);
	ncclSimInfo_t info = { sizeof(info), 0x74685283, 22809, -1 };

	join(r);
	*p = 1;
	CHECK(r, !ncclGroupStart());
	CHECK(r, !ncclAllReduce(p, p, 1, ncclUint32, ncclSum, r->comm, r->stream));
	CHECK(r, !ncclGroupSimulateEnd(&info) && info.estimatedTime > 0);
	finish(r);
	CHECK(r, *p == 1);
	CHECK(r, !ncclAllReduce(p, p, 1, ncclUint32, ncclSum, r->comm, r->stream));
	finish(r);
	CHECK(r, *p == 2);
	release(r, p);
}

static void a_simulated_group_launches_nothing(void **state)
{
	(void)state;
	assert_int_equal(in_threads(2, simulates_a_group), 0);
}

/* Kernel numbers show the communicator by NCCL's own hash. Under the lock; all ranks find the same.
 */
static uint64_t hashes[2];

static void has_hashes(struct rank *r)
{
	uint32_t *p = device_memory(r, 4);
	ncclComm_t child;

	join(r);
	CHECK(r, !ncclAllReduce(p, p, 1, ncclUint32, ncclSum, r->comm, r->stream));
	finish(r);
	CHECK(r, !ncclCommSplit(r->comm, 5, 0, &child, NULL));
	CHECK(r, !ncclAllReduce(p, p, 1, ncclUint32, ncclSum, child, r->stream));
	finish(r);
	pthread_mutex_lock(&lock);
	hashes[0] = sim_hash_bytes(r->id.internal, 128);
	hashes[1] = sim_hash_child(hashes[0], 1, 5);
	pthread_mutex_unlock(&lock);
	CHECK(r, !ncclCommDestroy(child));
	release(r, p);
}

static void communicators_are_named_by_nccls_own_hash(void **state)
{
	char sevens[128];

	(void)state;
	memset(sevens, 7, sizeof(sevens));
	assert_true(sim_hash_bytes(sevens, 128) == 0x2258c19d731308eb);
	watch(&plain);
	assert_int_equal(in_threads(1, has_hashes), 0);
	assert_int_equal(n_spans, 0); /* one rank needs no kernel */
	assert_int_equal(in_threads(2, has_hashes), 0);
	assert_int_equal(n_spans, 4);
	for (int i = 0; i < 4; i++)
		assert_true(spans[i].comm == hashes[0] || spans[i].comm == hashes[1]);
	assert_true(spans[0].comm == hashes[0] && spans[3].comm == hashes[1]);
}

/* Last: it misuses them, too. */
static void communicators_grow_and_have_windows(void **state)
{
	(void)state;
	assert_int_equal(in_threads(4, grows), 0);
	assert_int_equal(in_threads(3, puts_and_signals), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_ranks_of_a_process_can_be_threads),
		cmocka_unit_test(nothing_shared_is_left_open),
		cmocka_unit_test(a_collective_ends_together_after_its_last_rank_came),
		cmocka_unit_test(ranks_end_apart_by_no_more_than_the_skew),
		cmocka_unit_test(a_slow_link_slows_the_ring_and_its_own_messages),
		cmocka_unit_test(a_group_is_launched_at_its_outermost_end_on_the_stream_seen_last),
		cmocka_unit_test(a_simulated_group_launches_nothing),
		cmocka_unit_test(communicators_are_named_by_nccls_own_hash),
		cmocka_unit_test(communicators_grow_and_have_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
