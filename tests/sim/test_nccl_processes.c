/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators that span processes. The parent never touches CUDA: its children do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/sim/nccl_bodies.h"
#include "tools/sim/driver.h"
#include "tools/sim/nccl/hash.h"

static void all_collectives_move_data_between_processes(void **state)
{
	(void)state;
	assert_int_equal(in_processes(3, moves_blocks), 0);
	assert_int_equal(in_processes(4, reduces_every_type), 0);
}

static void messages_go_between_processes(void **state)
{
	(void)state;
	assert_int_equal(in_processes(3, spreads_blocks), 0);
	assert_int_equal(in_processes(3, exchanges_messages), 0);
	assert_int_equal(in_processes(2, sends_ahead), 0);
}

static void children_span_processes(void **state)
{
	(void)state;
	assert_int_equal(in_processes(4, splits_and_shrinks), 0);
	assert_int_equal(in_processes(4, grows), 0);
	assert_int_equal(in_processes(3, puts_and_signals), 0);
}

/* Rank 2 is killed; the others wait for it until they give up. */
static void die_or_wait(struct rank *r)
{
	uint32_t *p = device_memory(r, 4);

	join(r);
	CHECK(r, !ncclAllReduce(p, p, 1, ncclUint32, ncclSum, r->comm, r->stream));
	finish(r);
	if (r->rank == 2)
		raise(SIGKILL);
	CHECK(r, !ncclAllReduce(p, p, 1, ncclUint32, ncclSum, r->comm, r->stream));
	usleep(50000);
	CHECK(r, cuStreamQuery(r->stream) == CUDA_ERROR_NOT_READY);
	CHECK(r, !ncclCommAbort(r->comm));
	r->comm = NULL;
	finish(r);
}

static void a_killed_rank_is_waited_for_until_abort(void **state)
{
	(void)state;
	assert_int_equal(in_processes(3, die_or_wait), 1);
}

/* The log of one rank is in the pipe. */
static int log_pipe[2];

static void logs(struct rank *r)
{
	char want[64], text[4096] = "";
	ncclComm_t child;
	ssize_t n;

	setenv("NCCL_DEBUG", "INFO", 1);
	dup2(log_pipe[1], STDOUT_FILENO);
	join(r);
	CHECK(r, !ncclCommSplit(r->comm, 3, 0, &child, NULL) && !ncclCommDestroy(child));
	n = read(log_pipe[0], text, sizeof(text) - 1);
	CHECK(r, n > 0);
	snprintf(want, sizeof(want), "commId 0x%llx - Init COMPLETE",
		 (unsigned long long)sim_hash_bytes(r->id.internal, 128));
	CHECK(r, strstr(text, want));
	snprintf(want, sizeof(want), "color 3 key 0 commId 0x%llx",
		 (unsigned long long)sim_hash_child(sim_hash_bytes(r->id.internal, 128), 1, 3));
	CHECK(r, strstr(text, want));
}

static void the_log_names_communicators_by_their_hash(void **state)
{
	(void)state;
	assert_int_equal(pipe(log_pipe), 0);
	assert_int_equal(in_processes(1, logs), 0);
	close(log_pipe[0]);
	close(log_pipe[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_collectives_move_data_between_processes),
		cmocka_unit_test(messages_go_between_processes),
		cmocka_unit_test(children_span_processes),
		cmocka_unit_test(a_killed_rank_is_waited_for_until_abort),
		cmocka_unit_test(the_log_names_communicators_by_their_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
