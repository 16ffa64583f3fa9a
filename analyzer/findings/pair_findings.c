/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that do not fit, in words. */
#include <string.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/order_maker.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"
#include "analyzer/order/order_book.h"
#include "analyzer/order/uneven_inputs.h"
#include "trace/ops.h"

static int is_end(const struct ct_pair *pair, int32_t rank)
{
	return pair->src == rank || pair->dst == rank;
}

/* The only rank that all contradicting pairs of the communicator have in common; -1: none, or too
 * few pairs. *n: their number. */
static int32_t common_end(const struct ct_order_book *book, const struct ct_pair *first,
			  uint32_t *n)
{
	int src = 1, dst = 1;

	*n = 0;
	for (const struct ct_pair *p = book->pairs.first; p; p = p->next) {
		if (p->comm != first->comm || !p->instances)
			continue;
		(*n)++;
		src &= is_end(p, first->src);
		dst &= is_end(p, first->dst);
	}
	/* many pairs that do not fit, all of one rank: it is that rank */
	if (*n < CT_LEAST_PEERS || src == dst)
		return -1;
	return src ? first->src : first->dst;
}

static int rank_of(const struct ct_order_maker *k, int32_t member)
{
	return k->model->slots[k->comm->slots[member] - 1].rank;
}

/* Begin the finding: about both ends, or the one. */
static void begin_finding(struct ct_order_maker *k, const struct ct_pair *pair, int32_t only,
			  const struct ct_order_call *call, uint64_t seq, uint64_t instances)
{
	ct_order_begin(k, CT_FINDING_MISMATCH, call);
	memset(k->set, CT_DIVERGENCE_UNSEEN, k->comm->nranks);
	k->set[only == pair->dst ? pair->dst : pair->src] = CT_DIVERGENCE_ODD;
	k->set[only == pair->src ? pair->src : pair->dst] = CT_DIVERGENCE_ODD;
	ct_order_ranks(k, 1, 0);
	ct_order_evidence(k, "first_seq", "", (double)seq);
	ct_order_evidence(k, "op_count", "count", (double)instances);
}

static void make_lost(struct ct_order_maker *k, const struct ct_pair *pair)
{
	const struct ct_order_call send = ct_order_call_of(&pair->unmatched_send);
	int one = pair->unmatched == 1;

	begin_finding(k, pair, -1, &send, pair->unmatched_seq, pair->unmatched);
	k->f->severity = CT_SEVERITY_WARNING;
	k->f->confidence = ct_order_confidence(k, CT_CONFIDENCE_MEDIUM);
	ct_finding_say(k->list, k->f, CT_TEXT_UNRECEIVED,
		       CT_WORDS({ "{messages}", ct_arena_printf(k->list->memory, "%llu message%s",
								(unsigned long long)pair->unmatched,
								one ? "" : "s") },
				{ "{src}", ct_text_rank(rank_of(k, pair->src)).s },
				{ "{dst}", ct_text_rank(rank_of(k, pair->dst)).s },
				{ "{were}", one ? "was" : "were" }));
	ct_order_put_ranks(k);
	ct_finding_put(k->list, k->f, "seq", "%llu", (unsigned long long)pair->unmatched_seq);
	ct_finding_put(k->list, k->f, "field", "unreceived");
	ct_finding_put(k->list, k->f, "op_count", "%llu", (unsigned long long)pair->unmatched);
}

static const char *word(const char *name)
{
	return name ? name : "?";
}

/* As far as known. */
static void put_sites(struct ct_order_maker *k, const struct ct_site *send,
		      const struct ct_site *recv)
{
	if (send)
		ct_finding_put(k->list, k->f, "site_send", "%s",
			       ct_order_site_word(k->list->memory, send));
	if (recv)
		ct_finding_put(k->list, k->f, "site_recv", "%s",
			       ct_order_site_word(k->list->memory, recv));
}

static void make_unfit(struct ct_order_maker *k, const struct ct_pair *pair)
{
	const struct ct_order_call send = ct_order_call_of(&pair->send);
	const struct ct_order_call recv = ct_order_call_of(&pair->recv);
	const char *field = send.count != recv.count ? "count" : "dtype";
	const char *from = word(ct_dtype_name(send.dtype)), *to = word(ct_dtype_name(recv.dtype));
	struct ct_arena *memory = k->list->memory;
	const char *always = "";
	uint32_t pairs;
	int32_t only = common_end(k->book, pair, &pairs);

	begin_finding(k, pair, only, &send, pair->seq, pair->instances);
	ct_order_evidence(k, "pairs", "count", pairs);
	ct_order_sites(k, (struct ct_order_side){ "send", send.site },
		       (struct ct_order_side){ "recv", recv.site });
	k->f->confidence = ct_order_confidence(k, CT_CONFIDENCE_HIGH);
	k->f->is_undecided = only < 0;
	/* the job does not hang, so this may be intended */
	if (send.bytes == recv.bytes)
		k->f->severity = CT_SEVERITY_WARNING;
	if (only >= 0)
		always = ct_finding_part(memory, CT_PART_IN_EVERY_PAIR,
					 CT_WORDS({ "{rank}", ct_text_rank(rank_of(k, only)).s }));
	ct_finding_say(
		k->list, k->f, send.bytes == recv.bytes ? CT_TEXT_UNFIT_TYPE : CT_TEXT_UNFIT_SIZE,
		CT_WORDS({ "{field}", field }, { "{src}", ct_text_rank(rank_of(k, pair->src)).s },
			 { "{sent}", ct_arena_printf(memory, "%llu %s",
						     (unsigned long long)send.count, from) },
			 { "{dst}", ct_text_rank(rank_of(k, pair->dst)).s },
			 { "{received}",
			   ct_arena_printf(memory, "%llu %s", (unsigned long long)recv.count, to) },
			 { "{always}", always }));
	ct_order_put_ranks(k);
	ct_finding_put(k->list, k->f, "seq", "%llu", (unsigned long long)pair->seq);
	ct_finding_put(k->list, k->f, "field", "%s", field);
	ct_finding_put(k->list, k->f, "src", "%d", rank_of(k, pair->src));
	ct_finding_put(k->list, k->f, "dst", "%d", rank_of(k, pair->dst));
	ct_finding_put(k->list, k->f, "send", "%llu:%s", (unsigned long long)send.count, from);
	ct_finding_put(k->list, k->f, "recv", "%llu:%s", (unsigned long long)recv.count, to);
	ct_finding_put(k->list, k->f, "op_count", "%llu", (unsigned long long)pair->instances);
	ct_finding_put(k->list, k->f, "pairs", "%u", pairs);
	put_sites(k, send.site, recv.site);
}

