/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline/draw_hang.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/hang/hang.h"
#include "analyzer/timeline/draw.h"
#include "trace/ops.h"

static int has_signs(const struct ct_report *report)
{
	return report->n_in_flight || report->open_launches || report->n_ended || report->hang;
}

uint64_t ct_hangs_last_ns(const struct ct_timeline_index *tl_index, const struct ct_report *report)
{
	return has_signs(report) && tl_index->sign_ns > tl_index->last_ns ? tl_index->sign_ns
									  : tl_index->last_ns;
}

static uint32_t n_drawn(const struct ct_report *report)
{
	uint32_t n = report->hang ? report->hang->result->n_verdicts : 0;

	return n < CT_HANGS_DRAWN ? n : CT_HANGS_DRAWN;
}

uint64_t ct_hangs_slices(const struct ct_report *report)
{
	/* each rank's heartbeat, and its part in the verdicts */
	return (has_signs(report) ? report->n_ranks : 0) +
	       (report->hang ? n_drawn(report) + report->n_ranks : 0);
}

void ct_hangs_signs(struct ct_timeline_index *tl_index, const struct ct_report *report)
{
	for (uint32_t s = 0; s < tl_index->n_slots && report->hang; s++) {
		const struct ct_hang_rank *r = ct_hang_rank_of(&report->hang->hang_case,
							       tl_index->slots[s].rank);
		uint64_t *sign_ns = &tl_index->processes[tl_index->slots[s].process].sign_ns;
		uint64_t at = r && r->last_heartbeat_ns != CT_UNKNOWN ? r->last_heartbeat_ns : 0;

		*sign_ns = at > *sign_ns ? at : *sign_ns;
		tl_index->sign_ns = at > tl_index->sign_ns ? at : tl_index->sign_ns;
	}
}

void ct_hangs_init(struct ct_pen *pen, const struct ct_report *report)
{
	const struct ct_timeline_index *tl_index = pen->tl_index;
	struct ct_hangs *hangs = &pen->hangs;

	*hangs = (struct ct_hangs){ .run = report->hang,
				    .n = n_drawn(report),
				    .end_ns = tl_index->sign_ns,
				    .has_signs = has_signs(report) };
	/* instants of findings are inside a rank's final wait */
	for (size_t f = 0; f < pen->n_findings; f++) {
		uint64_t at = ct_draw_finding_at(tl_index, pen->findings[f]);

		hangs->end_ns = at > hangs->end_ns ? at : hangs->end_ns;
	}
}

/* ---- times ---- */

/* No later than what is drawn ends. */
static uint64_t drawn_at(const struct ct_pen *pen, uint64_t at_ns)
{
	return at_ns < pen->hangs.end_ns ? at_ns : pen->hangs.end_ns;
}

/* When the first one began to wait; the end where that is not known. */
static uint64_t begin_of(const struct ct_pen *pen, const struct ct_hang_verdict *v)
{
	return v->since_ns == CT_UNKNOWN ? pen->hangs.end_ns : drawn_at(pen, v->since_ns);
}

/* Since when a rank is in what it does not get out of: the earlier of an operation and a call;
 * UINT64_MAX unknown. */
static uint64_t stuck_since(const struct ct_hang_case *c, int rank)
{
	const struct ct_hang_rank *r = ct_hang_rank_of(c, rank);
	const struct ct_hang_op *op = ct_hang_last_op(c, rank);
	uint64_t since = op && op->stalled ? op->enter_ns : UINT64_MAX;

	for (uint32_t i = 0; r && i < c->n_calls; i++) {
		const struct ct_hang_call *call = &c->calls[i];

		if (call->rank == (uint32_t)(r - c->ranks) && call->stalled && !call->returned &&
		    call->enter_ns < since)
			since = call->enter_ns;
	}
	return since;
}

/* ---- words ---- */

/* "rank 5", "ranks 3 5", "12 ranks" */
static void name_ranks(const struct ct_hang_verdict *v, char *text, size_t size)
{
	size_t at;

	if (v->n_ranks > 4) {
		snprintf(text, size, "%" PRIu32 " ranks", v->n_ranks);
		return;
	}
	at = (size_t)snprintf(text, size, "%s", v->n_ranks == 1 ? "rank" : "ranks");
	for (uint32_t r = 0; r < v->n_ranks; r++)
		at += (size_t)snprintf(text + at, size - at, " %d", v->ranks[r]);
}

