/* SPDX-License-Identifier: Apache-2.0 */
/* Skimming and hopping: reading a segment without its operations. */
#include "tests/unit/fixture.h"

#include <stdlib.h>

#include "trace/segment_read.h"

/* A checkpoint, four blocks of ten ops of which the second has a note and each has a wait, and an
 * END block. */
static char *make_process(size_t *bytes)
{
	struct ct_process p = fx_process(0, NULL);
	struct ct_host_rec wait = { .tid = 7, .call = 1, .return_ns = 9 };
	struct fx_writer w;

	fx_open(&w, &p, "");
	fx_next_segment(&w);
	fx_begin(&w, CT_BLOCK_CHECKPOINT);
	fx_commit(&w);
	for (uint32_t i = 0; i < 4; i++) {
		const struct ct_extent extent = {
			.lap = 1, .first = 10 * i, .n_slots = 10, .n_ops = 10
		};

		fx_begin(&w, CT_BLOCK_DATA);
		assert_int_equal(ct_block_add_extent(&w.block, &extent), CT_OK);
		for (uint32_t k = 0; k < 10; k++) {
			const struct ct_op op = fx_op(10 * i + k);

			assert_int_equal(ct_block_add_op(&w.block, &op), CT_OK);
		}
		wait.enter_ns = i + 1;
		assert_int_equal(ct_block_add_rare(&w.block, CT_KIND_HOST_END, &wait, sizeof(wait)),
				 CT_OK);
		if (i == 1)
			assert_int_equal(ct_block_add_rare(&w.block, CT_KIND_NOTE, "12345678x", 9),
					 CT_OK);
		fx_commit(&w);
	}
	fx_end(&w, CT_EXIT_NORMAL, 0);
	fx_close(&w);
	return fx_read(fx_only("", ".seg") + 1, bytes);
}

/* What the block should be like for one who skims. */
static void assert_skimmed(const struct ct_block *is, const struct ct_block *whole)
{
	uint64_t begin = 0, end = 0;

	for (uint32_t i = 0; i < whole->n_ops; i++) {
		begin = !begin || whole->ops[i].enter_ns < begin ? whole->ops[i].enter_ns : begin;
		end = whole->ops[i].return_ns > end ? whole->ops[i].return_ns : end;
	}
	assert_int_equal(is->number, whole->number);
	assert_int_equal(is->type, whole->type);
	assert_int_equal(is->n_ops, 0);
	assert_int_equal(is->is_again, 0);
	assert_int_equal(is->skimmed_ops, whole->n_ops);
	assert_int_equal(is->begin_ns, begin);
	assert_int_equal(is->end_ns, end);
}

static void skimming_gets_what_is_beside_operations(void **state)
{
	struct ct_segment_reader *r, *skim;
	struct ct_block whole = { 0 }, block = { 0 };
	size_t bytes;
	char *data = make_process(&bytes);

	(void)state;
	assert_int_equal(ct_segment_open_memory(data, bytes, &r, NULL), CT_OK);
	assert_int_equal(ct_segment_open_memory(data, bytes, &skim, NULL), CT_OK);
	ct_segment_skim(skim, CT_SKIM_ALL);
	for (uint32_t i = 0; i < 6; i++) {
		/* the second data block has a note, as only a decoded block shows */
		const int is_decoded = i == 0 || i == 2 || i == 5;

		assert_int_equal(ct_segment_next_block(r, &whole, NULL), 1);
		assert_int_equal(ct_segment_next_block(skim, &block, NULL), 1);
		assert_skimmed(&block, &whole);
		assert_int_equal(block.n_rares, is_decoded ? whole.n_rares : 0);
		assert_int_equal(block.n_extents, is_decoded ? whole.n_extents : 0);
	}
	assert_int_equal(ct_segment_next_block(r, &whole, NULL), 0);
	/* and the waits of the last one that was not decoded */
	assert_int_equal(ct_segment_next_block(skim, &block, NULL), 1);
	assert_int_equal(block.number, 4);
	assert_int_equal(block.is_again, 1);
	assert_int_equal(block.skimmed_ops + block.n_ops, 0);
	assert_int_equal(block.end_ns, 0);
	assert_int_equal(block.n_rares, 1);
	assert_int_equal(block.n_extents, 1);
	assert_int_equal(ct_segment_next_block(skim, &block, NULL), 0);
	ct_segment_close_read(r);
	ct_segment_close_read(skim);
	ct_block_fini(&whole);
	ct_block_fini(&block);
	free(data);
}

/* The same blocks as by skimming; what nothing is returned of may be damaged. */
static void hopping_reads_only_what_is_returned(void **state)
{
	struct ct_segment_reader *skim, *hop;
	struct ct_block a = { 0 }, b = { 0 };
	size_t bytes;
	char *data = make_process(&bytes);
	int more;

	(void)state;
	assert_int_equal(ct_segment_open_memory(data, bytes, &skim, NULL), CT_OK);
	ct_segment_skim(skim, CT_SKIM_ALL);
	assert_int_equal(ct_segment_open_memory(data, bytes, &hop, NULL), CT_OK);
	ct_segment_skim(hop, CT_SKIM_ALL);
	ct_segment_hop(hop);
	do {
		more = ct_segment_next_block(skim, &a, NULL);
		assert_int_equal(ct_segment_next_block(hop, &b, NULL), more);
		if (more == 1 && a.number == 1 && !a.is_again)
			/* the frame of the first data block, which is behind both by now: another
			 * reader stumbles over it */
			data[ct_segment_position(skim) - 1] ^= 0x55;
		assert_int_equal(b.number, a.number);
		assert_int_equal(b.skimmed_ops, a.skimmed_ops);
		assert_int_equal(b.begin_ns, a.begin_ns);
		assert_int_equal(b.end_ns, a.end_ns);
		assert_int_equal(b.n_rares, a.n_rares);
		assert_int_equal(b.is_again, a.is_again);
	} while (more == 1);
	ct_segment_close_read(hop);
	assert_int_equal(ct_segment_open_memory(data, bytes, &hop, NULL), CT_OK);
	ct_segment_skim(hop, CT_SKIM_ALL);
	ct_segment_hop(hop);
	while (ct_segment_next_block(hop, &b, NULL) == 1)
		;
	assert_int_equal(ct_segment_damage(hop)->damaged_blocks, 0);
	ct_segment_close_read(hop);
	ct_segment_close_read(skim);
	ct_block_fini(&a);
	ct_block_fini(&b);
	free(data);
}

