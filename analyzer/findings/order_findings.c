/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/findings/order_findings.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/order_maker.h"
#include "analyzer/model/model.h"
#include "analyzer/model/names.h"
#include "analyzer/order/order_book.h"
#include "analyzer/order/uneven_inputs.h"

/* ---- contradictions ---- */

/* The result of the vote, where earlier and later rows are not kept. */
static void apart_of_vote(struct ct_order_maker *k, const struct ct_mismatch *m)
{
	k->apart = (struct ct_divergence){
		.has_minority = m->majority,
		.is_sure = m->majority && 2 * (m->n_members - m->n_odd) > k->comm->nranks,
		.seq = m->seq,
		.clash = m->seq,
		.n_usual = m->n_members - m->n_odd,
		.n_odd = m->n_odd,
		.n_unseen = k->comm->nranks - m->n_members,
		.usual = ct_order_call_of(&m->usual),
		.odd = ct_order_call_of(&m->odd),
		.field = m->field,
	};
	memset(k->set, CT_DIVERGENCE_UNSEEN, k->comm->nranks);
	for (uint32_t r = 0; r < k->comm->nranks; r++) {
		for (uint32_t s = 0; s < m->n_slots; s++) {
			if (k->comm->slots[r] == m->slots[s] + 1)
				k->set[r] = CT_DIVERGENCE_ODD;
		}
	}
}

static void make_mismatch(struct ct_order_maker *k, const struct ct_mismatch *m)
{
	k->instances = m->instances;
	if (!k->order || !ct_divergence_by_call(k->order, m->seq, m->instances, k->set, &k->apart))
		apart_of_vote(k, m);
	ct_divergence_finding(k);
	/* A launch that never began on a GPU was still called. */
	if (m->odd.start_ns || m->odd.enter_ns)
		k->f->begin_at_ns = ct_model_host_at(k->model, k->model->host_of[m->odd.slot],
						     m->odd.start_ns ? m->odd.start_ns
								     : m->odd.enter_ns);
}

/* ---- ends ---- */

/* Which ranks are fewer: those that stopped (-1), or those that continued (1)? If equally many on
 * this communicator, those that stopped if less than half of the job has ended. 0: unknown. */
static int fewer(const struct ct_model *model, const struct ct_uneven *u)
{
	uint64_t ended = 0;

	if (u->n_stopped != u->n_waiting)
		return u->n_stopped < u->n_waiting ? -1 : 1;
	for (uint32_t s = 0; s < model->n_slots; s++)
		ended += (uint64_t)ct_uneven_exited_cleanly(model, s);
	return 2 * ended < model->n_slots && !u->by_leaving ? -1 : 0;
}

static void add_uneven_facts(struct ct_order_maker *k, const struct ct_uneven *u)
{
	int odd = fewer(k->model, u);

	k->f->confidence = ct_order_confidence(k, u->n_stopped < u->n_waiting && !u->n_unseen
							  ? CT_CONFIDENCE_HIGH
							  : CT_CONFIDENCE_MEDIUM);
	ct_order_ranks(k, odd <= 0, odd >= 0);
	ct_order_evidence(k, "last_seq", "", (double)(u->seq - 1));
	ct_order_evidence(k, "stopped", "count", u->n_stopped);
	ct_order_evidence(k, "waiting", "count", u->n_waiting);
	ct_order_evidence(k, "operations_beyond", "count", (double)u->most);
	ct_order_evidence(k, "instances_before", "count", (double)k->order->complete);
}

static int make_uneven(struct ct_order_maker *k, const struct ct_uneven *u)
{
	const char *stopped = ct_order_ranks_text(k, CT_DIVERGENCE_ODD);
	const char *waiting = ct_order_ranks_text(k, CT_DIVERGENCE_USUAL);
	const struct ct_order_call *call = NULL;
	unsigned long long last = u->seq - 1;

	for (uint32_t m = 0; m < k->comm->nranks && !call; m++)
		call = k->set[m] == CT_DIVERGENCE_USUAL ? ct_order_at(k->order, u->seq, m) : NULL;
	if (!call)
		return 0;
	ct_order_begin(k, CT_FINDING_UNEVEN_INPUT, call);
	add_uneven_facts(k, u);
	ct_finding_say(k->list, k->f, u->by_leaving ? CT_TEXT_LEFT_COMM : CT_TEXT_STOPPED,
		       CT_WORDS({ "{stopped}", ct_order_ranks_words(k, CT_DIVERGENCE_ODD) },
				{ "{waiting}", ct_order_ranks_words(k, CT_DIVERGENCE_USUAL) },
				{ "{wait}", u->failed		? "failed"
					    : u->n_waiting == 1 ? "waits"
								: "wait" },
				{ "{op}", k->f->op_name }, { "{last}", ct_text_exact(last).s },
				{ "{next}", ct_text_exact(last + 1).s }));
	ct_order_put_ranks(k);
	ct_finding_put(k->list, k->f, "last_seq", "%llu", last);
	ct_finding_put(k->list, k->f, "stopped", "%s", stopped);
	ct_finding_put(k->list, k->f, "by", u->by_leaving ? "leaving" : "exit");
	ct_finding_put(k->list, k->f, "waiting", "%s", waiting);
	ct_finding_put(k->list, k->f, "next_op", "%s", k->f->op_name);
	ct_finding_put(k->list, k->f, "beyond", "%llu", (unsigned long long)u->most);
	return 1;
}

