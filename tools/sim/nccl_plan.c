/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_plan.c — from what a group wants to kernels on streams. */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl_comm.h"
#include "tools/sim/nccl_driver.h"
#include "tools/sim/nccl_events.h"
#include "tools/sim/nccl_group.h"
#include "tools/sim/nccl_job.h"
#include "tools/sim/nccl_log.h"
#include "tools/sim/nccl_model.h"
#include "tools/sim/nccl_reduce.h"

static _Atomic(void (*)(const struct sim_nccl_span *)) tell;

void simNcclOnKernel(void (*told)(const struct sim_nccl_span *span))
{
	atomic_store(&tell, told);
}

bool sim_plan_add(struct sim_tasks *tasks, const struct sim_task *task)
{
	if (tasks->n == tasks->room) {
		size_t room = tasks->room ? 2 * tasks->room : 4;
		struct sim_task *list = realloc(tasks->list, room * sizeof(*list));

		if (!list)
			return false;
		tasks->list = list;
		tasks->room = room;
	}
	tasks->list[tasks->n++] = *task;
	return true;
}

void sim_plan_clear(struct sim_plan *plan)
{
	free(plan->colls.list);
	free(plan->messages.list);
	free(plan->streams);
	memset(plan, 0, sizeof(*plan));
}

size_t sim_task_send_bytes(const struct sim_task *t, int rank, int n_ranks)
{
	size_t bytes = t->count * sim_type_bytes(t->type);

	if (t->func == SIM_RECV || (t->func == SIM_BROADCAST && rank != t->root))
		return 0;
	return t->func == SIM_REDUCE_SCATTER ? bytes * (size_t)n_ranks : bytes;
}

size_t sim_task_recv_bytes(const struct sim_task *t, int rank, int n_ranks)
{
	size_t bytes = t->count * sim_type_bytes(t->type);

	if (t->func == SIM_SEND || (t->func == SIM_REDUCE && rank != t->root))
		return 0;
	return t->func == SIM_ALL_GATHER ? bytes * (size_t)n_ranks : bytes;
}

/* A kernel that touches what is not the program's memory faults. */
static bool buffers_are_real(const struct sim_launch *launch)
{
	const struct sim_driver *d = sim_driver();
	const struct ncclComm *comm = launch->comm;

	for (size_t i = 0; i < launch->tasks.n; i++) {
		const struct sim_task *t = &launch->tasks.list[i];
		size_t in = sim_task_send_bytes(t, comm->rank, comm->n_ranks);
		size_t out = sim_task_recv_bytes(t, comm->rank, comm->n_ranks);

		if ((in && d->simCheckRange(t->send, in)) ||
		    (out && d->simCheckRange(t->recv, out)) ||
		    (t->device_scalar &&
		     d->simCheckRange(t->device_scalar, sim_type_bytes(t->type)))) {
			d->simBlame("NCCL kernel", "a buffer outside of any allocation");
			return false;
		}
	}
	return true;
}

static uint64_t run_tasks(struct sim_launch *launch, uint64_t start_ns)
{
	struct ncclComm *comm = launch->comm;
	struct sim_comm_wait wait;
	uint64_t end;

	sim_comm_waiter(&wait, comm, launch->number);
	if (wait.waiter.stopped(&wait.waiter))
		return 0;
	if (atomic_load(&comm->stuck)) {
		sim_hang(&wait.waiter);
		return 0;
	}
	end = launch->tasks.list[0].func < SIM_SEND ? sim_run_colls(launch, start_ns, &wait)
						    : sim_run_messages(launch, start_ns, &wait);
	if (end && sim_driver()->simTiming())
		end += sim_model_skew(comm->hash, launch->number, comm->rank);
	return end;
}

static uint64_t run(void *arg, uint64_t start_ns, CUresult *error)
{
	struct sim_launch *launch = arg;
	struct ncclComm *comm = launch->comm;
	void (*told)(const struct sim_nccl_span *) = atomic_load(&tell);
	uint64_t end = start_ns;
	bool aborted = false;

	atomic_fetch_add(&comm->running, 1);
	sim_events_kernel_start(launch, start_ns);
	if (buffers_are_real(launch))
		end = run_tasks(launch, start_ns);
	else
		*error = CUDA_ERROR_ILLEGAL_ADDRESS;
	if (!end) {
		aborted = true;
		end = sim_driver()->simNow() + sim_abort_takes();
	}
	sim_events_kernel_end(launch, end);
	if (told)
		told(&(struct sim_nccl_span){ comm->hash, launch->number, start_ns, end,
					      launch->stream, comm->self.global_rank,
					      launch->tasks.n_ops, aborted });
	sim_comm_less(&comm->running);
	return end;
}

