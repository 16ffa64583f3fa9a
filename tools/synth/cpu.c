/* SPDX-License-Identifier: Apache-2.0 */
/* cpu.c — a rank's CPU: goes through the actions, puts work onto streams, and waits where a program
 * would. */
#include <math.h>
#include <string.h>

#include "tools/synth/noise.h"
#include "tools/synth/play_private.h"
#include "trace/ops.h"

#define CALL_LEAST_NS 3000u /* one that communicates */
#define CALL_SPREAD_NS 1000u
#define MAKING_NS 2000000u /* a communicator, once all are there */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static double uniform(const struct rank *r, enum ct_noise what, uint64_t which)
{
	return ct_noise_uniform(r->play->config->seed, what, (uint64_t)r->number, which);
}

static struct stream *stream_of(struct rank *r, int stream)
{
	if (stream < CT_STREAM_COMMS)
		return &r->streams[stream];
	for (int i = 0; i < r->n_seats; i++) {
		if (r->seats[i].comm == stream - CT_STREAM_COMMS)
			return &r->streams[CT_STREAM_COMMS + i];
	}
	return NULL;
}

static struct seat *seat_in(struct rank *r, int comm)
{
	for (int i = 0; i < r->n_seats; i++) {
		if (r->seats[i].comm == comm)
			return &r->seats[i];
	}
	return NULL;
}

void ct_play_cpu_woken(struct rank *r)
{
	r->state = RANK_RUNS;
	ct_play_ready_rank(r);
}

/* Once the GPU has done what it was given, as far as it ever does. */
static void end_soon(struct rank *r, enum ct_play_end end, int code)
{
	r->ends = 1;
	r->ending = end;
	r->code = code;
	for (int i = 0; i < r->n_streams; i++) {
		if (r->streams[i].n || r->streams[i].running || r->streams[i].ns > r->host_ns)
			ct_play_mark(r, &r->streams[i]);
	}
	r->lag.drains = 1;
}

static void end_now(struct rank *r, enum ct_play_end end)
{
	struct ct_play_sums *sums = r->play->sums;
	const double delay_s = r->play->world->death_to_kill_s;

	r->state = RANK_ENDED;
	r->sums.end = end;
	r->sums.end_ns = later(r->sums.end_ns, r->host_ns);
	if (end == CT_PLAY_DIED && delay_s >= 0) {
		const uint64_t kill_ns = r->host_ns + (uint64_t)(delay_s * 1e9);

		sums->kill_ns = sums->kill_ns && sums->kill_ns < kill_ns ? sums->kill_ns : kill_ns;
	}
}

/* ---- communicators ---- */

static void pass_host(struct rank *r, enum ct_play_host call, int comm, uint64_t enter_ns,
		      uint64_t return_ns)
{
	const int parent = call == CT_PLAY_SPLIT ? r->action->parent : -1;
	const struct ct_play_host_call out = { call, comm, parent, enter_ns, return_ns };
	const struct ct_play_sink *sink = r->play->sink;

	if (sink && sink->host)
		ct_play_fail(r->play, sink->host(sink->arg, r->number, &out));
}

/* Entered, perhaps forever. 1: forever. */
static int enter(struct rank *r, enum ct_play_host call, enum ct_fault_call stalls, int comm)
{
	pass_host(r, call, comm, r->host_ns, 0);
	if (r->stalls != stalls + 1)
		return 0;
	end_now(r, CT_PLAY_STUCK);
	return 1;
}

static void all_are_made(struct gathering *g, enum ct_play_host call)
{
	for (uint32_t i = 0; i < g->n; i++) {
		struct rank *r = g->ranks[i];

		r->host_ns = g->last_ns + MAKING_NS +
			     (uint64_t)(50000 * uniform(r, CT_NOISE_CALL, r->calls++));
		pass_host(r, call, r->action->comm, g->enter_ns[i], r->host_ns);
		ct_play_cpu_woken(r);
	}
}

