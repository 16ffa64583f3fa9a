/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.h — MPI's C interface in our own words, for every library of the three flavours at once.
 *
 * A handle is passed as an integer of a register's width: libraries whose handles are pointers read
 * all of it, those whose handles are int read the lower half; the upper half may then be anything.
 * A flavour is a family of libraries with the same constants, handles and status layout:
 * mpi_values.def. Nothing here is code; nothing here needs an mpi.h.
 */
#ifndef CT_INTERPOSE_ABI_MPI_H
#define CT_INTERPOSE_ABI_MPI_H

#include <stdint.h>

typedef uintptr_t ct_mpi_handle;
typedef int64_t ct_mpi_count; /* MPI_Count */
typedef intptr_t ct_mpi_aint; /* MPI_Aint */

enum ct_mpi_flavour {
	CT_MPI_UNKNOWN = 0,
	CT_MPI_OPENMPI = 1, /* handles are addresses of the library's data */
	CT_MPI_MPICH = 2,   /* handles are int: MPICH, Intel MPI, MVAPICH, Cray MPICH */
	CT_MPI_STANDARD = 3 /* the ABI of MPI 5 */
};

/* The meaning of some values, their offsets in a status, and the width of a handle in memory. */
struct ct_mpi_values {
#define MPI_VALUE(name, openmpi, mpich, standard) int32_t name;
#define MPI_ADDRESS(name, openmpi, mpich, standard) uintptr_t name;
#define MPI_LAYOUT(name, openmpi, mpich, standard) uint8_t name;
#define MPI_HANDLE(name, openmpi, mpich, standard) ct_mpi_handle name;
#include "interpose/abi/mpi_values.def"
};

#define CT_MPI_SUCCESS 0

/* Of mpi_calls.def: what is in parentheses, and that with more at its end. */
#define CT_MPI_LIST(...) __VA_ARGS__
#define CT_MPI_WITH_(...) __VA_ARGS__
#define CT_MPI_WITH(args, ...) (CT_MPI_WITH_ args, __VA_ARGS__)

#endif
