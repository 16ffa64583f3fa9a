/* SPDX-License-Identifier: Apache-2.0 */
/* The ring: what a thread published is there for everyone, once, whole, whatever happens to the
 * thread. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/drain.h"
#include "trace/ops.h"
#include "trace/ring.h"
#include "trace/ring_read.h"
#include "trace/ring_traffic.h"

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/ct-ring-XXXXXX");
	return mkdtemp(dir) == NULL;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir); /* fails if a ring was left behind */
}

static void open_ring(struct ct_ring *ring, size_t bytes)
{
	const char *dirs[] = { dir, NULL };
	struct ct_process process = { .pid = (uint32_t)getpid(), .pidns = 77, .start_ns = 5 };

	assert_int_equal(ct_ring_create(ring, &process, dirs, bytes, NULL), CT_OK);
}

static int put_op(struct ct_ring *ring, struct ct_lane *lane, uint64_t number, int returned)
{
	struct ct_slot *slot = ct_lane_next(ring, lane);
	struct ct_op op = { .enter_ns = number + 1,
			    .count = number,
			    .seq = number ^ 0x5555,
			    .comm = 3,
			    .peer = -1,
			    .op = CT_OP_AllReduce };
	uint64_t w[8];

	if (!slot)
		return 0;
	ct_op_pack(&op, w);
	w[CT_OP_W_END] = returned ? ct_op_end_word(op.enter_ns, op.enter_ns + 9, 0) : 0;
	ct_slot_publish(slot, CT_TAG(lane->lap, CT_KIND_OP, 8), w);
	return 1;
}

static void records_come_back_in_order_and_once(void **state)
{
	struct ct_ring ring;
	struct ct_lane lane = { 0 };
	struct ct_drain drain = { 0 };
	struct ct_block block = { 0 };
	uint64_t number = 0;
	uint64_t seen = 0;

	(void)state;
	open_ring(&ring, CT_RING_MIN_BYTES);
	for (int round = 0; round < 200; round++) { /* many laps of the pool */
		int more;

		for (int i = 0; i < 500; i++)
			assert_true(put_op(&ring, &lane, number++, 1));
		assert_int_equal(ct_drain_begin(&drain, &ring), CT_OK);
		do {
			ct_block_reset(&block, CT_BLOCK_DATA);
			more = ct_drain_next(&drain, &ring, &block, 111, CT_DRAIN_RETURNED);
			assert_true(more >= 0);
			for (uint32_t i = 0; i < block.n_ops; i++, seen++) {
				assert_int_equal(block.ops[i].count, seen);
				assert_int_equal(block.ops[i].seq, seen ^ 0x5555);
				assert_int_equal(block.ops[i].return_ns, seen + 10);
				assert_int_equal(block.ops[i].tid, lane.tid);
			}
			ct_drain_done(&drain, &ring);
		} while (more);
		assert_int_equal(seen, number);
	}
	assert_true(atomic_load(&ring.header->claims) > 2ull * ring.header->n_chunks);
	ct_drain_fini(&drain);
	ct_block_fini(&block);
	ct_ring_close(&ring, 1);
}

static void an_op_inside_its_call_pins_its_chunk_only(void **state)
{
	struct ct_ring ring;
	struct ct_lane stuck = { 0 };
	struct ct_lane busy = { 0 };
	struct ct_drain drain = { 0 };
	struct ct_block block = { 0 };

	(void)state;
	open_ring(&ring, CT_RING_MIN_BYTES);
	put_op(&ring, &stuck, 1, 1);
	put_op(&ring, &stuck, 2, 0);
	for (uint64_t i = 0; i < 10000; i++) {
		assert_true(put_op(&ring, &busy, i,
				   1)); /* never runs out: all but one chunk come back */
		if (i % 500)
			continue;
		ct_drain_begin(&drain, &ring);
		ct_block_reset(&block, CT_BLOCK_DATA);
		assert_int_equal(ct_drain_next(&drain, &ring, &block, 100000, CT_DRAIN_RETURNED),
				 0);
		assert_int_equal(drain.n_pending, 1);
		ct_drain_done(&drain, &ring);
	}
	/* of a dead process it is taken as it stands */
	ct_drain_begin(&drain, &ring);
	ct_block_reset(&block, CT_BLOCK_DATA);
	ct_drain_next(&drain, &ring, &block, 100000, CT_DRAIN_ALL);
	assert_true(block.n_ops >= 1);
	assert_int_equal(block.ops[0].count, 2);
	assert_int_equal(block.ops[0].return_ns, 0);
	assert_true(block.ops[0].flags & CT_OP_UNRETURNED);
	ct_drain_fini(&drain);
	ct_block_fini(&block);
	ct_ring_close(&ring, 1);
}

