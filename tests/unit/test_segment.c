/* SPDX-License-Identifier: Apache-2.0 */
/* Segments: what was written whole is read, whatever lies before, between and behind. */
#include "tests/unit/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/segment_read.h"

/* A segment of `blocks` blocks of 10 ops in memory; *ends gets where each block ends, ends[0] the
 * header. */
static char *make_segment(uint32_t blocks, size_t *bytes, size_t *ends)
{
	struct ct_process p = fx_process(0, NULL);
	struct fx_writer w;
	char *data;

	fx_open(&w, &p, "");
	fx_next_segment(&w);
	ends[0] = w.segment.bytes;
	for (uint32_t i = 0; i < blocks; i++) {
		fx_ops(&w, 1, 10 * i, 10 * i, 10);
		ends[i + 1] = w.segment.bytes;
	}
	fx_close(&w);
	data = fx_read(fx_only("", ".seg") + 1, bytes);
	assert_int_equal(*bytes, ends[blocks]);
	return data;
}

/* Read all blocks; each that comes must be one that was written, whole and in order. Returns how
 * many. */
static uint32_t read_all(const void *data, size_t bytes, struct ct_damage *damage)
{
	struct ct_segment_reader *r;
	struct ct_block block = { 0 };
	int64_t last = -1;
	uint32_t n = 0;
	int st;

	assert_int_equal(ct_segment_open_memory(data, bytes, &r, NULL), CT_OK);
	while ((st = ct_segment_next_block(r, &block, NULL)) == 1) {
		assert_true((int64_t)block.number > last);
		last = block.number;
		assert_int_equal(block.n_ops, 10);
		for (uint32_t i = 0; i < 10; i++)
			fx_assert_op(&block.ops[i], 10 * block.number + i);
		n++;
	}
	assert_int_equal(st, 0);
	*damage = *ct_segment_damage(r);
	ct_segment_close_read(r);
	ct_block_fini(&block);
	return n;
}

static void blocks_come_back_as_they_were_written(void **state)
{
	struct ct_damage damage;
	size_t ends[6];
	size_t bytes;
	char *data = make_segment(5, &bytes, ends);

	(void)state;
	assert_int_equal(read_all(data, bytes, &damage), 5);
	assert_int_equal(damage.skipped_bytes + damage.torn_bytes + damage.damaged_blocks, 0);
	assert_string_equal(damage.first_why, "");
	free(data);
}

static void the_header_names_process_and_number(void **state)
{
	struct ct_process p = fx_process(3, NULL);
	struct ct_segment_reader *r;
	struct fx_writer w;

	(void)state;
	fx_open(&w, &p, "");
	fx_next_segment(&w);
	fx_next_segment(&w);
	fx_close(&w);
	assert_int_equal(ct_segment_open_read(fx_path(fx_only("", ".1.seg") + 1), &r, NULL), CT_OK);
	assert_int_equal(ct_segment_header(r)->number, 1);
	assert_memory_equal(&ct_segment_header(r)->process, &p, sizeof(p));
	ct_segment_close_read(r);
}

static void names_are_harmless_whatever_the_host_is_called(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	char name[CT_SEGMENT_NAME_MAX];

	(void)state;
	strcpy(p.host, "../..\n x");
	strcpy(p.boot_id, "0123-456");
	p.pid = 12;
	p.start_ns = 0x1234;
	ct_segment_name(name, &p, 7);
	assert_string_equal(name, "_._..__x.0123.12.1234.7.seg");
	memset(p.host, 'h', sizeof(p.host)); /* no NUL */
	memset(p.boot_id, 0, sizeof(p.boot_id));
	ct_segment_name(name, &p, UINT32_MAX);
	assert_int_equal(strlen(name), 63 + strlen(".0000.12.1234.4294967295.seg"));
}

