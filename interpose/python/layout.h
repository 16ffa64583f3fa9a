/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h — offsets in the memory of a CPython interpreter. Offsets in bytes; constant once found;
 * any thread. */
#ifndef CT_INTERPOSE_PYTHON_LAYOUT_H
#define CT_INTERPOSE_PYTHON_LAYOUT_H

#include <stdint.h>

#define CT_PYTHON_NOT_THERE UINT16_MAX

struct ct_python_layout {
#define X(NAME, text) uint32_t NAME;
#include "interpose/python/fields.def"
#undef X
};

#endif
