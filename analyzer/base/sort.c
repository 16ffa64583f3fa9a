/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/base/sort.h"

#include <stdint.h>

#define NUMBER(name, type, order)                                                                  \
	int name(const void *a, const void *b)                                                     \
	{                                                                                          \
		type x = *(const type *)a, y = *(const type *)b;                                   \
                                                                                                   \
		return order;                                                                      \
	}

NUMBER(ct_by_int, int, CT_CMP(x, y))
NUMBER(ct_by_u32, uint32_t, CT_CMP(x, y))
NUMBER(ct_by_u64, uint64_t, CT_CMP(x, y))
NUMBER(ct_by_u64_down, uint64_t, CT_CMP(y, x))
NUMBER(ct_by_i64, int64_t, CT_CMP(x, y))
NUMBER(ct_by_float, float, CT_CMP(x, y))
NUMBER(ct_by_float_down, float, CT_CMP(y, x))
NUMBER(ct_by_double, double, CT_CMP(x, y))
NUMBER(ct_by_double_down, double, CT_CMP(y, x))
