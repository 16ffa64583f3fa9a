/* SPDX-License-Identifier: Apache-2.0 */
/* Rings from outside: live, dead, archived, damaged. */
#include "tests/unit/fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/ring_archive.h"
#include "trace/ring_read.h"
#include "trace/ring_snapshot.h"

/* The ring file of a dead process with ops [0, n), the last one still inside its call. */
static void make_ring(uint32_t n)
{
	struct ct_process p = fx_process(0, NULL);
	struct fx_ring r;

	fx_ring_open(&r, &p, "");
	for (uint32_t i = 0; i < n; i++)
		fx_ring_op(&r, i, i + 1 < n);
	fx_ring_leave(&r);
}

static const char *ring_path(void)
{
	return fx_path(fx_only("", ".ring") + 1);
}

/* All ops that are left over; must be [first, first + the count that is returned). */
static uint32_t count_ops(struct ct_ring_snapshot *left, uint64_t first, uint32_t *unreturned)
{
	struct ct_block block = { 0 };
	uint32_t n = 0;
	int st;

	*unreturned = 0;
	while ((st = ct_ring_snapshot_next(left, &block)) == 1) {
		for (uint32_t i = 0; i < block.n_ops; i++, n++) {
			assert_int_equal(block.ops[i].seq, first + n);
			if (block.ops[i].flags & CT_OP_UNRETURNED)
				(*unreturned)++;
			else
				fx_assert_op(&block.ops[i], first + n);
		}
	}
	assert_int_equal(st, 0);
	ct_block_fini(&block);
	return n;
}

static struct ct_ring_snapshot *take(const char *path)
{
	struct ct_process p = fx_process(0, NULL);
	struct ct_ring_snapshot *left;
	struct ct_err err = { 0 };
	int st = ct_ring_snapshot_take(path, &p, &left, &err);

	if (st != CT_OK)
		fail_msg("%s", err.text);
	return left;
}

static void a_dead_ring_gives_all_it_has_once(void **state)
{
	struct ct_ring_view view;
	struct ct_ring_snapshot *left;
	uint32_t unreturned;

	(void)state;
	make_ring(500); /* several chunks */
	assert_int_equal(ct_ring_view_open(ring_path(), &view, NULL), CT_OK);
	assert_false(view.mapped);
	ct_ring_view_close(&view);
	left = take(ring_path());
	assert_int_equal(count_ops(left, 0, &unreturned), 500);
	assert_int_equal(unreturned, 1);
	assert_int_equal(count_ops(left, 0, &unreturned), 0);
	ct_ring_snapshot_free(left);
}

static void a_live_ring_is_read_in_place_and_goes_on(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	struct ct_process q;
	struct ct_ring_view view;
	struct ct_ring_snapshot *left;
	struct fx_ring r;
	uint32_t unreturned;

	(void)state;
	fx_become(&p, fx_child());
	fx_ring_open(&r, &p, "");
	fx_ring_op(&r, 0, 1);
	assert_int_equal(ct_ring_view_open(r.ring.path, &view, NULL), CT_OK);
	assert_true(view.mapped);
	ct_ring_view_close(&view);
	fx_ring_op(&r, 1, 1);
	assert_int_equal(ct_ring_snapshot_take(r.ring.path, &p, &left, NULL), CT_OK);
	fx_ring_op(&r, 2, 1); /* after the picture was taken */
	assert_int_equal(count_ops(left, 0, &unreturned), 2);
	ct_ring_snapshot_free(left);

	q = p;
	q.start_ns++;
	assert_int_equal(ct_ring_snapshot_take(r.ring.path, &q, &left, NULL), CT_NOTFOUND);
	assert_null(left);
	fx_ring_leave(&r);
}

static void slots_that_blocks_hold_are_struck_out(void **state)
{
	struct ct_ring_snapshot *left;
	uint32_t unreturned;

	(void)state;
	make_ring(100); /* laps 1 (63 slots) and 2 (37) */
	left = take(ring_path());
	ct_ring_snapshot_strike(left, &(struct ct_extent){ .lap = 1, .first = 0, .n_slots = 20 });
	ct_ring_snapshot_strike(left, &(struct ct_extent){ .lap = 1, .first = 20, .n_slots = 20 });
	ct_ring_snapshot_strike(left, &(struct ct_extent){ .lap = 7, .first = 0, .n_slots = 63 });
	assert_int_equal(count_ops(left, 40, &unreturned), 60);
	ct_ring_snapshot_free(left);

	left = take(ring_path());
	ct_ring_snapshot_strike(left, &(struct ct_extent){ .lap = 1, .first = 0, .n_slots = 63 });
	ct_ring_snapshot_strike(left,
				&(struct ct_extent){ .lap = 2, .first = 0, .n_slots = UINT32_MAX });
	assert_int_equal(count_ops(left, 0, &unreturned), 0);
	ct_ring_snapshot_free(left);
}

