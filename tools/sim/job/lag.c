/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/job/lag.h"

#include "tools/sim/job/rank.h"
#include "tools/sim/sim.h"

enum { LOOK_EVERY_NS = 1000 * 1000, LINGER_NS = 300 * 1000 * 1000 };

/* As a process group with a time-out does: abort what is stuck, see its kernels end, and give up. */
static void wait_or_abort(struct simjob_rank *r, cudaEvent_t event)
{
	const uint64_t begin_ns = simNow();
	cudaError_t error;

	while ((error = cudaEventQuery(event)) == cudaErrorNotReady) {
		if (simNow() - begin_ns > r->abort_after_ns) {
			simjob_rank_abort(r, SIMJOB_OWN_LANE);
			simSleepUntil(simNow() + r->abort_takes_ns + LINGER_NS);
			simjob_rank_fail(r, "ncclCommAbort", "the time is up");
		}
		simSleepUntil(simNow() + LOOK_EVERY_NS);
	}
	if (error)
		simjob_rank_fail(r, "cudaEventQuery", cudaGetErrorString(error));
}

void simjob_wait(struct simjob_rank *r, cudaEvent_t event)
{
	if (r->abort_after_ns)
		wait_or_abort(r, event);
	else
		SIMJOB_CUDA(r, cudaEventSynchronize, (event));
	/* What an abort has ended is not a result; the watchdog ends the process. */
	while (r->is_aborting)
		simSleepUntil(simNow() + LINGER_NS);
}

static void pass(struct simjob_rank *r)
{
	struct simjob_mark *mark = &r->lag.marks[r->lag.passed % SIMJOB_MARKS];

	simjob_wait(r, mark->event);
	r->lag.passed++;
	if (mark->step != UINT64_MAX)
		simjob_step_over(r, mark->step);
}

void simjob_lag_drain(struct simjob_rank *r)
{
	while (r->lag.passed < r->lag.put)
		pass(r);
}

void simjob_lag_mark(struct simjob_rank *r, uint64_t step)
{
	struct simjob_lag *lag = &r->lag;
	struct simjob_mark *mark = &lag->marks[lag->put % SIMJOB_MARKS];

	if (lag->put - lag->passed == SIMJOB_MARKS)
		pass(r);
	if (!mark->event)
		SIMJOB_CUDA(r, cudaEventCreateWithFlags, (&mark->event, cudaEventDisableTiming));
	SIMJOB_CUDA(r, cudaEventRecord, (mark->event, r->streams[CT_STREAM_COMPUTE]));
	mark->put_ns = simNow();
	mark->step = step;
	lag->put++;
	while (lag->passed < lag->put &&
	       simNow() - lag->marks[lag->passed % SIMJOB_MARKS].put_ns >= lag->limit_ns)
		pass(r);
}
