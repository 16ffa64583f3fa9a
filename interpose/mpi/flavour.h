/* SPDX-License-Identifier: Apache-2.0 */
/* flavour.h — which MPI this process has: its constants, its predefined types and reductions, and
 * the functions of it that we call ourselves.
 *
 * Found out once per start of recording, by the thread that first meets an initialised MPI;
 * constant from then on, and read by every thread that has seen CT_MPI_RECORD (mpi.h). Handles are
 * compared and looked up as keys: cut to the width that the library reads, with the highest bit
 * set, so that they clash with no pointer of another backend.
 */
#ifndef CT_INTERPOSE_MPI_FLAVOUR_H
#define CT_INTERPOSE_MPI_FLAVOUR_H

#include <stdint.h>
#include <string.h>

#include "interpose/abi/mpi.h"
#include "interpose/guard.h"
#include "trace/mix.h"
#include "trace/ops.h"

struct ct_mpi_helpers {
#define MPI_HELPER(name, params) int(*name) params;
#define MPI_HELPER_OPTIONAL(name, params) int(*name) params;
#include "interpose/abi/mpi_helpers.def"
};

/* What becomes of calls. */
enum ct_mpi_way {
	CT_MPI_ASK = 0,	   /* not initialised when last asked */
	CT_MPI_RECORD = 1, /* the library is known */
	CT_MPI_PASS = 2,   /* not to be recorded, unknown, or finalised */
};

#define CT_MPI_AT 0xc80 /* tuning: as CT_GATE_AT, in other sets of the cache than that */
struct ct_mpi {
	uint8_t before[CT_MPI_AT]; /* in a page, as that of ct_gate */
	_Atomic uint32_t way;	   /* enum ct_mpi_way; with the mask, what every call reads */
	enum ct_mpi_flavour flavour;
	uintptr_t mask; /* of a handle: the bits that the library reads */
	struct ct_mpi_values is;
	struct ct_mpi_helpers call;
};
extern struct ct_mpi ct_mpi CT_NEAR;

/* Where MPI may be when the caller's own scope does not have it. */
extern const char *const ct_mpi_sonames[];

/* An element of a datatype. */
struct ct_mpi_element {
	uint8_t dtype;	/* trace/dtypes.def; elem1 where the type is the program's own: counted in
			   bytes */
	uint64_t bytes; /* of one element of the datatype */
};

/* So many of them, as an op counts them. */
static inline uint64_t ct_mpi_count_of(struct ct_mpi_element element, uint64_t count)
{
	return element.dtype == CT_DTYPE_elem1 ? count * element.bytes : count;
}

/* Find the functions that we call, as `caller` would. 0 if some that every MPI has are not there. */
int ct_mpi_find_helpers(const void *caller);

/* Flavour, values, types and reductions, of an initialised library. CT_MPI_UNKNOWN: unknown
 * library. Either is recorded. */
enum ct_mpi_flavour ct_mpi_find_flavour(void);

/* The flavour by what the library says: the text of MPI_Get_library_version, the major number of
 * MPI_Abi_get_version (below 1: none), and whether Open MPI's data symbols are there. */
enum ct_mpi_flavour ct_mpi_flavour_of(const char *text, int abi_major, int has_openmpi_data);

/* The key of a handle. Any thread. */
static inline const void *ct_mpi_key(ct_mpi_handle handle)
{
	return (const void *)((handle & ct_mpi.mask) | (uintptr_t)1 << 63);
}

static inline int ct_mpi_is(ct_mpi_handle handle, ct_mpi_handle constant)
{
	return ((handle ^ constant) & ct_mpi.mask) == 0;
}

/* A handle in memory; the i-th of an array of them. */
static inline ct_mpi_handle ct_mpi_handle_at(const void *handles, uint64_t i)
{
	if (ct_mpi.is.handle_bytes == 8)
		return ((const uintptr_t *)handles)[i];
	return ((const uint32_t *)handles)[i];
}

static inline int ct_mpi_is_in_place(const void *buffer)
{
	return (uintptr_t)buffer == ct_mpi.is.IN_PLACE;
}

/* The element of a datatype that is significant in the call at hand. Any thread. */
struct ct_mpi_element ct_mpi_element_slow(ct_mpi_handle type);

#define CT_MPI_SLOTS 256u /* size: eight bits of a hash choose one; MPI has fewer than 100 types */
struct ct_mpi_slot {
	uint64_t key; /* of a predefined handle, 0: none */
	uint8_t id;   /* in trace/dtypes.def or redops.def */
	uint8_t bytes;
};
extern struct ct_mpi_slot ct_mpi_types[CT_MPI_SLOTS] CT_NEAR;

static inline uint32_t ct_mpi_slot_of(uint64_t key)
{
	return ct_mix_slot(key, 8);
}

static inline struct ct_mpi_element ct_mpi_element(ct_mpi_handle type)
{
	uint64_t key = (uint64_t)(uintptr_t)ct_mpi_key(type);
	const struct ct_mpi_slot *slot = &ct_mpi_types[ct_mpi_slot_of(key)];

	if (__builtin_expect(slot->key == key, 1))
		return (struct ct_mpi_element){ slot->id, slot->bytes };
	return ct_mpi_element_slow(type);
}

/* The reduction, `custom` for one that the program made. Any thread. */
uint8_t ct_mpi_redop_slow(ct_mpi_handle redop);
extern struct ct_mpi_slot ct_mpi_redops[CT_MPI_SLOTS] CT_NEAR;

static inline uint8_t ct_mpi_redop(ct_mpi_handle redop)
{
	uint64_t key = (uint64_t)(uintptr_t)ct_mpi_key(redop);
	const struct ct_mpi_slot *slot = &ct_mpi_redops[ct_mpi_slot_of(key)];

	return __builtin_expect(slot->key == key, 1) ? slot->id : ct_mpi_redop_slow(redop);
}

#endif
