/* SPDX-License-Identifier: Apache-2.0 */
/* window.c — windows: memory of each rank that the others may write into. All ranks register theirs
 * together. */
#include "tools/sim/nccl/window.h"

#include <stdlib.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/driver.h"
#include "tools/sim/nccl/group.h"
#include "tools/sim/nccl/log.h"

struct ncclWindow_vidmem {
	struct ncclComm *comm;
	int index;
	void *base;
};

struct window_registration {
	struct sim_job job;
	ncclWindow_t *window;
	void *base;
	size_t size;
	int index;
};

/* A rank needs those of all ranks: it waits for all. */
static ncclResult_t run_register(struct sim_job *job)
{
	struct window_registration *r = (struct window_registration *)job;
	struct ncclComm *comm = job->comm;
	struct sim_gate *there = &comm->view.shared->windows;
	uint32_t n = (uint32_t)comm->n_ranks;
	struct sim_comm_wait wait;
	ncclWindow_t window = malloc(sizeof(*window));

	if (!window)
		return ncclSystemError;
	comm->view.members[comm->rank].windows[r->index].base = (uint64_t)(uintptr_t)r->base;
	comm->view.members[comm->rank].windows[r->index].size = r->size;
	sim_gate_add(there, n);
	sim_comm_waiter(&wait, comm, SIM_HOST);
	if (!sim_gate_wait(there, n * (uint32_t)(r->index + 1), &wait.waiter)) {
		free(window);
		return ncclInternalError;
	}
	*window = (struct ncclWindow_vidmem){ comm, r->index, r->base };
	*r->window = window;
	return ncclSuccess;
}

static ncclResult_t check(const struct ncclComm *comm, const void *buffer, size_t size, int flags)
{
	const char *call = "ncclCommWindowRegister";

	if (!buffer || !size || sim_driver()->simCheckRange(buffer, size)) {
		sim_nccl_misuse(call, "a buffer outside any allocation");
		return ncclInvalidArgument;
	}
	if (flags & ~NCCL_WIN_COLL_SYMMETRIC) {
		sim_nccl_misuse(call, "unknown flags");
		return ncclInvalidArgument;
	}
	if (comm->n_windows == SIM_WINDOWS) {
		sim_nccl_misuse(call, "more windows than are simulated");
		return ncclInvalidUsage;
	}
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclCommWindowRegister,
	 (ncclComm_t comm, void *buffer, size_t size, ncclWindow_t *window, int flags))
{
	struct window_registration *r;
	ncclResult_t result, ended;

	sim_group_start();
	result = sim_comm_ready(comm, __func__);
	if (!result && !window) {
		sim_nccl_misuse(__func__, "win argument is NULL");
		result = ncclInvalidArgument;
	}
	if (!result)
		result = check(comm, buffer, size, flags);
	if (!result) {
		*window = NULL;
		r = calloc(1, sizeof(*r));
		if (!r)
			abort();
		r->job = (struct sim_job){ run_register, NULL, comm, ncclSuccess, NULL };
		r->window = window;
		r->base = buffer;
		r->size = size;
		r->index = comm->n_windows++;
		result = sim_group_job(&r->job);
	}
	sim_group_error(result);
	ended = sim_group_end(false);
	return result ? result : ended;
}

SIM_NCCL(ncclResult_t, ncclCommWindowDeregister, (ncclComm_t comm, ncclWindow_t window))
{
	ncclResult_t result = sim_comm_check(comm, __func__);

	if (result || !window)
		return result;
	if (window->comm != comm) {
		sim_nccl_misuse(__func__, "the window is another communicator's");
		return ncclInvalidArgument;
	}
	free(window);
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclWinGetUserPtr, (ncclComm_t comm, ncclWindow_t window, void **pointer))
{
	ncclResult_t result = sim_comm_ready(comm, __func__);

	if (result)
		return result;
	if (!window || !pointer || window->comm != comm) {
		sim_nccl_misuse(__func__, "no window of this communicator, or outUserPtr is NULL");
		return ncclInvalidArgument;
	}
	*pointer = window->base;
	return ncclSuccess;
}

int sim_window_index(const struct ncclComm *comm, ncclWindow_t window)
{
	return window && window->comm == comm ? window->index : -1;
}
