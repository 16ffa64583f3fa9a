/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/interpose/recorded_sums.h"

#include <stdlib.h>
#include <string.h>

#include "trace/ops.h"

static struct recorded_sums sums;

/* The collectives' numbers of one communicator: bit by bit, for numbers below so many. */
enum { SEQS = 1 << 21 };
static struct {
	uint32_t comm;
	uint8_t *seen;
} seqs[64];

static int comes_again(uint32_t comm, uint64_t seq)
{
	uint8_t bit = (uint8_t)(1 << seq % 8);
	int again;

	if (comm >= 64 || seq >= SEQS)
		return 0;
	if (!seqs[comm].seen)
		seqs[comm].seen = calloc(1, SEQS / 8);
	again = (seqs[comm].seen[seq / 8] & bit) != 0;
	seqs[comm].seen[seq / 8] |= bit;
	return again;
}

static void take_op(const struct ct_op *op)
{
	struct recorded_comm *comm;

	sums.ops++;
	if (op->comm < 1 || op->comm > SUMS_COMMS)
		return;
	comm = &sums.comms[op->comm - 1];
	if (op->op == CT_OP_Send || op->op == CT_OP_Recv) {
		comm->messages++;
		comm->last_message = op->seq;
		return;
	}
	if (!comm->collectives++ || op->seq < comm->first_seq)
		comm->first_seq = op->seq;
	comm->last_seq = op->seq > comm->last_seq ? op->seq : comm->last_seq;
	sums.repeated += (uint64_t)comes_again(op->comm, op->seq);
}

static void take_rare(const struct ct_block *block, const struct ct_rare *rare)
{
	struct ct_comm_rec rec;

	sums.hosts += rare->kind == CT_KIND_HOST_END;
	if (rare->kind != CT_KIND_COMM)
		return;
	ct_rare_get(block, rare, &rec, sizeof(rec));
	if (rec.id < 1 || rec.id > SUMS_COMMS)
		abort();
	sums.comms[rec.id - 1].key = rec.key;
	sums.comms[rec.id - 1].nranks = rec.nranks;
	sums.comms[rec.id - 1].rank = rec.rank;
	sums.comms[rec.id - 1].has_ended = rec.ended_ns != 0;
	sums.n_comms = rec.id > sums.n_comms ? rec.id : sums.n_comms;
}

static void take_block(const struct ct_block *block)
{
	for (uint32_t i = 0; i < block->n_ops; i++)
		take_op(&block->ops[i]);
	sums.launches += block->n_launches;
	for (uint32_t i = 0; i < block->n_rares; i++)
		take_rare(block, &block->rares[i]);
}

const struct recorded_sums *recorded_sums(size_t index)
{
	memset(&sums, 0, sizeof(sums));
	for (int i = 0; i < 64; i++) {
		free(seqs[i].seen);
		seqs[i].seen = NULL;
	}
	sums.processes = recorded_walk(index, take_block, sums.losses);
	return &sums;
}
