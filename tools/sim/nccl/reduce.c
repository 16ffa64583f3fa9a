/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/reduce.h"

#include <stdint.h>
#include <string.h>

#include "tools/sim/nccl/float.h"

/* The types that C has; sums and products of integers wrap, in an unsigned type that is wide
 * enough. */
#define NATIVE(X)                                                                                  \
	X(ncclInt8, int8_t, uint32_t)                                                              \
	X(ncclUint8, uint8_t, uint32_t)                                                            \
	X(ncclInt32, int32_t, uint32_t)                                                            \
	X(ncclUint32, uint32_t, uint32_t)                                                          \
	X(ncclInt64, int64_t, uint64_t)                                                            \
	X(ncclUint64, uint64_t, uint64_t)                                                          \
	X(ncclFloat32, float, float)                                                               \
	X(ncclFloat64, double, double)

size_t sim_type_bytes(ncclDataType_t type)
{
	static const unsigned char bytes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

	return (unsigned)type < sizeof(bytes) ? bytes[type] : 0;
}

#define FUNCTION(name, T, W)                                                                       \
	static void reduce_##name(T *restrict into, const T *restrict from, size_t n,              \
				  ncclRedOp_t op)                                                  \
	{                                                                                          \
		switch (op) {                                                                      \
		case ncclProd:                                                                     \
			for (size_t i = 0; i < n; i++)                                             \
				into[i] = (T)((W)into[i] * (W)from[i]);                            \
			break;                                                                     \
		case ncclMax:                                                                      \
			for (size_t i = 0; i < n; i++)                                             \
				into[i] = into[i] < from[i] ? from[i] : into[i];                   \
			break;                                                                     \
		case ncclMin:                                                                      \
			for (size_t i = 0; i < n; i++)                                             \
				into[i] = from[i] < into[i] ? from[i] : into[i];                   \
			break;                                                                     \
		default:                                                                           \
			for (size_t i = 0; i < n; i++)                                             \
				into[i] = (T)((W)into[i] + (W)from[i]);                            \
		}                                                                                  \
	}
NATIVE(FUNCTION)

static float combine(float a, float b, ncclRedOp_t op)
{
	switch (op) {
	case ncclProd:
		return a * b;
	case ncclMax:
		return a < b ? b : a;
	case ncclMin:
		return b < a ? b : a;
	default:
		return a + b;
	}
}

/* Short floats: element i. */
static float get(const void *values, size_t i, ncclDataType_t type)
{
	return sim_float_decode(type, sim_type_bytes(type) == 1 ? ((const uint8_t *)values)[i]
								: ((const uint16_t *)values)[i]);
}

static void set(void *values, size_t i, ncclDataType_t type, float value)
{
	if (sim_type_bytes(type) == 1)
		((uint8_t *)values)[i] = (uint8_t)sim_float_encode(type, value);
	else
		((uint16_t *)values)[i] = sim_float_encode(type, value);
}

void sim_reduce(void *into, const void *from, size_t n, ncclDataType_t type, ncclRedOp_t op)
{
	switch (type) {
#define CASE(name, T, W)                                                                           \
	case name:                                                                                 \
		reduce_##name(into, from, n, op);                                                  \
		break;
		NATIVE(CASE)
	default:
		for (size_t i = 0; i < n; i++)
			set(into, i, type, combine(get(into, i, type), get(from, i, type), op));
	}
}

void sim_divide(void *values, size_t n, ncclDataType_t type, int ranks)
{
	switch (type) {
#define DIVIDE(name, T, W)                                                                         \
	case name:                                                                                 \
		for (size_t i = 0; i < n; i++)                                                     \
			((T *)values)[i] = (T)(((T *)values)[i] / (T)ranks);                       \
		break;
		NATIVE(DIVIDE)
	default:
		for (size_t i = 0; i < n; i++)
			set(values, i, type, get(values, i, type) / (float)ranks);
	}
}

void sim_scale(void *values, size_t n, ncclDataType_t type, const void *scalar)
{
	switch (type) {
#define SCALE(name, T, W)                                                                          \
	case name: {                                                                               \
		T by;                                                                              \
                                                                                                   \
		memcpy(&by, scalar, sizeof(by));                                                   \
		for (size_t i = 0; i < n; i++)                                                     \
			((T *)values)[i] = (T)((W)((T *)values)[i] * (W)by);                       \
		break;                                                                             \
	}
		NATIVE(SCALE)
	default:
		for (size_t i = 0; i < n; i++)
			set(values, i, type, get(values, i, type) * get(scalar, 0, type));
	}
}
