/* SPDX-License-Identifier: Apache-2.0 */
/* What the ranks called, compared. */
#include <inttypes.h>

#include "analyzer/base/units.h"
#include "analyzer/render/hang.h"
#include "analyzer/render/json_value.h"
#include "analyzer/render/text.h"
#include "trace/ops.h"

#define MOST_LINES 8u

int ct_hang_differs(const struct ct_hang_run *run)
{
	for (uint32_t i = 0; i < run->n_equals; i++) {
		if (run->equals[i].differs != CT_UNKNOWN ||
		    run->equals[i].site_differs != CT_UNKNOWN)
			return 1;
	}
	return run->messages && run->messages->differ;
}

/* ---- JSON ---- */

static json_t *side(const struct ct_hang_run *run, uint32_t at)
{
	const struct ct_hang_op *op = &run->hang_case.ops[at];

	return CT_JSON({ "rank", ct_json_rank(run->hang_case.ranks[op->rank].rank) },
		       { "op", ct_json_text(ct_op_name(op->op)) },
		       { "count", ct_json_u64(op->count) },
		       { "dtype", ct_json_text(ct_dtype_name(op->dtype)) },
		       { "redop", ct_json_text(ct_redop_name(op->redop)) },
		       { "root", ct_json_rank(op->peer) }, { "site", ct_json_text(op->site) });
}

/* field NULL: it is the site. */
static json_t *difference(const struct ct_hang_run *run, uint64_t seq, const char *field,
			  uint32_t odd, uint32_t usual)
{
	if (seq == CT_UNKNOWN)
		return json_null();
	if (!field)
		return CT_JSON({ "seq", ct_json_u64(seq) }, { "one", side(run, odd) },
			       { "other", side(run, usual) });
	return CT_JSON({ "seq", ct_json_u64(seq) }, { "field", ct_json_text(field) },
		       { "one", side(run, odd) }, { "other", side(run, usual) });
}

static json_t *equal(const struct ct_hang_run *run, const struct ct_hang_equal *e)
{
	return CT_JSON(
		{ "comm", ct_json_hex(run->hang_case.comms[e->comm].hash) },
		{ "members", json_integer(e->members) }, { "since_seq", ct_json_u64(e->since) },
		{ "equal_to_seq", ct_json_u64(e->equal_to) },
		{ "issued_by_all", ct_json_u64(e->issued) },
		{ "issued_by_most", ct_json_u64(e->issued_most) },
		{ "first_difference", difference(run, e->differs, e->field, e->odd, e->usual) },
		{ "site_difference",
		  difference(run, e->site_differs, NULL, e->site_odd, e->site_usual) });
}

json_t *ct_hang_check_json(const struct ct_hang_run *run)
{
	if (!run->equals)
		return json_null();
	return CT_JSON_ARRAY(i, run->n_equals, equal(run, &run->equals[i]));
}

/* ---- text ---- */

static void write_side(struct ct_text *text, const struct ct_hang_run *run, uint32_t at)
{
	const struct ct_hang_op *op = &run->hang_case.ops[at];
	const char *dtype = ct_dtype_name(op->dtype), *redop = ct_redop_name(op->redop);
	char root[32] = "";

	if (op->peer >= 0)
		snprintf(root, sizeof(root), " root=%d", op->peer);
	ct_text_rowf(text, "", "rank %s: %s(%s%s%s%s%s%s), %s%s",
		     ct_text_rank(run->hang_case.ranks[op->rank].rank).s, ct_op_name(op->op),
		     ct_text_exact(op->count).s, dtype ? " " : "", dtype ? dtype : "",
		     redop ? " " : "", redop ? redop : "", root, op->site ? "at " : "call site ",
		     op->site ? op->site : "unknown");
}

static void write_difference(struct ct_text *text, const struct ct_hang_run *run,
			     const struct ct_hang_equal *e)
{
	uint64_t key = run->hang_case.comms[e->comm].hash;

	if (e->differs != CT_UNKNOWN) {
		ct_text_rowf(text, "differs",
			     "operation #%" PRIu64 " on communicator %016" PRIx64
			     ": %s; equal before #%" PRIu64 " on %" PRIu32 " ranks",
			     e->differs, key, e->field, e->equal_to, e->members);
		write_side(text, run, e->odd);
		write_side(text, run, e->usual);
	}
	if (e->site_differs == CT_UNKNOWN)
		return;
	ct_text_rowf(text, "call sites",
		     "operation #%" PRIu64 " on communicator %016" PRIx64
		     " was called from different sites",
		     e->site_differs, key);
	write_side(text, run, e->site_odd);
	write_side(text, run, e->site_usual);
}

void ct_hang_check_text(const struct ct_hang_run *run, struct ct_text *text)
{
	uint64_t proved = 0, all = 0;
	uint32_t shown = 0, partly = 0;

	if (!run->equals)
		return;
	for (uint32_t i = 0; i < run->n_equals; i++) {
		const struct ct_hang_equal *e = &run->equals[i];
		int differs = e->differs != CT_UNKNOWN || e->site_differs != CT_UNKNOWN;

		proved += e->equal_to - e->since;
		all += e->issued_most;
		partly += !differs && e->equal_to < e->issued;
		if (differs && shown++ < MOST_LINES)
			write_difference(text, run, e);
	}
	if (shown > MOST_LINES)
		ct_text_rowf(text, "", "and %" PRIu32 " more communicators", shown - MOST_LINES);
	if (run->n_equals)
		ct_text_rowf(text, "equal",
			     "%" PRIu64 " of %" PRIu64 " collectives on %" PRIu32
			     " communicator%s, proved for all ranks with a trace",
			     proved, all, run->n_equals, run->n_equals == 1 ? "" : "s");
	if (partly)
		ct_text_rowf(text, "unknown",
			     "some collectives of %" PRIu32 " communicator%s: records or sizes are "
			     "missing, or sizes may differ",
			     partly, partly == 1 ? "" : "s");
}