/* The write thread closes the chunks of threads that have ended. A claimed chunk gets its owner's
 * number a moment later. */
static void a_free_chunk_names_no_earlier_owner(void **state)
{
	struct ct_ring ring;
	struct ct_lane lane = { 0 };
	struct ct_drain drain = { 0 };
	struct ct_block block = { 0 };
	struct ct_chunk *chunk;

	(void)state;
	open_ring(&ring, CT_RING_MIN_BYTES);
	assert_true(put_op(&ring, &lane, 1, 1));
	chunk = ct_lane_chunk(&lane);
	assert_int_equal(atomic_load(&chunk->owner), gettid());
	ct_lane_close(&lane);
	ct_drain_begin(&drain, &ring);
	ct_block_reset(&block, CT_BLOCK_DATA);
	assert_int_equal(ct_drain_next(&drain, &ring, &block, 100, CT_DRAIN_RETURNED), 0);
	assert_int_equal(block.ops[0].tid, gettid());
	ct_drain_done(&drain, &ring);
	assert_int_equal(atomic_load(&chunk->state) & 0xff, CT_CHUNK_FREE);
	assert_int_equal(atomic_load(&chunk->owner), 0);
	ct_drain_fini(&drain);
	ct_block_fini(&block);
	ct_ring_close(&ring, 1);
}

static void an_empty_pool_is_a_refusal_not_a_wait(void **state)
{
	struct ct_ring ring;
	struct ct_lane lane = { 0 };
	struct ct_drain drain = { 0 };
	uint64_t n = 0;
	uint64_t lost;

	(void)state;
	open_ring(&ring, CT_RING_MIN_BYTES);
	while (put_op(&ring, &lane, n, 1))
		n++;
	assert_int_equal(n, (uint64_t)ring.header->n_chunks * CT_CHUNK_SLOTS);
	assert_false(ct_ring_grow(&ring)); /* it is all there */
	assert_false(put_op(&ring, &lane, n, 1));
	lost = ct_drain_give_up(&drain, &ring, 5, CT_LOSS_WRITE_FAILED);
	assert_int_equal(lost, 5 * CT_CHUNK_SLOTS);
	assert_int_equal(atomic_load(&ring.header->losses[CT_LOSS_WRITE_FAILED]), lost);
	assert_true(put_op(&ring, &lane, n, 1));
	ct_drain_fini(&drain);
	ct_ring_close(&ring, 1);
}

static uint64_t fill(struct ct_ring *ring, struct ct_lane *lane, uint64_t n)
{
	while (put_op(ring, lane, n, 1))
		n++;
	return n;
}