/* Comes back only when all members have called it. `which`: the same on all of them. */
static void gather(struct rank *r, enum ct_play_host call, uint64_t which, int members_of)
{
	struct play *p = r->play;
	struct gathering *g = ct_synth_map_get(&p->gatherings, which);
	const uint32_t n = (uint32_t)ct_workload_comm(p->w, members_of)->n;

	if (!g) {
		g = ct_play_alloc(p, 1, sizeof(*g));
		if (!g)
			return;
		if (ct_synth_map_put(&p->gatherings, which, g)) {
			ct_play_free(g);
			ct_play_fail(p, -1);
			return;
		}
		g->expected = n;
		g->ranks = ct_play_alloc(p, n, sizeof(struct rank *));
		g->enter_ns = ct_play_alloc(p, n, sizeof(*g->enter_ns));
		if (!g->ranks || !g->enter_ns)
			return;
	}
	g->enter_ns[g->n] = r->host_ns;
	g->ranks[g->n++] = r;
	g->last_ns = later(g->last_ns, r->host_ns);
	r->state = RANK_WAITS;
	if (g->n == g->expected)
		all_are_made(g, call);
}

/* Comes back when all that was put onto it is done. */
static void finalize(struct rank *r, int comm)
{
	r->ending_comm = comm;
	r->finalize_ns = r->host_ns;
	ct_play_mark(r, stream_of(r, ct_workload_comm_stream(comm)));
	r->lag.drains = 1;
}

static void finalized(struct rank *r)
{
	pass_host(r, CT_PLAY_FINALIZE, r->ending_comm, r->finalize_ns, r->host_ns);
	r->ending_comm = -1;
}

static void destroy(struct rank *r, int comm)
{
	const struct ct_play_sink *sink = r->play->sink;

	if (sink && sink->unmade)
		ct_play_fail(r->play, sink->unmade(sink->arg, r->number, comm, r->host_ns));
}

/* ---- operations ---- */

static uint64_t next_seq(struct rank *r, const struct ct_workload_op *op)
{
	struct seat *seat = seat_in(r, op->comm);

	if (ct_op_class(op->op) != CT_CLASS_P2P)
		return seat->seq++;
	if (!seat->messages)
		seat->messages = ct_play_alloc(
			r->play, 2 * (size_t)ct_workload_comm(r->play->w, op->comm)->n,
			sizeof(*seat->messages));
	return seat->messages ? seat->messages[2 * op->peer + (op->op == CT_OP_Recv)]++ : 0;
}

static void call(struct rank *r, const struct ct_action *action)
{
	const struct ct_play_sink *sink = r->play->sink;
	struct launch *l = r->group;
	struct launch_op *op = ct_play_launch_op(l);
	struct ct_play_call out;

	if (!op)
		return;
	l->comm = action->op.comm;
	op->op = action->op;
	op->step = action->step;
	op->seq = next_seq(r, &action->op);
	out = (struct ct_play_call){
		.op = &op->op,
		.enter_ns = r->host_ns,
		.return_ns = r->host_ns + CALL_LEAST_NS +
			     (uint64_t)(CALL_SPREAD_NS * uniform(r, CT_NOISE_CALL, r->calls++)),
		.seq = op->seq,
		.launch = l->id,
	};
	r->host_ns = out.return_ns + CT_PLAY_EVENT_NS;
	r->sums.ops++;
	if (sink && sink->call)
		ct_play_fail(r->play, sink->call(sink->arg, r->number, &out));
}

static void pass_stream(struct rank *r, struct stream *s)
{
	const struct ct_play_sink *sink = r->play->sink;
	const uint8_t level = s->is_named ? (uint8_t)(1 + s->is_fed) : 0;
	const struct ct_play_stream out = { .stream = s->index,
					    .is_fed = s->is_fed,
					    .at_ns = r->host_ns };

	if (level > s->reported_level && sink && sink->stream)
		ct_play_fail(r->play, sink->stream(sink->arg, r->number, &out));
	s->reported_level = level;
}

static void break_launch(struct seat *seat, struct launch *l)
{
	if (!seat)
		return;
	l->is_stuck = seat->is_stuck;
	l->lingers = seat->lingers;
	seat->lingers = 0;
}