static void torn_tail_stops_at_last_complete_block(void **state)
{
	size_t ends[4];
	size_t bytes;
	char *data = make_segment(3, &bytes, ends);

	(void)state;
	for (size_t cut = ends[0]; cut <= bytes; cut++) {
		/* memory of its own, so that a sanitizer sees a step too far */
		char *head = malloc(cut);
		struct ct_damage damage;
		uint32_t whole = 0;

		memcpy(head, data, cut);
		while (whole < 3 && ends[whole + 1] <= cut)
			whole++;
		assert_int_equal(read_all(head, cut, &damage), whole);
		assert_int_equal(damage.torn_bytes, cut - ends[whole]);
		assert_int_equal(damage.skipped_bytes, 0);
		free(head);
	}
	free(data);
}

static void a_header_cut_anywhere_is_refused(void **state)
{
	struct ct_segment_reader *r;
	struct ct_err err;
	size_t ends[2];
	size_t bytes;
	char *data = make_segment(1, &bytes, ends);

	(void)state;
	for (size_t cut = 0; cut < ends[0]; cut++)
		assert_int_equal(ct_segment_open_memory(data, cut, &r, &err), CT_FORMAT);
	free(data);
}

static void any_flipped_byte_costs_at_most_its_block(void **state)
{
	size_t ends[4];
	size_t bytes;
	char *data = make_segment(3, &bytes, ends);

	(void)state;
	for (size_t at = 0; at < bytes; at++) {
		struct ct_segment_reader *r;
		struct ct_damage damage;
		struct ct_err err;

		data[at] ^= 0x55;
		if (at < ends[0]) {
			assert_true(ct_segment_open_memory(data, bytes, &r, &err) < 0);
		} else {
			assert_int_equal(read_all(data, bytes, &damage), 2);
			assert_int_equal(damage.skipped_bytes + damage.torn_bytes,
					 at < ends[1]	? ends[1] - ends[0]
					 : at < ends[2] ? ends[2] - ends[1]
							: ends[3] - ends[2]);
			assert_true(damage.first_why[0]);
		}
		data[at] ^= 0x55;
	}
	free(data);
}

static void garbage_between_blocks_is_skipped_and_counted(void **state)
{
	struct ct_damage damage;
	size_t ends[3];
	size_t bytes;
	char *data = make_segment(2, &bytes, ends);
	char *wide = calloc(1, bytes + 300000);

	(void)state;
	/* more than a reader's window, with false starts in it */
	memcpy(wide, data, ends[1]);
	for (size_t i = 0; i < 300000 - 8; i += 1000)
		memcpy(wide + ends[1] + i, "CTBKCTB", 7);
	memcpy(wide + ends[1] + 300000, data + ends[1], bytes - ends[1]);
	assert_int_equal(read_all(wide, bytes + 300000, &damage), 2);
	assert_int_equal(damage.skipped_bytes, 300000);
	assert_int_equal(damage.first_at, ends[1]);
	fx_write("wide.seg", wide, bytes + 300000);
	free(wide);
	free(data);
	{
		struct ct_segment_reader *r;
		struct ct_block block = { 0 };
		int n = 0;

		assert_int_equal(ct_segment_open_read(fx_path("wide.seg"), &r, NULL), CT_OK);
		while (ct_segment_next_block(r, &block, NULL) == 1)
			n++;
		assert_int_equal(n, 2);
		assert_int_equal(ct_segment_damage(r)->skipped_bytes, 300000);
		ct_segment_close_read(r);
		ct_block_fini(&block);
	}
}

static void half_a_block_before_whole_ones_hides_none_of_them(void **state)
{
	struct ct_damage damage;
	size_t ends[4];
	size_t bytes;
	char *data = make_segment(3, &bytes, ends);
	size_t half = ends[1] + (ends[2] - ends[1]) / 2;

	(void)state;
	/* block 1 breaks off in the middle, block 2 follows at once: a write that failed and could
	 * not be cut off */
	memmove(data + half, data + ends[2], bytes - ends[2]);
	bytes -= ends[2] - half;
	assert_int_equal(read_all(data, bytes, &damage), 2);
	assert_int_equal(damage.damaged_blocks, 1);
	assert_int_equal(damage.skipped_bytes, half - ends[1]);
	assert_int_equal(damage.torn_bytes, 0);
	free(data);
}

