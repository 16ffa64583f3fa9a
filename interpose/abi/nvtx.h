/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.h — what NVTX 3 hands to a library that is injected into it, declared by ourselves: the
 * library is built the same way with and without its headers. Facts of the interface only; never
 * included beside the real nvToolsExt.h. Where that is found, abi_check.c proves numbers and
 * offsets against it.
 *
 * Each object of a program that uses NVTX holds a copy of its own. With the first call it loads the
 * library that NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2() there with a
 * function that hands out its tables.
 */
#ifndef CT_INTERPOSE_ABI_NVTX_H
#define CT_INTERPOSE_ABI_NVTX_H

#include <stddef.h>
#include <stdint.h>

enum {
#define NVTX_VALUE(name, value) name = (value),
#include "interpose/abi/nvtx_values.def"
};

/* The first `size` bytes of it are there. */
struct ct_nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message; /* char *, wchar_t * or what registering a string returned */
};
#define NVTX_LAYOUT(field, member, offset)                                                         \
	_Static_assert(offsetof(struct ct_nvtx_attributes, field) == (offset), "as in the table");
#include "interpose/abi/nvtx_values.def"

typedef void (*ct_nvtx_fn)(void);
typedef ct_nvtx_fn *
	*ct_nvtx_table; /* by number; what an entry points to is the function to call, or NULL */

/* As many bytes of it as struct_size says. */
struct ct_nvtx_callbacks {
	size_t struct_size;
	int (*get_table)(int module, ct_nvtx_table *table, unsigned *size); /* 0: no such module */
};

typedef const void *(*ct_nvtx_export_fn)(uint32_t table);

#endif
