/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a pass that deals with instances: from matched members to sums. */
#include "analyzer/pass.h"

static uint64_t plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Bytes of the whole operation: the mean of what the members say, since in v-collectives each knows its own
 * share only. */
static uint64_t bytes_of(const struct ct_instance *i)
{
	uint64_t sum = 0;

	for (uint32_t m = 0; m < i->n; m++)
		sum = plus(sum, i->members[m].bytes);
	return sum / i->n;
}

static int add_span(struct ct_pass *pass, struct ct_class *class, const struct ct_member *m)
{
	uint64_t err = (uint64_t)m->start_err_ns + m->end_err_ns;

	if (!m->start_ns || !m->end_ns || m->end_ns < m->start_ns)
		return CT_OK;
	class->time_err_ns = err > class->time_err_ns ? err : class->time_err_ns;
	pass->time_err_ns = err > pass->time_err_ns ? err : pass->time_err_ns;
	return ct_hist_add(&class->span, m->end_ns - m->start_ns);
}

static int add_transfer(struct ct_class *class, uint64_t bytes, uint64_t transfer_ns)
{
	int st = ct_hist_add(&class->transfer, transfer_ns);

	if (st == CT_OK && transfer_ns && bytes)
		st = ct_hist_add(&class->algbw,
				 (uint64_t)((double)bytes / (double)transfer_ns * 1e9));
	return st;
}

/* Waits of one member, into its class and its rank's sums. */
static void add_wait(struct ct_pass *pass, struct ct_class *class, const struct ct_member *m,
		     uint64_t wait_ns)
{
	struct ct_seat *seat = &pass->seats[m->seat];

	class->wait_ns += wait_ns;
	seat->wait_ns += wait_ns;
	seat->judged++;
	/* A wait is a difference of two spans. */
	seat->err_ns += 2 * ((uint64_t)m->start_err_ns + m->end_err_ns);
}

static void note_sequence(struct ct_comm *comm, uint64_t seq, int agreed)
{
	if (comm->first_seq == UINT64_MAX || seq < comm->first_seq)
		comm->first_seq = seq;
	if (comm->last_seq == UINT64_MAX || seq > comm->last_seq)
		comm->last_seq = seq;
	if (agreed && (comm->equal_to_seq == UINT64_MAX || seq > comm->equal_to_seq))
		comm->equal_to_seq = seq;
}

static int judge_message(struct ct_pass *pass, struct ct_instance *i, int complete)
{
	const struct ct_waits *w = &pass->waits;
	uint64_t bytes = bytes_of(i);
	int st;

	i->comm->bytes = plus(i->comm->bytes, bytes);
	st = ct_waits_judge(i, pass->host_of, 0, &pass->waits);
	if (!complete)
		pass->waits.judged = CT_JUDGED_NOTHING;
	else
		pass->messages++;
	for (uint32_t m = 0; m < i->n && st == CT_OK; m++) {
		const struct ct_member *member = &i->members[m];
		struct ct_class *class = ct_classes_get(&pass->classes, i->comm, member->op,
							member->dtype, bytes);

		if (!class)
			return CT_NOMEM;
		class->instances++;
		class->bytes = plus(class->bytes, bytes);
		st = add_span(pass, class, member);
		if (st == CT_OK && w->judged != CT_JUDGED_NOTHING)
			st = add_transfer(class, bytes, w->transfer_ns);
		if (st == CT_OK && w->judged == CT_JUDGED_WAITS) {
			class->judged++;
			add_wait(pass, class, member, w->wait_ns[m]);
		}
	}
	return st;
}

/* Who came last, for the class's row and the ranks' counts. */
static int add_last(struct ct_pass *pass, struct ct_class *class, const struct ct_instance *i)
{
	const struct ct_waits *w = &pass->waits;
	struct ct_last last;

	for (uint32_t m = 0; m < i->n; m++) {
		if (w->arrival_ns[m] > w->median_ns)
			pass->seats[i->members[m].seat].lateness_ns += w->arrival_ns[m] -
								       w->median_ns;
	}
	ct_waits_last(i, w, &last);
	if (!last.clear)
		return CT_OK;
	pass->seats[i->members[last.last].seat].last_count++;
	return ct_class_last(class, i->members[last.last].index,
			     last.waited_for ? last.solo_ns : 0);
}

/* A whole collective with waits: may somebody be judged by it? */
static int add_blame(struct ct_pass *pass, const struct ct_class *class,
		     const struct ct_instance *i)
{
	struct ct_comm *comm = i->comm;

	pass->matched++;
	if (comm->clash || comm->shared_seat)
		return CT_OK;
	/* The first meeting of a communicator tells who started late, not who is slow. */
	if (!comm->met) {
		comm->met = 1;
		return CT_OK;
	}
	return ct_blame_add(&pass->blame, i, &pass->waits, class->index, pass->host_of,
			    pass->shift);
}

static int judge_collective(struct ct_pass *pass, struct ct_instance *i, int complete)
{
	const struct ct_waits *w = &pass->waits;
	const struct ct_member *usual;
	uint64_t bytes = bytes_of(i);
	struct ct_class *class;
	int odd = ct_mismatch_check(&pass->mismatches, i, &usual);
	int st = CT_OK;

	if (odd < 0)
		return odd;
	note_sequence(i->comm, i->seq, complete && !odd);
	if (odd)
		bytes = usual->bytes;
	i->comm->bytes = plus(i->comm->bytes, bytes);
	class = ct_classes_get(&pass->classes, i->comm, usual->op, usual->dtype, bytes);
	if (!class)
		return CT_NOMEM;
	class->instances++;
	class->bytes = plus(class->bytes, bytes);
	for (uint32_t m = 0; m < i->n && st == CT_OK; m++)
		st = add_span(pass, class, &i->members[m]);
	if (st != CT_OK || !complete || odd || i->n < 2)
		return st;
	st = ct_waits_judge(i, pass->host_of, ct_blame_skew(&pass->blame), &pass->waits);
	if (st != CT_OK || w->judged == CT_JUDGED_NOTHING)
		return st;
	st = add_transfer(class, bytes, w->transfer_ns);
	if (st != CT_OK || w->judged != CT_JUDGED_WAITS)
		return st;
	class->judged++;
	for (uint32_t m = 0; m < i->n; m++)
		add_wait(pass, class, &i->members[m], w->wait_ns[m]);
	st = add_last(pass, class, i);
	return st == CT_OK ? add_blame(pass, class, i) : st;
}

int ct_pass_judge(void *arg, struct ct_instance *i, int complete)
{
	struct ct_pass *pass = arg;

	i->comm->instances++;
	if (!complete) {
		i->comm->incomplete++;
		pass->incomplete++;
	}
	return i->src >= 0 ? judge_message(pass, i, complete) : judge_collective(pass, i, complete);
}
