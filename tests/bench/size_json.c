/* SPDX-License-Identifier: Apache-2.0 */
/* A line for each operation with what NCCL's Inspector writes: header, metadata and what the collective took; its
 * key names, from plugins/profiler/inspector of NCCL. It has no start time. Frames of a megabyte under zstd -3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/size.h"
#include "trace/ops.h"
#include "trace/reader.h"

enum { COMMS = 4096, SPANS = 1 << 16, FRAME = 1 << 20, LINE = 1024 };

struct ct_size_json_state {
	const struct ct_process *process;
	struct {
		uint64_t key;
		uint32_t nranks, rank;
	} comms[COMMS];
	struct {
		uint32_t id;
		uint64_t ns;
	} spans[SPANS];
};

void ct_size_json_process(struct ct_size_json *j, const struct ct_process *process)
{
	free(j->state);
	j->state = calloc(1, sizeof(*j->state));
	if (!j->text)
		j->text = malloc(FRAME + LINE);
	if (!j->state || !j->text)
		ct_size_fail("out of memory");
	j->state->process = process;
}

static void pack(struct ct_size_json *j)
{
	j->packed += (double)ct_size_packed(j->text, j->used, 3);
	j->used = 0;
}

static void take_op(struct ct_size_json *j, const struct ct_op *op)
{
	struct ct_size_json_state *s = j->state;
	uint64_t ns = op->return_ns - op->enter_ns;
	uint32_t n = s->comms[op->comm % COMMS].nranks;
	double bytes = (double)ct_op_total_bytes(op->op, op->count, op->dtype, n);
	double bw;

	if (op->launch && s->spans[op->launch % SPANS].id == op->launch)
		ns = s->spans[op->launch % SPANS].ns;
	bw = ns ? bytes / (double)ns : 0;
	j->used += (size_t)snprintf(
		j->text + j->used, LINE,
		"{\"header\":{\"id\":\"0x%016llx\",\"rank\":%u,\"n_ranks\":%u,\"nnodes\":%u},"
		"\"metadata\":"
		"{\"inspector_output_format_version\":\"v4.0\",\"git_rev\":\"\",\"rec_mechanism\":"
		"\"nccl_profiler_"
		"interface\",\"dump_timestamp_us\":%llu,\"hostname\":\"%s\",\"pid\":%u},\"coll_"
		"perf\":{\"coll\":\"%s\","
		"\"coll_sn\":%llu,\"coll_msg_size_bytes\":%.0f,\"coll_exec_time_us\":%llu,\"coll_"
		"algobw_gbs\":%.6f,"
		"\"coll_busbw_gbs\":%.6f}}\n",
		(unsigned long long)s->comms[op->comm % COMMS].key, s->comms[op->comm % COMMS].rank,
		n, 2u,
		(unsigned long long)(s->process->start_unix_ns / 1000 +
				     (op->return_ns - s->process->start_ns) / 1000),
		s->process->host, s->process->pid, ct_op_name(op->op), (unsigned long long)op->seq,
		bytes, (unsigned long long)(ns / 1000), bw, bw * ct_op_bus_factor(op->op, n));
	if (j->used >= FRAME)
		pack(j);
}

void ct_size_json_block(struct ct_size_json *j, const struct ct_block *b)
{
	struct ct_size_json_state *s = j->state;

	for (uint32_t i = 0; i < b->n_rares; i++) {
		struct ct_comm_rec comm;

		if (b->rares[i].kind != CT_KIND_COMM)
			continue;
		ct_rare_get(b, &b->rares[i], &comm, sizeof(comm));
		s->comms[comm.id % COMMS].key = comm.key;
		s->comms[comm.id % COMMS].nranks = comm.nranks;
		s->comms[comm.id % COMMS].rank = (uint32_t)comm.rank;
	}
	for (uint32_t i = 0; i < b->n_launches; i++) {
		s->spans[b->launches[i].id % SPANS].id = b->launches[i].id;
		s->spans[b->launches[i].id % SPANS].ns = b->launches[i].end_ns -
							 b->launches[i].start_ns;
	}
	for (uint32_t i = 0; i < b->n_ops; i++)
		take_op(j, &b->ops[i]);
}

double ct_size_json_bytes(struct ct_size_json *j)
{
	pack(j);
	return j->packed;
}
