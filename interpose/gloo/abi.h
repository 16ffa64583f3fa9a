/* SPDX-License-Identifier: Apache-2.0 */
/* abi.h — offsets in Gloo's C++ objects, as plain C (x86-64 and aarch64 LP64, libstdc++).
 *
 * The option structs have not changed between 2022-05 and 2026-04; the offsets are in
 * gloo_calls.def, and tests/interpose/gloo_offsets.cc compares them with the installed headers.
 * gloo::Context lost its virtual destructor in 2024-09 and with it eight bytes: which of the two it
 * is shows in the values.
 */
#ifndef CT_INTERPOSE_GLOO_ABI_H
#define CT_INTERPOSE_GLOO_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* std::string and std::vector<T> of libstdc++, read only. */
struct ct_cxx_string {
	const char *data;
	size_t len;
	char small[16];
};

struct ct_cxx_vector {
	const char *begin;
	const char *end;
	const char *capacity;
};

enum {
	GLOO_OPTIONS_CONTEXT = 0, /* Context *, first half of a shared_ptr */
	GLOO_OPTIONS_IN = 16,	  /* UnboundBuffer *, of most options */
	GLOO_OPTIONS_OUT = 24,
	GLOO_BUFFER_SIZE = 16,	  /* transport::UnboundBuffer */
	GLOO_BUFFER_CONTEXT = 24, /* transport::tcp::UnboundBuffer: transport::Context * */
	GLOO_TRANSPORT_RANK = 8,  /* transport::Context */
	GLOO_TRANSPORT_SIZE = 12,
	GLOO_CONTEXT_OLD = 8,	     /* gloo::Context up to 2024-09: rank, then size */
	GLOO_CONTEXT_NEW = 0,	     /* since then */
	GLOO_CONTEXT_TRANSPORT = 32, /* from rank: transport::Context *, NULL before connectFullMesh
				      */
};
#define GLOO_MAX_SIZE (1 << 20) /* size: larger numbers are not a rank count */

static inline uint64_t ct_gloo_u64(const void *object, size_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)object + at, sizeof(value));
	return value;
}

static inline int32_t ct_gloo_i32(const void *object, size_t at)
{
	int32_t value;

	memcpy(&value, (const char *)object + at, sizeof(value));
	return value;
}

static inline const void *ct_gloo_ptr(const void *object, size_t at)
{
	const void *value;

	memcpy(&value, (const char *)object + at, sizeof(value));
	return value;
}

static inline uint64_t ct_gloo_buffer_bytes(const void *buffer)
{
	return buffer ? ct_gloo_u64(buffer, GLOO_BUFFER_SIZE) : 0;
}

/* Offset of rank and size in a gloo::Context, -1 if neither offset holds a rank and a size. */
int ct_gloo_context_at(const void *context);

#endif
