/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a living process's ring has what the ring has: stacks and counted transfers too, which
 * may be in no file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/commtrace/copy/ring_copy.h"
#include "trace/ring_read.h"
#include "trace/ring_stacks.h"
#include "trace/ring_traffic.h"

static uint32_t count(const struct ct_block *block, enum ct_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < block->n_rares; i++)
		n += block->rares[i].kind == kind;
	return n;
}

/* The records of these kinds in a copy of the living ring. */
static void assert_copied(const struct ct_ring *ring, uint32_t stacks, uint32_t traffic)
{
	char path[] = "/tmp/ct-snapshot-copy-XXXXXX", name[CT_RING_COPY_NAME];
	const int fd = mkstemp(path);
	struct ct_ring_view view;
	struct ct_block block = { 0 };
	struct ct_err err;

	assert_true(fd >= 0);
	assert_int_equal(ct_ring_copy_into(ring->path, fd, name, &err), CT_OK);
	close(fd);
	assert_int_equal(ct_ring_view_open(path, &view, &err), CT_OK);
	assert_int_equal(ct_ring_view_state(&view, &block), CT_OK);
	assert_int_equal(count(&block, CT_KIND_STACK), stacks);
	assert_int_equal(count(&block, CT_KIND_TRAFFIC), traffic);
	ct_block_fini(&block);
	ct_ring_view_close(&view);
	unlink(path);
}

static void copy_has_stacks_and_traffic(void **state)
{
	char dir[] = "/tmp/ct-snapshot-XXXXXX";
	const char *dirs[] = { mkdtemp(dir), NULL };
	struct ct_process process = { .pid = (uint32_t)getpid(), .pidns = 77, .start_ns = 5 };
	const uint32_t len = 5;
	struct ct_ring ring;

	(void)state;
	assert_int_equal(ct_ring_create(&ring, &process, dirs, CT_RING_MIN_BYTES, NULL), CT_OK);
	assert_copied(&ring, 0, 0);
	ct_ring_stacks_put(&ring, (const uint8_t *)"first", &len, 1, 0);
	ct_ring_traffic_add(&ring, 3, 0, 1, 100);
	ct_ring_traffic_add(&ring, 3, 1, 2, 100);
	assert_copied(&ring, 1, 2);
	ct_ring_stacks_put(&ring, (const uint8_t *)"later", &len, 1, 0);
	assert_copied(&ring, 2, 2);
	ct_ring_close(&ring, 1);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(copy_has_stacks_and_traffic) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