static void end_group(struct rank *r, struct stream *s)
{
	struct launch *l = r->group;

	r->group = NULL;
	if (!l || !l->n_ops || !s) {
		if (l)
			ct_play_launch_free(l);
		return;
	}
	l->stream = s;
	l->left = l->n_ops;
	l->issued_ns = r->host_ns;
	break_launch(seat_in(r, l->comm), l);
	s->own.count++;
	s->own.launch = l->id;
	pass_stream(r, s);
	ct_play_put(s, &(struct item){ .kind = ITEM_LAUNCH, .issued_ns = r->host_ns, .launch = l });
}

/* The call that launches a group. 1: it never returns. */
static int leave_group(struct rank *r, struct stream *s)
{
	const int comm = r->group->comm;
	const uint64_t enter_ns = r->host_ns;

	if (enter(r, CT_PLAY_GROUP_END, CT_CALL_groupend, comm)) {
		r->group->stream = s; /* on record as not done */
		return 1;
	}
	r->host_ns += CALL_LEAST_NS;
	pass_host(r, CT_PLAY_GROUP_END, comm, enter_ns, r->host_ns);
	return 0;
}

/* ---- kernels ---- */

static void begin_step(struct rank *r)
{
	const struct ct_play_world *world = r->play->world;
	const uint64_t seed = r->play->config->seed, own = (uint64_t)r->number;

	r->step = r->action->step;
	r->last_kernels = r->kernels;
	r->kernels = 0;
	r->hiccup_at = UINT32_MAX;
	if (world->hiccup_rate > 0 && uniform(r, CT_NOISE_HICCUP, r->step) < world->hiccup_rate) {
		r->hiccup_at = (uint32_t)(uniform(r, CT_NOISE_HICCUP_AT, r->step) *
					  r->last_kernels);
		r->hiccup_ns = (uint64_t)(1e6 * world->hiccup_ms *
					  ct_noise_exponential(seed, CT_NOISE_HICCUP_MS, own,
							       r->step));
	}
	ct_play_put(&r->streams[CT_STREAM_COMPUTE],
		    &(struct item){ .kind = ITEM_STEP, .issued_ns = r->host_ns, .ns = r->step });
}

static void compute(struct rank *r, struct stream *s, uint64_t ns)
{
	const struct ct_play_world *world = r->play->world;
	const uint32_t kernel = r->kernels++;
	double factor = r->own_pace;

	if (world->noise_pct > 0)
		factor *= exp(world->noise_pct / 100 *
			      ct_noise_normal(r->play->config->seed, CT_NOISE_KERNEL,
					      (uint64_t)r->number, ct_noise_mix(r->step, kernel)));
	ns = (uint64_t)((double)ns * factor);
	if (kernel == r->hiccup_at)
		ns += r->hiccup_ns;
	r->play->sums->busy_ns += (double)ns;
	ct_play_put(s, &(struct item){ .kind = ITEM_COMPUTE, .issued_ns = r->host_ns, .ns = ns });
	if (r->play->run_ahead_ns && s->index == CT_STREAM_COMPUTE)
		ct_play_mark(r, s);
}

static void end_step(struct rank *r)
{
	ct_play_mark(r, &r->streams[CT_STREAM_COMPUTE]);
	if (r->action->step + 1 == r->play->config->steps)
		r->lag.drains = 1;
}

/* ---- faults ---- */

static void strike(struct rank *r, struct stream *s)
{
	const struct ct_play_sink *sink = r->play->sink;
	const struct ct_action *a = r->action;

	switch (a->kind) {
	case CT_ACTION_STOP:
		end_now(r, CT_PLAY_STUCK);
		break;
	case CT_ACTION_HANG:
		seat_in(r, a->comm)->is_stuck = 1;
		break;
	case CT_ACTION_LINGER:
		seat_in(r, a->comm)->lingers = 1;
		break;
	case CT_ACTION_STALL_CALL:
		r->stalls = (uint8_t)(a->fault->call + 1);
		break;
	case CT_ACTION_KILL:
		end_soon(r, CT_PLAY_DIED, a->fault->signal ? a->fault->signal : 9);
		break;
	case CT_ACTION_EXIT:
		end_soon(r, CT_PLAY_EXITED, a->fault->code);
		break;
	case CT_ACTION_FAIL:
		if (sink && sink->error)
			ct_play_fail(r->play,
				     sink->error(sink->arg, r->number, a->comm, r->host_ns));
		end_soon(r, CT_PLAY_EXITED, 1);
		break;
	case CT_ACTION_BLOCK:
		ct_play_put(s, &(struct item){ .kind = ITEM_BLOCK, .issued_ns = r->host_ns });
		break;
	case CT_ACTION_STARVE:
		ct_play_span_add(&r->starved, r->host_ns, a->ns);
		break;
	case CT_ACTION_PAUSE_GPU:
		ct_play_span_add(&r->paused, r->host_ns, a->ns);
		r->play->has_pauses = 1;
		r->play->sums->busy_ns += (double)a->ns;
		break;
	default: /* a slow link: the model knows */
		break;
	}
}

