/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/guard.h"

struct ct_gate ct_gate __attribute__((aligned(CT_GATE_BYTES)));
__thread struct ct_thread ct_self __attribute__((tls_model("initial-exec")));
