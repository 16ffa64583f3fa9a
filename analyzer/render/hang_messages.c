/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks sent, held against what others received. */
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
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "count", ct_json_u64(op->count), &failed);
	ct_json_set(o, "dtype", ct_json_text(ct_dtype_name(op->dtype)), &failed);
	ct_json_set(o, "bytes", ct_json_u64(op->bytes), &failed);
	ct_json_set(o, "site", ct_json_text(op->site), &failed);
	return ct_json_done(o, failed);
}

static json_t *difference(const struct ct_hang_pair *p)
{
	json_t *o;
	int failed;

	if (p->differs == CT_UNKNOWN)
		return json_null();
	o = json_object();
	failed = !o;
	ct_json_set(o, "seq", ct_json_u64(p->differs), &failed);
	ct_json_set(o, "field", ct_json_text(p->field), &failed);
	ct_json_set(o, "send", end_of(p->send), &failed);
	ct_json_set(o, "recv", end_of(p->recv), &failed);
	return ct_json_done(o, failed);
}

static json_t *pair(const struct ct_hang_run *run, const struct ct_hang_pair *p)
{
	json_t *o = json_object();
	int failed = !o;

	ct_json_set(o, "comm", ct_json_hex(run->hang_case.comms[p->comm].key), &failed);
	ct_json_set(o, "src", ct_json_rank(p->src), &failed);
	ct_json_set(o, "dst", ct_json_rank(p->dst), &failed);
	ct_json_set(o, "tag",
		    json_integer(ct_op_program_tag(run->hang_case.comms[p->comm].backend, p->tag)),
		    &failed);
	ct_json_set(o, "since_seq", ct_json_u64(p->since), &failed);
	ct_json_set(o, "equal_to_seq", ct_json_u64(p->equal_to), &failed);
	ct_json_set(o, "sent", p->counts_known ? ct_json_u64(p->sent) : json_null(), &failed);
	ct_json_set(o, "received", p->counts_known ? ct_json_u64(p->received) : json_null(),
		    &failed);
	ct_json_set(o, "first_difference", difference(p), &failed);
	return ct_json_done(o, failed);
}

json_t *ct_hang_messages_json(const struct ct_hang_run *run)
{
	const struct ct_hang_messages *m = run->messages;
	json_t *o, *pairs, *left;
	int failed;

	if (!m)
		return json_null();
	o = json_object();
	pairs = json_array();
	left = json_array();
	failed = !o || !pairs || !left;
	for (uint32_t i = 0; i < m->n_pairs; i++)
		ct_json_append(pairs, pair(run, &m->pairs[i]), &failed);
	for (int i = 0; i < CT_HANG_LEFT_OUT; i++) {
		json_t *one = m->left_out[i] ? json_object() : NULL;

		if (!m->left_out[i])
			continue;
		ct_json_set(one, "why", ct_json_text(left_out[i].word), &failed);
		ct_json_set(one, "messages", ct_json_u64(m->left_out[i]), &failed);
		ct_json_append(left, one, &failed);
	}
	ct_json_set(o, "channels", ct_json_u64(m->channels), &failed);
	ct_json_set(o, "sent", ct_json_u64(m->sent), &failed);
	ct_json_set(o, "received", ct_json_u64(m->received), &failed);
	ct_json_set(o, "equal", ct_json_u64(m->equal), &failed);
	ct_json_set(o, "channels_that_differ", ct_json_u64(m->differ), &failed);
	ct_json_set(o, "channels_with_more_on_one_end", ct_json_u64(m->unequal), &failed);
	ct_json_set(o, "left_out", left, &failed);
	ct_json_set(o, "pairs", pairs, &failed);
	return ct_json_done(o, failed);
}

/* ---- text ---- */

static void write_end(struct ct_text *text, const char *what, int rank, const struct ct_hang_op *op)
{
	const char *dtype = ct_dtype_name(op->dtype);

	ct_text_wrap(text, CT_COLOR_NONE, 16, "%-12s  rank %d: %s(%s%s%s) at %s", "", rank, what,
		     ct_text_exact(op->count).s, dtype ? " " : "", dtype ? dtype : "",
		     op->site ? op->site : "an unknown place");
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
		ct_text_wrap(text, CT_COLOR_YELLOW, 12,
			     "%-12srank %d sent %" PRIu64 " to rank %d%s in comm=%016" PRIx64
			     ", which received %" PRIu64 "; the same up to #%" PRIu64,
			     "messages", p->src, p->sent, p->dst, with, comm->key, p->received,
			     p->equal_to);
		return;
	}
	ct_text_wrap(text, CT_COLOR_RED, 12,
		     "%-12smessage #%" PRIu64 " from rank %d to rank %d%s in comm=%016" PRIx64
		     " differs in its %s; the same up to #%" PRIu64,
		     "differs", p->differs, p->src, p->dst, with, comm->key, p->field, p->equal_to);
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
		ct_text_line(text, CT_COLOR_YELLOW, "%-12sand more: %" PRIu64 " in all", "", all);
	if (m->channels)
		ct_text_wrap(text, CT_COLOR_NONE, 12,
			     "%-12s%" PRIu64 " of %" PRIu64 " messages between %" PRIu64
			     " pairs of ranks and tags are proved to be received as they were sent",
			     "equal", m->equal, m->sent > m->received ? m->sent : m->received,
			     m->channels);
	for (int i = 0; i < CT_HANG_LEFT_OUT; i++) {
		if (m->left_out[i])
			ct_text_wrap(text, CT_COLOR_YELLOW, 12,
				     "%-12s%" PRIu64 " sends and receives were not compared: %s",
				     "left out", m->left_out[i], left_out[i].text);
	}
}
