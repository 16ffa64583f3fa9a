/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/nccl/group.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/nccl/api.h"
#include "tools/sim/nccl/events.h"
#include "tools/sim/nccl/log.h"

struct group {
	ncclResult_t error;
	bool any, blocking; /* of the communicators in it */
	bool simulate;
	struct ncclComm *comms;
	struct sim_job *jobs;
	void *event; /* the profiler's */
};

static __thread int depth;
static __thread struct group open_group;

void sim_group_start(void)
{
	depth++;
}

void sim_group_error(ncclResult_t error)
{
	if (error && error != ncclInProgress && depth > 0)
		open_group.error = error;
}

static ncclResult_t same_kind(const struct ncclComm *comm)
{
	struct group *g = &open_group;

	if (g->any && g->blocking != comm->blocking) {
		sim_nccl_misuse("ncclGroupEnd", "Blocking and nonblocking communicators are not "
						"allowed in the same group.");
		return ncclInvalidArgument;
	}
	g->any = true;
	g->blocking = comm->blocking;
	return ncclSuccess;
}

ncclResult_t sim_group_join(struct ncclComm *comm)
{
	ncclResult_t result = same_kind(comm);

	if (result || comm->plan.in_group)
		return result;
	comm->plan.in_group = true;
	comm->plan.next = open_group.comms;
	open_group.comms = comm;
	sim_comm_keep(comm);
	return ncclSuccess;
}

ncclResult_t sim_group_job(struct sim_job *job)
{
	struct sim_job **end = &open_group.jobs;
	ncclResult_t result = same_kind(job->comm);

	if (result) {
		if (job->undo)
			job->undo(job);
		free(job);
		return result;
	}
	while (*end)
		end = &(*end)->next;
	*end = job;
	sim_comm_keep(job->comm);
	return ncclSuccess;
}

static void *run_job(void *arg)
{
	struct sim_job *job = arg;

	job->result = job->run(job);
	return NULL;
}

/* Jobs of several ranks wait for one another, so each has a thread. */
static ncclResult_t run_jobs(struct sim_job *jobs)
{
	ncclResult_t result = ncclSuccess;
	pthread_t *threads;
	size_t n = 0, i = 0;

	if (!jobs || !jobs->next) {
		if (jobs)
			run_job(jobs);
		return jobs ? jobs->result : ncclSuccess;
	}
	for (struct sim_job *j = jobs; j; j = j->next)
		n++;
	threads = calloc(n, sizeof(*threads));
	if (!threads)
		abort();
	for (struct sim_job *j = jobs; j; j = j->next)
		if (pthread_create(&threads[i++], NULL, run_job, j))
			abort();
	i = 0;
	for (struct sim_job *j = jobs; j; j = j->next) {
		pthread_join(threads[i++], NULL);
		if (j->result)
			result = j->result;
	}
	free(threads);
	return result;
}

/* All of a group's communicators are captured, or none is. */
static ncclResult_t none_or_all_are_captured(const struct group *g)
{
	ncclResult_t result = ncclSuccess;
	bool yes = false, no = false;

	for (struct ncclComm *c = g->comms; c && !result; c = c->plan.next) {
		uint64_t capture;

		if (!c->plan.n_streams)
			continue;
		result = sim_plan_capture(c, &capture);
		yes |= capture != 0;
		no |= capture == 0;
	}
	if (result || !yes || !no)
		return result;
	sim_nccl_misuse("ncclGroupEnd", "Either none or all communicators in a ncclGroup() can be "
					"CUDA graph captured.");
	return ncclInvalidUsage;
}

/* What the calling thread has asked for on behalf of each communicator, in its order: NCCL's list
 * is the reverse. */
static ncclResult_t launch(struct group *g)
{
	ncclResult_t result = none_or_all_are_captured(g);

	for (struct ncclComm *c = g->comms; c && !result; c = c->plan.next)
		if (!g->simulate || !c->blocking)
			result = sim_plan_launch(c);
	return result;
}

static void forget(struct group *g, bool undo)
{
	struct ncclComm *comm, *next;
	struct sim_job *job;

	for (comm = g->comms; comm; comm = next) {
		next = comm->plan.next;
		sim_plan_clear(&comm->plan);
		sim_comm_drop(comm);
	}
	while ((job = g->jobs)) {
		g->jobs = job->next;
		if (undo && job->undo)
			job->undo(job);
		sim_comm_drop(job->comm);
		free(job);
	}
	g->comms = NULL;
}

