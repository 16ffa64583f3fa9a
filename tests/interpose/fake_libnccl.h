/* SPDX-License-Identifier: Apache-2.0 */
/* fake_libnccl.h — a libnccl that moves nothing and does what a test shows it, with the ways of the
 * real one that matter to who stands before it: groups belong to threads, handles are written when
 * the real one writes them, some functions are called through their public symbols. Communicators
 * are plain memory, so a test may look inside. */
#ifndef CT_TESTS_INTERPOSE_FAKE_LIBNCCL_H
#define CT_TESTS_INTERPOSE_FAKE_LIBNCCL_H

#include <stdint.h>

#include "interpose/abi/nccl.h"

#define FAKE_PROTOTYPE(name, params) ncclResult_t name params;
#define NCCL_CALL(symbol, name, since, op, params, ...) FAKE_PROTOTYPE(name, params)
#define NCCL_CALL_HOST(symbol, name, since, params, args) FAKE_PROTOTYPE(name, params)
#define NCCL_CALL_HAND(symbol, name, since, params, args) FAKE_PROTOTYPE(name, params)
#include "interpose/abi/nccl_calls.def"
ncclResult_t ncclCommCount(const ncclComm_t comm, int *count);
const char *ncclGetLastError(ncclComm_t comm); /* always the same words */
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank);

struct ncclComm {
	int rank;
	int nranks;
	int blocking;
	int asked; /* for its size or rank */
	ncclResult_t state;
};

/* Called with its name when a function is entered, and for "size" and "rank"; NULL: none. */
void fake_on_call(void (*function)(const char *name));

/* What data calls, ends of groups, calls that make or wait return from now on; group depth is kept
 * all the same. */
void fake_result(ncclResult_t result);

/* From now on communicators are nonblocking: what takes long goes on after the call. */
void fake_nonblocking(int yes);

/* From now on the library does, or does not, ask by itself whether a communicator is ready before
 * it uses it. */
void fake_asks(int yes);

/* What ncclGetVersion shows from now on; 23007 before. */
void fake_version(int version);

/* All that goes on is done: children are written, communicators have this state. */
void fake_finish(ncclResult_t state);

/* The id that the last call got by value, and the one that the last ncclCommInitAll made for
 * itself. */
const ncclUniqueId *fake_last_id(void);

#endif
