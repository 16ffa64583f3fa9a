/* SPDX-License-Identifier: Apache-2.0 */
/* A line for each operation with what NCCL's Inspector writes: header, metadata and what the
 * collective took; its key names, from plugins/profiler/inspector of NCCL. It has no start time. A
 * second text has what the Inspector adds if it is asked for all (NCCL_INSPECTOR_DUMP_VERBOSE):
 * when call and kernel began and ended, in us. These are the events that a run stores, but for
 * waits, which have no line. Frames of a megabyte under zstd -3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/size.h"
#include "trace/ops.h"
#include "trace/reader.h"

enum { COMMS = 4096, SPANS = 1 << 16, FRAME = 1 << 20, LINE = 2048 };

struct ct_size_json_state {
	const struct ct_process *process;
	struct {
		uint64_t key;
		uint32_t nranks, rank;
	} comms[COMMS];
	struct ct_size_span {
		uint32_t id;
		uint64_t start, end;
	} spans[SPANS];
};

void ct_size_json_process(struct ct_size_json *j, const struct ct_process *process)
{
	free(j->state);
	j->state = calloc(1, sizeof(*j->state));
	for (int i = 0; i < CT_SIZE_JSONS; i++)
		if (!j->texts[i].text)
			j->texts[i].text = malloc(FRAME + LINE);
	if (!j->state || !j->texts[0].text || !j->texts[1].text)
		ct_size_fail("out of memory");
	j->state->process = process;
}

static void pack(struct ct_size_text *t)
{
	t->packed += (double)ct_size_packed(t->text, t->used, 3);
	t->used = 0;
}

static void add(struct ct_size_text *t, const char *line, const char *end)
{
	t->used += (size_t)snprintf(t->text + t->used, LINE, "%s%s}}\n", line, end);
	if (t->used >= FRAME)
		pack(t);
}

/* A moment of the host as the Inspector has it. */
static unsigned long long unix_us(const struct ct_process *process, uint64_t ns)
{
	return process->start_unix_ns / 1000 + (ns - process->start_ns) / 1000;
}

static void take_op(struct ct_size_json *j, const struct ct_op *op)
{
	struct ct_size_json_state *s = j->state;
	const struct ct_size_span *span = &s->spans[op->launch % SPANS];
	uint64_t start = op->enter_ns, end = op->return_ns;
	uint32_t n = s->comms[op->comm % COMMS].nranks;
	double bytes = (double)ct_op_total_bytes(op->op, op->count, op->dtype, n);
	const int has_span = op->launch && span->id == op->launch;
	char line[LINE], times[LINE / 2];
	int used;
	double bw;

	if (has_span) {
		start = span->start;
		end = span->end;
	}
	bw = end != start ? bytes / (double)(end - start) : 0;
	snprintf(line, sizeof(line),
		 "{\"header\":{\"id\":\"0x%016llx\",\"rank\":%u,\"n_ranks\":%u,\"nnodes\":%u},"
		 "\"metadata\":"
		 "{\"inspector_output_format_version\":\"v4.0\",\"git_rev\":\"\",\"rec_mechanism\":"
		 "\"nccl_profiler_"
		 "interface\",\"dump_timestamp_us\":%llu,\"hostname\":\"%s\",\"pid\":%u},\"coll_"
		 "perf\":{\"coll\":\"%s\","
		 "\"coll_sn\":%llu,\"coll_msg_size_bytes\":%.0f,\"coll_exec_time_us\":%llu,\"coll_"
		 "algobw_gbs\":%.6f,"
		 "\"coll_busbw_gbs\":%.6f",
		 (unsigned long long)s->comms[op->comm % COMMS].key,
		 s->comms[op->comm % COMMS].rank, n, 2u, unix_us(s->process, op->return_ns),
		 s->process->host, s->process->pid, ct_op_name(op->op), (unsigned long long)op->seq,
		 bytes, (unsigned long long)((end - start) / 1000), bw,
		 bw * ct_op_bus_factor(op->op, n));
	add(&j->texts[CT_SIZE_JSON], line, "");
	used = snprintf(times, sizeof(times),
			",\"event_trace_ts\":{\"coll_start_ts\":%llu,\"coll_stop_ts\":%llu,"
			"\"kernel_events\":[",
			unix_us(s->process, op->enter_ns), unix_us(s->process, op->return_ns));
	if (has_span)
		used += snprintf(times + used, sizeof(times) - (size_t)used,
				 "{\"channel_id\":0,\"kernel_start_ts\":%llu,"
				 "\"kernel_stop_ts\":%llu,\"kernel_record_ts\":%llu}",
				 unix_us(s->process, start), unix_us(s->process, end),
				 unix_us(s->process, end));
	snprintf(times + used, sizeof(times) - (size_t)used, "]}");
	add(&j->texts[CT_SIZE_JSON_TIMES], line, times);
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
	for (uint32_t i = 0; i < b->n_launches; i++)
		s->spans[b->launches[i].id % SPANS] = (struct ct_size_span){
			b->launches[i].id, b->launches[i].start_ns, b->launches[i].end_ns
		};
	for (uint32_t i = 0; i < b->n_ops; i++)
		take_op(j, &b->ops[i]);
}

double ct_size_json_bytes(struct ct_size_json *j, enum ct_size_json_of which)
{
	pack(&j->texts[which]);
	return j->texts[which].packed;
}