static void add_ranks(struct ct_args *args, enum ct_timeline_key list, enum ct_timeline_key count,
		      const int *ranks, uint32_t n)
{
	ct_args_uint(args, count, n);
	ct_args_ints(args, list, ranks, n);
}

/* The arguments of a verdict, for any rank. */
static void add_verdict(struct ct_pen *pen, struct ct_args *args, const struct ct_hang_verdict *v)
{
	ct_args_word(args, pen, CT_ARG_code, ct_hang_code_name(v->code));
	ct_args_word(args, pen, CT_ARG_confidence, ct_confidence_name(v->confidence));
	ct_args_word(args, pen, CT_ARG_text, v->headline);
	ct_args_word(args, pen, CT_ARG_advice, v->advice);
	add_ranks(args, CT_ARG_ranks, CT_ARG_n_ranks, v->ranks, v->n_ranks);
}

/* The operation in which a rank is. */
static void add_op(struct ct_pen *pen, struct ct_args *args, const struct ct_hang_op *op)
{
	const struct ct_hang_case *c = &pen->hangs.run->hang_case;

	if (!op)
		return;
	ct_args_word(args, pen, CT_ARG_op, ct_op_name(op->op));
	ct_args_word(args, pen, CT_ARG_state, ct_op_state_name(op->state));
	if (op->comm < c->n_comms)
		ct_args_text(args, CT_ARG_comm,
			     ct_draw_comm_label(pen->tl_index, c->comms[op->comm].hash));
	ct_args_uint(args, CT_ARG_seq, op->seq);
}

/* ---- slices ---- */

static int draw_verdict(struct ct_pen *pen, const struct ct_hang_verdict *v, uint64_t begin_ns,
			uint32_t track, unsigned depth)
{
	const struct ct_hang_case *c = &pen->hangs.run->hang_case;
	char name[160], ranks[80];
	struct ct_args args = { .n = 0 };
	struct ct_timeline_slice slice = {
		.track = track,
		.begin_ns = begin_ns,
		.end_ns = pen->hangs.end_ns,
		.depth = (uint8_t)depth,
		.category = CT_CATEGORY_HANG,
	};

	add_verdict(pen, &args, v);
	name_ranks(v, ranks, sizeof(ranks));
	snprintf(name, sizeof(name), "%s: %s", ct_hang_code_name(v->code), ranks);
	slice.name = ct_texts_add(&pen->tl_index->texts,
				  v->n_ranks ? name : ct_hang_code_name(v->code));
	add_op(pen, &args, v->op < c->n_ops ? &c->ops[v->op] : NULL);
	ct_args_word(&args, pen, CT_ARG_call, v->call);
	add_ranks(&args, CT_ARG_victims, CT_ARG_n_victims, v->victims, v->n_victims);
	ct_args_uint(&args, CT_ARG_age_ns, v->age_ns);
	ct_args_uint(&args, CT_ARG_err_ns, v->since_err_ns);
	return ct_pen_slice(pen, &slice, &args);
}

int ct_draw_hangs(struct ct_pen *pen)
{
	struct ct_timeline_track track = {
		.name = "Hang",
		.description = "what commtrace hang says, from when the first rank began to wait "
			       "to the last tracer heartbeat of the job",
		.kind = CT_TRACK_SLICES,
	};
	const struct ct_hang_verdict *order[CT_HANGS_DRAWN];
	uint32_t n = 0;
	int st = CT_OK;

	/* by begin, since each lasts to the end: a later one is inside those before it */
	for (uint32_t i = 0; i < pen->hangs.n; i++) {
		const struct ct_hang_verdict *v = &pen->hangs.run->result->verdicts[i];
		uint32_t at = n;

		if (!ct_timeline_index_inside(pen->tl_index, begin_of(pen, v), pen->hangs.end_ns))
			continue;
		for (; at && begin_of(pen, order[at - 1]) > begin_of(pen, v); at--)
			order[at] = order[at - 1];
		order[at] = v;
		n++;
	}
	if (n)
		st = ct_pen_track(pen, &track);
	for (uint32_t i = 0; i < n && st == CT_OK; i++)
		st = draw_verdict(pen, order[i], begin_of(pen, order[i]), track.id, i);
	return st;
}

