/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that do not fit, in words. */
#include <string.h>

#include "analyzer/blame/order_maker.h"
#include "analyzer/blame/uneven.h"
#include "trace/ops.h"

static int make_pair(struct ct_order_maker *k, const struct ct_pair *pair)
{
	int lost = !pair->instances;
	const struct ct_order_call send = ct_order_call_of(lost ? &pair->unmatched_send
								: &pair->send);
	const struct ct_order_call recv = ct_order_call_of(&pair->recv);
	int src = k->pass->seats[k->comm->seats[pair->src] - 1].rank;
	int dst = k->pass->seats[k->comm->seats[pair->dst] - 1].rank;
	uint64_t seq = lost ? pair->unmatched_seq : pair->seq;

	if (ct_order_begin(k, CT_FINDING_MISMATCH, &send))
		return CT_NOMEM;
	k->f->confidence = ct_order_confidence(k, lost ? CT_CONFIDENCE_MEDIUM : CT_CONFIDENCE_HIGH);
	k->f->severity = lost ? CT_SEVERITY_WARN : CT_SEVERITY_SEVERE;
	memset(k->set, CT_APART_UNSEEN, k->comm->nranks);
	k->set[pair->src] = k->set[pair->dst] = CT_APART_ODD;
	if (ct_order_ranks(k, 1, 0) || ct_order_evidence(k, "first_seq", "", (double)seq) ||
	    ct_order_evidence(k, "instances", "count",
			      (double)(lost ? pair->unmatched : pair->instances)))
		return CT_NOMEM;
	if (lost) {
		k->f->cause = ct_arena_printf(
			k->list->memory, "%llu message%s from rank %d to rank %d %s never received",
			(unsigned long long)pair->unmatched, pair->unmatched == 1 ? "" : "s", src,
			dst, pair->unmatched == 1 ? "was" : "were");
		k->f->line = ct_arena_printf(k->list->memory,
					     "ranks=%d,%d comm=%016llx seq=%llu field=unreceived "
					     "instances=%llu severity=warn",
					     src, dst, (unsigned long long)k->comm->key,
					     (unsigned long long)seq,
					     (unsigned long long)pair->unmatched);
	} else {
		const char *field = send.count != recv.count ? "count" : "dtype";
		const char *from = ct_dtype_name(send.dtype), *to = ct_dtype_name(recv.dtype);
		const char *site_s = ct_order_site_word(k->list->memory, send.site);
		const char *site_r = ct_order_site_word(k->list->memory, recv.site);

		if (!site_s || !site_r)
			return CT_NOMEM;
		k->f->cause = ct_arena_printf(k->list->memory,
					      "%s: rank %d sends %llu %s, rank %d receives %llu %s",
					      field, src, (unsigned long long)send.count,
					      from ? from : "?", dst,
					      (unsigned long long)recv.count, to ? to : "?");
		k->f->line = ct_arena_printf(
			k->list->memory,
			"ranks=%d,%d comm=%016llx seq=%llu field=%s send=%llu:%s recv=%llu:%s "
			"instances=%llu%s%s%s%s severity=severe",
			src, dst, (unsigned long long)k->comm->key, (unsigned long long)seq, field,
			(unsigned long long)send.count, from ? from : "?",
			(unsigned long long)recv.count, to ? to : "?",
			(unsigned long long)pair->instances, send.site ? " site_send=" : "",
			send.site ? site_s : "", recv.site ? " site_recv=" : "",
			recv.site ? site_r : "");
	}
	k->f->advice = "both ends have to say the same number of bytes: a receive that is too "
		       "large "
		       "hangs, one that is too small passes silently";
	return k->f->cause && k->f->line ? CT_OK : CT_NOMEM;
}

static int is_all_told(const struct ct_pass *pass, uint32_t seat)
{
	return ct_uneven_ended_in_order(pass, seat) && ct_uneven_is_whole(pass, seat);
}

/* Messages that were sent and not received count where nothing else explains them. */
static int tells(const struct ct_pass *pass, const struct ct_pair *pair)
{
	const struct ct_comm *comm = pair->comm;

	if (comm->clash || comm->shared_seat || !comm->seats[pair->src] || !comm->seats[pair->dst])
		return 0;
	return pair->instances || (is_all_told(pass, comm->seats[pair->src] - 1) &&
				   is_all_told(pass, comm->seats[pair->dst] - 1));
}

int ct_pair_finding(struct ct_order_maker *k, const struct ct_pair *pair)
{
	if (!tells(k->pass, pair))
		return 0;
	return make_pair(k, pair) == CT_OK ? 1 : CT_NOMEM;
}
