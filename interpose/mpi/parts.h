/* SPDX-License-Identifier: Apache-2.0 */
/* parts.h — the counts for each peer of persistent collectives, from the call that made one until
 * it is freed.
 *
 * Each start writes them anew (VCOUNTS). The program's own arrays are not looked at again: MPI has
 * them left alone until the request is freed, but a program that does not must not crash by us. A
 * table of fixed size without a lock; rows belong to the request that has their number, and so to
 * one thread at a time.
 */
#ifndef CT_INTERPOSE_MPI_PARTS_H
#define CT_INTERPOSE_MPI_PARTS_H

#include <stdint.h>

#include "interpose/mpi/collective_args.h"

#define CT_MPI_PARTS_ROWS 256u /* size: programs make a few, at their start */

/* Forget all. Before the gate opens. */
void ct_mpi_parts_init(void);

/* A copy of counts of elements of `unit` bytes. Its number, from 1; 0: there are none, or no row is
 * free (counted). */
uint32_t ct_mpi_parts_keep(const struct ct_mpi_counts *parts, uint64_t unit);

/* VCOUNTS records of an op that is about to begin. 0 is not a row, here and below. */
void ct_mpi_parts_report(uint32_t row, uint32_t comm, uint64_t seq);

void ct_mpi_parts_forget(uint32_t row);

#endif
