/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/parts.h"

#include <stdatomic.h>

#include "interpose/recorder.h"

/* Apart from the rows, which are not touched before they are needed. */
static _Atomic uint8_t used[CT_MPI_PARTS_ROWS];
static struct parts_row {
	uint32_t n, first;
	uint32_t counts[CT_RECORDED_PEERS];
} rows[CT_MPI_PARTS_ROWS];

void ct_mpi_parts_init(void)
{
	for (uint32_t i = 0; i < CT_MPI_PARTS_ROWS; i++)
		atomic_store_explicit(&used[i], 0, memory_order_relaxed);
}

uint32_t ct_mpi_parts_keep(const struct ct_mpi_counts *parts, uint64_t unit)
{
	if (!parts->at || !parts->is_recorded || !unit)
		return 0;
	for (uint32_t i = 0; i < CT_MPI_PARTS_ROWS; i++) {
		uint8_t is_used = 0; /* acquire: pairs with the release in ct_mpi_parts_forget() */

		if (!atomic_compare_exchange_strong_explicit(
			    &used[i], &is_used, 1, memory_order_acquire, memory_order_relaxed))
			continue;
		rows[i].first = parts->first;
		rows[i].n = ct_mpi_part_counts(parts, unit, rows[i].counts);
		return i + 1;
	}
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_REQUESTS_FULL, 1);
	return 0;
}

void ct_mpi_parts_report(uint32_t row, uint32_t comm, uint64_t seq)
{
	const struct parts_row *r;

	if (!row)
		return;
	r = &rows[row - 1];
	ct_mpi_record_counts(r->counts, r->n, r->first, comm, seq);
}

void ct_mpi_parts_forget(uint32_t row)
{
	if (row)
		atomic_store_explicit(&used[row - 1], 0, memory_order_release);
}
