/* SPDX-License-Identifier: Apache-2.0 */
/* record_files.c — processes, from their identity to their end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/synth/noise.h"
#include "tools/synth/record_private.h"

#define HANG_AFTER_NS 30000000000ull
#define FIRST_PID 4000000u /* above any pid of a kernel with default settings */

uint64_t ct_synth_comm_key(const struct ct_synth_options *o, int comm)
{
	return ct_noise_mix(o->job.seed ^ 0xc0de, (uint64_t)comm);
}

static int cut(struct ct_synth_record *r, struct recorded_process *p)
{
	struct stat st;

	if (p->keep >= 1 || p->is_dropped)
		return CT_OK;
	if (fstat(p->segment.fd, &st) ||
	    ftruncate(p->segment.fd, (off_t)((double)st.st_size * p->keep)))
		return ct_fail(r->err, CT_IO, "cannot cut a segment off");
	return CT_OK;
}

static int end_process(struct ct_synth_record *r, struct recorded_process *p, uint64_t kill_ns)
{
	int st = ct_record_launches(r, p, UINT64_MAX);

	if (p->ends_in_order) {
		const uint64_t end_ns = p->end_ns + 1000000;
		const struct ct_end_rec end = { .end_ns = clock_of(r, p, end_ns),
						.kind = CT_EXIT_NORMAL,
						.code = (uint32_t)p->code };

		st = st ? st : ct_record_flush(r, p, CT_BLOCK_END);
		st = st ? st : ct_record_status(r, p, end_ns);
		st = st ? st : ct_record_cost(r, p);
		st = st ? st : ct_record_rare(r, p, CT_KIND_END, &end, sizeof(end));
	} else {
		/* Alive until it was killed: the last tracer heartbeat is no older than these are
		 * apart. */
		const uint64_t last = p->is_over ? p->end_ns : kill_ns;

		p->block.type = CT_BLOCK_STATUS;
		st = st ? st : ct_record_status(r, p, last);
		st = st ? st : ct_record_cost(r, p);
	}
	st = st ? st : ct_record_flush(r, p, CT_BLOCK_DATA);
	st = st ? st : cut(r, p);
	ct_segment_close(&p->segment);
	return st;
}

int ct_synth_record_finish(struct ct_synth_record *r, uint64_t kill_ns)
{
	int st = CT_OK;

	for (int i = 0; i < r->n_processes && !st; i++)
		st = end_process(r, &r->processes[i], kill_ns);
	return st;
}

static void identify(struct ct_synth_record *r, int process)
{
	const struct ct_synth_options *o = r->o;
	struct recorded_process *p = &r->processes[process];
	const int rank = process * o->per_process;
	struct ct_process *id = &p->id;
	const uint64_t started_ns = 1000000 +
				    (uint64_t)(1e7 * ct_noise_uniform(o->job.seed, CT_NOISE_START,
								      (uint64_t)rank, 1));

	p->first = rank;
	p->host = ct_workload_node(r->w, rank);
	p->alive = (uint32_t)o->per_process;
	p->keep = 1;
	*id = (struct ct_process){
		.hostkey = ct_noise_mix(o->job.seed, (uint64_t)p->host) | 1,
		.start_ns = clock_of(r, p, started_ns),
		.start_unix_ns = clock_of(r, p, started_ns) +
				 ct_synth_clock_real(r->clocks, p->host),
		.start_ticks = 1000 + (uint64_t)process,
		.hang_after_ns = HANG_AFTER_NS,
		.clock_res_ns = 1,
		.pid = FIRST_PID + (uint32_t)process,
		.ppid = 1,
		.rank = process,
		.world_size = r->n_processes,
		.local_rank = (rank - p->host * (o->job.ranks / o->job.nodes)) / o->per_process,
		.ring_kind = CT_RING_PRIVATE,
	};
	snprintf(id->host, sizeof(id->host), "node%d", p->host);
	snprintf(id->job, sizeof(id->job), "synth-%llu", (unsigned long long)o->job.seed);
	snprintf(id->boot_id, sizeof(id->boot_id), "%016llx", (unsigned long long)id->hostkey);
	snprintf(id->version, sizeof(id->version), "synth");
	snprintf(id->exe, sizeof(id->exe), "/usr/bin/python3");
	for (size_t i = 0; i < o->job.n_faults; i++) {
		const struct ct_fault *fault = &o->faults[i];

		if (fault->kind == CT_FAULT_DROP_TRACE && fault->rank / o->per_process == process)
			p->is_dropped = 1;
		if (fault->kind == CT_FAULT_TRUNCATE && fault->rank / o->per_process == process)
			p->keep = fault->keep;
	}
}

static int open_process(struct ct_synth_record *r, int process)
{
	struct recorded_process *p = &r->processes[process];
	int st = CT_OK;

	identify(r, process);
	p->comms = calloc(comm_ids(r), sizeof(*p->comms));
	if (!p->comms)
		return CT_NOMEM;
	ct_segment_init(&p->segment, &p->id, r->dirfd);
	p->segment.opened_ns = p->id.start_ns;
	if (!p->is_dropped)
		st = ct_segment_next(&p->segment, r->err);
	ct_block_reset(&p->block, CT_BLOCK_CHECKPOINT);
	st = st ? st : ct_record_status(r, p, 1000000);
	return st ? st : ct_record_flush(r, p, CT_BLOCK_DATA);
}

struct ct_synth_record *ct_synth_record_make(const struct ct_synth_options *o,
					     const struct ct_workload *w,
					     struct ct_synth_clocks *clocks, int dirfd,
					     struct ct_err *err)
{
	struct ct_synth_record *r = calloc(1, sizeof(*r));
	int st = CT_NOMEM;

	if (!r)
		goto fail;
	*r = (struct ct_synth_record){
		.o = o,
		.w = w,
		.clocks = clocks,
		.dirfd = dirfd,
		.ranks = o->job.ranks,
		.n_processes = o->job.ranks / o->per_process,
		.err = err,
	};
	ct_record_listen(r);
	r->processes = calloc((size_t)r->n_processes, sizeof(*r->processes));
	r->gpus = calloc((size_t)r->ranks, sizeof(*r->gpus));
	r->encoder = ct_encoder_new();
	if (!r->processes || !r->gpus || !r->encoder)
		goto fail;
	for (int i = 0; i < r->ranks; i++)
		r->gpus[i].jitter_ns = (uint64_t)(1000 * o->jitter_us *
						  (0.1 + 0.9 * ct_noise_uniform(o->job.seed,
										CT_NOISE_JITTER,
										(uint64_t)i, 0)));
	st = CT_OK;
	for (int i = 0; i < r->n_processes && !st; i++)
		st = open_process(r, i);
	if (!st)
		return r;
fail:
	if (st == CT_NOMEM)
		ct_fail(err, st, "%s", ct_status_text(st));
	ct_synth_record_free(r);
	return NULL;
}

const struct ct_play_sink *ct_synth_record_sink(struct ct_synth_record *r)
{
	return &r->sink;
}

void ct_synth_record_free(struct ct_synth_record *r)
{
	for (int i = 0; r && r->processes && i < r->n_processes; i++) {
		if (r->processes[i].id.pid)
			ct_segment_close(&r->processes[i].segment);
		ct_block_fini(&r->processes[i].block);
		free(r->processes[i].held);
		free(r->processes[i].comms);
		ct_order_totals_fini(&r->processes[i].order);
	}
	if (r) {
		free(r->processes);
		free(r->gpus);
		ct_encoder_free(r->encoder);
	}
	free(r);
}
