/* SPDX-License-Identifier: Apache-2.0 */
/* fake_mpi.h — a library that says it is any MPI, with one rank of four, and judges how it is
 * called: handles as MPICH has them (32 bits; what stands above them is cut off, as there) or as
 * the standard ABI has them. */
#ifndef CT_TESTS_INTERPOSE_FAKE_MPI_H
#define CT_TESTS_INTERPOSE_FAKE_MPI_H

#include <stdint.h>

enum { FAKE_SIZE = 4, FAKE_RANK = 1 };

struct fake_mpi {
	const char *text; /* of MPI_Get_library_version */
	int abi_major;	  /* of MPI_Abi_get_version */
	uintptr_t mask;	  /* of a handle */
	uintptr_t world;  /* MPI_COMM_WORLD */
	int is_initialised, is_finalised;
	int result; /* of data calls */
	/* what came */
	int data_calls, pdata_calls; /* under MPI_ and PMPI_ */
	int asked;	   /* questions other than whether it is initialised or finalised ... */
	int asked_wrongly; /* ... of these when it was not, or of handles that are none of this
			      library */
};
extern struct fake_mpi fake_mpi;

/* Of the family: text, ABI, handles; not initialised. */
void fake_mpi_is(const char *text, int abi_major, uintptr_t mask, uintptr_t world);

#endif
