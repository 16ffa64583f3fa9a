/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a segment stands in the order in which it became true: a checkpoint never knows more than the block
 * behind it. The write thread is stopped between reading a block's state and writing the block. */
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
	/* what happened meanwhile would stand in its checkpoint, and before the block that knows nothing of it */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_ended_while_a_segment_began_has_ended),
		cmocka_unit_test(a_block_whose_segment_is_removed_comes_in_the_next_one),
	};
	int failed = cmocka_run_group_tests_name("output", tests, NULL, NULL);

	recorded_remove();
	return failed;
}
