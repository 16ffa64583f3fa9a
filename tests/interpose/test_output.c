/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a segment stands in the order in which it became true: a checkpoint never knows
 * more than the block behind it. The write thread is stopped between reading a block's state and
 * writing the block. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "interpose/comms.h"
#include "interpose/output.h"
#include "interpose/recorder.h"
#include "tests/interpose/fake_gloo.h"
#include "tests/interpose/recorded_lists.h"

static struct fake_context context = { .rank = 0, .size = 2 };
static struct fake_options barrier = { .context = &context };
/* Before a block is written, in the write thread. */
static void (*meanwhile)(struct ct_output *output);
static _Atomic unsigned blocks_written;

int __real_ct_output_block(struct ct_output *output, struct ct_block *block);
int __wrap_ct_output_block(struct ct_output *output, struct ct_block *block);
int __wrap_ct_output_block(struct ct_output *output, struct ct_block *block)
{
	uint32_t before = output->segment.n_sizes;
	int status;

	meanwhile(output);
	status = __real_ct_output_block(output, block);
	/* what happened meanwhile would stand in its checkpoint, and before the block that knows
	 * nothing of it */
	if (output->segment.n_sizes != before || output->fresh) {
		fprintf(stderr, "a block of type %d opened a segment\n", (int)block->type);
		_exit(1);
	}
	if (status == CT_OK)
		atomic_fetch_add(&blocks_written, 1);
	return status;
}

static void the_communicator_ends(struct ct_output *output)
{
	(void)output;
	ct_comms_end(&context);
}

static void call_job(void)
{
	meanwhile = the_communicator_ends;
	gloo_barrier(&barrier);
}

static void what_has_ended_while_a_segment_began_has_ended(void **state)
{
	const struct recorded_lists *r;

	(void)state;
	assert_int_equal(recorded_run(call_job, NULL), 0);
	r = recorded_lists(0);
	assert_int_equal(r->n_ops, 1);
	assert_int_equal(r->n_comms, 1);
	assert_int_not_equal(r->comms[0].ended_ns, 0);
	assert_int_equal(recorded_rings_left(), 0);
}

static void the_segment_is_removed(struct ct_output *output)
{
	char name[CT_SEGMENT_NAME_MAX];

	output->segment_bytes = 1; /* every block another one */
	if (output->segment.number > 0)
		return;
	ct_segment_name(name, &output->segment.process, 0);
	if (unlinkat(output->segment.dirfd, name, 0) != 0)
		_exit(2);
}

static void removing_job(void)
{
	const struct timespec nap = { .tv_nsec = 10000000 };

	meanwhile = the_segment_is_removed;
	gloo_barrier(&barrier);
	for (int i = 0; i < 3000 && !atomic_load(&blocks_written); i++)
		nanosleep(&nap, NULL);
	gloo_barrier(&barrier);
}

static void a_block_whose_segment_is_removed_comes_in_the_next_one(void **state)
{
	const struct recorded_lists *r;

	(void)state;
	assert_int_equal(recorded_run(removing_job, NULL), 0);
	r = recorded_lists(0);
	assert_int_equal(r->n_ops, 2);
	assert_int_equal(r->n_comms, 1);
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
	assert_int_equal(recorded_rings_left(), 0);
}

/* As many operations of a thread as one MPI_Startall begins, and ends when it returns. */
#define AT_ONCE (CT_BLOCK_MAX_RECORDS + 100u)

static void every_block_begins_a_segment(struct ct_output *output)
{
	output->segment_bytes = 1;
}

static void job_that_begins_many(void)
{
	static struct ct_op_frame frames[AT_ONCE];
	const struct timespec nap = { .tv_nsec = 10000000 };
	struct ct_op op = { .op = CT_OP_Barrier, .peer = -1 };
	unsigned before;

	meanwhile = every_block_begins_a_segment;
	gloo_barrier(&barrier);
	for (uint32_t i = 0; i < AT_ONCE; i++)
		ct_op_begin(&frames[i], ct_recorder_comm(&context), &op);
	before = atomic_load(&blocks_written);
	for (int i = 0; i < 3000 && atomic_load(&blocks_written) < before + 3; i++) {
		/* something to write, each time in a segment of its own */
		nanosleep(&nap, NULL);
		gloo_barrier(&barrier);
	}
	if (atomic_load(&blocks_written) < before + 3)
		_exit(3);
	for (uint32_t i = 0; i < AT_ONCE; i++)
		ct_op_end(&frames[i], ct_now_ns(), 0);
}

