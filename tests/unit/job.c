/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "analyzer/render/render.h"
#include "trace/ops.h"

#define CALL_ID 7

/* ---- writing ---- */

static int is_absent(const struct job *job, int rank)
{
	return (int)(job->o.absent >> rank & 1);
}

static void begin_block(struct job *job, int rank, enum ct_block_type type)
{
	fx_begin(&job->writers[rank], type);
	job->began[rank] = 1;
}

static struct ct_block *block_of(struct job *job, int rank)
{
	if (!job->began[rank])
		begin_block(job, rank, CT_BLOCK_DATA);
	return &job->writers[rank].block;
}

void job_flush(struct job *job, int rank)
{
	struct fx_writer *w = &job->writers[rank];

	if (!job->began[rank])
		return;
	if (w->block.n_extents) {
		w->block.extents[0].n_ops = w->block.n_ops;
		w->block.extents[0].n_launches = w->block.n_launches;
		w->block.extents[0].n_slots = w->block.n_ops + w->block.n_launches;
	}
	fx_commit(w);
	job->began[rank] = 0;
}

/* The block in which the next slot goes, with its one extent. */
static struct ct_block *slot_block(struct job *job, int rank)
{
	struct ct_block *block = block_of(job, rank);

	if (ct_block_records(block) >= (job->o.block_ops ? job->o.block_ops : 1000)) {
		job_flush(job, rank);
		block = block_of(job, rank);
	}
	if (!block->n_extents) {
		struct ct_extent extent = { .lap = 1 + job->slots[rank],
					    .tid = (uint32_t)rank + 100 };

		assert_int_equal(ct_block_add_extent(block, &extent), CT_OK);
	}
	job->slots[rank]++;
	return block;
}

static void identify(struct job *job, int rank)
{
	struct ct_process *id = &job->ids[rank];
	int host = job->o.ranks_per_host ? rank / job->o.ranks_per_host : 0;

	*id = fx_process(rank, job->o.run);
	job->clock[rank] = 1000000000ull * (uint64_t)(host + 1) * 7919 + 32 * (uint64_t)host;
	id->hostkey = 1000 + (uint64_t)host;
	id->start_ns = job->clock[rank] + job->o.start_ns;
	id->start_unix_ns = 1700000000000000000ull + job->o.start_ns;
	id->world_size = job->o.ranks;
	if (job->o.nameless)
		id->rank = id->world_size = -1;
	id->restart = job->o.restart;
	id->clock_res_ns = 1;
	id->pid = (job->o.pid ? job->o.pid : 4000000) + (uint32_t)rank;
	if (job->o.alive)
		fx_become(id, fx_child());
	snprintf(id->host, sizeof(id->host), "host%d", host);
	if (job->o.jobs_differ)
		snprintf(id->job, sizeof(id->job), "job%d", rank);
	if (job->o.host)
		snprintf(id->host, sizeof(id->host), "%s", job->o.host);
}

void job_open(struct job *job, const struct job_options *options)
{
	static const uint32_t call_id = CALL_ID;
	int all[JOB_MAX_RANKS];

	memset(job, 0, sizeof(*job));
	job->o = *options;
	if (!fx_exists(options->run))
		fx_mkdir(options->run);
	for (int r = 0; r < options->ranks; r++) {
		all[r] = r;
		if (is_absent(job, r))
			continue;
		identify(job, r);
		fx_open(&job->writers[r], &job->ids[r], options->run);
		fx_next_segment(&job->writers[r]);
		begin_block(job, r, CT_BLOCK_CHECKPOINT);
		assert_int_equal(ct_block_add_text(block_of(job, r), CT_KIND_STRING, &call_id,
						   sizeof(call_id), "gloo::allreduce"),
				 CT_OK);
	}
	if (!options->nameless)
		job_comm(job, 1, JOB_COMM, NULL, all, (uint32_t)options->ranks);
}

void job_comm(struct job *job, uint32_t id, uint64_t key, const char *name, const int *ranks,
	      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ct_comm_rec rec = {
			.id = id,
			.nranks = n,
			.rank = (int32_t)i,
			.key = key,
			.backend = (uint8_t)(job->o.backend ? job->o.backend : CT_BACKEND_GLOO),
			.name = name ? 100 + id : 0,
		};

		if (is_absent(job, ranks[i]))
			continue;
		if (name)
			assert_int_equal(ct_block_add_text(block_of(job, ranks[i]), CT_KIND_STRING,
							   &rec.name, sizeof(rec.name), name),
					 CT_OK);
		job_rare(job, ranks[i], CT_KIND_COMM, &rec, sizeof(rec));
	}
}

void job_rare(struct job *job, int rank, enum ct_kind kind, const void *data, size_t len)
{
	if (!is_absent(job, rank))
		assert_int_equal(ct_block_add_rare(block_of(job, rank), kind, data, len), CT_OK);
}

void job_op(struct job *job, int rank, struct ct_op op)
{
	if (is_absent(job, rank))
		return;
	op.enter_ns += job->clock[rank];
	if (op.return_ns)
		op.return_ns += job->clock[rank];
	else
		op.flags |= CT_OP_UNRETURNED;
	if (!op.call)
		op.call = CALL_ID;
	if (!op.comm)
		op.comm = 1;
	assert_int_equal(ct_block_add_op(slot_block(job, rank), &op), CT_OK);
}