static void bytes_behind_the_last_block_are_distinguished_from_a_torn_block(void **state)
{
	struct ct_damage damage;
	size_t ends[2];
	size_t bytes;
	char *data = make_segment(1, &bytes, ends);

	(void)state;
	data = realloc(data, bytes + 100);
	memset(data + bytes, 0, 100);
	assert_int_equal(read_all(data, bytes + 100, &damage), 1);
	assert_int_equal(damage.skipped_bytes, 100);
	assert_int_equal(damage.torn_bytes, 0);
	memcpy(data + bytes, "CTBK", 4); /* a header of which the rest never came */
	assert_int_equal(read_all(data, bytes + 100, &damage), 1);
	assert_int_equal(damage.skipped_bytes, 0);
	assert_int_equal(damage.torn_bytes, 100);
	memcpy(data + bytes, "CT", 2);
	assert_int_equal(read_all(data, bytes + 2, &damage), 1);
	assert_int_equal(damage.torn_bytes, 2);
	free(data);
}

/* Eight terabytes of zeros that are never read: after the first block, and after the last one. */
static void holes_are_passed_over(void **state)
{
	const off_t hole = (off_t)1 << 42;
	struct ct_segment_reader *r;
	struct ct_block block = { 0 };
	size_t ends[3];
	size_t bytes;
	char *data = make_segment(2, &bytes, ends);
	int fd = open(fx_path("holes"), O_WRONLY | O_CREAT, 0600);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, ends[1], 0), ends[1]);
	assert_int_equal(pwrite(fd, data + ends[1], bytes - ends[1], hole), bytes - ends[1]);
	assert_int_equal(ftruncate(fd, 2 * hole), 0);
	close(fd);
	assert_int_equal(ct_segment_open_read(fx_path("holes"), &r, NULL), CT_OK);
	for (uint32_t n = 0; n < 2; n++) {
		assert_int_equal(ct_segment_next_block(r, &block, NULL), 1);
		assert_int_equal(block.number, n);
	}
	assert_int_equal(ct_segment_next_block(r, &block, NULL), 0);
	assert_int_equal(ct_segment_damage(r)->skipped_bytes, 2 * hole - bytes);
	assert_int_equal(ct_segment_seek_last(r, NULL), 1);
	assert_int_equal(ct_segment_next_block(r, &block, NULL), 0); /* judged already */
	ct_segment_close_read(r);
	ct_block_fini(&block);
	free(data);
}

static void the_last_block_is_found_without_reading_the_rest(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	struct ct_segment_reader *r;
	struct ct_block block = { 0 };
	static uint8_t noise[20100];
	struct fx_writer w;

	(void)state;
	fx_open(&w, &p, "");
	fx_next_segment(&w);
	assert_int_equal(ct_segment_open_read(fx_path(fx_only("", ".seg") + 1), &r, NULL), CT_OK);
	assert_int_equal(ct_segment_seek_last(r, NULL), 0);
	for (uint32_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)((i * 2654435761u) >> 13 ^ i * i >> 7);
	for (uint32_t i = 0; i < 40; i++) {
		fx_begin(&w, CT_BLOCK_DATA);
		assert_int_equal(ct_block_add_rare(&w.block, CT_KIND_NOTE, noise + i, 20000),
				 CT_OK);
		fx_commit(&w);
	}
	assert_true(w.segment.bytes > 100000); /* more than the first look from the end */
	assert_int_equal(ct_segment_seek_last(r, NULL), 1);
	assert_int_equal(ct_segment_next_block(r, &block, NULL), 1);
	assert_int_equal(block.number, 39);
	/* a torn block behind it is passed over */
	assert_int_equal(write(w.segment.fd, "CTBK....", 8), 8);
	assert_int_equal(ct_segment_seek_last(r, NULL), 1);
	assert_int_equal(ct_segment_next_block(r, &block, NULL), 1);
	assert_int_equal(block.number, 39);
	fx_close(&w);
	ct_segment_close_read(r);
	ct_block_fini(&block);
}