/* No call contradicts another, but some members made more calls. */
static int make_ends(struct ct_order_maker *k)
{
	struct ct_uneven uneven;

	if (ct_uneven_apart(k->order, k->set, &k->apart)) {
		k->instances = k->order->trouble - k->apart.seq;
		ct_divergence_finding(k);
		return 1;
	}
	if (!ct_uneven_find(k->model, k->order, k->set, &uneven))
		return 0;
	return make_uneven(k, &uneven);
}

/* ---- all of them ---- */

static int open_maker(struct ct_order_maker *k, const struct ct_comm *comm)
{
	k->comm = comm;
	k->order = ct_orders_find(&k->book->orders, comm);
	k->set = calloc(comm->nranks, 1);
	return k->set ? CT_OK : CT_NOMEM;
}

static int add_mismatches(struct ct_order_maker *k)
{
	const struct ct_mismatch *m = k->book->mismatches.first;
	unsigned n_added = 0;
	int st = CT_OK;

	for (; m && n_added < CT_ORDER_FINDINGS && st == CT_OK; m = m->next) {
		st = open_maker(k, m->comm);
		if (st == CT_OK)
			make_mismatch(k, m);
		free(k->set);
		n_added++;
	}
	return st;
}

/* Did some members only make more calls than others? */
static int has_ends(const struct ct_order_book *book, const struct ct_comm *comm)
{
	const struct ct_order *order = ct_orders_find(&book->orders, comm);

	return order && order->trouble != UINT64_MAX && comm->first_difference == UINT64_MAX;
}

/* A rank that stops early does so on several communicators; the largest of them is reported. */
static int add_ends(struct ct_order_maker *k)
{
	const struct ct_comms *comms = &k->model->comms;
	uint8_t *seen = calloc(comms->n + 1, 1);
	int st = seen ? 0 : CT_NOMEM;

	while (st == 0) {
		const struct ct_comm *largest = NULL;

		for (uint32_t c = 0; c < comms->n; c++) {
			if (!seen[c] && has_ends(k->book, comms->all[c]) &&
			    (!largest || comms->all[c]->nranks > largest->nranks))
				largest = comms->all[c];
		}
		if (!largest)
			break;
		seen[largest->index] = 1;
		st = open_maker(k, largest);
		st = st ?: make_ends(k);
		free(k->set);
	}
	free(seen);
	return st < 0 ? st : CT_OK;
}

/* A pair whose ends contradict each other, else one with a message that was not received. */
static int add_pairs(struct ct_order_maker *k)
{
	int st = 0;

	for (int lost = 0; lost <= 1 && st == 0; lost++) {
		const struct ct_pair *pair = k->book->pairs.first;

		for (; pair && st == 0; pair = pair->next) {
			if (lost != !pair->instances)
				continue;
			st = open_maker(k, pair->comm);
			st = st ?: ct_pair_finding(k, pair);
			free(k->set);
		}
	}
	return st < 0 ? st : CT_OK;
}

/* A rank that waits for messages of a stopped rank enters no collective in which it would wait for
 * it. */
static int add_awaited(struct ct_order_maker *k)
{
	const struct ct_pair *pair = k->book->pairs.first;
	int st = 0;

	for (; pair && st == 0; pair = pair->next) {
		if (!pair->awaited)
			continue;
		st = open_maker(k, pair->comm);
		st = st ?: ct_awaited_finding(k);
		free(k->set);
	}
	return st < 0 ? st : CT_OK;
}

enum variant {
#define OTHER(kind, variant, text) variant,
#include "analyzer/findings/headlines.def"
};

