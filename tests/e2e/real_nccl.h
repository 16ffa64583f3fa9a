/* SPDX-License-Identifier: Apache-2.0 */
/* real_nccl.h — calls of the real libnccl that need no GPU, or fail without one, in a fixed order;
 * each prints a line.
 *
 * real_nccl_calls.c is compiled twice: with REAL_NCCL_TABLE every call goes through pointers that
 * dlsym has filled in, without it through the symbols. real_nccl.py is the same in Python: all of
 * them print the same lines. */
#ifndef CT_TESTS_E2E_REAL_NCCL_H
#define CT_TESTS_E2E_REAL_NCCL_H

#include <nccl.h>

#define REAL_NCCL_FUNCTIONS(X)                                                                     \
	X(ncclGetVersion)                                                                          \
	X(ncclGetErrorString)                                                                      \
	X(ncclGetUniqueId)                                                                         \
	X(ncclGroupStart)                                                                          \
	X(ncclGroupEnd)                                                                            \
	X(ncclAllReduce)                                                                           \
	X(ncclBcast)                                                                               \
	X(ncclSend)                                                                                \
	X(ncclRecv)                                                                                \
	X(ncclCommCount)                                                                           \
	X(ncclCommGetAsyncError)                                                                   \
	X(ncclCommDestroy)                                                                         \
	X(ncclCommSplit)                                                                           \
	X(ncclCommInitRank)                                                                        \
	X(ncclCommInitRankConfig)                                                                  \
	X(ncclCommInitAll)

struct real_nccl {
#define REAL_NCCL_POINTER(name) __typeof__(&name) name;
	REAL_NCCL_FUNCTIONS(REAL_NCCL_POINTER)
};

/* `f` is looked at only with REAL_NCCL_TABLE. The bytes of the unique id are written to the file
 * `id`, in hex. */
int real_nccl_calls(const struct real_nccl *f, const char *id)
	__attribute__((visibility("default")));

#endif