static void drained_slots_do_not_come_again(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	struct ct_ring_snapshot *left;
	struct fx_ring r;
	uint32_t unreturned;

	(void)state;
	fx_ring_open(&r, &p, "");
	for (uint32_t i = 0; i < 70; i++)
		fx_ring_op(&r, i, 1);
	/* what the write thread does when it is through with the first chunk and half of the second
	 */
	atomic_store(&ct_lane_chunk(&r.lane)->drained, 4);
	ct_ring_free_chunk(&r.ring, ct_ring_chunk(&r.ring, 1 % r.ring.header->n_chunks));
	fx_ring_leave(&r);
	left = take(ring_path());
	assert_int_equal(count_ops(left, 67, &unreturned), 3);
	ct_ring_snapshot_free(left);
}

static int count_kind(const struct ct_block *block, enum ct_kind kind)
{
	int n = 0;

	for (uint32_t i = 0; i < block->n_rares; i++)
		n += block->rares[i].kind == kind;
	return n;
}

static const struct ct_rare *find_kind(const struct ct_block *block, enum ct_kind kind)
{
	for (uint32_t i = 0; i < block->n_rares; i++)
		if (block->rares[i].kind == kind)
			return &block->rares[i];
	fail();
	return NULL;
}

static void the_state_reports_comms_strings_launches_and_losses(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	struct ct_ring_view view;
	struct ct_block block = { 0 };
	struct ct_comm_rec comm = { .id = 9,
				    .nranks = 4,
				    .rank = 2,
				    .key = 0x1234,
				    .parent = 5,
				    .created_ns = 77,
				    .members_key = 8,
				    .backend = CT_BACKEND_GLOO,
				    .key_source = CT_KEY_RENDEZVOUS };
	struct ct_comm_rec got;
	struct ct_comm_status_rec status;
	struct ct_ring_comm *c;
	struct fx_ring r;
	const uint64_t words[8] = { 0, 11, 12, 13, 14, 15, 16, 17 };
	size_t len;

	(void)state;
	fx_ring_open(&r, &p, "");
	comm.name = ct_ring_string(&r.ring, "world");
	assert_int_not_equal(ct_ring_string(&r.ring, "gloo::allreduce"), 0);
	c = ct_ring_comm_add(&r.ring, &comm);
	atomic_store(&c->next_seq, 42);
	atomic_store(&c->last_enter, 4200);
	assert_non_null(ct_ring_open_add(&r.ring, 3, words));
	ct_ring_open_remove(ct_ring_open_add(&r.ring, 4, words));
	ct_ring_lose(&r.ring, CT_LOSS_POOL_EMPTY, 5);
	fx_ring_leave(&r);

	assert_int_equal(ct_ring_view_open(ring_path(), &view, NULL), CT_OK);
	assert_string_equal(ct_ring_view_string(&view, comm.name, &len), "world");
	assert_int_equal(len, 5);
	assert_null(ct_ring_view_string(&view, 0, &len));
	assert_null(ct_ring_view_string(&view, 100, &len));
	assert_null(ct_ring_view_string(&view, UINT32_MAX, &len));
	ct_block_reset(&block, CT_BLOCK_DATA);
	assert_int_equal(ct_ring_view_state(&view, &block), CT_OK);
	assert_int_equal(count_kind(&block, CT_KIND_STRING), 2);
	assert_int_equal(count_kind(&block, CT_KIND_COMM), 1);
	assert_int_equal(count_kind(&block, CT_KIND_OPEN_LAUNCH), 1);
	assert_int_equal(count_kind(&block, CT_KIND_LOSS), 1);
	assert_int_equal(count_kind(&block, CT_KIND_STATUS), 1);
	memcpy(&got, block.bytes + find_kind(&block, CT_KIND_COMM)->at, sizeof(got));
	assert_memory_equal(&got, &comm, sizeof(comm));
	memcpy(&status, block.bytes + find_kind(&block, CT_KIND_COMM_STATUS)->at, sizeof(status));
	assert_int_equal(status.next_seq, 42);
	assert_int_equal(status.last_enter_ns, 4200);
	ct_block_fini(&block);
	ct_ring_view_close(&view);
}