/* Which ranks diverged and what they called, for the headline; the cause has the difference. */
static void set_headline(struct ct_finding *f)
{
	static const char *const patterns[] = {
#define OTHER(kind, variant, text) [variant] = text,
#include "analyzer/findings/headlines.def"
	};

	if (f->kind != CT_FINDING_MISMATCH)
		return;
	if (strcmp(f->op_name, "Send") == 0)
		f->pattern = patterns[f->is_undecided ? MESSAGES_UNDECIDED : MESSAGES];
	else if (f->is_undecided)
		f->pattern = patterns[UNDECIDED];
}

/* Does a member make this call in a row beside `seq`? Assumed of a row that is not kept. */
static int is_beside(const struct ct_order *order, uint64_t seq, const struct ct_order_call *call)
{
	uint64_t begin = seq - CT_ORDER_BEFORE;

	for (uint64_t at = begin; at < begin + CT_ORDER_ROWS; at++) {
		const struct ct_order_row *row = &order->rows[at % CT_ORDER_ROWS];
		const struct ct_order_call *calls = row->is_mixed ? row->more->calls : &row->call;
		uint32_t n = row->is_mixed ? row->more->n_calls : 1;

		if (!row->n || row->seq != at)
			return 1;
		for (uint32_t i = 0; i < n && at != seq; i++) {
			if (!ct_order_differ(&calls[i], call))
				return 1;
		}
	}
	return 0;
}

/* It contradicts once, and of the two calls at most one is made before or after it. A member that
 * earlier made more or fewer calls makes there what others call before or after. */
static int is_isolated(const struct ct_mismatch *m, const struct ct_order *order)
{
	const struct ct_order_call usual = ct_order_call_of(&m->usual),
				   odd = ct_order_call_of(&m->odd);

	return m->instances == 1 && order && m->seq >= CT_ORDER_BEFORE &&
	       !(is_beside(order, m->seq, &usual) && is_beside(order, m->seq, &odd));
}

int ct_order_contradictions(const struct ct_model *model, const struct ct_order_book *book,
			    struct ct_findings *list)
{
	struct ct_order_maker k = { .model = model, .book = book, .list = list };
	unsigned n_added = 0;
	int st = CT_OK;

	if (ct_model_order_lost(model))
		return CT_OK;
	for (const struct ct_mismatch *m = book->mismatches.first;
	     m && n_added < CT_ORDER_FINDINGS && st == CT_OK; m = m->next) {
		if (!is_isolated(m, ct_orders_find(&book->orders, m->comm)))
			continue;
		st = open_maker(&k, m->comm);
		k.order = NULL; /* it begins somewhere */
		if (st == CT_OK) {
			make_mismatch(&k, m);
			set_headline(k.f);
			if (k.f->confidence == CT_CONFIDENCE_HIGH)
				k.f->confidence = CT_CONFIDENCE_MEDIUM;
		}
		free(k.set);
		n_added++;
	}
	return st;
}

int ct_order_findings(const struct ct_model *model, const struct ct_order_book *book,
		      struct ct_findings *list)
{
	struct ct_order_maker k = { .model = model, .book = book, .list = list };
	size_t before = list->n;
	int st;

	if (ct_model_order_lost(model))
		return CT_OK;
	st = add_mismatches(&k);
	st = st ?: add_ends(&k);
	st = st ?: add_pairs(&k);
	if (st == CT_OK && list->n == before)
		st = add_awaited(&k);
	for (size_t i = before; i < list->n; i++)
		set_headline(&list->all[i]);
	return st;
}

/* ---- what others ask ---- */

void ct_order_summarize(const struct ct_order_book *book, const struct ct_comm *comm,
			struct ct_order_summary *out)
{
	const struct ct_order *order = ct_orders_find(&book->orders, comm);
	struct ct_order_sums sums = { 0 };

	*out = (struct ct_order_summary){ .equal_to_seq = comm->equal_to_seq,
					  .first_difference = comm->first_difference,
					  .differs_to_seq = UINT64_MAX };
	if (order)
		ct_order_hash_compare(&order->hash, &sums);
	if (sums.equal_after &&
	    (out->equal_to_seq == UINT64_MAX || sums.equal_after - 1 > out->equal_to_seq))
		out->equal_to_seq = sums.equal_after - 1;
	if (sums.differ_to && out->first_difference == UINT64_MAX)
		out->differs_to_seq = sums.differ_to - 1;
	if (sums.is_equal_throughout && out->first_difference == UINT64_MAX)
		out->hash = sums.digest ? sums.digest : 1;
	/* late records may have been counted before */
	if (out->equal_to_seq != UINT64_MAX && out->equal_to_seq >= out->first_difference)
		out->equal_to_seq = out->first_difference > comm->first_seq
					    ? out->first_difference - 1
					    : UINT64_MAX;
}