static void segments_begin_however_many_operations_are_open(void **state)
{
	const char *const env[] = { "COMMTRACE_FLUSH=100ms", NULL };
	struct recorded r;

	(void)state;
	assert_int_equal(recorded_run(job_that_begins_many, env), 0);
	r = recorded_read();
	assert_true(r.ops > AT_ONCE);
	assert_int_equal(r.unreturned, 0);
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r.losses[i], 0);
	assert_int_equal(recorded_rings_left(), 0);
	recorded_free(&r);
}

/* ---- what was called so far ---- */

static struct ct_order_totals in_blocks; /* of those that were read */
static unsigned statuses;

static const char *no_name(void *unused, uint32_t id)
{
	(void)unused;
	(void)id;
	return NULL;
}

static void hold_status_against_blocks(const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_rares; i++) {
		struct ct_comm_status_rec rec, is;

		if (block->rares[i].kind != CT_KIND_COMM_STATUS)
			continue;
		ct_rare_get(block, &block->rares[i], &rec, sizeof(rec));
		is = (struct ct_comm_status_rec){ .comm = rec.comm };
		ct_order_totals_report(&in_blocks, &is);
		assert_int_equal(rec.called, is.called);
		assert_int_equal(rec.order_end, is.order_end);
		assert_int_equal(rec.order_hash, is.order_hash);
		statuses += rec.called > 1;
	}
	ct_order_totals_add(&in_blocks, block, no_name, NULL);
}

static void job_of_many_segments(void)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	unsigned before;

	meanwhile = every_block_begins_a_segment;
	before = atomic_load(&blocks_written);
	for (int i = 0; i < 3000 && atomic_load(&blocks_written) < before + 4; i++) {
		nanosleep(&nap, NULL);
		gloo_barrier(&barrier);
	}
}

static void a_checkpoint_reports_what_the_blocks_before_it_hold(void **state)
{
	const char *const env[] = { "COMMTRACE_FLUSH=100ms", NULL };
	uint64_t losses[CT_LOSS_MAX];

	(void)state;
	assert_int_equal(recorded_run(job_of_many_segments, env), 0);
	assert_int_equal(recorded_walk(0, hold_status_against_blocks, losses), 1);
	assert_true(statuses >= 3);
	ct_order_totals_fini(&in_blocks);
}

/* ---- what is known of streams ---- */

static const struct ct_stream_rec streams[] = { { .stream = 7 },
						{ .stream = 9 },
						{ .stream = 7, .flags = CT_STREAM_FED } };
static unsigned checkpoints, checkpoints_with_streams;

static void look_for_streams(const struct ct_block *block)
{
	uint32_t fed = 0, others = 0;

	for (uint32_t i = 0; i < block->n_rares; i++) {
		struct ct_stream_rec rec;

		if (block->rares[i].kind != CT_KIND_STREAM)
			continue;
		ct_rare_get(block, &block->rares[i], &rec, sizeof(rec));
		fed += rec.stream == 7 && rec.flags == CT_STREAM_FED;
		others += rec.stream == 9 && !rec.flags;
	}
	if (block->type != CT_BLOCK_CHECKPOINT)
		return;
	checkpoints++;
	checkpoints_with_streams += fed == 1 && others == 1;
}

static void job_with_streams(void)
{
	gloo_barrier(&barrier);
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		ct_recorder_rare(CT_KIND_STREAM, &streams[i]);
	job_of_many_segments();
}

/* They are recorded once: without them, older segments could not be removed. */
static void every_later_checkpoint_has_the_latest_state_of_each_stream(void **state)
{
	const char *const env[] = { "COMMTRACE_FLUSH=100ms", NULL };
	uint64_t losses[CT_LOSS_MAX];

	(void)state;
	assert_int_equal(recorded_run(job_with_streams, env), 0);
	assert_int_equal(recorded_walk(0, look_for_streams, losses), 1);
	assert_true(checkpoints >= 3);
	assert_true(checkpoints_with_streams >= checkpoints - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_ended_while_a_segment_began_has_ended),
		cmocka_unit_test(a_block_whose_segment_is_removed_comes_in_the_next_one),
		cmocka_unit_test(segments_begin_however_many_operations_are_open),
		cmocka_unit_test(a_checkpoint_reports_what_the_blocks_before_it_hold),
		cmocka_unit_test(every_later_checkpoint_has_the_latest_state_of_each_stream),
	};
	int failed = cmocka_run_group_tests_name("output", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
