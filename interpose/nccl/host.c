/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that may wait for other ranks and move no data, and how communicators end. */
#include "interpose/gpu/freeze.h"
#include "interpose/nccl/async_ops.h"
#include "interpose/nccl/group.h"
#include "interpose/unwind.h"

#define LIST(...) __VA_ARGS__
#define WITH_(...) __VA_ARGS__
#define WITH(args, ...) (WITH_ args, __VA_ARGS__)

static void begin_call(struct ct_host_frame *f, enum ct_nccl_call call, ncclComm_t comm)
{
	f->rec = ct_nccl_host_rec(call, comm ? ct_comms_find(comm) : NULL);
	ct_host_begin(f);
}

static ncclResult_t end(struct ct_host_frame *f, ncclResult_t result, ncclComm_t asked,
			const void *library)
{
	ct_nccl_host_end(f, result, asked, library);
	return result;
}

#define LIBRARY(real) ((const void *)(uintptr_t)(real))

#define NCCL_CALL_HOST(symbol, name, since, params, args)                                          \
	static CT_UNWIND_WHOLE ncclResult_t record_##name(LIST params, ct_##name##_fn *real)       \
	{                                                                                          \
		struct ct_host_frame f;                                                            \
                                                                                                   \
		CT_UNWIND_HERE();                                                                  \
		begin_call(&f, CT_NCCL_##name, comm);                                              \
		return end(&f, real args, comm, LIBRARY(real));                                    \
	}                                                                                          \
                                                                                                   \
	ncclResult_t ct_##name params                                                              \
	{                                                                                          \
		ct_##name##_fn *next = CT_NCCL_NEXT(name);                                         \
                                                                                                   \
		if (!next)                                                                         \
			return CT_NCCL_ABSENT;                                                     \
		if (!ct_nccl_enter(CT_CALL_DATA, __builtin_return_address(0)))                     \
			return next args;                                                          \
		return record_##name WITH(args, next);                                             \
	}
#include "interpose/abi/nccl_calls.def"

/* Its open launches end when NCCL is asked to stop it, though its kernels may complete later. It
 * can still be split and shrunk. */
static CT_UNWIND_WHOLE ncclResult_t revoke(ncclComm_t comm, int flags, ct_ncclCommRevoke_fn *real)
{
	struct ct_host_frame f;
	ncclResult_t result;
	uint64_t was;

	CT_UNWIND_HERE();
	begin_call(&f, CT_NCCL_ncclCommRevoke, comm);
	was = ct_freeze(f.rec.comm);
	result = real(comm, flags);
	if (ct_nccl_is_refused(result))
		ct_freeze_undo(f.rec.comm, was);
	else
		ct_nccl_async_gone(comm, CT_RESULT_ABORTED);
	return end(&f, result, comm, LIBRARY(real));
}

ncclResult_t ct_ncclCommRevoke(ncclComm_t comm, int flags)
{
	ct_ncclCommRevoke_fn *next = CT_NCCL_NEXT(ncclCommRevoke);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_DATA, __builtin_return_address(0)))
		return next(comm, flags);
	return revoke(comm, flags, next);
}

/* It ends before NCCL is asked to end it: NCCL may reuse its address while still in the call. */
static CT_UNWIND_WHOLE ncclResult_t end_comm(ncclComm_t comm, enum ct_nccl_call call, int result,
					     ct_ncclCommDestroy_fn *real)
{
	struct ct_host_frame f;

	CT_UNWIND_HERE();
	begin_call(&f, call, comm);
	if (result == CT_RESULT_ABORTED)
		ct_freeze(f.rec.comm);
	ct_nccl_async_gone(comm, result);
	ct_comms_end(comm);
	return end(&f, real(comm), NULL, LIBRARY(real)); /* the handle is NCCL's again */
}

ncclResult_t ct_ncclCommDestroy(ncclComm_t comm)
{
	ct_ncclCommDestroy_fn *next = CT_NCCL_NEXT(ncclCommDestroy);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_DATA, __builtin_return_address(0)))
		return next(comm);
	return end_comm(comm, CT_NCCL_ncclCommDestroy, 0, next);
}

ncclResult_t ct_ncclCommAbort(ncclComm_t comm)
{
	ct_ncclCommAbort_fn *next = CT_NCCL_NEXT(ncclCommAbort);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_nccl_enter(CT_CALL_DATA, __builtin_return_address(0)))
		return next(comm);
	return end_comm(comm, CT_NCCL_ncclCommAbort, CT_RESULT_ABORTED, next);
}

static CT_UNWIND_WHOLE ncclResult_t get_version(int *version, ct_ncclGetVersion_fn *real)
{
	struct ct_host_frame f;

	CT_UNWIND_HERE();
	begin_call(&f, CT_NCCL_ncclGetVersion, NULL);
	return end(&f, real(version), NULL, LIBRARY(real));
}

/* Asked by programs that never communicate, too: no reason to begin recording. */
ncclResult_t ct_ncclGetVersion(int *version)
{
	ct_ncclGetVersion_fn *next = CT_NCCL_NEXT(ncclGetVersion);

	if (!next)
		return CT_NCCL_ABSENT;
	if (!ct_guard_is_on() || !ct_nccl_enter(CT_CALL_DATA, __builtin_return_address(0)))
		return next(version);
	return get_version(version, next);
}