void job_launch(struct job *job, int rank, struct ct_launch launch)
{
	if (is_absent(job, rank))
		return;
	if (launch.start_ns)
		launch.start_ns += job->clock[rank];
	if (launch.end_ns)
		launch.end_ns += job->clock[rank];
	assert_int_equal(ct_block_add_launch(slot_block(job, rank), &launch), CT_OK);
}

void job_collective(struct job *job, int rank, unsigned op, uint64_t count, uint64_t enter,
		    uint64_t leave)
{
	job_op(job, rank,
	       (struct ct_op){
		       .enter_ns = enter,
		       .return_ns = leave,
		       .count = count,
		       .seq = job->seq[rank]++,
		       .peer = ct_op_class(op) == CT_CLASS_ROOTED ? 0 : -1,
		       .op = (uint8_t)op,
		       .dtype = CT_DTYPE_float32,
		       .redop = op == CT_OP_AllReduce ? CT_REDOP_sum : 0,
	       });
}

void job_end(struct job *job, int rank, uint64_t end_ns)
{
	struct fx_writer *w = &job->writers[rank];

	if (is_absent(job, rank) || !w->encoder)
		return;
	job_flush(job, rank);
	if (end_ns) {
		struct ct_end_rec end = { .end_ns = job->clock[rank] + end_ns,
					  .kind = CT_EXIT_NORMAL };

		fx_begin(w, CT_BLOCK_END);
		assert_int_equal(ct_block_add_rare(&w->block, CT_KIND_END, &end, sizeof(end)),
				 CT_OK);
		fx_commit(w);
	}
	fx_close(w);
	w->encoder = NULL;
}

void job_close(struct job *job, uint64_t end_ns)
{
	for (int r = 0; r < job->o.ranks; r++)
		job_end(job, r, end_ns);
}

/* ---- the loop ---- */

static uint64_t random_state;

static double uniform(void)
{
	random_state += 0x9e3779b97f4a7c15ull;
	return ((double)(ct_mix(random_state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* One rank between two operations, without being slow. */
static double piece(const struct job_loop *l, double own)
{
	double ns = l->step_ms * 1e6 / l->ops * own * exp(l->noise * normal());

	if (uniform() < l->hiccup / l->ops)
		ns += -log(uniform()) * l->hiccup_ms * 1e6;
	return ns;
}

static int is_slow(const struct job_loop *l, int rank, int step)
{
	double at = (double)step / l->steps;

	return (l->slow >> rank & 1) && at >= l->from && at < (l->to > 0 ? l->to : 1);
}

uint64_t job_run(struct job *job, const struct job_loop *l, uint64_t begin, uint64_t *loss)
{
	double now[JOB_MAX_RANKS], own[JOB_MAX_RANKS];
	double lost = 0, last = 0;
	int n = job->o.ranks;

	random_state = ct_mix(l->seed + 1);
	for (int r = 0; r < n; r++) {
		now[r] = (double)begin;
		own[r] = 1 + l->spread * (2 * uniform() - 1);
	}
	for (int c = 0; c < l->steps; c++) {
		for (int k = 0; k < l->ops; k++) {
			double latest = 0, would = 0, end;

			for (int r = 0; r < n; r++) {
				double work = piece(l, own[r]);

				would = fmax(would, now[r] + work);
				if (is_slow(l, r, c))
					work *= 1 + l->slow_pct / 100;
				now[r] += work;
				latest = fmax(latest, now[r]);
			}
			lost += latest - would;
			end = latest + l->transfer_us * 1e3 * (0.97 + 0.13 * uniform());
			for (int r = 0; r < n; r++) {
				double leave = end + l->skew_us * 1e3 * uniform();

				job_collective(job, r, CT_OP_AllReduce, 250000, (uint64_t)now[r],
					       (uint64_t)leave);
				now[r] = leave;
				last = fmax(last, leave);
			}
		}
	}
	if (loss)
		*loss = (uint64_t)lost;
	return (uint64_t)last;
}

/* ---- reading ---- */

struct ct_report *job_report(const struct job *job, int restart)
{
	static const char *const no_rings[] = { NULL };
	const struct ct_run_options here = { .ring_dirs = no_rings };
	struct ct_analyze_options options = CT_ANALYZE_DEFAULTS;
	const char *path = fx_path(job->o.run);
	struct ct_report *report;
	struct ct_run *run;
	struct ct_err err = { 0 };

	options.restart = restart;
	if (ct_run_open(&path, 1, job->o.alive ? &here : NULL, &run, &err) != CT_OK)
		fail_msg("%s", err.text);
	if (ct_analyze(run, &options, &report, &err) != CT_OK)
		fail_msg("%s", err.text);
	ct_run_close(run);
	return report;
}

const struct ct_finding *job_finding(const struct ct_report *report, enum ct_finding_kind kind)
{
	for (size_t i = 0; i < report->n_findings; i++) {
		if (report->findings[i].kind == kind)
			return &report->findings[i];
	}
	return NULL;
}

const char *job_pairs(const struct ct_finding *finding)
{
	static char line[4096];
	FILE *out = fmemopen(line, sizeof(line), "w");

	assert_non_null(out);
	ct_finding_write(finding, out);
	assert_int_equal(fclose(out), 0);
	return line;
}

char *job_text(const struct ct_report *report, int info)
{
	const struct ct_text_style style = { .verbose = 1 };
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	assert_non_null(f);
	if (info) {
		ct_info_text(report, NULL, f);
	} else {
		ct_report_text(report, &style, f);
		ct_report_kv(report, &style, f);
	}
	fclose(f);
	return text;
}
