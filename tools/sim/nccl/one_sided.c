/* SPDX-License-Identifier: Apache-2.0 */
/* one_sided.c — puts and signals: a rank writes into another one's window and lets it know, without
 * its doing anything; and the wait for such signals. They are counted for each pair of ranks. */
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/log.h"
#include "tools/sim/nccl/model.h"
#include "tools/sim/nccl/reduce.h"
#include "tools/sim/nccl/window.h"

/* ---- the calls
 * ---------------------------------------------------------------------------------------------- */

struct one_sided_request {
	const char *call;
	struct ncclComm *comm;
	CUstream stream;
	struct sim_task tasks[SIM_MESSAGES];
	int n;
};

static ncclResult_t refuse(const struct one_sided_request *r, const char *why)
{
	sim_nccl_misuse(r->call, why);
	return ncclInvalidArgument;
}

/* Only one signal of one context without flags is offered. */
static ncclResult_t check_signal(const struct one_sided_request *r, int peer, int signal,
				 int context, unsigned flags)
{
	if (peer < 0 || peer >= r->comm->n_ranks)
		return refuse(r, "peer outside the communicator");
	return signal || context || flags ? refuse(r, "sigIdx, ctx and flags must be 0")
					  : ncclSuccess;
}

static ncclResult_t check(const struct one_sided_request *r)
{
	const struct ncclComm *comm = r->comm;
	ncclResult_t result = ncclSuccess;

	if (comm->revoked || comm->suspended) {
		sim_nccl_misuse(r->call, "the communicator was revoked, or is suspended");
		return ncclInvalidUsage;
	}
	for (int i = 0; i < r->n && !result; i++) {
		const struct sim_task *t = &r->tasks[i];
		const struct sim_member *peer = &comm->view.members[t->root];
		uint64_t bytes = t->count * sim_type_bytes(t->type);

		if (t->func == SIM_WAIT_SIGNAL && t->n_signals < 1)
			result = refuse(r, "opCnt must be positive");
		if (t->func != SIM_PUT)
			continue;
		if (!sim_type_bytes(t->type))
			result = refuse(r, "no such type");
		else if (t->window < 0)
			result = refuse(r, "no window of this communicator");
		else if (t->offset > peer->windows[t->window].size ||
			 bytes > peer->windows[t->window].size - t->offset)
			result = refuse(r, "beyond the end of the peer's window");
	}
	return result;
}

static ncclResult_t append(struct one_sided_request *r)
{
	struct ncclComm *comm = r->comm;
	ncclResult_t result = sim_group_join(comm);
	bool ok;

	if (result)
		return result;
	ok = sim_plan_see(&comm->plan, r->stream);
	for (int i = 0; i < r->n && ok; i++) {
		struct sim_task *t = &r->tasks[i];

		if (t->func != SIM_WAIT_SIGNAL)
			t->work_ns = sim_model_message(&comm->view.members[comm->rank],
						       &comm->view.members[t->root],
						       t->count * sim_type_bytes(t->type),
						       &t->transfer_ns);
		ok = sim_plan_add(&comm->plan.one_sided, t);
	}
	comm->plan.one_sided.n_ops++;
	return ok ? ncclSuccess : ncclSystemError;
}

/* `result`: what is wrong with it already. */
static ncclResult_t enqueue(struct one_sided_request *r, ncclResult_t result)
{
	struct ncclComm *comm = r->comm;
	ncclResult_t ended;

	sim_comm_keep(comm);
	sim_group_start();
	if (!result)
		result = sim_comm_ready(comm, r->call);
	if (!result)
		result = check(r);
	if (!result && r->n)
		result = append(r);
	sim_group_error(result);
	ended = sim_group_end(false);
	if (!result)
		result = ended;
	if (!comm->blocking && (!result || result == ncclInProgress))
		ncclCommGetAsyncError(comm, &result);
	sim_comm_drop(comm);
	return result;
}

SIM_NCCL(ncclResult_t, ncclPutSignal,
	 (const void *send, size_t count, ncclDataType_t type, int peer, ncclWindow_t window,
	  size_t offset, int signal, int context, unsigned int flags, ncclComm_t comm,
	  cudaStream_t stream))
{
	struct one_sided_request r = { .call = __func__, .comm = comm, .stream = stream, .n = 1 };
	ncclResult_t result = sim_comm_check(comm, __func__);

	if (result)
		return result;
	result = check_signal(&r, peer, signal, context, flags);
	r.tasks[0] = (struct sim_task){ .func = SIM_PUT,
					.send = send,
					.count = count,
					.type = type,
					.root = result ? 0 : peer,
					.window = sim_window_index(comm, window),
					.offset = offset };
	return enqueue(&r, result);
}

