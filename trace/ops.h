/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h — the tables of operations, element types and reductions as constants and look-ups.
 * Pure functions over constant tables; any thread may call them. */
#ifndef CT_TRACE_OPS_H
#define CT_TRACE_OPS_H

#include <stdint.h>

enum ct_op_id {
#define X(NAME, id, class, per_rank, bus, text) CT_OP_##NAME = (id),
#include "trace/ops.def"
#undef X
};

enum ct_op_class { CT_CLASS_UNKNOWN, CT_CLASS_SYNC, CT_CLASS_ROOTED, CT_CLASS_P2P, CT_CLASS_LOCAL };
enum ct_bus { CT_BUS_NONE, CT_BUS_ONE, CT_BUS_SHARE, CT_BUS_ALLREDUCE };

enum ct_dtype {
#define X(name, id, size_bytes) CT_DTYPE_##name = (id),
#include "trace/dtypes.def"
#undef X
};

enum ct_redop {
#define X(name, id) CT_REDOP_##name = (id),
#include "trace/redops.def"
#undef X
};

/* Names as in the tables; NULL for an id that this version does not know. */
const char *ct_op_name(unsigned op);
const char *ct_dtype_name(unsigned dtype);
const char *ct_redop_name(unsigned redop);
const char *ct_backend_name(unsigned backend); /* enum ct_backend */
const char *ct_loss_name(unsigned reason);     /* enum ct_loss */
const char *ct_loss_text(unsigned reason);

/* Ids from names; 0 if there is no such name. */
unsigned ct_op_by_name(const char *name);
unsigned ct_dtype_by_name(const char *name);
unsigned ct_redop_by_name(const char *name);
unsigned ct_backend_by_name(const char *name);

/* CT_CLASS_UNKNOWN for an unknown op. A table, since every operation of a run uses it. */
static inline enum ct_op_class ct_op_class(unsigned op)
{
	static const uint8_t classes[256] = {
#define X(NAME, id, class, per_rank, bus, text) [id] = CT_CLASS_##class,
#include "trace/ops.def"
#undef X
	};

	return op < sizeof(classes) ? (enum ct_op_class)classes[op] : CT_CLASS_UNKNOWN;
}

/* The program's tag, from that of a recorded point-to-point op; CT_TAG_ANY stays. */
uint32_t ct_op_program_tag(unsigned backend, uint32_t tag);

/* Bytes of one element; 1 for unknown types, so that a count of bytes stays one. A table likewise. */
static inline uint32_t ct_dtype_bytes(unsigned dtype)
{
	static const uint8_t bytes[256] = {
#define X(NAME, id, bytes) [id] = bytes,
#include "trace/dtypes.def"
#undef X
	};

	return dtype < sizeof(bytes) && bytes[dtype] ? bytes[dtype] : 1;
}

/* Do two types contradict each other? Not if one is unknown (0), nor with elem1: what the program
 * made of others (MPI), or what is counted in bytes. Of the other elemN only the width is known,
 * and widths are compared. */
int ct_dtypes_differ(unsigned a, unsigned b);

/* The type of an element with only a known width: elemN. If no elemN has this width, it is elem1,
 * counted in bytes. */
static inline uint8_t ct_dtype_of_width(uint64_t bytes)
{
	switch (bytes) {
	case 2:
		return CT_DTYPE_elem2;
	case 4:
		return CT_DTYPE_elem4;
	case 8:
		return CT_DTYPE_elem8;
	case 16:
		return CT_DTYPE_elem16;
	default:
		return CT_DTYPE_elem1;
	}
}

/* S of the analysis: bytes of the whole operation over `nranks` members, from one call's count.
 * Source: nccl-tests doc/PERFORMANCE.md. Saturates instead of wrapping. */
uint64_t ct_op_total_bytes(unsigned op, uint64_t count, unsigned dtype, uint32_t nranks);

/* f in busbw = S / X * f. 0 where the bus bandwidth is undefined (one member, no data). */
double ct_op_bus_factor(unsigned op, uint32_t nranks);

#endif