static ncclResult_t carry_out(struct group *g)
{
	ncclResult_t result = run_jobs(g->jobs);

	sim_events_swap_group(g->event);
	if (!result)
		result = launch(g);
	sim_events_group_end();
	return result;
}

/* A nonblocking group is at work on these; said before the call returns, and again with the result.
 */
static void announce(struct group *g, ncclResult_t state)
{
	for (struct ncclComm *c = g->comms; c; c = c->plan.next)
		atomic_store(&c->async, state);
	for (struct sim_job *j = g->jobs; j; j = j->next)
		atomic_store(&j->comm->async, state);
}

static void count_background(struct group *g, bool more)
{
	for (struct ncclComm *c = g->comms; c; c = c->plan.next) {
		if (more)
			atomic_fetch_add(&c->background, 1);
		else
			sim_comm_less(&c->background);
	}
	for (struct sim_job *j = g->jobs; j; j = j->next) {
		if (more)
			atomic_fetch_add(&j->comm->background, 1);
		else
			sim_comm_less(&j->comm->background);
	}
}

/* The program may use the communicators as soon as it sees their state, so their plans are empty
 * before. */
static void *in_background(void *arg)
{
	struct group *g = arg;
	struct group rest = { .jobs = g->jobs };
	ncclResult_t result = carry_out(g);
	struct ncclComm **comms, *c;
	size_t n = 0;

	for (c = g->comms; c; c = c->plan.next)
		n++;
	comms = calloc(n + 1, sizeof(struct ncclComm *));
	if (!comms)
		abort();
	n = 0;
	for (c = g->comms; c; c = comms[n - 1]->plan.next)
		comms[n++] = c;
	for (size_t i = 0; i < n; i++)
		sim_plan_clear(&comms[i]->plan);
	announce(&rest, result);
	for (size_t i = 0; i < n; i++) {
		atomic_store(&comms[i]->async, result);
		sim_comm_less(&comms[i]->background);
		sim_comm_drop(comms[i]);
	}
	count_background(&rest, false);
	forget(&rest, false);
	free(comms);
	free(g);
	return NULL;
}

static ncclResult_t start_background(const struct group *group)
{
	struct group *g = malloc(sizeof(*g));
	pthread_attr_t attr;
	pthread_t thread;
	int failed;

	if (!g)
		return ncclSystemError;
	*g = *group;
	announce(g, ncclInProgress);
	count_background(g, true);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	failed = pthread_create(&thread, &attr, in_background, g);
	pthread_attr_destroy(&attr);
	if (failed)
		abort();
	return ncclInProgress;
}

ncclResult_t sim_group_end(bool simulate)
{
	struct group g;
	ncclResult_t result;

	if (depth == 0) {
		sim_nccl_misuse(simulate ? "ncclGroupSimulateEnd" : "ncclGroupEnd",
				"not in a group call.");
		return ncclInvalidUsage;
	}
	if (--depth > 0)
		return ncclSuccess;
	g = open_group;
	memset(&open_group, 0, sizeof(open_group));
	g.simulate = simulate;
	g.event = sim_events_swap_group(NULL);
	if (g.comms || g.jobs)
		sim_stall("ncclGroupEnd");
	result = g.error;
	if (!result && g.any && !g.blocking && (g.comms || g.jobs))
		return start_background(&g);
	if (!result) {
		result = carry_out(&g);
	} else {
		if (!g.blocking)
			announce(&g, result);
		sim_events_swap_group(g.event);
		sim_events_group_end();
	}
	forget(&g, g.error != ncclSuccess);
	return result;
}

SIM_NCCL(ncclResult_t, ncclGroupStart, (void))
{
	sim_group_start();
	return ncclSuccess;
}

SIM_NCCL(ncclResult_t, ncclGroupEnd, (void))
{
	return sim_group_end(false);
}

SIM_NCCL(ncclResult_t, ncclGroupSimulateEnd, (ncclSimInfo_t * info))
{
	struct ncclComm *comms = depth == 1 ? open_group.comms : NULL;
	uint64_t ns = 0;

	for (struct ncclComm *c = comms; c; c = c->plan.next) {
		for (size_t i = 0; i < c->plan.colls.n; i++)
			ns += c->plan.colls.list[i].work_ns;
		for (size_t i = 0; i < c->plan.messages.n; i++)
			ns += c->plan.messages.list[i].transfer_ns;
	}
	if (info && comms)
		info->estimatedTime = (float)((double)ns / 1e3);
	return sim_group_end(true);
}