static void act(struct rank *r)
{
	const struct ct_action *a = r->action;
	struct stream *s = stream_of(r, a->stream);

	switch (a->kind) {
	case CT_ACTION_INIT:
		if (!enter(r, CT_PLAY_INIT, CT_CALL_init, a->comm))
			gather(r, CT_PLAY_INIT, 1ull << 62 | (uint64_t)a->comm, a->comm);
		break;
	case CT_ACTION_SPLIT:
		if (!enter(r, CT_PLAY_SPLIT, CT_CALL_split, a->comm))
			gather(r, CT_PLAY_SPLIT, 1ull << 63 | r->splits++, a->parent);
		break;
	case CT_ACTION_FINALIZE:
		if (!enter(r, CT_PLAY_FINALIZE, CT_CALL_finalize, a->comm))
			finalize(r, a->comm);
		break;
	case CT_ACTION_DESTROY:
		destroy(r, a->comm);
		break;
	case CT_ACTION_STEP_BEGIN:
		begin_step(r);
		break;
	case CT_ACTION_STEP_END:
		end_step(r);
		break;
	case CT_ACTION_HOST:
		r->host_ns += a->ns;
		r->play->sums->busy_ns += (double)a->ns;
		break;
	case CT_ACTION_COMPUTE:
		compute(r, s, a->ns);
		break;
	case CT_ACTION_RECORD:
		ct_play_record_event(r, s, a->event);
		break;
	case CT_ACTION_WAIT:
		ct_play_wait_event(r, s, a->event);
		break;
	case CT_ACTION_PRODUCE:
	case CT_ACTION_CONSUME:
		break;
	case CT_ACTION_GROUP_BEGIN:
		r->group = ct_play_launch_new(r);
		r->in_group = 1;
		break;
	case CT_ACTION_GROUP_END:
		if (!r->group || !r->group->n_ops || !leave_group(r, s))
			end_group(r, s);
		r->in_group = 0;
		break;
	case CT_ACTION_OP:
		if (!r->in_group)
			r->group = ct_play_launch_new(r);
		if (r->group)
			call(r, a);
		if (!r->in_group)
			end_group(r, s);
		break;
	default:
		strike(r, s);
		break;
	}
}

/* The launcher has ended the job by then, or this rank was killed. 1: it is over. */
static int is_over(struct rank *r)
{
	struct ct_play_sums *sums = r->play->sums;

	if (sums->kill_ns && r->host_ns >= sums->kill_ns) {
		r->host_ns = sums->kill_ns;
		end_now(r, CT_PLAY_STUCK);
		return 1;
	}
	if (r->kill_at_ns && r->host_ns >= r->kill_at_ns && !r->ends)
		end_soon(r, CT_PLAY_DIED, r->code);
	return 0;
}

void ct_play_cpu(struct rank *r)
{
	int more;

	while (r->state == RANK_RUNS && !r->play->status) {
		if (!ct_play_keeps_up(r) || is_over(r))
			continue;
		if (r->ending_comm >= 0)
			finalized(r);
		if (r->ends) {
			if (!r->lag.n)
				end_now(r, r->ending);
			continue;
		}
		more = ct_workload_next(r->it, &r->action);
		if (more < 0)
			ct_play_fail(r->play, -1);
		else if (!more)
			end_now(r, CT_PLAY_THROUGH);
		else
			act(r);
	}
}
