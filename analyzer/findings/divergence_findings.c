/* SPDX-License-Identifier: Apache-2.0 */
/* Texts on how members of a communicator diverged. */
#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/findings/finding_text.h"
#include "analyzer/findings/order_maker.h"
#include "analyzer/model/names.h"
#include "analyzer/order/uneven_inputs.h"
#include "trace/ops.h"

static const char *field_of(const struct ct_order_maker *k, const struct ct_order_call *call)
{
	const char *name = NULL;

	switch (k->apart.field) {
	case CT_MISMATCH_BYTES:
		return ct_arena_printf(k->list->memory, "%s", ct_text_exact(call->count).s);
	case CT_MISMATCH_ROOT:
		return ct_arena_printf(k->list->memory, "%d", call->root);
	case CT_MISMATCH_DTYPE:
		name = ct_dtype_name(call->dtype);
		break;
	case CT_MISMATCH_REDOP:
		name = ct_redop_name(call->redop);
		break;
	case CT_MISMATCH_OP:
	case CT_MISMATCH_NONE:
		name = ct_op_names_get(&k->model->names, call->op);
		break;
	}
	return name ? name : "?";
}

static const char *site_text(const struct ct_order_maker *k, const struct ct_site *site)
{
	return site ? site->text
		    : ct_finding_part(k->list->memory, CT_PART_UNKNOWN_SITE, CT_NO_WORDS);
}

static void add_counts(struct ct_order_maker *k)
{
	const struct ct_divergence *a = &k->apart;

	ct_order_evidence(k, "first_seq", "", (double)a->seq);
	ct_order_evidence(k, "op_count", "count", (double)k->instances);
	ct_order_evidence(k, "members_that_differ", "count", a->n_odd);
	ct_order_evidence(k, "members_that_agree", "count", a->n_usual);
	if (a->n_unseen)
		ct_order_evidence(k, "members_not_seen", "count", a->n_unseen);
	if (a->has_sites)
		ct_order_evidence(k, "first_site_seq", "", (double)a->site_seq);
	if (!a->by)
		return;
	ct_order_evidence(k, a->how == CT_DIVERGENCE_SKIPPED ? "left_out" : "more", "count", a->by);
	ct_order_evidence(k, "fits_shifted", "count", a->fits);
}

/* " site_theirs=A site_others=B first_site_seq=N", or nothing. */
static void put_sites(struct ct_order_maker *k)
{
	const struct ct_divergence *a = &k->apart;
	const struct ct_site *odd = a->has_sites ? a->odd_site : a->odd.site;
	const struct ct_site *usual = a->has_sites ? a->usual_site : a->usual.site;

	if (!odd && !usual)
		return;
	ct_finding_put(k->list, k->f, a->has_minority ? "site_theirs" : "site_one", "%s",
		       ct_order_site_word(k->list->memory, odd));
	ct_finding_put(k->list, k->f, "site_others", "%s",
		       ct_order_site_word(k->list->memory, usual));
	if (a->has_sites)
		ct_finding_put(k->list, k->f, "first_site_seq", "%llu",
			       (unsigned long long)a->site_seq);
}

static void keep_sites(struct ct_order_maker *k)
{
	const struct ct_divergence *a = &k->apart;
	const struct ct_order_side odd = { a->has_minority ? "theirs" : "one",
					   a->has_sites ? a->odd_site : a->odd.site };
	const struct ct_order_side usual = { "others",
					     a->has_sites ? a->usual_site : a->usual.site };

	ct_order_sites(k, odd, usual);
}

/* "; from seq 12 on called from A against B", or nothing. */
static const char *sites_of_cause(const struct ct_order_maker *k)
{
	const struct ct_divergence *a = &k->apart;

	if (!a->has_sites)
		return "";
	return ct_finding_part(k->list->memory, CT_PART_CALL_SITES,
			       CT_WORDS({ "{seq}", ct_text_exact(a->site_seq).s },
					{ "{site}", site_text(k, a->odd_site) },
					{ "{other}", site_text(k, a->usual_site) }));
}

