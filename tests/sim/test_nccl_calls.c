/* SPDX-License-Identifier: Apache-2.0 */
/* What each call answers: errors as the real library gives them, and everything that it exports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/sim/kernels.h"
#include "tools/sim/driver.h"
#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/float.h"
#include "tools/sim/nccl/job.h"

static ncclComm_t comms[2]; /* devices 0 and 1, blocking */

static float *floats(size_t n)
{
	CUdeviceptr p;

	OK(cuMemAlloc_v2(&p, n * sizeof(float)));
	return (float *)(uintptr_t)p;
}

static int set_up(void **state)
{
	(void)state;
	use_device(0);
	return ncclCommInitAll(comms, 2, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	return ncclCommDestroy(comms[0]) || ncclCommDestroy(comms[1]);
}

static void every_exported_function_has_its_twin_at_the_same_address(void **state)
{
	static const char *const names[] = {
#define NCCL_CALL(symbol, name, since, op, params, args, count, type, redop, peer)                 \
	(since) == CT_NCCL_OTHERS ? "ncclAlltoAll" : #name,
#define NCCL_CALL_HOST(symbol, name, since, params, args) #name,
#define NCCL_CALL_HAND(symbol, name, since, params, args) #name,
#define NCCL_SKIP(ret, name, since, params, reason) #name,
#define NCCL_SKIP_DEVICE(name, reason) #name,
#include "interpose/abi/nccl_calls.def"
	};
	void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);
	size_t n = sizeof(names) / sizeof(names[0]), twins = 0;
	char twin[64];

	(void)state;
	assert_non_null(library);
	for (size_t i = 0; i < n; i++) {
		void *p = dlsym(library, names[i]);

		snprintf(twin, sizeof(twin), "p%s", names[i]);
		if (!p)
			print_error("missing: %s\n", names[i]);
		assert_non_null(p);
		if (!dlsym(library, twin))
			continue;
		assert_ptr_equal(p, dlsym(library, twin));
		twins++;
	}
	/* One has none in the real library either. */
	assert_int_equal(twins, n - 1);
	assert_null(dlsym(library, "pncclResetDebugInitInternal"));
	dlclose(library);
}