struct ct_hang_part ct_hangs_part(const struct ct_pen *pen, uint32_t slot)
{
	struct ct_hang_part part = { .begin_ns = UINT64_MAX };
	int rank = pen->tl_index->slots[slot].rank;
	uint64_t since;

	for (uint32_t i = 0; i < pen->hangs.n && rank >= 0; i++) {
		const struct ct_hang_verdict *v = &pen->hangs.run->result->verdicts[i];
		int is_named = ct_hang_is_among(rank, v->ranks, v->n_ranks);

		/* nothing is known: no rank is named */
		if (v->code == CT_HANG_IS_UNKNOWN)
			continue;
		if (is_named ||
		    (!part.verdict && ct_hang_is_among(rank, v->victims, v->n_victims))) {
			part.verdict = v;
			part.is_victim = !is_named;
		}
		if (is_named)
			break;
	}
	if (!part.verdict)
		return part;
	part.begin_ns = begin_of(pen, part.verdict);
	since = part.is_victim ? stuck_since(&pen->hangs.run->hang_case, rank) : UINT64_MAX;
	if (since != UINT64_MAX)
		part.begin_ns = drawn_at(pen, since);
	if (!ct_timeline_index_inside(pen->tl_index, part.begin_ns, pen->hangs.end_ns))
		part.begin_ns = UINT64_MAX;
	return part;
}

int ct_draw_hang_part(struct ct_pen *pen, const struct ct_hang_part *part, uint32_t slot,
		      uint32_t track)
{
	const struct ct_hang_verdict *v = part->verdict;
	int rank = pen->tl_index->slots[slot].rank;
	char name[160], ranks[80];
	struct ct_args args = { .n = 0 };
	struct ct_timeline_slice slice = {
		.track = track,
		.begin_ns = part->begin_ns,
		.end_ns = pen->hangs.end_ns,
		.category = CT_CATEGORY_HANG,
	};

	add_verdict(pen, &args, v);
	name_ranks(v, ranks, sizeof(ranks));
	snprintf(name, sizeof(name), "waits for %s", ranks);
	slice.name = ct_texts_add(&pen->tl_index->texts,
				  part->is_victim ? name : ct_hang_code_name(v->code));
	ct_args_int(&args, CT_ARG_rank, rank);
	add_op(pen, &args, ct_hang_last_op(&pen->hangs.run->hang_case, rank));
	ct_args_uint(&args, CT_ARG_age_ns, slice.end_ns - slice.begin_ns);
	return ct_pen_slice(pen, &slice, &args);
}

/* ---- heartbeats ---- */

uint64_t ct_hangs_sign_ns(const struct ct_pen *pen, uint32_t slot)
{
	const struct ct_timeline_index *tl_index = pen->tl_index;
	uint64_t at = tl_index->processes[tl_index->slots[slot].process].sign_ns;

	return pen->hangs.has_signs && ct_timeline_index_inside(tl_index, at, at) ? at : UINT64_MAX;
}

int ct_draw_sign(struct ct_pen *pen, uint32_t slot, uint32_t track, uint64_t at_ns, unsigned depth)
{
	int rank = pen->tl_index->slots[slot].rank;
	const struct ct_hang_rank *r = pen->hangs.run
					       ? ct_hang_rank_of(&pen->hangs.run->hang_case, rank)
					       : NULL;
	struct ct_args args = { .n = 0 };
	struct ct_timeline_slice slice = {
		.track = track,
		.name = ct_texts_add(&pen->tl_index->texts, "last tracer heartbeat"),
		.begin_ns = at_ns,
		.end_ns = at_ns,
		.depth = (uint8_t)depth,
		.category = CT_CATEGORY_HANG,
		.instant = 1,
	};

	if (rank >= 0)
		ct_args_int(&args, CT_ARG_rank, rank);
	if (r)
		ct_args_word(&args, pen, CT_ARG_text, r->how_ended);
	return ct_pen_slice(pen, &slice, &args);
}
