/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks sent, compared with what others received. */
#include <inttypes.h>

#include "analyzer/base/units.h"
#include "analyzer/render/hang.h"
#include "analyzer/render/json_value.h"
#include "analyzer/render/text.h"
#include "trace/ops.h"

#define MOST_LINES 8u

static const struct {
	const char *word, *text;
} left_out[] = {
#define ROW(name, word, text) { (word), (text) },
	CT_HANG_LEFT_MAP(ROW)
#undef ROW
};

/* ---- JSON ---- */

static json_t *end_of(const struct ct_hang_op *op)
{
	return CT_JSON({ "count", ct_json_u64(op->count) },
		       { "dtype", ct_json_text(ct_dtype_name(op->dtype)) },
		       { "bytes", ct_json_u64(op->bytes) }, { "site", ct_json_text(op->site) });
}

static json_t *difference(const struct ct_hang_pair *p)
{
	if (p->differs == CT_UNKNOWN)
		return json_null();
	return CT_JSON({ "seq", ct_json_u64(p->differs) }, { "field", ct_json_text(p->field) },
		       { "send", end_of(p->send) }, { "recv", end_of(p->recv) });
}

static json_t *pair(const struct ct_hang_run *run, const struct ct_hang_pair *p)
{
	const struct ct_hang_comm *comm = &run->hang_case.comms[p->comm];

	return CT_JSON({ "comm", ct_json_hex(comm->hash) }, { "src", ct_json_rank(p->src) },
		       { "dst", ct_json_rank(p->dst) },
		       { "tag", json_integer(ct_op_program_tag(comm->backend, p->tag)) },
		       { "since_seq", ct_json_u64(p->since) },
		       { "equal_to_seq", ct_json_u64(p->equal_to) },
		       { "sent", p->counts_known ? ct_json_u64(p->sent) : json_null() },
		       { "received", p->counts_known ? ct_json_u64(p->received) : json_null() },
		       { "first_difference", difference(p) });
}

static json_t *left_out_of(const struct ct_hang_messages *m)
{
	json_t *array = json_array();
	int failed = !array;

	for (int i = 0; i < CT_HANG_LEFT_OUT; i++) {
		if (m->left_out[i])
			ct_json_append(array,
				       CT_JSON({ "why", ct_json_text(left_out[i].word) },
					       { "messages", ct_json_u64(m->left_out[i]) }),
				       &failed);
	}
	return ct_json_done(array, failed);
}

json_t *ct_hang_messages_json(const struct ct_hang_run *run)
{
	const struct ct_hang_messages *m = run->messages;

	if (!m)
		return json_null();
	return CT_JSON({ "channels", ct_json_u64(m->channels) }, { "sent", ct_json_u64(m->sent) },
		       { "received", ct_json_u64(m->received) }, { "equal", ct_json_u64(m->equal) },
		       { "channels_that_differ", ct_json_u64(m->differ) },
		       { "channels_with_more_on_one_end", ct_json_u64(m->unequal) },
		       { "left_out", left_out_of(m) },
		       { "pairs", CT_JSON_ARRAY(i, m->n_pairs, pair(run, &m->pairs[i])) });
}

/* ---- text ---- */

static void write_end(struct ct_text *text, const char *what, int rank, const struct ct_hang_op *op)
{
	const char *dtype = ct_dtype_name(op->dtype);

	ct_text_rowf(text, "", "rank %s: %s(%s%s%s), %s%s", ct_text_rank(rank).s, what,
		     ct_text_exact(op->count).s, dtype ? " " : "", dtype ? dtype : "",
		     op->site ? "at " : "call site ", op->site ? op->site : "unknown");
}

static void write_pair(struct ct_text *text, const struct ct_hang_run *run,
		       const struct ct_hang_pair *p)
{
	const struct ct_hang_comm *comm = &run->hang_case.comms[p->comm];
	uint32_t tag = ct_op_program_tag(comm->backend, p->tag);
	char with[32] = "";

	if (comm->backend != CT_BACKEND_NCCL)
		snprintf(with, sizeof(with), " with tag %" PRIu32, tag);
	if (p->differs == CT_UNKNOWN) {
		ct_text_rowf(text, "messages",
			     "rank %s sent %" PRIu64 " to rank %s%s on communicator %016" PRIx64
			     ", which received %" PRIu64 "; equal before #%" PRIu64,
			     ct_text_rank(p->src).s, p->sent, ct_text_rank(p->dst).s, with,
			     comm->hash, p->received, p->equal_to);
		return;
	}
	ct_text_rowf(text, "differs",
		     "message #%" PRIu64 " from rank %s to rank %s%s on communicator %016" PRIx64
		     ": %s; equal before #%" PRIu64,
		     p->differs, ct_text_rank(p->src).s, ct_text_rank(p->dst).s, with, comm->hash,
		     p->field, p->equal_to);
	write_end(text, "Send", p->src, p->send);
	write_end(text, "Recv", p->dst, p->recv);
}

void ct_hang_messages_text(const struct ct_hang_run *run, struct ct_text *text)
{
	const struct ct_hang_messages *m = run->messages;
	uint64_t all;

	if (!m)
		return;
	all = m->differ + m->unequal;
	for (uint32_t i = 0; i < m->n_pairs && i < MOST_LINES; i++)
		write_pair(text, run, &m->pairs[i]);
	if (m->n_pairs > MOST_LINES)
		ct_text_rowf(text, "", "and more: %" PRIu64 " in all", all);
	if (m->channels)
		ct_text_rowf(text, "equal",
			     "%" PRIu64 " of %" PRIu64 " messages between %" PRIu64
			     " pairs of ranks and tags, proved at both ends",
			     m->equal, m->sent > m->received ? m->sent : m->received, m->channels);
	if (m->unknown)
		ct_text_rowf(text, "unknown",
			     "some messages of %" PRIu64 " pairs: records or sizes are missing",
			     m->unknown);
	for (int i = 0; i < CT_HANG_LEFT_OUT; i++) {
		if (m->left_out[i])
			ct_text_rowf(text, "excluded", "%" PRIu64 " sends and receives: %s",
				     m->left_out[i], left_out[i].text);
	}
}