static int are_all_waits_known(const struct ct_model *model, uint32_t slot)
{
	return ct_uneven_is_done(model, slot) && ct_uneven_is_complete(model, slot);
}

/* Messages that were sent and not received count if nothing else explains them. */
int ct_pair_finding(struct ct_order_maker *k, const struct ct_pair *pair)
{
	const struct ct_comm *comm = pair->comm;

	if (comm->clash || comm->shared_slot || !comm->slots[pair->src] || !comm->slots[pair->dst])
		return 0;
	if (!pair->instances && !pair->unmatched)
		return 0;
	if (!pair->instances && !(are_all_waits_known(k->model, comm->slots[pair->src] - 1) &&
				  are_all_waits_known(k->model, comm->slots[pair->dst] - 1)))
		return 0;
	if (pair->instances)
		make_unfit(k, pair);
	else
		make_lost(k, pair);
	return 1;
}

/* ---- messages that never came ---- */

static int waits_long(const struct ct_model *model, const struct ct_pair *pair)
{
	for (uint32_t i = 0; i < model->n_unreturned; i++) {
		const struct ct_unreturned *u = &model->unreturned[i];

		if (u->comm == pair->comm && u->slot + 1 == pair->comm->slots[pair->dst] &&
		    !u->is_call && u->op.op == CT_OP_Recv && u->op.peer == pair->src &&
		    u->op.seq == pair->awaited_seq)
			return u->stuck != CT_STUCK_NOT;
	}
	return 0;
}

/* Ranks that exited cleanly and whose messages are missing go into the odd set, the ranks that wait
 * into the other. */
static void find_awaited(struct ct_order_maker *k)
{
	memset(k->set, CT_DIVERGENCE_UNSEEN, k->comm->nranks);
	for (const struct ct_pair *p = k->book->pairs.first; p; p = p->next) {
		if (p->comm != k->comm || !p->awaited || !k->comm->slots[p->src] ||
		    !k->comm->slots[p->dst] ||
		    !are_all_waits_known(k->model, k->comm->slots[p->src] - 1) ||
		    !waits_long(k->model, p))
			continue;
		k->set[p->src] = CT_DIVERGENCE_ODD;
		k->set[p->dst] = CT_DIVERGENCE_USUAL;
	}
}

int ct_awaited_finding(struct ct_order_maker *k)
{
	const struct ct_order_call recv = { .op = CT_OP_Recv, .root = -1 };
	const char *stopped, *waiting;
	uint32_t n_stopped = 0, n_waiting = 0, ended = 0;
	int few;

	if (k->comm->clash || k->comm->shared_slot)
		return 0;
	find_awaited(k);
	for (uint32_t m = 0; m < k->comm->nranks; m++) {
		n_stopped += k->set[m] == CT_DIVERGENCE_ODD;
		n_waiting += k->set[m] == CT_DIVERGENCE_USUAL;
	}
	if (!n_stopped || !n_waiting)
		return 0;
	for (uint32_t s = 0; s < k->model->n_slots; s++)
		ended += (uint32_t)ct_uneven_exited_cleanly(k->model, s);
	few = n_stopped < n_waiting || 2 * (uint64_t)ended < k->model->n_slots;
	stopped = ct_order_ranks_text(k, CT_DIVERGENCE_ODD);
	waiting = ct_order_ranks_text(k, CT_DIVERGENCE_USUAL);
	ct_order_begin(k, CT_FINDING_UNEVEN_INPUT, &recv);
	ct_order_ranks(k, 1, !few);
	ct_order_evidence(k, "stopped", "count", n_stopped);
	ct_order_evidence(k, "waiting", "count", n_waiting);
	k->f->confidence = ct_order_confidence(k, CT_CONFIDENCE_MEDIUM);
	ct_finding_say(k->list, k->f, CT_TEXT_AWAITED,
		       CT_WORDS({ "{stopped}", ct_order_ranks_words(k, CT_DIVERGENCE_ODD) },
				{ "{waiting}", ct_order_ranks_words(k, CT_DIVERGENCE_USUAL) },
				{ "{wait}", n_waiting == 1 ? "waits" : "wait" },
				{ "{them}", n_stopped == 1 ? "it" : "them" }));
	ct_order_put_ranks(k);
	ct_finding_put(k->list, k->f, "stopped", "%s", stopped);
	ct_finding_put(k->list, k->f, "by", "exit");
	ct_finding_put(k->list, k->f, "waiting", "%s", waiting);
	ct_finding_put(k->list, k->f, "next_op", "Recv");
	return 1;
}
