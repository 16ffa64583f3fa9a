/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c — from what a group wants to kernels on streams. */
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl/comm.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/events.h"
#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/job.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/model.h"
#include "tools/sim/nccl/reduce.h"

static _Atomic(void (*)(const struct sim_nccl_span *)) notify;

void simNcclOnKernel(void (*notices)(const struct sim_nccl_span *span))
{
	atomic_store(&notify, notices);
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

bool sim_plan_see(struct sim_plan *plan, CUstream stream)
{
	for (size_t i = 0; i < plan->n_streams; i++)
		if (plan->streams[i] == stream)
			return true;
	if (plan->n_streams == plan->stream_room) {
		size_t room = plan->stream_room ? 2 * plan->stream_room : 2;
		CUstream *more = realloc(plan->streams, room * sizeof(*more));

		if (!more)
			return false;
		plan->streams = more;
		plan->stream_room = room;
	}
	plan->streams[plan->n_streams++] = stream;
	return true;
}

void sim_plan_clear(struct sim_plan *plan)
{
	free(plan->colls.list);
	free(plan->messages.list);
	free(plan->one_sided.list);
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

	if (t->func == SIM_SEND || t->func >= SIM_PUT || (t->func == SIM_REDUCE && rank != t->root))
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
			d->simBlame("NCCL kernel", "a buffer outside any allocation");
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
	bool has_room, breaks;

	sim_comm_waiter(&wait, comm, launch->number);
	breaks = launch->number >= atomic_load(&comm->breaks_at);
	if (wait.waiter.stopped(&wait.waiter))
		return 0;
	if (atomic_load(&comm->stuck) && breaks) {
		sim_hang(&wait.waiter);
		return 0;
	}
	has_room = sim_room_enter(comm, &wait.waiter);
	if (launch->tasks.list[0].func < SIM_SEND)
		end = sim_run_colls(launch, start_ns, &wait);
	else if (launch->tasks.list[0].func < SIM_PUT)
		end = sim_run_messages(launch, start_ns, &wait);
	else
		end = sim_run_one_sided(launch, start_ns, &wait);
	if (has_room)
		sim_room_leave(comm);
	if (end && atomic_load(&comm->lingers) && breaks) {
		sim_hang(&wait.waiter);
		return 0;
	}
	if (end && sim_driver()->simTiming())
		end += sim_model_skew(comm->hash,
				      launch->captured ? launch->first + launch->runs
						       : launch->number,
				      comm->rank);
	return end;
}

static uint64_t run(void *arg, uint64_t start_ns, CUresult *error)
{
	struct sim_launch *launch = arg;
	struct ncclComm *comm = launch->comm;
	void (*notices)(const struct sim_nccl_span *) = atomic_load(&notify);
	uint64_t end = start_ns;
	bool aborted = false;

	if (launch->captured && sim_comm_check(comm, "launch of a graph"))
		return end;
	if (launch->captured) {
		launch->number = atomic_fetch_add(&comm->launches, 1);
		launch->runs++;
	}
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
	if (notices)
		notices(&(struct sim_nccl_span){ comm->hash, launch->number, start_ns, end,
						 launch->stream, comm->self.global_rank,
						 launch->tasks.n_ops, aborted });
	sim_comm_less(&comm->running);
	return end;
}

static void done(void *arg)
{
	struct sim_launch *launch = arg;

	sim_events_kernel_gone(launch);
	if (!launch->captured)
		sim_comm_less(&launch->comm->kernels);
	sim_comm_drop(launch->comm);
	free(launch->tasks.list);
	free(launch);
}

/* How long a GPU waits for a host node that does nothing: a thread of the driver's has to wake up,
 * and the GPU to learn that it is done. */
#define HOST_NODE_NS 20000

static _Atomic uint64_t host_nodes;

uint64_t simNcclHostNodes(void)
{
	return atomic_load(&host_nodes);
}

/* What is reported of a captured launch. As the real library since 2.26: a plugin that wants to
 * know when the kernel runs is notified by its own thread, which a host node wakes each time. */
static CUresult report_captured(struct sim_launch *launch)
{
	const struct sim_driver *d = sim_driver();
	CUresult failed;

	if (launch->tasks.list[0].func >= SIM_PUT)
		return CUDA_SUCCESS;
	if (!sim_events_at_each_launch(launch)) {
		sim_events_capture(launch);
		return CUDA_SUCCESS;
	}
	atomic_fetch_add(&host_nodes, 1);
	failed = d->cuLaunchHostFunc(launch->stream, sim_events_replay, launch);
	return failed ? failed : d->simCompute(launch->stream, HOST_NODE_NS);
}

/* Takes the tasks over. Into a capture: a node, which is not waited for when the communicator ends.
 */
static CUresult launch_kernel(struct ncclComm *comm, struct sim_tasks *tasks, CUstream stream,
			      bool captured)
{
	struct sim_launch *launch;
	struct sim_notices *notices = NULL;
	CUresult failed = CUDA_SUCCESS;

	if (!tasks->n)
		return CUDA_SUCCESS;
	launch = malloc(sizeof(*launch));
	if (!launch)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*launch = (struct sim_launch){ .comm = comm,
				       .number = atomic_load(&comm->launches),
				       .stream = stream,
				       .tasks = *tasks,
				       .captured = captured };
	launch->first = launch->number;
	if (captured)
		failed = report_captured(launch);
	else if (launch->tasks.list[0].func < SIM_PUT)
		notices = sim_events_launch(launch);
	sim_comm_keep(comm);
	if (!captured)
		atomic_fetch_add(&comm->kernels, 1);
	if (!failed)
		failed = sim_driver()->simLaunch(stream, &(struct sim_kernel){ run, done, launch });
	memset(tasks, 0, sizeof(*tasks));
	sim_events_launched(notices);
	if (failed)
		done(launch);
	else if (!captured)
		atomic_fetch_add(&comm->launches, 1);
	return failed;
}

/* What `first` has been given so far comes before what `then` is given from now on. */
static CUresult order(CUstream first, CUstream then)
{
	const struct sim_driver *d = sim_driver();
	CUevent event;
	CUresult failed = d->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);

	if (failed)
		return failed;
	failed = d->cuEventRecord(event, first);
	if (!failed)
		failed = d->cuStreamWaitEvent(then, event, 0);
	d->cuEventDestroy_v2(event);
	return failed;
}