static uint64_t bytes_of(const struct ct_ring *ring)
{
	struct stat st;

	assert_int_equal(stat(ring->path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void open_in_memory(struct ct_ring *ring, size_t bytes)
{
	rmdir(dir);
	strcpy(dir, "/dev/shm/ct-ring-XXXXXX");
	if (!mkdtemp(dir)) {
		make_dir(NULL);
		skip();
	}
	open_ring(ring, bytes);
}

/* Half of what it may become, and all of it; no chunk is in use whose pages are not there. */
static void a_ring_in_memory_begins_small_and_grows(void **state)
{
	const size_t most = 4u << 20;
	struct ct_ring ring;
	struct ct_lane lane = { 0 };
	struct ct_drain drain = { 0 };
	struct ct_block block = { 0 };
	uint64_t n = 0, seen = 0;
	uint32_t at_first, all;

	(void)state;
	open_in_memory(&ring, most);
	at_first = ring.header->n_chunks;
	all = (uint32_t)((most - ring.header->chunks_at) / CT_CHUNK_BYTES);
	if (at_first == all) { /* this kernel, or its emulator, cannot add pages to a mapping */
		ct_drain_fini(&drain);
		ct_block_fini(&block);
		ct_ring_close(&ring, 1);
		skip();
	}
	assert_in_range(at_first, 1, all / 2);
	assert_in_range(bytes_of(&ring), 1, most / 2);
	n = fill(&ring, &lane, n);
	assert_int_equal(n, (uint64_t)at_first * CT_CHUNK_SLOTS);
	for (uint32_t chunks = at_first; ct_ring_grow(&ring);) {
		chunks = 2 * chunks < all ? 2 * chunks : all;
		assert_int_equal(ring.header->n_chunks, chunks);
		assert_true(bytes_of(&ring) >= (uint64_t)chunks * CT_CHUNK_BYTES);
		n = fill(&ring, &lane, n);
		assert_int_equal(n, (uint64_t)chunks * CT_CHUNK_SLOTS);
	}
	assert_int_equal(ring.header->n_chunks, all);
	assert_int_equal(ct_drain_begin(&drain, &ring), CT_OK);
	while (ct_drain_next(&drain, &ring, &block, 4096, CT_DRAIN_RETURNED) > 0 || block.n_ops) {
		for (uint32_t i = 0; i < block.n_ops; i++)
			assert_int_equal(block.ops[i].count, seen++);
		ct_block_reset(&block, CT_BLOCK_DATA);
	}
	assert_int_equal(seen, n);
	ct_drain_fini(&drain);
	ct_block_fini(&block);
	ct_ring_close(&ring, 1);
}

enum { MAKERS = 4, MADE = 512 };

/* What one thread enters while others do. */
struct maker {
	struct ct_ring *ring;
	uint32_t first, lost;
	uint32_t strings[MADE];
};

static void *make_entries(void *arg)
{
	struct maker *m = arg;

	for (uint32_t i = 0; i < MADE; i++) {
		struct ct_comm_rec comm = { .id = m->first + i, .nranks = 2, .key = m->first + i };
		char text[64];

		snprintf(text, sizeof(text), "step of some function, train.py:%u", m->first + i);
		m->strings[i] = ct_ring_string(m->ring, text);
		m->lost += !ct_ring_comm_add(m->ring, &comm);
	}
	return NULL;
}

/* Several threads fill tables that begin small: each entry is once in them, and a reader that had
 * the ring open before sees all. */
static void tables_grow_as_they_are_needed(void **state)
{
	static struct maker makers[MAKERS];
	static uint8_t seen[MAKERS * MADE + 1];
	struct ct_ring ring;
	struct ct_ring_view view;
	pthread_t threads[MAKERS];
	uint32_t n = 0, lost = 0;

	(void)state;
	open_in_memory(&ring, 4u << 20);
	if (ring.header->n_comms == ring.most.comms) {
		ct_ring_close(&ring, 1);
		skip();
	}
	assert_int_equal(ct_ring_view_open(ring.path, &view, NULL), CT_OK);
	assert_int_equal(view.n_traffic, 0);
	ct_ring_traffic_add(&ring, 7, 0, 1, 10);
	assert_int_equal(atomic_load(&ring.header->losses[CT_LOSS_TRAFFIC_FULL]), 1);
	ct_ring_traffic_begin(&ring);
	ct_ring_traffic_add(&ring, 7, 0, 1, 10);
	for (uint32_t t = 0; t < MAKERS; t++) {
		makers[t] = (struct maker){ .ring = &ring, .first = 1 + t * MADE };
		assert_int_equal(pthread_create(&threads[t], NULL, make_entries, &makers[t]), 0);
	}
	for (uint32_t t = 0; t < MAKERS; t++)
		pthread_join(threads[t], NULL);
	ct_ring_view_tables(&view);
	assert_int_equal(view.n_traffic, ring.most.traffic);
	assert_int_equal(view.n_comms, ring.most.comms);
	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < view.n_comms; i++) {
		uint64_t id = atomic_load(&view.ring.comms[i].id);

		assert_in_range(id, 1, MAKERS * MADE);
		assert_int_equal(atomic_load(&view.ring.comms[i].key), id);
		assert_int_equal(seen[id]++, 0);
		n++;
	}
	for (uint32_t t = 0; t < MAKERS; t++) {
		lost += makers[t].lost;
		for (uint32_t i = 0; i < MADE; i++) {
			char text[64];
			size_t len;
			const char *has = ct_ring_view_string(&view, makers[t].strings[i], &len);

			snprintf(text, sizeof(text), "step of some function, train.py:%u",
				 makers[t].first + i);
			assert_non_null(has);
			assert_string_equal(has, text);
		}
	}
	assert_int_equal(n + lost, MAKERS * MADE);
	assert_int_equal(atomic_load(&ring.header->losses[CT_LOSS_COMM_TABLE_FULL]), lost);
	assert_int_equal(atomic_load(&ring.header->losses[CT_LOSS_TRAFFIC_FULL]), 1);
	assert_true(bytes_of(&ring) < 3u << 20);
	ct_ring_view_close(&view);
	ct_ring_close(&ring, 1);
}

static void undone_drains_are_taken_again(void **state)
{
	struct ct_ring ring;
	struct ct_lane lane = { 0 };
	struct ct_drain drain = { 0 };
	struct ct_block block = { 0 };

	(void)state;
	open_ring(&ring, CT_RING_MIN_BYTES);
	for (uint64_t i = 0; i < 300; i++)
		put_op(&ring, &lane, i, 1);
	for (int i = 0; i < 3; i++) {
		ct_drain_begin(&drain, &ring);
		ct_block_reset(&block, CT_BLOCK_DATA);
		ct_drain_next(&drain, &ring, &block, 100000, CT_DRAIN_RETURNED);
		assert_int_equal(block.n_ops, 300);
		ct_drain_undo(&drain);
	}
	ct_drain_fini(&drain);
	ct_block_fini(&block);
	ct_ring_close(&ring, 1);
}

enum { WRITERS = 4, PER_WRITER = 40000 };

struct writer {
	struct ct_ring *ring;
	uint64_t base;
	uint64_t lost;
	_Atomic int *running;
};

static void *write_many(void *arg)
{
	struct writer *w = arg;
	struct ct_lane lane = { 0 };

	for (uint64_t i = 0; i < PER_WRITER; i++)
		if (!put_op(w->ring, &lane, w->base + i, 1))
			w->lost++;
	ct_lane_close(&lane);
	atomic_fetch_sub(w->running, 1);
	return NULL;
}

/* Writers, the write thread and a reader from outside at once: recorded + lost = issued, none torn.
 */
static void concurrent_writers_and_readers_agree(void **state)
{
	struct ct_ring ring;
	struct ct_drain drain = { 0 };
	struct ct_drain look = { 0 };
	struct ct_block block = { 0 };
	pthread_t threads[WRITERS];
	struct writer writers[WRITERS];
	_Atomic int running = WRITERS;
	uint64_t seen = 0;
	uint64_t lost = 0;
	int last = 0;

	(void)state;
	open_ring(&ring, 1u << 20);
	for (int i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){ &ring, (uint64_t)i * PER_WRITER, 0, &running };
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
	}
	while (!last) {
		int more;

		last = atomic_load(&running) == 0;
		ct_drain_begin(&look, &ring);
		ct_block_reset(&block, CT_BLOCK_DATA);
		ct_drain_next(&look, &ring, &block, 1000, CT_DRAIN_ALL);
		for (uint32_t i = 0; i < block.n_ops; i++)
			if (block.ops[i].seq != (block.ops[i].count ^ 0x5555))
				fail_msg("torn record");
		ct_drain_begin(&drain, &ring);
		do {
			ct_block_reset(&block, CT_BLOCK_DATA);
			more = ct_drain_next(&drain, &ring, &block, 4096, CT_DRAIN_RETURNED);
			for (uint32_t i = 0; i < block.n_ops; i++)
				if (block.ops[i].seq != (block.ops[i].count ^ 0x5555))
					fail_msg("torn record");
			seen += block.n_ops;
			ct_drain_done(&drain, &ring);
		} while (more > 0);
	}
	for (int i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], NULL);
		lost += writers[i].lost;
	}
	assert_int_equal(seen + lost, (uint64_t)WRITERS * PER_WRITER);
	assert_int_equal(atomic_load(&ring.header->n_free), ring.header->n_chunks);
	ct_drain_fini(&drain);
	ct_drain_fini(&look);
	ct_block_fini(&block);
	ct_ring_close(&ring, 1);
}

