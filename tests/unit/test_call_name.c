/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/model/call_name.h"

static void calls_with_counts_for_each_rank_vary_in_every_form(void **state)
{
	static const char *const vary[] = {
		"gloo::allgatherv",   "gloo::alltoallv",     "MPI_Gatherv",
		"MPI_Alltoallv_c",    "MPI_Alltoallw",	     "MPI_Ialltoallw_c",
		"MPI_Scatterv_init",  "MPI_Gatherv_init_c",  "MPI_Neighbor_alltoallw",
		"MPI_Reduce_scatter", "MPI_Ireduce_scatter", "MPI_Reduce_scatter_init_c",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(vary) / sizeof(vary[0]); i++)
		assert_true(ct_call_is_varying(vary[i]));
}

static void calls_whose_ranks_all_say_the_same_do_not(void **state)
{
	static const char *const same[] = {
		"gloo::allgather",
		"ncclReduceScatter",
		"MPI_Allgather_init_c",
		"MPI_Ialltoall",
		"MPI_Reduce_scatter_block",
		"MPI_Ireduce_scatter_block_c",
		"MPI_Allreduce",
		"",
		"_c",
		"v_init",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		assert_false(ct_call_is_varying(same[i]));
	assert_false(ct_call_is_varying(NULL));
}

static void calls_with_several_ends_are_known(void **state)
{
	(void)state;
	assert_true(ct_call_is_two_way("MPI_Sendrecv"));
	assert_true(ct_call_is_two_way("MPI_Sendrecv_replace_c"));
	assert_true(ct_call_is_two_way("MPI_Isendrecv"));
	assert_false(ct_call_is_two_way("MPI_Send"));
	assert_false(ct_call_is_two_way(NULL));
	assert_true(ct_call_ends_several("MPI_Waitall"));
	assert_true(ct_call_ends_several("MPI_Testall"));
	assert_false(ct_call_ends_several("MPI_Waitany"));
	assert_false(ct_call_ends_several("MPI_Wait"));
	assert_false(ct_call_ends_several(NULL));
}

static void functions_of_cuda_wait_for_a_gpu(void **state)
{
	(void)state;
	assert_true(ct_call_waits_for_gpu("cudaStreamSynchronize"));
	assert_true(ct_call_waits_for_gpu("cuEventSynchronize"));
	assert_false(ct_call_waits_for_gpu("ncclCommDestroy"));
	assert_false(ct_call_waits_for_gpu(NULL));
}

static void a_group_end_only_launches(void **state)
{
	(void)state;
	assert_true(ct_call_only_launches("ncclGroupEnd"));
	assert_false(ct_call_only_launches("ncclCommInitRank"));
	assert_false(ct_call_only_launches("MPI_Wait"));
	assert_false(ct_call_only_launches(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_with_counts_for_each_rank_vary_in_every_form),
		cmocka_unit_test(calls_whose_ranks_all_say_the_same_do_not),
		cmocka_unit_test(calls_with_several_ends_are_known),
		cmocka_unit_test(functions_of_cuda_wait_for_a_gpu),
		cmocka_unit_test(a_group_end_only_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