/* ---- another call ---- */

/* Did every process exit cleanly? */
static int all_ended_in_order(const struct ct_order_maker *k)
{
	for (uint32_t m = 0; m < k->comm->nranks; m++) {
		if (!k->comm->slots[m] ||
		    !ct_uneven_exited_cleanly(k->model, k->comm->slots[m] - 1))
			return 0;
	}
	return 1;
}

/* Sizes differ only at the very end, after many equal operations, in a job that completed: a last
 * step with less data. */
static int is_last_step(const struct ct_order_maker *k)
{
	return k->apart.field == CT_MISMATCH_BYTES && k->order &&
	       k->order->complete >= CT_LEAST_SAMPLES && k->comm->last_seq != UINT64_MAX &&
	       k->comm->last_seq - k->apart.seq < CT_LEAST_STEPS && all_ended_in_order(k);
}

/* Both sides, where neither is the minority. */
static void put_sides(struct ct_order_maker *k)
{
	const struct ct_divergence *a = &k->apart;

	ct_finding_put(k->list, k->f, "ranks_one", "%s", ct_order_ranks_text(k, CT_DIVERGENCE_ODD));
	ct_finding_put(k->list, k->f, "ranks_others", "%s",
		       ct_order_ranks_text(k, CT_DIVERGENCE_USUAL));
	if (a->by)
		ct_finding_put(k->list, k->f, "shifted",
			       a->how == CT_DIVERGENCE_SKIPPED ? "behind" : "ahead");
}

static enum ct_finding_text row_of(const struct ct_divergence *a, int last)
{
	if (!a->field)
		return CT_TEXT_ONE_MORE;
	if (last)
		return a->has_minority ? CT_TEXT_LAST_STEP : CT_TEXT_LAST_STEP_UNDECIDED;
	return a->has_minority ? CT_TEXT_DIFFERENT : CT_TEXT_DIFFERENT_UNDECIDED;
}

static void make_call(struct ct_order_maker *k)
{
	const struct ct_divergence *a = &k->apart;
	const char *usual = field_of(k, &a->usual), *odd = field_of(k, &a->odd);
	const char *field = ct_mismatch_field_name(a->field);
	int last = is_last_step(k);

	ct_order_begin(k, last ? CT_FINDING_UNEVEN_INPUT : CT_FINDING_MISMATCH, &a->usual);
	k->f->confidence = ct_order_confidence(k, ct_divergence_confidence(a));
	keep_sites(k);
	ct_order_ranks(k, 1, !a->has_minority);
	add_counts(k);
	ct_finding_say(k->list, k->f, row_of(a, last),
		       CT_WORDS({ "{field}", field }, { "{theirs}", odd }, { "{others}", usual },
				{ "{op}", ct_order_op_text(k, &a->usual) },
				{ "{sites}", sites_of_cause(k) }));
	k->f->is_undecided = !a->has_minority;
	ct_order_put_ranks(k);
	ct_finding_put(k->list, k->f, "seq", "%llu", (unsigned long long)a->seq);
	ct_finding_put(k->list, k->f, "field", "%s", a->field ? field : "site");
	ct_finding_put(k->list, k->f, a->has_minority ? "theirs" : "one", "%s", odd);
	ct_finding_put(k->list, k->f, "others", "%s", usual);
	ct_finding_put(k->list, k->f, "op_count", "%llu", (unsigned long long)k->instances);
	if (!a->has_minority)
		put_sides(k);
	put_sites(k);
}

/* ---- an operation too few or too many ---- */

/* Where members may contribute different sizes, the size of one says nothing about the operation.
 */
static const char *count_text(const struct ct_order_maker *k, const struct ct_order_call *call)
{
	return ct_order_sizes_agree(call)
		       ? ct_arena_printf(k->list->memory, "%s", ct_text_exact(call->count).s)
		       : "n/a";
}

