/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/job/rank.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/sim/job/disk.h"
#include "tools/sim/job/graph.h"
#include "tools/sim/nccl/job.h"
#include "tools/sim/sim.h"

static const char *const stalled_calls[] = {
	[CT_CALL_groupend] = "ncclGroupEnd",
	[CT_CALL_init] = "ncclCommInitRankConfig",
	[CT_CALL_split] = "ncclCommSplit",
	[CT_CALL_finalize] = "ncclCommFinalize",
};

static void __attribute__((noreturn)) stop_for_ever(void)
{
	for (;;)
		pause();
}

static void run_host(const struct simjob_rank *r, uint64_t ns)
{
	if (r->job->options.timing)
		simSleepUntil(simNow() + ns);
}

static cudaEvent_t *event_at(struct simjob_rank *r, int number)
{
	size_t n = r->n_events ? r->n_events : 64;

	while (n <= (size_t)number)
		n *= 2;
	if (n > r->n_events) {
		cudaEvent_t *more = realloc(r->events, n * sizeof(*more));

		if (!more)
			simjob_rank_fail(r, "realloc", "no memory");
		memset(more + r->n_events, 0, (n - r->n_events) * sizeof(*more));
		r->events = more;
		r->n_events = n;
	}
	/* As PyTorch creates them without timing. */
	if (!r->events[number])
		SIMJOB_CUDA(r, cudaEventCreateWithFlags,
			    (&r->events[number], cudaEventDisableTiming));
	return &r->events[number];
}

/* A kernel that waits for what never comes. */
static uint64_t never(void *arg, uint64_t start_ns, CUresult *error)
{
	(void)arg;
	(void)start_ns;
	(void)error;
	stop_for_ever();
}

static void block_stream(struct simjob_rank *r, cudaStream_t stream)
{
	static const struct sim_kernel kernel = { .run = never };

	if (simLaunch(stream, &kernel))
		simjob_rank_fail(r, "simLaunch", "refused");
}

static void compute(struct simjob_rank *r, const struct ct_action *action)
{
	if (simCompute(r->streams[action->stream], action->ns))
		simjob_rank_fail(r, "simCompute", "refused");
	if (r->lag.limit_ns && action->stream == CT_STREAM_COMPUTE)
		simjob_lag_mark(r, UINT64_MAX);
}

void simjob_step_over(struct simjob_rank *r, uint64_t step)
{
	const uint64_t checksum = simjob_data_checksum(r->data, step);

	atomic_store(&r->board->checksum, checksum);
	atomic_store(&r->board->steps, step + 1);
	atomic_store(&r->board->misuse, simMisuse());
	if (r->rank == 0)
		printf("step=%" PRIu64 " checksum=%016" PRIx64 "\n", step, checksum);
}

static void strike(struct simjob_rank *r, const struct ct_action *action)
{
	const struct ct_fault *fault = action->fault;

	switch (action->kind) {
	case CT_ACTION_STOP:
		stop_for_ever();
	case CT_ACTION_KILL:
		kill(getpid(), fault->signal ? fault->signal : SIGKILL);
		break;
	case CT_ACTION_EXIT:
		simjob_exit(fault->code);
	case CT_ACTION_BLOCK:
		block_stream(r, r->streams[action->stream]);
		break;
	case CT_ACTION_FAIL:
		simjob_nccl_break(r, action->comm);
		break;
	case CT_ACTION_HANG:
		simNcclHang(r->comms[action->comm]);
		break;
	case CT_ACTION_LINGER:
		simNcclLinger(r->comms[action->comm]);
		break;
	case CT_ACTION_CROWD:
		simNcclOneAtATime();
		break;
	case CT_ACTION_STALL_CALL:
		simNcclStallCall(stalled_calls[fault->call]);
		break;
	case CT_ACTION_STARVE:
		simStarve(r->device, (double)action->ns * 1e-6);
		break;
	case CT_ACTION_PAUSE_GPU:
		simPause(r->device, (double)action->ns * 1e-6);
		break;
	case CT_ACTION_LOCK:
		simHoldDriver((double)action->ns * 1e-6);
		break;
	case CT_ACTION_HANG_DISK:
		simjob_disk_hang(action->ns);
		break;
	case CT_ACTION_SLOW_LINK:
		simNcclSlowLink(fault->src, fault->dst, action->factor);
		break;
	default:
		simjob_rank_fail(r, "action", "no such action");
	}
}

