/* SPDX-License-Identifier: Apache-2.0 */
/* From NCCL's events to records: which op an event belongs to, its detail, the times of its launch.
 */
#include "interpose/profiler/event.h"

#include <errno.h>

#include "interpose/gpu/kernel_events.h"
#include "interpose/nccl/comm.h"
#include "interpose/nccl/nccl.h"
#include "interpose/profiler/handle.h"
#include "interpose/recorder.h"

static void count_unlinked(void)
{
	ct_ring_lose(&ct_recorder.ring, CT_LOSS_PLUGIN_UNLINKED, 1);
}

/* ---- which op
 * --------------------------------------------------------------------------------------------------------
 */

static void says_inside(struct ct_profiler_says *s, const struct ct_nccl_inside *in)
{
	s->op = in->op;
	s->has_seq = in->has_seq;
	s->seq = in->seq;
	s->launch = in->launch;
	s->comm_id = in->comm;
	s->profiled = ct_gpu_profiled_number(in->span);
}

static void *start_call(struct ct_profiler_comm *c, const struct ct_profiler_event *e,
			enum ct_profiler_way way)
{
	struct ct_profiler_says s = { .kind = CT_PROFILER_CALL, .comm = ct_profiler_number(c) };
	struct ct_nccl_inside in;

	if (e->captured)
		ct_kernel_events_captured();
	if (way == CT_PROFILER_BY_ITSELF)
		return ct_profiler_alone_call(c, e);
	/* NCCL's events for it, perhaps at each launch of the graph, belong to no op */
	if (e->captured)
		return NULL;
	/* another library's call that uses NCCL is recorded as that */
	if (!ct_nccl_inside_op(&in))
		return NULL;
	says_inside(&s, &in);
	return ct_profiler_handle_take(&s);
}

/* The launch's span, which an op of a group has only since the end of the group. */
static void find_profiled(struct ct_profiler_says *s)
{
	struct ct_nccl_inside in;

	if (ct_nccl_inside_op(&in) ? in.launch == s->launch
				   : ct_nccl_inside_end(0, 0, s->launch, &in))
		s->profiled = ct_gpu_profiled_number(in.span);
	else
		s->profiled = ct_gpu_profiled_find(s->launch);
}

/* Of the call that NCCL names. 0: that call was not ours. */
static int link_to_call(const struct ct_profiler_comm *c, const struct ct_profiler_event *e,
			struct ct_profiler_says *s)
{
	if (!e->parent)
		return 0;
	if (!ct_profiler_handle_read(e->parent, s) || s->kind != CT_PROFILER_CALL) {
		count_unlinked();
		return 0;
	}
	if (!s->alone && ct_profiler_has_times(c))
		find_profiled(s);
	return 1;
}

/* Before v5: the thread is inside the call, or it is unknown. */
static int link_to_thread(const struct ct_profiler_comm *c, const struct ct_profiler_event *e,
			  struct ct_profiler_says *s)
{
	uint64_t hash = e->comm_hash ? e->comm_hash : c->hash;
	struct ct_nccl_inside in;

	if (!ct_nccl_inside_op(&in) && !ct_nccl_inside_end(hash, e->rank, 0, &in)) {
		count_unlinked();
		return 0;
	}
	if (in.captured)
		return 0;
	says_inside(s, &in);
	return 1;
}

static int link_task(struct ct_profiler_comm *c, const struct ct_profiler_event *e,
		     enum ct_profiler_way way, struct ct_profiler_says *s)
{
	if (c->version >= CT_PROFILER_CALLS_SINCE)
		return link_to_call(c, e, s);
	if (way == CT_PROFILER_IN_WRAPPER)
		return link_to_thread(c, e, s);
	if (atomic_load_explicit(&ct_nccl_seen, memory_order_relaxed)) {
		/* a thread of NCCL's own, most likely: not to be recorded twice */
		count_unlinked();
		return 0;
	}
	*s = (struct ct_profiler_says){ .alone = 1 };
	return 1;
}

/* ---- what is launched
 * ------------------------------------------------------------------------------------------------ */

static void record_detail(const struct ct_profiler_says *s, const struct ct_profiler_event *e,
			  uint8_t op)
{
	const struct ct_detail_rec rec = {
		.comm = s->comm_id,
		.launch = s->launch,
		.seq = s->has_seq ? s->seq : 0,
		.count = e->count,
		.peer = e->peer,
		.algo = ct_profiler_string(e->algo),
		.proto = ct_profiler_string(e->proto),
		.op = op,
		.dtype = ct_profiler_dtype(e->type_name),
		.channels = e->channels,
		.warps = e->warps,
		.flags = s->has_seq ? CT_DETAIL_SEQ : 0,
	};

	ct_recorder_rare(CT_KIND_DETAIL, &rec);
}