static void of_another_format_it_says_so(void **state)
{
	struct ct_segment_reader *r;
	struct ct_err err;
	size_t ends[2];
	size_t bytes;
	char *data = make_segment(1, &bytes, ends);

	(void)state;
	((struct ct_segment_header *)(void *)data)->version = CT_FORMAT_VERSION + 1;
	assert_int_equal(ct_segment_open_memory(data, bytes, &r, &err), CT_VERSION);
	assert_non_null(strstr(
		err.text, "made by a newer version of commtrace (format 2; this one reads 1)"));
	((struct ct_segment_header *)(void *)data)->version = 0;
	assert_int_equal(ct_segment_open_memory(data, bytes, &r, &err), CT_VERSION);
	assert_non_null(
		strstr(err.text,
		       "made before the first release of commtrace (format 0; this one reads 1)"));
	free(data);
}

static void what_is_no_segment_is_refused_without_waiting(void **state)
{
	struct ct_segment_reader *r;
	struct ct_err err;

	(void)state;
	assert_int_equal(ct_segment_open_read(fx_path("none.seg"), &r, &err), CT_NOTFOUND);
	fx_mkdir("dir.seg");
	assert_int_equal(ct_segment_open_read(fx_path("dir.seg"), &r, &err), CT_FORMAT);
	assert_int_equal(mkfifo(fx_path("fifo.seg"), 0600), 0);
	assert_int_equal(ct_segment_open_read(fx_path("fifo.seg"), &r, &err), CT_FORMAT);
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_int_equal(symlink("loop.seg", fx_path("loop.seg")), 0);
	assert_int_equal(ct_segment_open_read(fx_path("loop.seg"), &r, &err), CT_IO);
	fx_write("empty.seg", "", 0);
	assert_int_equal(ct_segment_open_read(fx_path("empty.seg"), &r, &err), CT_FORMAT);
	assert_non_null(strstr(err.text, "empty file"));
	fx_write("foreign.seg", "#!/bin/sh\necho hello\n", 21);
	assert_int_equal(ct_segment_open_read(fx_path("foreign.seg"), &r, &err), CT_FORMAT);
	assert_non_null(strstr(err.text, "foreign.seg: offset 0: not a commtrace segment"));
}

static void a_block_that_does_not_fit_leaves_nothing_behind(void **state)
{
	const struct rlimit limit = { 5000, RLIM_INFINITY };
	struct rlimit before;
	struct ct_process p = fx_process(0, NULL);
	char big[4000] = { 0 };
	struct ct_err err;
	struct fx_writer w;
	struct stat st;

	(void)state;
	/* Were the limit met by the kernel, SIGXFSZ would end this test, as it would end a job. */
	getrlimit(RLIMIT_FSIZE, &before);
	fx_open(&w, &p, "");
	fx_next_segment(&w);
	fx_ops(&w, 1, 0, 0, 10);
	assert_int_equal(
		setrlimit(RLIMIT_FSIZE, &(struct rlimit){ limit.rlim_cur, before.rlim_max }), 0);
	assert_int_equal(ct_segment_append(&w.segment, big, sizeof(big), &err), CT_IO);
	assert_non_null(strstr(err.text, "File too large"));
	assert_non_null(strstr(err.text, "n0."));
	assert_int_equal(fstat(w.segment.fd, &st), 0);
	assert_int_equal(st.st_size, w.segment.bytes);
	fx_ops(&w, 1, 10, 10, 10); /* a small one still goes */
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	fx_close(&w);
	{
		struct ct_damage damage;
		size_t bytes;
		char *data = fx_read(fx_only("", ".seg") + 1, &bytes);

		assert_int_equal(read_all(data, bytes, &damage), 2);
		assert_int_equal(damage.skipped_bytes + damage.torn_bytes, 0);
		free(data);
	}
}

static void a_partial_write_is_cut_off_again(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	struct ct_err err;
	struct fx_writer w;
	int full;

	(void)state;
	fx_open(&w, &p, "");
	fx_next_segment(&w);
	fx_ops(&w, 1, 0, 0, 10);
	/* /dev/full takes nothing; the file at its path stays what it was */
	full = open("/dev/full", O_WRONLY);
	assert_true(full >= 0);
	{
		int real = w.segment.fd;
		uint64_t bytes = w.segment.bytes;

		w.segment.fd = full;
		assert_int_equal(ct_segment_append(&w.segment, "x", 1, &err), CT_IO);
		assert_non_null(strstr(err.text, "No space left"));
		assert_int_equal(w.segment.bytes, bytes);
		w.segment.fd = real;
	}
	close(full);
	fx_close(&w);
}