static void wrong_arguments_are_refused_and_counted(void **state)
{
	ncclComm_t comm;
	ncclUniqueId id;
	ncclConfig_t config = { .size = sizeof(config) };
	ncclResult_t error;
	float *p = floats(8);
	int n;

	(void)state;
	assert_int_equal(ncclGetVersion(&n), 0);
	assert_int_equal(n, 23007);
	assert_int_equal(ncclGetVersion(NULL), ncclInvalidArgument);
	assert_int_equal(ncclGetUniqueId(NULL), ncclInvalidArgument);
	assert_int_equal(simMisuse(), 0);
	assert_int_equal(ncclAllReduce(p, p, 1, ncclFloat32, ncclSum, NULL, NULL),
			 ncclInvalidArgument);
	assert_int_equal(simMisuse(), 1);
	assert_string_equal(simFirstMisuse(), "ncclAllReduce: comm argument is NULL");
	assert_int_equal(ncclAllReduce(p, p, 1, 12, ncclSum, comms[0], NULL), ncclInvalidArgument);
	assert_int_equal(ncclAllReduce(p, p, 1, ncclFloat32, 5, comms[0], NULL),
			 ncclInvalidArgument);
	assert_int_equal(ncclBroadcast(p, p, 1, ncclFloat32, 2, comms[0], NULL),
			 ncclInvalidArgument);
	assert_int_equal(ncclSend(p, 1, ncclFloat32, -1, comms[0], NULL), ncclInvalidArgument);
	assert_int_equal(ncclSend(p, 1, ncclFloat32, 0, comms[0], NULL), ncclInvalidUsage);
	assert_int_equal(ncclCommCount(NULL, &n), ncclInvalidArgument);
	assert_int_equal(ncclCommCount(comms[0], NULL), ncclInvalidArgument);
	assert_int_equal(ncclCommGetAsyncError(NULL, &error), ncclInvalidArgument);
	assert_int_equal(ncclCommSplit(comms[0], -2, 0, &comm, NULL), ncclInvalidArgument);
	assert_int_equal(ncclCommSplit(comms[0], 0, 0, NULL, NULL), ncclInvalidArgument);
	assert_int_equal(ncclCommShrink(comms[0], (int[]){ 0 }, 1, &comm, NULL, 0),
			 ncclInvalidArgument);
	assert_int_equal(ncclCommRevoke(comms[0], 1), ncclInvalidArgument);
	assert_int_equal(ncclGetUniqueId(&id), 0);
	assert_int_equal(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
	assert_int_equal(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
	assert_int_equal(ncclCommInitRank(NULL, 1, id, 0), ncclInvalidArgument);
	assert_int_equal(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
	assert_null(comm);
	assert_int_equal(ncclCommInitAll(&comm, 2, (int[]){ 0, 0 }), ncclInvalidUsage);
	assert_int_equal(ncclCommInitAll(&comm, 1, (int[]){ 99 }), ncclInvalidArgument);
	assert_int_equal(ncclCommDestroy(NULL), 0);
	assert_int_equal(ncclCommAbort(NULL), 0);
	assert_int_equal(ncclCommFinalize(NULL), 0);
	assert_int_equal(ncclCommRevoke(NULL, 0), 0);
	assert_string_equal(ncclGetErrorString(ncclInvalidUsage),
			    "invalid usage (run with NCCL_DEBUG=WARN for details)");
	assert_string_equal(ncclGetErrorString(ncclTimeout), "timeout");
	assert_string_equal(ncclGetErrorString(9), "unknown result code");
	assert_int_equal(simMisuse(), 19);
	OK(cuMemFree_v2((CUdeviceptr)(uintptr_t)p));
}

static void groups_answer_as_nccl_does(void **state)
{
	(void)state;
	assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
	assert_string_equal(ncclGetLastError(NULL), "ncclGroupEnd : not in a group call.");
	assert_int_equal(ncclGroupSimulateEnd(NULL), ncclInvalidUsage);
	assert_int_equal(ncclGroupStart(), 0);
	assert_int_equal(ncclGroupEnd(), 0);
	/* An error inside is the group's, and the next one is a new one. */
	assert_int_equal(ncclGroupStart(), 0);
	assert_int_equal(ncclAllReduce(NULL, NULL, 1, ncclFloat32, ncclSum, NULL, NULL),
			 ncclInvalidArgument);
	assert_int_equal(ncclGroupEnd(), ncclInvalidArgument);
	assert_int_equal(ncclGroupEnd(), ncclInvalidUsage);
}

static void a_group_in_error_launches_nothing(void **state)
{
	float *p = floats(8);

	(void)state;
	assert_int_equal(ncclGroupStart(), 0);
	assert_int_equal(ncclAllReduce(p, p, 1, ncclFloat32, ncclSum, comms[0], NULL), 0);
	assert_int_equal(ncclSend(p, 1, ncclFloat32, 7, comms[0], NULL), ncclInvalidArgument);
	assert_int_equal(ncclGroupEnd(), ncclInvalidArgument);
	OK(cuCtxSynchronize()); /* would never return */
	OK(cuMemFree_v2((CUdeviceptr)(uintptr_t)p));
}

static void a_destroyed_communicator_is_none(void **state)
{
	ncclComm_t comm, again;
	uint64_t before = simMisuse();
	int n;

	(void)state;
	assert_int_equal(ncclCommInitAll(&comm, 1, NULL), 0);
	assert_int_equal(ncclCommDestroy(comm), 0);
	assert_int_equal(simMisuse(), before);
	assert_int_equal(ncclCommCount(comm, &n), ncclInvalidArgument);
	assert_int_equal(ncclCommDestroy(comm), ncclInvalidArgument);
	assert_int_equal(simMisuse(), before + 2);
	/* Handles come back, as addresses do. */
	assert_int_equal(ncclCommInitAll(&again, 1, NULL), 0);
	assert_ptr_equal(again, comm);
	assert_int_equal(ncclCommFinalize(again), 0);
	assert_int_equal(ncclCommFinalize(again), ncclInvalidArgument);
	assert_int_equal(ncclCommDestroy(again), 0);
}

static void one_rank_copies_at_once_even_in_a_group(void **state)
{
	CUstream s;
	ncclComm_t comm;
	ncclRedOp_t triple;
	float *p = floats(8), three = 3;
	ncclUniqueId id;

	(void)state;
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	assert_int_equal(ncclGetUniqueId(&id), 0);
	assert_int_equal(ncclCommInitRank(&comm, 1, id, 0), 0);
	p[0] = 4;
	p[1] = p[2] = p[3] = 0;
	assert_int_equal(ncclGroupStart(), 0);
	assert_int_equal(ncclAllReduce(p, p + 1, 1, ncclFloat32, ncclSum, comm, s), 0);
	OK(cuStreamSynchronize(s));
	assert_true(p[1] == 4);
	assert_int_equal(ncclRedOpCreatePreMulSum(&triple, &three, ncclFloat32,
						  ncclScalarHostImmediate, comm),
			 0);
	assert_int_equal(ncclAllReduce(p, p + 2, 1, ncclFloat32, triple, comm, s), 0);
	OK(cuStreamSynchronize(s));
	assert_true(p[2] == 12);
	/* But messages to oneself are messages. */
	assert_int_equal(ncclSend(p, 1, ncclFloat32, 0, comm, s), 0);
	assert_int_equal(ncclRecv(p + 3, 1, ncclFloat32, 0, comm, s), 0);
	OK(cuStreamSynchronize(s));
	assert_true(p[3] == 0);
	assert_int_equal(ncclGroupEnd(), 0);
	OK(cuStreamSynchronize(s));
	assert_true(p[3] == 4);
	assert_int_equal(ncclRedOpDestroy(triple, comm), 0);
	assert_int_equal(ncclRedOpDestroy(triple, comm), ncclInvalidArgument);
	assert_int_equal(ncclRedOpDestroy(ncclSum, comm), ncclInvalidArgument);
	assert_int_equal(ncclCommDestroy(comm), 0);
	OK(cuStreamDestroy_v2(s));
	OK(cuMemFree_v2((CUdeviceptr)(uintptr_t)p));
}

static void one_thread_drives_two_devices_in_a_group(void **state)
{
	CUstream s[2];
	float *p[2];
	ncclRedOp_t op[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		float by = (float)(i + 2);

		use_device(i);
		OK(cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
		p[i] = floats(4);
		p[i][0] = 10;
		assert_int_equal(ncclRedOpCreatePreMulSum(&op[i], &by, ncclFloat32,
							  ncclScalarHostImmediate, comms[i]),
				 0);
	}
	assert_int_not_equal(op[0], op[1]);
	assert_int_equal(ncclAllReduce(p[0], p[0], 1, ncclFloat32, op[1], comms[0], s[0]),
			 ncclInvalidArgument);
	assert_int_equal(ncclGroupStart(), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ncclAllReduce(p[i], p[i], 1, ncclFloat32, op[i], comms[i], s[i]),
				 0);
	assert_int_equal(ncclGroupEnd(), 0);
	for (int i = 0; i < 2; i++) {
		OK(cuStreamSynchronize(s[i]));
		assert_true(p[i][0] == 50);
		OK(cuStreamDestroy_v2(s[i]));
	}
	use_device(0);
}

static void a_stream_of_another_device_is_refused(void **state)
{
	CUstream s;
	float *p = floats(4);
	uint64_t before = simMisuse();

	(void)state;
	use_device(1);
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	use_device(0);
	assert_int_equal(ncclAllReduce(p, p, 1, ncclFloat32, ncclSum, comms[0], s),
			 ncclUnhandledCudaError);
	assert_true(simMisuse() > before);
}

static void blocking_and_nonblocking_do_not_mix_in_a_group(void **state)
{
	ncclConfig_t config = { sizeof(config),
				NCCL_CONFIG_MAGIC,
				22809,
				0,
				0,
				0,
				0,
				NULL,
				0,
				0,
				NULL,
				0,
				0,
				0,
				0,
				0,
				0 };
	ncclComm_t comm;
	ncclUniqueId id;
	ncclResult_t error = ncclInProgress;
	float *p = floats(4);

	(void)state;
	use_device(2);
	assert_int_equal(ncclGetUniqueId(&id), 0);
	ncclCommInitRankConfig(&comm, 1, id, 0, &config);
	while (error == ncclInProgress)
		assert_int_equal(ncclCommGetAsyncError(comm, &error), 0);
	assert_int_equal(error, 0);
	use_device(0);
	assert_int_equal(ncclGroupStart(), 0);
	assert_int_equal(ncclSend(p, 1, ncclFloat32, 0, comm, NULL), 0);
	assert_int_equal(ncclSend(p, 1, ncclFloat32, 1, comms[0], NULL), ncclInvalidArgument);
	assert_int_equal(ncclGroupEnd(), ncclInvalidArgument);
	assert_int_equal(ncclCommAbort(comm), 0);
}

static void memory_is_allocated_and_registered(void **state)
{
	void *p = NULL, *handle = NULL;
	float inside;

	(void)state;
	assert_int_equal(ncclMemAlloc(&p, 4096), 0);
	OK(simCheckRange(p, 4096));
	assert_int_equal(ncclCommRegister(comms[0], p, 4096, &handle), 0);
	assert_int_equal(ncclCommDeregister(comms[1], handle), ncclInvalidArgument);
	assert_int_equal(ncclCommDeregister(comms[0], handle), 0);
	assert_int_equal(ncclCommRegister(comms[0], &inside, 4, &handle), ncclInvalidArgument);
	assert_int_equal(ncclMemFree(p), 0);
	assert_int_equal(ncclMemFree(NULL), 0);
	assert_int_equal(ncclMemAlloc(NULL, 4), ncclInvalidArgument);
}

/* Breaks device 3 for good. */
static void a_buffer_outside_of_memory_is_a_fault_of_the_kernel(void **state)
{
	struct gate gate = GATE;
	ncclComm_t comm[2];
	float *p;

	(void)state;
	use_device(3);
	p = floats(4);
	OK(launch_gate(NULL, &gate));
	assert_int_equal(ncclCommInitAll(comm, 2, (int[]){ 3, 4 }), 0);
	assert_int_equal(setenv("NCCL_CHECK_POINTERS", "1", 1), 0);
	assert_int_equal(ncclAllReduce(p, p, 5, ncclFloat32, ncclSum, comm[0], NULL),
			 ncclInvalidArgument);
	assert_int_equal(unsetenv("NCCL_CHECK_POINTERS"), 0);
	assert_int_equal(ncclAllReduce(p, p, 5, ncclFloat32, ncclSum, comm[0], NULL), 0);
	open_gate(&gate);
	assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	assert_int_equal(ncclCommAbort(comm[0]), 0);
	assert_int_equal(ncclCommAbort(comm[1]), 0);
	use_device(0);
}

static void short_floats_round_to_the_nearest(void **state)
{
	static const struct {
		ncclDataType_t type;
		float value;
		unsigned bits;
	} known[] = {
		{ ncclFloat16, 1.0f, 0x3c00 },	    { ncclFloat16, -2.5f, 0xc100 },
		{ ncclFloat16, 65504.0f, 0x7bff },  { ncclFloat16, 65520.0f, 0x7c00 },
		{ ncclFloat16, 5.9604645e-8f, 1 },  { ncclFloat16, 2049.0f, 0x6800 },
		{ ncclFloat16, 2051.0f, 0x6802 },   { ncclBfloat16, 1.0f, 0x3f80 },
		{ ncclBfloat16, 257.0f, 0x4380 },   { ncclBfloat16, 259.0f, 0x4382 },
		{ ncclFloat8e4m3, 448.0f, 0x7e },   { ncclFloat8e4m3, 1000.0f, 0x7f },
		{ ncclFloat8e4m3, 0.0625f, 0x18 },  { ncclFloat8e4m3, -0.001953125f, 0x81 },
		{ ncclFloat8e5m2, 57344.0f, 0x7b }, { ncclFloat8e5m2, 1e6f, 0x7c },
		{ ncclFloat8e5m2, -0.75f, 0xba },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(sim_float_encode(known[i].type, known[i].value), known[i].bits);
	for (unsigned bits = 0; bits < 256; bits++) {
		assert_int_equal(sim_float_encode(ncclFloat8e5m2,
						  sim_float_decode(ncclFloat8e5m2, bits)) &
					 0x7c,
				 bits & 0x7c);
		if ((bits & 0x7f) != 0x7f)
			assert_int_equal(sim_float_encode(ncclFloat8e4m3,
							  sim_float_decode(ncclFloat8e4m3, bits)),
					 bits);
	}
	for (unsigned bits = 0; bits < 0x7c00; bits++)
		assert_int_equal(sim_float_encode(ncclFloat16, sim_float_decode(ncclFloat16, bits)),
				 bits);
}

/* What the program itself defines stands before the library's own calls, as a tracer does. */
static int broadcasts, ids;

__attribute__((visibility("default"))) ncclResult_t ncclBroadcast(const void *send, void *recv,
								  size_t count, ncclDataType_t type,
								  int root, ncclComm_t comm,
								  cudaStream_t stream)
{
	ncclResult_t (*real)(const void *, void *, size_t, ncclDataType_t, int, ncclComm_t,
			     cudaStream_t) = (__typeof__(real))dlsym(RTLD_NEXT, "ncclBroadcast");

	broadcasts++;
	return real(send, recv, count, type, root, comm, stream);
}

__attribute__((visibility("default"))) ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
	ncclResult_t (*real)(ncclUniqueId *) = (__typeof__(real))dlsym(RTLD_NEXT,
								       "ncclGetUniqueId");

	ids++;
	return real(id);
}

static void nested_calls_go_through_the_linker(void **state)
{
	float *p = floats(4);
	ncclComm_t comm;

	(void)state;
	ids = broadcasts = 0;
	assert_int_equal(ncclCommInitAll(&comm, 1, NULL), 0);
	assert_int_equal(ids, 1);
	assert_int_equal(ncclBcast(p, 1, ncclFloat32, 0, comm, NULL), 0);
	assert_int_equal(broadcasts, 1);
	assert_int_equal(ncclCommDestroy(comm), 0);
	OK(cuMemFree_v2((CUdeviceptr)(uintptr_t)p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_arguments_are_refused_and_counted),
		cmocka_unit_test(every_exported_function_has_its_twin_at_the_same_address),
		cmocka_unit_test(groups_answer_as_nccl_does),
		cmocka_unit_test(a_group_in_error_launches_nothing),
		cmocka_unit_test(a_destroyed_communicator_is_none),
		cmocka_unit_test(one_rank_copies_at_once_even_in_a_group),
		cmocka_unit_test(one_thread_drives_two_devices_in_a_group),
		cmocka_unit_test(a_stream_of_another_device_is_refused),
		cmocka_unit_test(blocking_and_nonblocking_do_not_mix_in_a_group),
		cmocka_unit_test(memory_is_allocated_and_registered),
		cmocka_unit_test(a_buffer_outside_of_memory_is_a_fault_of_the_kernel),
		cmocka_unit_test(short_floats_round_to_the_nearest),
		cmocka_unit_test(nested_calls_go_through_the_linker),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