static void strings_behind_one_that_was_never_finished_are_found_through_their_ops(void **state)
{
	struct ct_process p = fx_process(0, NULL);
	struct ct_ring_snapshot *left;
	struct ct_block block = { 0 };
	struct fx_ring r;
	uint32_t id;

	(void)state;
	fx_ring_open(&r, &p, "");
	/* a writer died between reserving and writing */
	atomic_fetch_add(&r.ring.header->strings_used, 16);
	id = ct_ring_string(&r.ring, "gloo::allreduce");
	assert_int_equal(id, 5);
	{
		struct ct_slot *slot = ct_lane_next(&r.ring, &r.lane);
		struct ct_op op = fx_op(0);
		uint64_t w[8];

		op.site = id;
		ct_op_pack(&op, w);
		w[CT_OP_W_END] = 0;
		ct_slot_publish(slot, CT_TAG(r.lane.lap, CT_KIND_OP, id), w);
	}
	fx_ring_leave(&r);
	left = take(ring_path());
	assert_int_equal(ct_ring_snapshot_next(left, &block), 1);
	assert_int_equal(count_kind(&block, CT_KIND_STRING), 1);
	ct_ring_snapshot_free(left);
	ct_block_fini(&block);
}

static void a_ring_cut_anywhere_is_refused(void **state)
{
	struct ct_ring_view view;
	struct ct_err err;
	size_t bytes;
	char *data;

	(void)state;
	make_ring(3);
	data = fx_read(fx_only("", ".ring") + 1, &bytes);
	for (size_t cut = 0; cut < bytes; cut += cut < 5000 ? 1 : 4096 - 7)
		assert_true(ct_ring_view_memory(data, cut, &view, &err) < 0);
	assert_int_equal(ct_ring_view_memory(data, bytes, &view, &err), CT_OK);
	ct_ring_view_close(&view);
	free(data);
}

static void what_lies_behind_a_ring_is_not_read(void **state)
{
	struct ct_ring_view view;
	struct stat st;

	(void)state;
	make_ring(3);
	assert_int_equal(stat(ring_path(), &st), 0);
	assert_int_equal(truncate(ring_path(), (off_t)1 << 42), 0);
	assert_int_equal(ct_ring_view_open(ring_path(), &view, NULL), CT_OK);
	assert_int_equal(view.bytes, st.st_size);
	ct_ring_view_close(&view);
}

static void no_flipped_byte_of_a_ring_does_harm(void **state)
{
	size_t bytes;
	char *data;
	uint64_t seen = 0;

	(void)state;
	make_ring(20);
	data = fx_read(fx_only("", ".ring") + 1, &bytes);
	/* every byte of the header's words and of what is used behind them, a sample of the rest */
	for (size_t at = 0; at < bytes; at += at < 700 || (at > 4096 && data[at]) ? 1 : 509) {
		struct ct_block block = { 0 };
		struct ct_ring_snapshot *left;

		for (int flip = 1; flip < 256; flip += 127) {
			data[at] ^= (char)flip;
			if (ct_ring_snapshot_memory(data, bytes, &left, NULL) == CT_OK) {
				while (ct_ring_snapshot_next(left, &block) == 1)
					seen += ct_block_records(&block);
				ct_ring_snapshot_free(left);
			}
			data[at] ^= (char)flip;
		}
		ct_block_fini(&block);
	}
	assert_true(seen > 0);
	free(data);
}

static void a_newer_ring_says_so(void **state)
{
	struct ct_ring_view view;
	struct ct_err err;
	size_t bytes;
	char *data;

	(void)state;
	make_ring(3);
	data = fx_read(fx_only("", ".ring") + 1, &bytes);
	((struct ct_ring_header *)(void *)data)->version = CT_FORMAT_VERSION + 1;
	assert_int_equal(ct_ring_view_memory(data, bytes, &view, &err), CT_VERSION);
	assert_non_null(strstr(
		err.text, "made by a newer version of commtrace (format 2; this one reads 1)"));
	free(data);
}

static void what_is_no_ring_is_refused_without_waiting(void **state)
{
	static const char zeros[300000];
	struct ct_ring_header h;
	struct ct_ring_view view;
	struct ct_err err;
	int lives;

	(void)state;
	assert_int_equal(ct_ring_view_open(fx_path("none.ring"), &view, &err), CT_NOTFOUND);
	fx_mkdir("dir.ring");
	assert_int_equal(ct_ring_view_open(fx_path("dir.ring"), &view, &err), CT_FORMAT);
	assert_int_equal(mkfifo(fx_path("fifo.ring"), 0600), 0);
	assert_int_equal(ct_ring_view_open(fx_path("fifo.ring"), &view, &err), CT_FORMAT);
	fx_write("empty.ring", "", 0);
	assert_int_equal(ct_ring_view_open(fx_path("empty.ring"), &view, &err), CT_FORMAT);
	fx_write("zero.ring", zeros, sizeof(zeros));
	assert_int_equal(ct_ring_view_open(fx_path("zero.ring"), &view, &err), CT_FORMAT);
	assert_int_equal(ct_ring_header_read(fx_path("zero.ring"), &h, &lives, &err), CT_FORMAT);
	fx_write("short.ring.zst", "\x28\xb5\x2f\xfd", 4);
	assert_int_equal(ct_ring_view_open(fx_path("short.ring.zst"), &view, &err), CT_FORMAT);
	assert_non_null(strstr(err.text, "short.ring.zst: "));
}

