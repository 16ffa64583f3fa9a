/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/model/call_kind.h"
#include "trace/call_name.h"

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

static void calls_in_two_directions_are_known(void **state)
{
	(void)state;
	assert_true(ct_call_is_two_way("MPI_Sendrecv"));
	assert_true(ct_call_is_two_way("MPI_Sendrecv_replace_c"));
	assert_true(ct_call_is_two_way("MPI_Isendrecv"));
	assert_false(ct_call_is_two_way("MPI_Send"));
	assert_false(ct_call_is_two_way(NULL));
}

static void host_calls_have_one_row_each(void **state)
{
	static const struct {
		const char *call;
		enum ct_host_call kind;
		enum ct_call_library library;
		unsigned traits;
	} calls[] = {
		{ "MPI_Waitall", CT_HOST_SYNC, CT_CALL_OF_MPI, CT_CALL_ENDS_SEVERAL },
		{ "PMPI_Testall", CT_HOST_SYNC, CT_CALL_OF_MPI, CT_CALL_ENDS_SEVERAL },
		{ "MPI_Waitany", CT_HOST_SYNC, CT_CALL_OF_MPI, 0 },
		{ "MPI_Wait", CT_HOST_SYNC, CT_CALL_OF_MPI, 0 },
		{ "MPI_Init_thread", CT_HOST_INIT, CT_CALL_OF_MPI, CT_CALL_ENTERS_LIBRARY },
		{ "MPI_Session_init", CT_HOST_INIT, CT_CALL_OF_MPI, 0 },
		{ "PMPI_Finalize", CT_HOST_FINALIZE, CT_CALL_OF_MPI, CT_CALL_LEAVES_LIBRARY },
		{ "MPI_Abort", CT_HOST_ABORT, CT_CALL_OF_MPI, CT_CALL_ENDS_JOB },
		{ "MPI_Intercomm_create_from_groups", CT_HOST_SPLIT, CT_CALL_OF_MPI,
		  CT_CALL_NEEDS_OTHERS },
		{ "MPI_Intercomm_merge", CT_HOST_SPLIT, CT_CALL_OF_MPI, 0 },
		{ "MPI_Win_free", CT_HOST_FINALIZE, CT_CALL_OF_MPI, 0 },
		{ "MPI_Win_fence", CT_HOST_PEERS, CT_CALL_OF_MPI, 0 },
		{ "cu", CT_HOST_SYNC, CT_CALL_OF_CUDA, CT_CALL_WAITS_FOR_GPU },
		{ "c", CT_HOST_OTHER, CT_CALL_OF_UNKNOWN, 0 },
		{ "ncclCommDestro", CT_HOST_OTHER, CT_CALL_OF_NCCL, 0 },
		{ "pncclCommDestroy", CT_HOST_FINALIZE, CT_CALL_OF_NCCL, CT_CALL_LEAVES_COMM },
		{ "cudaStreamSynchronize", CT_HOST_SYNC, CT_CALL_OF_CUDA, CT_CALL_WAITS_FOR_GPU },
		{ "cuEventSynchronize", CT_HOST_SYNC, CT_CALL_OF_CUDA, CT_CALL_WAITS_FOR_GPU },
		{ "cuGraphLaunch", CT_HOST_GRAPH_LAUNCH, CT_CALL_OF_CUDA, CT_CALL_WAITS_FOR_GPU },
		{ "ncclCommInitRank", CT_HOST_INIT, CT_CALL_OF_NCCL, 0 },
		{ "pncclCommDestroy", CT_HOST_FINALIZE, CT_CALL_OF_NCCL, CT_CALL_LEAVES_COMM },
		{ "ncclCommAbort", CT_HOST_ABORT, CT_CALL_OF_NCCL, 0 },
		{ "pncclGroupEnd", CT_HOST_GROUP_END, CT_CALL_OF_NCCL, CT_CALL_ONLY_LAUNCHES },
		{ "ncclMemAlloc", CT_HOST_OTHER, CT_CALL_OF_NCCL, 0 },
		{ "gloo::rendezvous", CT_HOST_INIT, CT_CALL_OF_GLOO, 0 },
		{ "torch", CT_HOST_OTHER, CT_CALL_OF_UNKNOWN, 0 },
		{ "", CT_HOST_OTHER, CT_CALL_OF_UNKNOWN, 0 },
		{ NULL, CT_HOST_OTHER, CT_CALL_OF_UNKNOWN, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct ct_call_row *row = ct_call_row(calls[i].call);

		assert_int_equal(row->kind, calls[i].kind);
		assert_int_equal(row->library, calls[i].library);
		assert_int_equal(row->traits, calls[i].traits);
	}
	assert_true(ct_call_is("MPI_Finalize", CT_CALL_LEAVES_LIBRARY | CT_CALL_LEAVES_COMM));
	assert_false(ct_call_is(NULL, ~0u));
}

/* A row below one that its prefix begins with would never be found. */
static void every_row_is_found_by_its_own_prefix(void **state)
{
	static const char *const prefixes[] = {
#define CALL(prefix, kind, library, traits) prefix,
#include "analyzer/model/calls.def"
#undef CALL
	};

	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		assert_string_equal(ct_call_row(prefixes[i])->prefix, prefixes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_with_counts_for_each_rank_vary_in_every_form),
		cmocka_unit_test(calls_whose_ranks_all_say_the_same_do_not),
		cmocka_unit_test(calls_in_two_directions_are_known),
		cmocka_unit_test(host_calls_have_one_row_each),
		cmocka_unit_test(every_row_is_found_by_its_own_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