static void the_file_is_private_whole_and_not_inherited(void **state)
{
	struct ct_ring ring;
	struct stat st;
	int status;
	pid_t child;

	(void)state;
	open_ring(&ring, CT_RING_MIN_BYTES);
	assert_int_equal(stat(ring.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true((uint64_t)st.st_blocks * 512 >=
		    CT_RING_MIN_BYTES); /* no hole: no SIGBUS later */
	child = fork();
	if (child == 0) { /* mincore shows an unmapped page without a crash */
		unsigned char in_core;

		_exit(mincore(ring.header, 4096, &in_core) != 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(ring.header->magic, CT_RING_MAGIC);
	ct_ring_close(&ring, 1);
}

static void a_ring_of_the_same_name_is_moved_aside(void **state)
{
	struct ct_ring first;
	struct ct_ring second;
	char command[256];

	(void)state;
	open_ring(&first, CT_RING_MIN_BYTES);
	open_ring(&second, CT_RING_MIN_BYTES);
	ct_ring_close(&second, 1);
	ct_ring_close(&first, 0);
	snprintf(command, sizeof(command), "test $(ls %s | wc -l) = 1 && rm %s/commtrace.*.ring",
		 dir, dir);
	assert_int_equal(system(command), 0);
}

static void without_a_directory_the_ring_is_private_memory(void **state)
{
	const char *dirs[] = { "/nonexistent", NULL };
	struct ct_process process = { .pid = 1 };
	struct ct_lane lane = { 0 };
	struct ct_ring ring;

	(void)state;
	assert_int_equal(ct_ring_create(&ring, &process, dirs, CT_RING_MIN_BYTES, NULL), CT_OK);
	assert_int_equal(process.ring_kind, CT_RING_PRIVATE);
	assert_true(put_op(&ring, &lane, 1, 1));
	ct_ring_close(&ring, 1);
}

static void strings_comms_and_open_launches_fill_up_with_a_count(void **state)
{
	struct ct_ring ring;
	struct ct_comm_rec comm = { .nranks = 4, .rank = 2, .key = 99 };
	uint64_t words[8] = { 0 };
	struct ct_ring_open *open = NULL;
	uint32_t id = 0;

	(void)state;
	open_ring(&ring, CT_RING_MIN_BYTES);
	assert_int_equal(ct_ring_string(&ring, "gloo::allreduce"), 1);
	assert_int_equal(ct_ring_string(&ring, ""), 0);
	while (ct_ring_string(&ring, "a string of some length"))
		id++;
	assert_true(id > 50);
	assert_int_equal(atomic_load(&ring.header->losses[CT_LOSS_STRINGS_FULL]), 1);
	for (id = 1; id <= ring.header->n_comms; id++) {
		comm.id = id;
		assert_non_null(ct_ring_comm_add(&ring, &comm));
	}
	assert_null(ct_ring_comm_add(&ring, &comm));
	assert_int_equal(atomic_load(&ring.header->losses[CT_LOSS_COMM_TABLE_FULL]), 1);
	for (id = 1; id <= ring.header->n_opens; id++)
		assert_non_null(open = ct_ring_open_add(&ring, id, words));
	assert_null(ct_ring_open_add(&ring, id, words));
	ct_ring_open_remove(open);
	assert_ptr_equal(ct_ring_open_add(&ring, id, words), open);
	ct_ring_close(&ring, 1);
}

/* Asked as another process, as the readers of a ring do. */
static int is_locked(const char *path)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR), locked;

	assert_true(fd >= 0 && fcntl(fd, F_GETLK, &whole) == 0);
	locked = whole.l_type != F_UNLCK;
	close(fd);
	return locked;
}

static void the_lock_needs_no_descriptor(void **state)
{
	int first_unused = open("/", O_RDONLY), after;
	struct ct_ring ring;
	char path[256];

	(void)state;
	close(first_unused);
	open_ring(&ring, CT_RING_MIN_BYTES);
	after = open("/", O_RDONLY);
	close(after);
	assert_int_equal(after, first_unused);
	strcpy(path, ring.path);
	assert_true(is_locked(path));
	assert_false(ct_ring_is_removed(&ring));
	ct_ring_close(&ring, 0);
	assert_false(is_locked(path));
	unlink(path);
}

static void a_removed_file_is_seen_by_its_name(void **state)
{
	struct ct_ring ring;

	(void)state;
	open_ring(&ring, CT_RING_MIN_BYTES);
	unlink(ring.path);
	assert_true(ct_ring_is_removed(&ring));
	close(open(ring.path, O_WRONLY | O_CREAT, 0600));
	assert_true(ct_ring_is_removed(&ring)); /* another's */
	unlink(ring.path);
	/* after chroot() nothing of it is there */
	memcpy(ring.path, "/proc/self/no-such/x", sizeof("/proc/self/no-such/x"));
	assert_false(ct_ring_is_removed(&ring));
	ct_ring_close(&ring, 0);
}

#define RING_TEST(name) cmocka_unit_test_setup_teardown(name, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RING_TEST(records_come_back_in_order_and_once),
		RING_TEST(an_op_inside_its_call_pins_its_chunk_only),
		RING_TEST(a_free_chunk_names_no_earlier_owner),
		RING_TEST(an_empty_pool_is_a_refusal_not_a_wait),
		RING_TEST(a_ring_in_memory_begins_small_and_grows),
		RING_TEST(tables_grow_as_they_are_needed),
		RING_TEST(undone_drains_are_taken_again),
		RING_TEST(concurrent_writers_and_readers_agree),
		RING_TEST(the_file_is_private_whole_and_not_inherited),
		RING_TEST(the_lock_needs_no_descriptor),
		RING_TEST(a_removed_file_is_seen_by_its_name),
		RING_TEST(a_ring_of_the_same_name_is_moved_aside),
		RING_TEST(without_a_directory_the_ring_is_private_memory),
		RING_TEST(strings_comms_and_open_launches_fill_up_with_a_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