static void *start_task(struct ct_profiler_comm *c, const struct ct_profiler_event *e,
			enum ct_profiler_way way)
{
	struct ct_profiler_says s = { .kind = 0 };
	uint8_t op = ct_profiler_op(e->func, NULL);
	int is_profiled;
	void *handle;

	if (!link_task(c, e, way, &s) || (s.alone && !ct_profiler_alone_task(c, e, &s)))
		return NULL;
	/* sends and receives that an all-to-all is made of say nothing of it */
	if (!s.op || s.op == op)
		record_detail(&s, e, op);
	s.kind = CT_PROFILER_TASK;
	s.comm = ct_profiler_number(c);
	s.left = e->channels ? e->channels : 1;
	is_profiled = s.profiled && ct_profiler_has_times(c) &&
		      ct_gpu_profiled_task(s.profiled, s.launch, &c->order,
					   s.alone && c->version >= CT_PROFILER_CALLS_SINCE);
	if (!is_profiled)
		s.profiled = 0;
	if (!is_profiled && !s.slot)
		return NULL;
	handle = ct_profiler_handle_take(&s);
	if (!handle) {
		ct_profiler_alone_stop(NULL, &s);
		/* its channels will not be reported: the launch is over, but its end is unknown */
		if (is_profiled)
			ct_gpu_profiled_unknown(s.profiled, s.launch);
	}
	return handle;
}

static void *start_channel(const struct ct_profiler_event *e)
{
	struct ct_profiler_says s;

	if (!e->parent || !ct_profiler_handle_read(e->parent, &s) || s.kind != CT_PROFILER_TASK ||
	    !s.profiled)
		return NULL;
	ct_gpu_profiled_started(s.profiled, s.launch, e->timer);
	return ct_profiler_handle_channel(e->parent);
}

void *ct_profiler_start(struct ct_profiler_comm *c, const struct ct_profiler_event *e)
{
	enum ct_profiler_way way = c ? ct_profiler_enter(c) : CT_PROFILER_OUT;
	int saved = errno;
	void *handle = NULL;

	if (way == CT_PROFILER_OUT)
		return NULL;
	switch (e->type) {
	case NCCL_PROFILE_GROUP_API:
		handle = way == CT_PROFILER_BY_ITSELF ? ct_profiler_handle_unique() : NULL;
		break;
	case NCCL_PROFILE_COLL_API:
	case NCCL_PROFILE_P2P_API:
		handle = start_call(c, e, way);
		break;
	case NCCL_PROFILE_GROUP:
		if (way == CT_PROFILER_BY_ITSELF && c->version < CT_PROFILER_CALLS_SINCE &&
		    !atomic_load_explicit(&ct_nccl_seen, memory_order_relaxed))
			handle = ct_profiler_alone_plan(c);
		break;
	case NCCL_PROFILE_COLL:
	case NCCL_PROFILE_P2P:
		handle = start_task(c, e, way);
		break;
	case NCCL_PROFILE_KERNEL_CH:
		handle = start_channel(e);
		break;
	default:
		break;
	}
	ct_profiler_leave(way);
	errno = saved;
	return handle;
}

/* ---- ends
 * --------------------------------------------------------------------------------------------------------------
 */

static void stop_channel(const void *handle, const struct ct_profiler_says *s)
{
	if (ct_profiler_handle_less(handle) != 0)
		return;
	ct_gpu_profiled_task_done(s->profiled, s->launch);
	ct_profiler_handle_give(handle);
}

static void stop_entry(const void *handle, const struct ct_profiler_says *s)
{
	if (s->alone)
		ct_profiler_alone_stop(handle, s);
	if (s->kind != CT_PROFILER_TASK || !s->profiled)
		ct_profiler_handle_give(handle);
}

void ct_profiler_stop(const void *handle)
{
	int saved = errno;
	struct ct_profiler_says s;
	enum ct_profiler_way way;

	if (!handle || !ct_profiler_handle_read(handle, &s))
		return;
	way = ct_profiler_enter(ct_profiler_nth(s.comm));
	if (way == CT_PROFILER_OUT)
		return;
	if (ct_profiler_handle_is_channel(handle))
		stop_channel(handle, &s);
	else
		stop_entry(handle, &s);
	ct_profiler_leave(way);
	errno = saved;
}

void ct_profiler_kernel_stop(const void *handle, uint64_t timer)
{
	struct ct_profiler_says s;

	if (ct_profiler_handle_is_channel(handle) && ct_profiler_handle_read(handle, &s))
		ct_gpu_profiled_stopped(s.profiled, s.launch, timer);
}