/* In the communicator's context. The stream that the group saw last gets the kernels; the others
 * wait for it, as it does for them and for the communicator's kernels before. Captured ones wait
 * when their graph is launched, for whatever was last then. */
static CUresult launch_on_streams(struct ncclComm *comm, struct sim_plan *plan, bool captured)
{
	const struct sim_driver *d = sim_driver();
	CUstream stream = plan->streams[plan->n_streams - 1];
	CUresult failed = CUDA_SUCCESS;

	for (size_t i = 0; i + 1 < plan->n_streams && !failed; i++)
		failed = order(plan->streams[i], stream);
	if (!failed && (captured || comm->done_recorded))
		failed = d->cuStreamWaitEvent(stream, comm->done,
					      captured ? CU_EVENT_WAIT_EXTERNAL : 0);
	if (!failed)
		failed = launch_kernel(comm, &plan->colls, stream, captured);
	if (!failed)
		failed = launch_kernel(comm, &plan->messages, stream, captured);
	if (!failed)
		failed = launch_kernel(comm, &plan->one_sided, stream, captured);
	if (!failed)
		failed = d->cuEventRecordWithFlags(comm->done, stream,
						   captured ? CU_EVENT_RECORD_EXTERNAL : 0);
	comm->done_recorded |= !failed;
	for (size_t i = 0; i + 1 < plan->n_streams && !failed; i++)
		failed = order(stream, plan->streams[i]);
	return failed;
}

/* As the real library, which makes what it needs whatever is captured meanwhile. */
static CUresult launch_relaxed(struct ncclComm *comm, bool captured)
{
	const struct sim_driver *d = sim_driver();
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUresult failed = d->cuThreadExchangeStreamCaptureMode(&mode);

	if (failed)
		return failed;
	failed = launch_on_streams(comm, &comm->plan, captured);
	d->cuThreadExchangeStreamCaptureMode(&mode);
	return failed;
}

ncclResult_t sim_plan_capture(struct ncclComm *comm, uint64_t *capture)
{
	const struct sim_driver *d = sim_driver();
	CUcontext popped;
	CUresult failed = d->cuCtxPushCurrent_v2(comm->context);
	bool differ = false;

	*capture = 0;
	for (size_t i = 0; i < comm->plan.n_streams && !failed; i++) {
		CUstreamCaptureStatus status;
		uint64_t id = 0;

		failed = d->cuStreamGetCaptureInfo_v2(comm->plan.streams[i], &status, &id, NULL,
						      NULL, NULL);
		if (status == CU_STREAM_CAPTURE_STATUS_NONE)
			id = 0;
		differ |= i && id != *capture;
		*capture = id;
	}
	d->cuCtxPopCurrent_v2(&popped);
	if (failed) {
		sim_warn("Cuda failure %d", (int)failed);
		return ncclUnhandledCudaError;
	}
	if (differ)
		sim_nccl_misuse("ncclGroupEnd",
				"Streams given to a communicator within a NCCL group must either "
				"be all uncaptured or all captured by the same graph.");
	return differ ? ncclInvalidUsage : ncclSuccess;
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
	uint64_t capture = 0;
	CUresult failed;

	if (!result)
		result = sim_plan_capture(comm, &capture);
	if (!result && (comm->plan.colls.n || comm->plan.messages.n || comm->plan.one_sided.n)) {
		CUcontext popped;

		failed = d->cuCtxPushCurrent_v2(comm->context);
		if (!failed) {
			failed = streams_are_ours(comm);
			if (!failed)
				failed = launch_relaxed(comm, capture != 0);
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
