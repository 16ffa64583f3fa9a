/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/nccl/nccl.h"

#include <string.h>

#define NCCL_LAYOUT(type, member, offset)                                                          \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member);
#define NCCL_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type);
#include "interpose/abi/nccl_values.def"

const char *const ct_nccl_sonames[] = { "libnccl.so.2", "libnccl.so", NULL };

#define REAL(symbol_, name)                                                                        \
	[CT_NCCL_##name] = {                                                                       \
		.symbol = symbol_,                                                                 \
		.self = (const void *)&ct_##name,                                                  \
		.names = ct_nccl_sonames,                                                          \
	},
struct ct_real ct_nccl_reals[CT_NCCL_CALLS] = {
#define NCCL_CALL(symbol, name, ...) REAL(symbol, name)
#define NCCL_CALL_HOST(symbol, name, ...) REAL(symbol, name)
#define NCCL_CALL_HAND(symbol, name, ...) REAL(symbol, name)
#include "interpose/abi/nccl_calls.def"
};

uint16_t ct_nccl_call_ids[CT_NCCL_CALLS];
int ct_nccl_is_wanted;
_Atomic uint32_t ct_nccl_seen;

struct ct_real *ct_nccl_real(const char *symbol)
{
	for (int i = 0; i < CT_NCCL_CALLS; i++)
		if (strcmp(ct_nccl_reals[i].symbol, symbol) == 0)
			return &ct_nccl_reals[i];
	return NULL;
}
