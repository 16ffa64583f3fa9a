/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of this folder held against the headers that they are facts of, where those are found.
 * Nothing of it runs: that it compiles is the check. A prototype that differs is a second,
 * conflicting declaration; one that an older header lacks is simply the first. */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stddef.h>
#include <stdint.h>

/* ---- CUDA's driver
 * --------------------------------------------------------------------------------------------------
 */

#define CUDA_RESULT(name, value)                                                                   \
	_Static_assert((name) == (value), #name " is another number in cuda.h");
#define CUDA_NUMBER(name, value) CUDA_RESULT(name, value)
#include "interpose/abi/cuda_values.def"

_Static_assert(sizeof(CUresult) == 4 && sizeof(CUstreamCaptureStatus) == 4 &&
		       sizeof(CUstreamCaptureMode) == 4 && sizeof(CUdevice) == 4 &&
		       sizeof(CUdevice_attribute) == 4 && sizeof(CUuuid) == 16,
	       "enumerations are passed as int");
_Static_assert(sizeof(CUstream) == 8 && sizeof(CUevent) == 8 && sizeof(CUcontext) == 8,
	       "handles are pointers");
_Static_assert(__builtin_types_compatible_p(cudaStream_t, CUstream),
	       "a stream of the runtime is one of the driver");

#define CUDA_CALL(field, symbol, params) CUresult CUDAAPI symbol params;
#define CUDA_CALL_OPTIONAL(field, symbol, params) CUresult CUDAAPI symbol params;
#include "interpose/abi/cuda_calls.def"

/* ---- CUDA's runtime
 * ---------------------------------------------------------------------------------------------------
 */

#define CUDART_RESULT(name, value)                                                                 \
	_Static_assert((int)(name) == (value), #name " is another number in driver_types.h");
#include "interpose/abi/cudart_values.def"

_Static_assert(sizeof(cudaError_t) == 4, "an enumeration is passed as int");
_Static_assert(__builtin_types_compatible_p(cudaEvent_t, CUevent),
	       "an event of the runtime is one of the driver");

#define CUDART_CALL(symbol, ret, name, params, ...) ret name params;
#define CUDART_CALL_VOID(symbol, ret, name, ...) ret name(void);
#define CUDART_CALL_LOOSE(...) /* differ from version to version */
#include "interpose/abi/cudart_calls.def"

/* ---- NCCL
 * -----------------------------------------------------------------------------------------------------------
 */

/* The first version that has everything in the tables. */
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 28, 0)

/* What younger versions brought, for the rows that an older header cannot judge. */
#if NCCL_VERSION_CODE < NCCL_VERSION(2, 29, 0)
typedef struct {
	int opCnt, peer, sigIdx, ctx;
} ncclWaitSignalDesc_t;
#endif
#if NCCL_VERSION_CODE < NCCL_VERSION(2, 29, 7)
typedef enum { ncclStatGpuMemSuspend } ncclCommMemStat_t;
#endif
#if NCCL_VERSION_CODE < NCCL_VERSION(2, 30, 0)
enum { ncclTimeout = 8 };
#endif

#define NCCL_RESULT(name, value)                                                                   \
	_Static_assert((int)(name) == (value), #name " is another number in nccl.h");
#define NCCL_DTYPE(name, value, dtype) NCCL_RESULT(name, value)
#define NCCL_REDOP(name, value, redop) NCCL_RESULT(name, value)
#define NCCL_LAYOUT(type, member, offset)                                                          \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member " lies elsewhere");
#define NCCL_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size");
#include "interpose/abi/nccl_values.def"

#define NCCL_CALL(symbol, name, since, op, params, ...) ncclResult_t name params;
#define NCCL_CALL_HOST(symbol, name, since, params, args) ncclResult_t name params;
#define NCCL_CALL_HAND(symbol, name, since, params, args) ncclResult_t name params;
#define NCCL_SKIP(ret, name, since, params, reason) ret name params;
#include "interpose/abi/nccl_calls.def"

/* What nccl.h of this folder declares without tables. The second member in the initializer is the
 * magic. */
#define SECOND_(first, second, ...) second
#define SECOND(...) SECOND_(__VA_ARGS__)
_Static_assert(SECOND(NCCL_CONFIG_INITIALIZER) == 0xcafebeef, "the magic of a config");
_Static_assert(NCCL_SPLIT_NOCOLOR == -1 && NCCL_SHRINK_ABORT == 1, "flags of split and shrink");

#endif

/* ---- NVTX
 * -----------------------------------------------------------------------------------------------------------
 */

#if __has_include(<nvtx3/nvToolsExt.h>)
#define NVTX_NO_IMPL /* the types only: functions would be part of this object */
#include <nvtx3/nvToolsExt.h>

#define NVTX_VALUE(name, value)                                                                    \
	_Static_assert((int)(name) == (value), #name " is another number in NVTX's headers");
#define NVTX_LAYOUT(field, member, offset)                                                         \
	_Static_assert(offsetof(nvtxEventAttributes_t, member) == (offset),                        \
		       "nvtxEventAttributes_t." #member " lies elsewhere");
#include "interpose/abi/nvtx_values.def"

_Static_assert(sizeof(nvtxEventAttributes_t) == 48 && sizeof(nvtxMessageValue_t) == 8,
	       "attributes have another size");
_Static_assert(offsetof(NvtxExportTableCallbacks, struct_size) == 0 &&
		       offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable) == 8,
	       "the callbacks' table lies elsewhere");

/* What the callbacks of interpose/nvtx are, as NVTX calls them. */
#define SAME(type, ret, ...)                                                                       \
	_Static_assert(__builtin_types_compatible_p(type, ret(*)(__VA_ARGS__)),                    \
		       #type " has another prototype");
SAME(nvtxMarkA_impl_fntype, void, const char *)
SAME(nvtxMarkW_impl_fntype, void, const wchar_t *)
SAME(nvtxMarkEx_impl_fntype, void, const nvtxEventAttributes_t *)
SAME(nvtxRangeStartA_impl_fntype, uint64_t, const char *)
SAME(nvtxRangeStartW_impl_fntype, uint64_t, const wchar_t *)
SAME(nvtxRangeStartEx_impl_fntype, uint64_t, const nvtxEventAttributes_t *)
SAME(nvtxRangeEnd_impl_fntype, void, uint64_t)
SAME(nvtxRangePushA_impl_fntype, int, const char *)
SAME(nvtxRangePushW_impl_fntype, int, const wchar_t *)
SAME(nvtxRangePushEx_impl_fntype, int, const nvtxEventAttributes_t *)
SAME(nvtxRangePop_impl_fntype, int, void)
SAME(nvtxDomainMarkEx_impl_fntype, void, nvtxDomainHandle_t, const nvtxEventAttributes_t *)
SAME(nvtxDomainRangeStartEx_impl_fntype, uint64_t, nvtxDomainHandle_t,
     const nvtxEventAttributes_t *)
SAME(nvtxDomainRangeEnd_impl_fntype, void, nvtxDomainHandle_t, uint64_t)
SAME(nvtxDomainRangePushEx_impl_fntype, int, nvtxDomainHandle_t, const nvtxEventAttributes_t *)
SAME(nvtxDomainRangePop_impl_fntype, int, nvtxDomainHandle_t)
SAME(nvtxDomainRegisterStringA_impl_fntype, nvtxStringHandle_t, nvtxDomainHandle_t, const char *)
SAME(nvtxDomainRegisterStringW_impl_fntype, nvtxStringHandle_t, nvtxDomainHandle_t, const wchar_t *)
SAME(nvtxDomainCreateA_impl_fntype, nvtxDomainHandle_t, const char *)
SAME(nvtxDomainCreateW_impl_fntype, nvtxDomainHandle_t, const wchar_t *)
SAME(NvtxInitializeInjectionNvtxFunc_t, int, NvtxGetExportTableFunc_t)
SAME(NvtxGetExportTableFunc_t, const void *, uint32_t)

#endif