/* Archive the only ring as "a.ring.zst". */
static void make_archive(void)
{
	int from = open(ring_path(), O_RDONLY);
	int to = open(fx_path("a.ring.zst"), O_RDWR | O_CREAT | O_EXCL, 0600);
	struct stat st;
	uint64_t written;

	assert_true(from >= 0 && to >= 0 && fstat(from, &st) == 0);
	assert_int_equal(ct_ring_archive_write(from, (uint64_t)st.st_size, to, &written, NULL),
			 CT_OK);
	assert_true(written < (uint64_t)st.st_size / 4);
	close(from);
	assert_int_equal(fstat(to, &st), 0);
	assert_int_equal(st.st_size, written);
	close(to);
}

static void an_archived_ring_reads_like_the_ring(void **state)
{
	struct ct_ring_snapshot *left;
	struct ct_ring_header h;
	uint32_t unreturned;
	int lives = 1;

	(void)state;
	make_ring(200);
	make_archive();
	assert_int_equal(ct_ring_header_read(fx_path("a.ring.zst"), &h, &lives, NULL), CT_OK);
	assert_int_equal(h.process.pid, fx_process(0, NULL).pid);
	assert_false(lives);
	left = take(fx_path("a.ring.zst"));
	assert_int_equal(count_ops(left, 0, &unreturned), 200);
	assert_int_equal(unreturned, 1);
	ct_ring_snapshot_free(left);
}

/* A bit without a meaning, such as which of two equal stretches is copied, may go unnoticed: the
 * ring is the same then. */
static void refuses_or_same(const char *name, const struct ct_ring_view *good)
{
	struct ct_ring_view view;
	struct ct_err err;

	if (ct_ring_view_open(fx_path(name), &view, &err) < 0)
		return;
	assert_int_equal(view.bytes, good->bytes);
	assert_memory_equal(view.ring.header, good->ring.header, good->bytes);
	ct_ring_view_close(&view);
}

static void a_damaged_archive_is_refused(void **state)
{
	struct ct_ring_view view, good;
	struct ct_err err;
	size_t bytes;
	char *data;

	(void)state;
	make_ring(200);
	make_archive();
	data = fx_read("a.ring.zst", &bytes);
	assert_int_equal(ct_ring_view_open(fx_path("a.ring.zst"), &good, &err), CT_OK);
	for (size_t cut = 0; cut < bytes; cut += bytes / 60 + 1) {
		fx_write("cut.ring.zst", data, cut);
		assert_true(ct_ring_view_open(fx_path("cut.ring.zst"), &view, &err) < 0);
	}
	for (size_t at = 5; at < bytes; at += bytes / 60 + 1) {
		data[at] ^= 0x10;
		fx_write("bad.ring.zst", data, bytes);
		refuses_or_same("bad.ring.zst", &good);
		data[at] ^= 0x10;
	}
	/* says that it unpacks to more than any ring: refused before a byte is allocated for it */
	fx_write("bomb.ring.zst",
		 "\x28\xb5\x2f\xfd\xe0\xff\xff\xff\xff\xff\xff\xff\x0f\x01\x00\x00", 16);
	assert_int_equal(ct_ring_view_open(fx_path("bomb.ring.zst"), &view, &err), CT_FORMAT);
	assert_non_null(strstr(err.text, "no ring is so large"));
	ct_ring_view_close(&good);
	free(data);
}

#define RING_TEST(f) cmocka_unit_test_setup_teardown(f, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RING_TEST(a_dead_ring_gives_all_it_has_once),
		RING_TEST(a_live_ring_is_read_in_place_and_goes_on),
		RING_TEST(slots_that_blocks_hold_are_struck_out),
		RING_TEST(drained_slots_do_not_come_again),
		RING_TEST(the_state_reports_comms_strings_launches_and_losses),
		RING_TEST(strings_behind_one_that_was_never_finished_are_found_through_their_ops),
		RING_TEST(a_ring_cut_anywhere_is_refused),
		RING_TEST(what_lies_behind_a_ring_is_not_read),
		RING_TEST(no_flipped_byte_of_a_ring_does_harm),
		RING_TEST(a_newer_ring_says_so),
		RING_TEST(what_is_no_ring_is_refused_without_waiting),
		RING_TEST(an_archived_ring_reads_like_the_ring),
		RING_TEST(a_damaged_archive_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