static void act(struct simjob_rank *r, const struct ct_action *action)
{
	const cudaStream_t stream = r->streams[action->stream];

	switch (action->kind) {
	case CT_ACTION_INIT:
		simjob_nccl_init(r, action->comm);
		break;
	case CT_ACTION_SPLIT:
		simjob_nccl_split(r, action);
		break;
	case CT_ACTION_FINALIZE:
		simjob_nccl_finalize(r, action->comm);
		break;
	case CT_ACTION_DESTROY:
		simjob_nccl_destroy(r, action->comm);
		break;
	case CT_ACTION_STEP_BEGIN:
		break;
	case CT_ACTION_STEP_END:
		SIMJOB_CUDA(r, simjob_data_end_step, (r->data, action->step, stream));
		simjob_lag_mark(r, action->step);
		if (action->step + 1 == r->job->options.config.steps)
			simjob_lag_drain(r);
		break;
	case CT_ACTION_HOST:
		run_host(r, action->ns);
		break;
	case CT_ACTION_COMPUTE:
		compute(r, action);
		break;
	case CT_ACTION_RECORD:
		SIMJOB_CUDA(r, cudaEventRecord, (*event_at(r, action->event), stream));
		break;
	case CT_ACTION_WAIT:
		SIMJOB_CUDA(r, cudaStreamWaitEvent, (stream, *event_at(r, action->event), 0));
		break;
	case CT_ACTION_PRODUCE:
		SIMJOB_CUDA(r, simjob_data_produce, (r->data, &action->op, stream));
		break;
	case CT_ACTION_CONSUME:
		SIMJOB_CUDA(r, simjob_data_consume, (r->data, &action->op, stream));
		break;
	case CT_ACTION_GROUP_BEGIN:
	case CT_ACTION_GROUP_END:
		simjob_nccl_group(r, action->kind == CT_ACTION_GROUP_END);
		break;
	case CT_ACTION_OP:
		simjob_nccl_op(r, action);
		break;
	default:
		strike(r, action);
		break;
	}
}

static void expect_abort(struct simjob_rank *r)
{
	for (size_t i = 0; i < r->job->options.config.n_faults; i++) {
		const struct ct_fault *fault = &r->job->options.faults[i];
		const double ms = ct_fault_has(fault, CT_KEY_ms) ? fault->ms : 1000;

		if (fault->kind != CT_FAULT_ABORT_COMPLETES)
			continue;
		r->abort_after_ns = (uint64_t)(ms * 1e6);
		r->abort_takes_ns = (uint64_t)(fault->after * 1e6);
		simNcclAbortTakes(r->abort_takes_ns);
		return;
	}
}

static void make_resources(struct simjob_rank *r)
{
	const size_t n = (size_t)ct_workload_n_comms(r->job->workload);
	const char *journal = r->job->options.journal;

	r->streams = calloc(n + CT_STREAM_COMMS, sizeof(*r->streams));
	r->data = simjob_data_make(r->job, r->rank);
	r->graphs = r->job->options.graph ? simjob_graphs_make() : NULL;
	if (!r->streams || !r->data || (r->job->options.graph && !r->graphs))
		simjob_rank_fail(r, "calloc", "no memory");
	if (journal)
		r->journal = simjob_journal_open(journal, r->rank, r->job->options.config.ranks);
	if (journal && !r->journal)
		simjob_rank_fail(r, "journal", "cannot be mapped");
	r->lag.limit_ns = ct_workload_run_ahead_ns(r->job->workload);
	expect_abort(r);
	SIMJOB_CUDA(r, cudaSetDevice, (r->device));
	SIMJOB_CUDA(r, cudaStreamCreateWithFlags,
		    (&r->streams[CT_STREAM_COPY], cudaStreamNonBlocking));
}

void *simjob_rank_run(void *arg)
{
	struct simjob_rank *r = arg;
	struct ct_workload_rank *it;
	const struct ct_action *action;
	int more;

	make_resources(r);
	it = ct_workload_open(r->job->workload, r->rank);
	while ((more = it ? ct_workload_next(it, &action) : -1) > 0) {
		atomic_store_explicit(
			&r->board->actions,
			atomic_load_explicit(&r->board->actions, memory_order_relaxed) + 1,
			memory_order_relaxed);
		if (!r->graphs || !simjob_graphs_take(r, action, act))
			act(r, action);
	}
	if (more < 0)
		simjob_rank_fail(r, "workload", "no memory");
	ct_workload_close(it);
	atomic_store(&r->board->misuse, simMisuse());
	return NULL;
}
