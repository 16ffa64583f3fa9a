/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/mpi/collective_args.h"

#include "interpose/recorder.h"

/* Bytes for one peer. The type of an empty transfer may be invalid, and there may be no types: MPI
 * checks it. */
static uint64_t part_bytes(const struct ct_mpi_counts *parts, uint32_t i)
{
	uint64_t count = ct_mpi_count_at(parts, i);
	ct_mpi_handle type = parts->types && count ? ct_mpi_handle_at(parts->types, i)
						   : parts->type;

	return count && type ? count * ct_mpi_element(type).bytes : 0;
}

struct ct_mpi_args ct_mpi_sum_w(struct ct_mpi_counts parts)
{
	struct ct_mpi_args share = { .root = -1, .parts = parts };

	for (uint32_t i = 0; i < parts.n; i++)
		share.count += part_bytes(&parts, i);
	return share;
}

uint32_t ct_mpi_neighbours(ct_mpi_handle comm, const struct ct_traced_comm *known)
{
	int kind = 0, dimensions = 0, in = 0, out = 0, weighted = 0;
	int status = ct_mpi.call.Topo_test(comm, &kind);

	if (status != CT_MPI_SUCCESS)
		return 0;
	if (kind == ct_mpi.is.CART) {
		status = ct_mpi.call.Cartdim_get(comm, &dimensions);
		out = 2 * dimensions;
	} else if (kind == ct_mpi.is.GRAPH) {
		status = ct_mpi.call.Graph_neighbors_count(comm, known->rank, &out);
	} else if (kind == ct_mpi.is.DIST_GRAPH) {
		status = ct_mpi.call.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
	}
	return status == CT_MPI_SUCCESS && out > 0 ? (uint32_t)out : 0;
}

uint32_t ct_mpi_part_counts(const struct ct_mpi_counts *parts, uint64_t unit, uint32_t *counts)
{
	uint32_t n = parts->n < CT_RECORDED_PEERS ? parts->n : CT_RECORDED_PEERS;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t count = part_bytes(parts, i) / unit;

		counts[i] = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
	}
	return n;
}

void ct_mpi_record_counts(const uint32_t *counts, uint32_t n, uint32_t first_member, uint32_t comm,
			  uint64_t seq)
{
	for (uint32_t first = 0; first < n; first += CT_VCOUNTS_PART) {
		struct ct_vcounts_rec rec = { .comm = comm,
					      .first = first_member + first,
					      .seq = seq };

		for (uint32_t i = first; i < n && rec.n < CT_VCOUNTS_PART; i++)
			rec.counts[rec.n++] = counts[i];
		ct_recorder_rare(CT_KIND_VCOUNTS, &rec);
	}
}

void ct_mpi_record_parts(struct ct_mpi_counts parts, uint32_t comm, uint64_t seq, uint64_t unit)
{
	uint32_t counts[CT_RECORDED_PEERS];

	if (unit)
		ct_mpi_record_counts(counts, ct_mpi_part_counts(&parts, unit, counts), parts.first,
				     comm, seq);
}
