/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/stencil_job.h"

#include <math.h>
#include <string.h>

#include "analyzer/base/table.h"
#include "trace/ops.h"

#define POST_NS 700.0
#define HALO 4096u
#define BEGIN_NS 50000000.0

enum { CALL_ISEND = 20, CALL_IRECV, CALL_WAITALL, CALL_SENDRECV, CALL_ALLREDUCE };

/* One playing: with the slow ranks on record, or without for the truth. */
struct play {
	const struct stencil *o;
	struct job *job; /* NULL: not recorded */
	double now[JOB_MAX_RANKS], own[JOB_MAX_RANKS];
	double posted[JOB_MAX_RANKS];
	uint32_t launches[JOB_MAX_RANKS];
	uint64_t collectives;
	uint64_t messages[2]; /* so far, of each pair of neighbours: posted, blocking */
	uint64_t random;
};

static struct job job;

/* The same numbers in both playings. */
static double chance(struct play *p)
{
	p->random += 0x9e3779b97f4a7c15ull;
	return ((double)(ct_mix(p->random) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct play *p)
{
	double radius = sqrt(-2 * log(chance(p)));

	return radius * cos(2 * M_PI * chance(p));
}

static double work(struct play *p, int rank)
{
	const struct stencil *o = p->o;
	double ns = o->step_ms * 1e6 * p->own[rank] * exp(o->noise * normal(p));
	double stall = chance(p), length = -log(chance(p)) * o->hiccup_ms * 1e6;

	if (p->job && o->slow >> rank & 1)
		ns *= 1 + o->slow_pct / 100;
	return stall < o->hiccup ? ns + length : ns;
}

/* The neighbour on one side; -1: there is none. */
static int neighbour(const struct play *p, int rank, int side)
{
	int at = rank + (side ? 1 : -1);

	if (p->o->chain && (at < 0 || at >= p->o->ranks))
		return -1;
	return (at + p->o->ranks) % p->o->ranks;
}

/* ---- records ---- */

static void message(struct play *p, int rank, unsigned op, int peer, uint32_t tag, uint64_t seq,
		    double enter, double leave, double end)
{
	uint32_t launch = end > 0 ? ++p->launches[rank] : 0;

	if (!p->job)
		return;
	job_op(p->job, rank,
	       (struct ct_op){
		       .enter_ns = (uint64_t)enter,
		       .return_ns = (uint64_t)leave,
		       .count = HALO,
		       .seq = seq,
		       .launch = launch,
		       .peer = peer,
		       .tag = tag,
		       .op = (uint8_t)op,
		       .dtype = CT_DTYPE_float64,
		       .call = !launch		  ? CALL_SENDRECV
			       : op == CT_OP_Send ? CALL_ISEND
						  : CALL_IRECV,
	       });
	if (launch)
		job_launch(p->job, rank,
			   (struct ct_launch){ .id = launch,
					       .comm = 1,
					       .n_ops = 1,
					       .start_ns = (uint64_t)enter,
					       .end_ns = (uint64_t)end,
					       .start_source = CT_SOURCE_CALL,
					       .end_source = CT_SOURCE_WAIT });
}

static void waiting(struct play *p, int rank, double enter, double leave)
{
	struct ct_host_rec rec = {
		.enter_ns = (uint64_t)enter,
		.tid = (uint32_t)rank + 100,
		.call = CALL_WAITALL,
	};

	if (!p->job || p->o->quiet_waits)
		return;
	rec.enter_ns += p->job->clock[rank];
	job_rare(p->job, rank, CT_KIND_HOST_BEGIN, &rec, sizeof(rec));
	rec.return_ns = (uint64_t)leave + p->job->clock[rank];
	job_rare(p->job, rank, CT_KIND_HOST_END, &rec, sizeof(rec));
}

/* ---- what happens ---- */

/* Receives and sends are posted, some more is computed, then all are waited for. */
static void exchange(struct play *p)
{
	int n = p->o->ranks;
	double transfer = p->o->transfer_us * 1e3;

	for (int r = 0; r < n; r++) {
		double ns = work(p, r);

		p->posted[r] = p->now[r] + ns * (1 - p->o->overlap);
		p->now[r] = p->posted[r] + 4 * POST_NS + ns * p->o->overlap;
	}
	for (int r = 0; r < n; r++) {
		double end = p->now[r] + 1000, post = p->posted[r];

		for (int side = 0; side < 2; side++) {
			int peer = neighbour(p, r, side);

			if (peer >= 0)
				end = fmax(end, p->posted[peer] + 4 * POST_NS + transfer);
		}
		for (int side = 0; side < 2; side++) {
			int peer = neighbour(p, r, side);

			if (peer < 0)
				continue;
			/* what goes to the left has tag 0, as it comes from the right */
			message(p, r, CT_OP_Recv, peer, !side, p->messages[0], post, post + POST_NS,
				end);
			message(p, r, CT_OP_Send, peer, side, p->messages[0], post + 2 * POST_NS,
				post + 3 * POST_NS, end);
			post += POST_NS / 4;
		}
		waiting(p, r, p->now[r], end);
		p->now[r] = end;
	}
	p->messages[0]++;
}

/* Around the ring, also of a chain: to the right, from the left, in one call. It ends when both are
 * there, for what is sent is long; the recorder reads its clock once more before it receives. */
static void shift(struct play *p)
{
	double end[JOB_MAX_RANKS];
	int n = p->o->ranks;

	for (int r = 0; r < n; r++) {
		int left = (r + n - 1) % n, right = (r + 1) % n;

		end[r] = fmax(p->now[r], fmax(p->now[left], p->now[right])) +
			 p->o->transfer_us * 1e3;
		message(p, r, CT_OP_Send, right, 7, p->messages[1], p->now[r], end[r], 0);
		message(p, r, CT_OP_Recv, left, 7, p->messages[1], p->now[r] + 1000, end[r], 0);
	}
	p->messages[1]++;
	memcpy(p->now, end, sizeof(end));
}

/* The first rank has something of its own to do while the others move data, which takes longer. */
static void bulk(struct play *p)
{
	const struct stencil *o = p->o;

	if (o->bulk_ms <= 0)
		return;
	p->now[0] += o->bulk_ms * 1e6;
	for (int r = 1; r < o->ranks; r += 2) {
		double start[2] = { p->now[r], p->now[(r + 1) % o->ranks] };
		double end = fmax(start[0], start[1]) + o->exchange_ms * 1e6;

		if (r + 1 >= o->ranks)
			break;
		for (int k = 0; k < 2; k++) {
			message(p, r + k, k ? CT_OP_Recv : CT_OP_Send, r + !k, 9, p->messages[0],
				start[k], end, 0);
			p->now[r + k] = end;
		}
	}
}

static void reduce(struct play *p)
{
	double latest = 0;

	for (int r = 0; r < p->o->ranks; r++)
		latest = fmax(latest, p->now[r]);
	for (int r = 0; r < p->o->ranks; r++) {
		double leave = latest + 20000 + p->o->skew_us * 1e3 * chance(p);

		if (p->job)
			job_op(p->job, r,
			       (struct ct_op){ .enter_ns = (uint64_t)p->now[r],
					       .return_ns = (uint64_t)leave,
					       .count = 1,
					       .seq = p->collectives,
					       .peer = -1,
					       .op = CT_OP_AllReduce,
					       .dtype = CT_DTYPE_float64,
					       .redop = CT_REDOP_sum,
					       .call = CALL_ALLREDUCE });
		p->now[r] = leave;
	}
	p->collectives++;
}

static double play(const struct stencil *o, struct job *recorded)
{
	struct play p = { .o = o, .job = recorded, .random = ct_mix(o->seed + 1) };
	double end = 0;

	for (int r = 0; r < o->ranks; r++) {
		p.own[r] = 1 + o->spread * (2 * chance(&p) - 1);
		p.now[r] = BEGIN_NS + 3e6 * chance(&p);
	}
	for (int s = 0; s < o->steps; s++) {
		exchange(&p);
		if (o->blocking)
			shift(&p);
		if ((s + 1) % o->every)
			continue;
		bulk(&p);
		reduce(&p);
	}
	for (int r = 0; r < o->ranks; r++)
		end = fmax(end, p.now[r]);
	return end;
}

struct ct_report *stencil_report(const struct stencil *o, uint64_t *time_lost_ns, uint64_t *end_ns)
{
	static const struct {
		uint32_t id;
		const char *name;
	} calls[] = { { CALL_ISEND, "MPI_Isend" },
		      { CALL_IRECV, "MPI_Irecv" },
		      { CALL_WAITALL, "MPI_Waitall" },
		      { CALL_SENDRECV, "MPI_Sendrecv" },
		      { CALL_ALLREDUCE, "MPI_Allreduce" } };
	double end, without;

	job_open(&job, &(struct job_options){ .run = "run",
					      .ranks = o->ranks,
					      .ranks_per_host = o->per_host,
					      .backend = CT_BACKEND_MPI });
	for (int r = 0; r < o->ranks; r++) {
		for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++)
			assert_int_equal(ct_block_add_text(&job.writers[r].block, CT_KIND_STRING,
							   &calls[c].id, sizeof(calls[c].id),
							   calls[c].name),
					 CT_OK);
	}
	end = play(o, &job);
	without = play(o, NULL);
	job_close(&job, (uint64_t)end + 1000000);
	if (time_lost_ns)
		*time_lost_ns = end > without ? (uint64_t)(end - without) : 0;
	if (end_ns)
		*end_ns = (uint64_t)end;
	return job_report(&job, -1);
}