/* "seq 12", "or before seq 12, train.py:3" */
static const char *seq_text(const struct ct_order_maker *k, const struct ct_site *site)
{
	const char *seq = ct_finding_part(
		k->list->memory, k->apart.may_be_earlier ? CT_PART_SEQ_OR_BEFORE : CT_PART_SEQ,
		CT_WORDS({ "{seq}", ct_text_exact(k->apart.seq).s }));

	return site ? ct_arena_printf(k->list->memory, "%s, %s", seq, site->text) : seq;
}

/* What they called too little or too often: "AllReduce of 1024". */
static const char *shifted_text(const struct ct_order_maker *k, const char *count)
{
	struct ct_arena *memory = k->list->memory;
	const char *op = *count == 'n' ? k->f->op_name
				       : ct_arena_printf(memory, "%s of %s", k->f->op_name, count);

	if (k->apart.by == 1)
		return op;
	return ct_finding_part(memory, CT_PART_FIRST_OF_SEVERAL,
			       CT_WORDS({ "{n}", ct_text_exact(k->apart.by).s }, { "{op}", op }));
}

/* The evidence of the shift. */
static void say_shift(struct ct_order_maker *k, const struct ct_order_call *call, const char *count)
{
	struct ct_arena *memory = k->list->memory;
	const struct ct_divergence *a = &k->apart;
	enum ct_finding_text row = a->by_habit ? CT_TEXT_EXTRA_BY_HABIT : CT_TEXT_EXTRA;
	enum ct_finding_part who = k->f->n_ranks == 1 ? CT_PART_IT_CALLS : CT_PART_THEY_CALL;

	if (a->how == CT_DIVERGENCE_SKIPPED)
		row = a->by_habit ? CT_TEXT_SKIPPED_BY_HABIT : CT_TEXT_SKIPPED;
	ct_finding_say(k->list, k->f, row,
		       CT_WORDS({ "{what}", shifted_text(k, count) },
				{ "{seq}", seq_text(k, call->site) },
				{ "{they_call}", ct_finding_part(memory, who, CT_NO_WORDS) },
				{ "{operations}", ct_arena_printf(memory, "%u operation%s", a->by,
								  a->by == 1 ? "" : "s") }));
}

static void make_shifted(struct ct_order_maker *k)
{
	const struct ct_divergence *a = &k->apart;
	int is_extra = a->how == CT_DIVERGENCE_EXTRA;
	/* a call that was made and should not have been, or the reverse */
	const struct ct_order_call *call = is_extra ? &a->odd : &a->usual;
	const char *count = count_text(k, call);

	ct_order_begin(k, is_extra ? CT_FINDING_EXTRA_OP : CT_FINDING_SKIPPED_OP, call);
	k->f->confidence = ct_order_confidence(k, ct_divergence_confidence(a));
	keep_sites(k);
	ct_order_ranks(k, 1, 0);
	add_counts(k);
	say_shift(k, call, count);
	ct_order_put_ranks(k);
	ct_finding_put(k->list, k->f, a->may_be_earlier ? "seq_max" : "seq", "%llu",
		       (unsigned long long)a->seq);
	ct_finding_put(k->list, k->f, "op", "%s", k->f->op_name);
	ct_finding_put(k->list, k->f, "count", "%s", count);
	ct_finding_put(k->list, k->f, is_extra ? "more" : "left_out", "%u", a->by);
	ct_finding_put(k->list, k->f, "fits", "%u", a->fits);
	ct_finding_put(k->list, k->f, "op_count", "%llu", (unsigned long long)k->instances);
	put_sites(k);
}

void ct_divergence_finding(struct ct_order_maker *k)
{
	if (k->apart.by && k->apart.has_minority)
		make_shifted(k);
	else
		make_call(k);
}