SIM_NCCL(ncclResult_t, ncclSignal,
	 (int peer, int signal, int context, unsigned int flags, ncclComm_t comm,
	  cudaStream_t stream))
{
	struct one_sided_request r = { .call = __func__, .comm = comm, .stream = stream, .n = 1 };
	ncclResult_t result = sim_comm_check(comm, __func__);

	if (result)
		return result;
	result = check_signal(&r, peer, signal, context, flags);
	r.tasks[0] = (struct sim_task){ .func = SIM_SIGNAL, .root = result ? 0 : peer };
	return enqueue(&r, result);
}

SIM_NCCL(ncclResult_t, ncclWaitSignal,
	 (int n, ncclWaitSignalDesc_t *signals, ncclComm_t comm, cudaStream_t stream))
{
	struct one_sided_request r = { .call = __func__, .comm = comm, .stream = stream };
	ncclResult_t result = sim_comm_check(comm, __func__);

	if (result)
		return result;
	if (n < 1 || n > SIM_MESSAGES || !signals)
		result = refuse(&r, "no signals, or more than are simulated");
	for (; r.n < n && !result; r.n++) {
		const ncclWaitSignalDesc_t *s = &signals[r.n];

		result = check_signal(&r, s->peer, s->sigIdx, s->ctx, 0);
		r.tasks[r.n] = (struct sim_task){ .func = SIM_WAIT_SIGNAL,
						  .root = result ? 0 : s->peer,
						  .n_signals = s->opCnt };
	}
	return enqueue(&r, result);
}

/* ---- the kernels
 * ---------------------------------------------------------------------------------------------- */

static struct sim_pair *pair_of(const struct ncclComm *comm, int from, int to)
{
	return &comm->view.pairs[(size_t)from * (size_t)comm->n_ranks + (size_t)to];
}

/* The peer's memory is in its own process. In the same one the kernel does it as well: two ranks
 * know each other's words by different addresses, and a thread sanitizer would miss that they are
 * ordered. */
static bool write_to(const struct sim_member *peer, const struct sim_task *t, size_t bytes)
{
	void *to = (void *)(uintptr_t)(peer->windows[t->window].base + t->offset);
	struct iovec here = { (void *)(uintptr_t)t->send, bytes }, there = { to, bytes };

	return process_vm_writev(peer->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static uint64_t put_or_signal(struct ncclComm *comm, const struct sim_task *t, uint64_t start_ns)
{
	struct sim_pair *pair = pair_of(comm, comm->rank, t->root);
	uint64_t end_ns = start_ns + (sim_driver()->simTiming() ? t->work_ns : 0);
	size_t bytes = t->func == SIM_PUT ? t->count * sim_type_bytes(t->type) : 0;

	if (bytes && !write_to(&comm->view.members[t->root], t, bytes)) {
		sim_driver()->simBlame("ncclPutSignal", "the peer's window is not there");
		return end_ns;
	}
	pair->signal_ns[atomic_load(&pair->signals.value) % SIM_MESSAGES] = end_ns;
	sim_gate_add(&pair->signals, 1);
	return end_ns;
}

static uint64_t wait_signal(struct ncclComm *comm, const struct sim_task *t, uint64_t start_ns,
			    const struct sim_comm_wait *wait)
{
	struct sim_pair *pair = pair_of(comm, t->root, comm->rank);
	uint32_t last;
	uint64_t ns;

	comm->peers[t->root].signals += (uint32_t)t->n_signals;
	last = comm->peers[t->root].signals;
	if (!sim_gate_wait(&pair->signals, last, &wait->waiter))
		return 0;
	ns = pair->signal_ns[(last - 1) % SIM_MESSAGES];
	return ns > start_ns ? ns : start_ns;
}

uint64_t sim_run_one_sided(struct sim_launch *launch, uint64_t start_ns,
			   const struct sim_comm_wait *wait)
{
	uint64_t ns = start_ns;

	for (size_t i = 0; i < launch->tasks.n && ns; i++) {
		const struct sim_task *t = &launch->tasks.list[i];

		ns = t->func == SIM_WAIT_SIGNAL ? wait_signal(launch->comm, t, ns, wait)
						: put_or_signal(launch->comm, t, ns);
	}
	return ns;
}