static void the_next_segment_needs_a_name_of_its_own(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	struct ct_err err;
	struct fx_writer w;
	char name[CT_SEGMENT_NAME_MAX];

	(void)state;
	fx_open(&w, &p, "");
	fx_next_segment(&w);
	ct_segment_name(name, &p, 1);
	assert_int_equal(symlink("/tmp/somewhere", fx_path(name)), 0);
	assert_int_equal(ct_segment_next(&w.segment, &err), CT_IO);
	/* the old one goes on, and once the way is free the next one comes under the same number */
	fx_ops(&w, 1, 0, 0, 10);
	assert_int_equal(unlink(fx_path(name)), 0);
	fx_next_segment(&w);
	assert_int_equal(w.segment.number, 1);
	assert_true(fx_exists(name));
	fx_close(&w);
}

static void segments_follow_a_directory_that_is_renamed(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	struct fx_writer w;

	(void)state;
	fx_mkdir("run");
	fx_open(&w, &p, "run");
	fx_next_segment(&w);
	assert_int_equal(rename(fx_path("run"), fx_path("moved")), 0);
	fx_next_segment(&w);
	fx_close(&w);
	fx_only("moved", ".0.seg");
	fx_only("moved", ".1.seg");
}

static void trimming_removes_the_oldest_and_never_the_open_one(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	char name[CT_SEGMENT_NAME_MAX];
	struct fx_writer w;
	uint64_t one;

	(void)state;
	fx_open(&w, &p, "");
	for (int i = 0; i < 4; i++) {
		fx_next_segment(&w);
		fx_ops(&w, 1, 0, 0, 100);
	}
	one = w.segment.bytes;
	assert_true(w.segment.total >= 4 * sizeof(struct ct_segment_header));
	assert_int_equal(ct_segment_trim(&w.segment, w.segment.total), 0);
	assert_int_equal(ct_segment_trim(&w.segment, w.segment.total - 1), 1);
	ct_segment_name(name, &p, 0);
	assert_false(fx_exists(name));
	assert_int_equal(w.segment.oldest, 1);
	assert_int_equal(ct_segment_trim(&w.segment, 0), 2);
	ct_segment_name(name, &p, 3);
	assert_true(fx_exists(name));
	assert_int_equal(w.segment.total, one);
	fx_next_segment(&w);
	assert_int_equal(w.segment.number, 4);
	fx_close(&w);
}

#define SEGMENT_TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SEGMENT_TEST(blocks_come_back_as_they_were_written),
		SEGMENT_TEST(the_header_names_process_and_number),
		SEGMENT_TEST(names_are_harmless_whatever_the_host_is_called),
		SEGMENT_TEST(torn_tail_stops_at_last_complete_block),
		SEGMENT_TEST(a_header_cut_anywhere_is_refused),
		SEGMENT_TEST(any_flipped_byte_costs_at_most_its_block),
		SEGMENT_TEST(garbage_between_blocks_is_skipped_and_counted),
		SEGMENT_TEST(half_a_block_before_whole_ones_hides_none_of_them),
		SEGMENT_TEST(bytes_behind_the_last_block_are_distinguished_from_a_torn_block),
		SEGMENT_TEST(holes_are_passed_over),
		SEGMENT_TEST(the_last_block_is_found_without_reading_the_rest),
		SEGMENT_TEST(of_another_format_it_says_so),
		SEGMENT_TEST(what_is_no_segment_is_refused_without_waiting),
		SEGMENT_TEST(a_block_that_does_not_fit_leaves_nothing_behind),
		SEGMENT_TEST(a_partial_write_is_cut_off_again),
		SEGMENT_TEST(the_next_segment_needs_a_name_of_its_own),
		SEGMENT_TEST(segments_follow_a_directory_that_is_renamed),
		SEGMENT_TEST(trimming_removes_the_oldest_and_never_the_open_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
