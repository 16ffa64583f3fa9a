/* SPDX-License-Identifier: Apache-2.0 */
/* sim_copies.h — what a program of the test of several copies calls of one. */
#ifndef CT_TESTS_E2E_SIM_COPIES_H
#define CT_TESTS_E2E_SIM_COPIES_H

#include "tests/interpose/fake_libnccl.h"
#include "tools/sim/nccl/job.h"

#define SIM_COPIES_FUNCTIONS(X)                                                                    \
	X(ncclGetUniqueId)                                                                         \
	X(ncclCommInitAll)                                                                         \
	X(ncclGroupStart)                                                                          \
	X(ncclGroupEnd)                                                                            \
	X(ncclAllReduce)                                                                           \
	X(ncclCommDestroy)                                                                         \
	X(simNcclOnKernel)

struct sim_copies_calls {
#define SIM_COPIES_POINTER(name) __typeof__(&name) name;
	SIM_COPIES_FUNCTIONS(SIM_COPIES_POINTER)
};

/* Of the copy that libsim_copies_user.so is linked with; every caller calls from that library. */
const struct sim_copies_calls *sim_copies_own(void) __attribute__((visibility("default")));

#endif