static void done(void *arg)
{
	struct sim_launch *launch = arg;

	sim_events_kernel_gone(launch);
	sim_comm_less(&launch->comm->kernels);
	sim_comm_drop(launch->comm);
	free(launch->tasks.list);
	free(launch);
}

/* Takes the tasks over. */
static CUresult launch_kernel(struct ncclComm *comm, struct sim_tasks *tasks, CUstream stream)
{
	struct sim_launch *launch;
	struct sim_told *told;
	CUresult failed;

	if (!tasks->n)
		return CUDA_SUCCESS;
	launch = malloc(sizeof(*launch));
	if (!launch)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*launch = (struct sim_launch){ comm, comm->launches, stream, *tasks, NULL };
	told = sim_events_launch(launch);
	sim_comm_keep(comm);
	atomic_fetch_add(&comm->kernels, 1);
	failed = sim_driver()->simLaunch(stream, &(struct sim_kernel){ run, done, launch });
	memset(tasks, 0, sizeof(*tasks));
	sim_events_launched(told);
	if (failed)
		done(launch);
	else
		comm->launches++;
	return failed;
}

/* What `first` has been given so far comes before what `then` is given from now on. */
static CUresult order(CUevent event, CUstream first, CUstream then)
{
	const struct sim_driver *d = sim_driver();
	CUresult failed = d->cuEventRecord(event, first);

	return failed ? failed : d->cuStreamWaitEvent(then, event, 0);
}

/* In the communicator's context. The stream that the group saw last gets the kernels; the others wait for it, as it
 * does for them and for the communicator's kernels before. */
static CUresult launch_on_streams(struct ncclComm *comm, struct sim_plan *plan)
{
	const struct sim_driver *d = sim_driver();
	CUstream stream = plan->streams[plan->n_streams - 1];
	CUresult failed = CUDA_SUCCESS;
	CUevent event;

	for (size_t i = 0; i + 1 < plan->n_streams && !failed; i++) {
		failed = d->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
		if (!failed) {
			failed = order(event, plan->streams[i], stream);
			d->cuEventDestroy_v2(event);
		}
	}
	if (!failed && comm->done_recorded)
		failed = d->cuStreamWaitEvent(stream, comm->done, 0);
	if (!failed)
		failed = launch_kernel(comm, &plan->colls, stream);
	if (!failed)
		failed = launch_kernel(comm, &plan->messages, stream);
	if (!failed)
		failed = d->cuEventRecord(comm->done, stream);
	comm->done_recorded |= !failed;
	for (size_t i = 0; i + 1 < plan->n_streams && !failed; i++)
		failed = d->cuStreamWaitEvent(plan->streams[i], comm->done, 0);
	return failed;
}

/* A send to itself is for a receive of the same group. */
static ncclResult_t self_messages_match(const struct ncclComm *comm)
{
	const struct sim_tasks *tasks = &comm->plan.messages;
	size_t sends = 0, receives = 0;

	for (size_t i = 0; i < tasks->n; i++) {
		if (tasks->list[i].root != comm->rank)
			continue;
		sends += tasks->list[i].func == SIM_SEND;
		receives += tasks->list[i].func == SIM_RECV;
	}
	if (sends == receives)
		return ncclSuccess;
	sim_nccl_misuse("ncclGroupEnd", sends > receives
						? "Trying to send to self without a matching recv"
						: "Trying to recv to self without a matching send");
	return ncclInvalidUsage;
}

static CUresult streams_are_ours(const struct ncclComm *comm)
{
	for (size_t i = 0; i < comm->plan.n_streams; i++) {
		CUcontext context = NULL;
		CUresult failed = sim_driver()->cuStreamGetCtx(comm->plan.streams[i], &context);

		if (!failed && context != comm->context) {
			sim_driver()->simBlame(
				"NCCL", "a stream of another device than the communicator's");
			failed = CUDA_ERROR_INVALID_HANDLE;
		}
		if (failed)
			return failed;
	}
	return CUDA_SUCCESS;
}

ncclResult_t sim_plan_launch(struct ncclComm *comm)
{
	const struct sim_driver *d = sim_driver();
	struct sim_plan plan;
	ncclResult_t result = self_messages_match(comm);
	CUresult failed;

	if (!result && (comm->plan.colls.n || comm->plan.messages.n)) {
		CUcontext popped;

		failed = d->cuCtxPushCurrent_v2(comm->context);
		if (!failed) {
			failed = streams_are_ours(comm);
			if (!failed)
				failed = launch_on_streams(comm, &comm->plan);
			d->cuCtxPopCurrent_v2(&popped);
		}
		if (failed) {
			sim_warn("Cuda failure %d", (int)failed);
			result = ncclUnhandledCudaError;
		}
	}
	plan = comm->plan;
	memset(&comm->plan, 0, sizeof(comm->plan));
	comm->plan.next = plan.next;
	sim_plan_clear(&plan);
	return result;
}
