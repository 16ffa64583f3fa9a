#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# abi_check.sh CC INCLUDE... — interpose/abi/abi_check.c keeps quiet about the tables as they are, and stops the build
# once a number, an offset, a size or a prototype in them is another than in the real headers, which lie in the INCLUDE
# directories. No other file of the library may look into those.
set -euo pipefail
cc=$1
shift
cd "$CT_ROOT"
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

compile() {
	"$cc" -std=gnu11 -fsyntax-only -Werror -I "$tree" "${includes[@]}" "$tree/interpose/abi/abi_check.c" 2>"$tree/said"
}

includes=()
for dir in "$@"; do
	includes+=(-isystem "$dir")
done

plant() {
	rm -rf "$tree/interpose"
	mkdir -p "$tree/interpose"
	cp -r interpose/abi "$tree/interpose/abi"
}

# stops FILE SED: with the table changed like that it does not compile.
stops() {
	plant
	sed -i "$2" "$tree/interpose/abi/$1"
	! cmp -s "interpose/abi/$1" "$tree/interpose/abi/$1" || { echo "$1: nothing changed by: $2"; exit 1; }
	! compile || { echo "keeps quiet about $1: $2"; exit 1; }
}

plant
compile || { cat "$tree/said"; exit 1; }

stops nccl_values.def 's/(ncclInProgress, 7)/(ncclInProgress, 8)/'
stops nccl_values.def 's/(ncclBfloat16, 9,/(ncclBfloat16, 10,/'
stops nccl_values.def 's/(ncclAvg, 4,/(ncclAvg, 3,/'
stops nccl_values.def 's/commName, 48)/commName, 40)/'
stops nccl_values.def 's/(ncclUniqueId, 128)/(ncclUniqueId, 8)/'
stops nccl_calls.def 's/int nranks, ncclUniqueId id, int rank)/int nranks, ncclUniqueId *id, int rank)/'
stops nccl_calls.def 's/(void \*recv, size_t count, ncclDataType_t type, int peer/(void *recv, int count, ncclDataType_t type, int peer/'
stops nccl_calls.def 's/ncclCommRevoke, 22807, (ncclComm_t comm, int flags)/ncclCommRevoke, 22807, (ncclComm_t comm)/'
stops nccl_calls.def 's/NCCL_SKIP(const char \*, ncclGetLastError/NCCL_SKIP(char *, ncclGetLastError/'
stops cuda_values.def 's/(CUDA_ERROR_NOT_READY, 600)/(CUDA_ERROR_NOT_READY, 601)/'
stops cuda_values.def 's/(CU_EVENT_DISABLE_TIMING, 2)/(CU_EVENT_DISABLE_TIMING, 1)/'
stops cudart_values.def 's/(cudaErrorNotReady, 600)/(cudaErrorNotReady, 601)/'
stops cudart_calls.def 's/(cudaStream_t stream, cudaEvent_t event, unsigned int flags)/(cudaStream_t stream, cudaEvent_t event, size_t flags)/'
stops cudart_calls.def 's/cuEventSynchronize, (CUevent event)/cuEventSynchronize, (CUstream event)/'
stops nvtx_values.def 's/(NVTX_CBID_CORE_RangePop, 11)/(NVTX_CBID_CORE_RangePop, 12)/'
stops nvtx_values.def 's/(message, message, 40)/(message, message, 32)/'
stops cuda_calls.def 's/(CUstream stream, CUcontext \*ctx)/(CUstream stream, CUcontext ctx)/'

if grep -lE '#[ \t]*include[ \t]*<(nccl|cuda[a-z_0-9]*|nvtx3/[A-Za-z]*)\.h>' -r interpose trace | grep -v '^interpose/abi/abi_check\.c$'; then
	echo "needs the headers of NCCL, CUDA or NVTX to be built"
	exit 1
fi