/* Bytes that are read of a file with large blocks. */
static uint64_t bytes_read(const char *path, int hops)
{
	struct ct_segment_reader *r;
	struct ct_block block = { 0 };
	uint64_t bytes;

	assert_int_equal(ct_segment_open_read(path, &r, NULL), CT_OK);
	ct_segment_skim(r, CT_SKIM_ALL);
	if (hops)
		ct_segment_hop(r);
	while (ct_segment_next_block(r, &block, NULL) == 1)
		;
	bytes = ct_segment_read_bytes(r);
	ct_segment_close_read(r);
	ct_block_fini(&block);
	return bytes;
}

static void hopping_over_large_blocks_reads_little(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	uint64_t noise = 1, all, few;
	struct fx_writer w;
	const char *path;

	(void)state;
	fx_open(&w, &p, "");
	fx_next_segment(&w);
	fx_begin(&w, CT_BLOCK_CHECKPOINT);
	fx_commit(&w);
	for (uint32_t i = 0; i < 20; i++) {
		const struct ct_extent extent = { .lap = 1 + i, .n_slots = 10, .n_ops = 10 };

		fx_begin(&w, CT_BLOCK_DATA);
		assert_int_equal(ct_block_add_extent(&w.block, &extent), CT_OK);
		for (uint32_t k = 0; k < 4096; k++) {
			struct ct_op op = fx_op(k);

			noise = noise * 6364136223846793005u + 1442695040888963407u;
			op.return_ns = op.enter_ns + (noise >> 24);
			assert_int_equal(ct_block_add_op(&w.block, &op), CT_OK);
		}
		fx_commit(&w);
	}
	fx_end(&w, CT_EXIT_NORMAL, 0);
	fx_close(&w);
	path = fx_path(fx_only("", ".seg") + 1);
	all = bytes_read(path, 0);
	few = bytes_read(path, 1);
	/* 64 KiB are read as it is opened */
	assert_in_range(few, 65536, all / 2);
}

/* The block before which it begins was not the last that was left out: nothing comes again at the
 * end. */
static void skimming_up_to_a_block_gets_all_from_there(void **state)
{
	struct ct_segment_reader *r, *skim;
	struct ct_block whole = { 0 }, block = { 0 };
	size_t bytes;
	char *data = make_process(&bytes);

	(void)state;
	assert_int_equal(ct_segment_open_memory(data, bytes, &r, NULL), CT_OK);
	assert_int_equal(ct_segment_open_memory(data, bytes, &skim, NULL), CT_OK);
	ct_segment_skim(skim, 3);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(ct_segment_next_block(r, &whole, NULL), 1);
		assert_int_equal(ct_segment_next_block(skim, &block, NULL), 1);
		assert_int_equal(block.number, whole.number);
		assert_int_equal(block.n_ops, i < 3 ? 0 : whole.n_ops);
		assert_int_equal(block.skimmed_ops, i < 3 ? whole.n_ops : 0);
		assert_int_equal(block.n_rares, i == 1 ? 0 : whole.n_rares);
	}
	assert_int_equal(ct_segment_next_block(skim, &block, NULL), 0);
	ct_segment_close_read(r);
	ct_segment_close_read(skim);
	ct_block_fini(&whole);
	ct_block_fini(&block);
	free(data);
}

static uint64_t sum_of_damage(const char *data, size_t bytes, int skims)
{
	struct ct_segment_reader *r;
	struct ct_block block = { 0 };
	uint64_t sum;

	assert_int_equal(ct_segment_open_memory(data, bytes, &r, NULL), CT_OK);
	if (skims)
		ct_segment_skim(r, CT_SKIM_ALL);
	while (ct_segment_next_block(r, &block, NULL) == 1)
		;
	sum = ct_segment_damage(r)->skipped_bytes + ct_segment_damage(r)->torn_bytes +
	      ct_segment_damage(r)->first_at;
	ct_segment_close_read(r);
	ct_block_fini(&block);
	return sum;
}

static void skimming_finds_the_same_damage(void **state)
{
	size_t bytes, any = 0;
	char *data = make_process(&bytes);

	(void)state;
	for (size_t at = sizeof(struct ct_segment_header); at < bytes; at++) {
		data[at] ^= 0x55;
		assert_int_equal(sum_of_damage(data, bytes, 1), sum_of_damage(data, bytes, 0));
		any += sum_of_damage(data, bytes, 1) != 0;
		data[at] ^= 0x55;
	}
	assert_int_equal(any, bytes - sizeof(struct ct_segment_header));
	free(data);
}

#define SKIM_TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SKIM_TEST(skimming_gets_what_is_beside_operations),
		SKIM_TEST(skimming_up_to_a_block_gets_all_from_there),
		SKIM_TEST(hopping_reads_only_what_is_returned),
		SKIM_TEST(hopping_over_large_blocks_reads_little),
		SKIM_TEST(skimming_finds_the_same_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
