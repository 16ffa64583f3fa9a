/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/order/order.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "trace/op_hash.h"
#include "trace/status.h"

void ct_orders_init(struct ct_orders *orders, int with_hash)
{
	*orders = (struct ct_orders){ .with_hash = with_hash };
}

void ct_orders_fini(struct ct_orders *orders)
{
	for (uint32_t i = 0; i < orders->n; i++) {
		struct ct_order *order = orders->all[i];

		for (uint32_t r = 0; order && r < CT_ORDER_ROWS; r++)
			free(order->rows[r].more);
		if (order) {
			ct_order_hash_fini(&order->hash);
			free(order->left);
			free(order->states);
		}
		free(order);
	}
	free(orders->all);
	*orders = (struct ct_orders){ 0 };
}

struct ct_order *ct_orders_get(struct ct_orders *orders, struct ct_comm *comm)
{
	struct ct_order *order;

	if (ct_grow_zeroed(&orders->all, &orders->n, comm->index + 1, sizeof(*orders->all)))
		return NULL;
	order = orders->all[comm->index];
	if (!order) {
		order = orders->all[comm->index] = calloc(1, sizeof(*order));
		if (order) {
			order->comm = comm;
			order->trouble = UINT64_MAX;
		}
	}
	return order;
}

const struct ct_order *ct_orders_find(const struct ct_orders *orders, const struct ct_comm *comm)
{
	return comm->index < orders->n ? orders->all[comm->index] : NULL;
}

/* ---- hashes ---- */

uint64_t ct_order_what(const struct ct_member *m)
{
	const struct ct_op_called called = { .bytes = m->bytes,
					     .root = m->root,
					     .op = m->op,
					     .dtype = m->dtype,
					     .redop = m->redop,
					     .varying = m->varying };

	return ct_op_hash(&called);
}

int ct_order_is_vague(const struct ct_member *m)
{
	const unsigned equal = ct_op_equal(m->op);

	if (equal & CT_EQUAL_SIZE && (!m->dtype || m->bytes == UINT64_MAX ||
				      (m->dtype >= CT_DTYPE_elem1 && m->dtype <= CT_DTYPE_elem16)))
		return 1;
	return (equal & CT_EQUAL_REDOP && !m->redop) || (equal & CT_EQUAL_ROOT && m->root < 0) ||
	       equal & CT_EQUAL_UNKNOWN;
}

int ct_orders_called(struct ct_orders *orders, struct ct_comm *comm, uint64_t seq,
		     const struct ct_member *m)
{
	struct ct_order *order = ct_orders_get(orders, comm);

	if (!order)
		return CT_NOMEM;
	if (!orders->with_hash)
		return CT_OK;
	return ct_order_hash_add(&order->hash, comm->nranks, m->index, seq, ct_order_what(m),
				 ct_order_is_vague(m));
}

int ct_orders_graph(struct ct_orders *orders, struct ct_comm *comm)
{
	struct ct_order *order = ct_orders_get(orders, comm);

	if (!order)
		return CT_NOMEM;
	order->has_graphs = 1;
	return CT_OK;
}

int ct_orders_left(struct ct_orders *orders, struct ct_comm *comm, uint32_t member)
{
	struct ct_order *order = ct_orders_get(orders, comm);

	if (order && !order->left)
		order->left = calloc(comm->nranks, 1);
	if (!order || !order->left)
		return CT_NOMEM;
	order->left[member] = 1;
	return CT_OK;
}

/* ---- rows ---- */

/* Exactly, except for sizes that may differ. */
static int same_call(const struct ct_member *a, const struct ct_member *b)
{
	return a->op == b->op && (a->bytes == b->bytes || !(ct_op_equal(a->op) & CT_EQUAL_SIZE)) &&
	       a->dtype == b->dtype && a->redop == b->redop && a->root == b->root &&
	       a->varying == b->varying;
}

/* The row for this number; NULL: it is not kept. */
static struct ct_order_row *row_of_seq(struct ct_order *order, uint64_t seq)
{
	struct ct_order_row *row = &order->rows[seq % CT_ORDER_ROWS];
	uint64_t from;

	if (order->trouble == UINT64_MAX)
		return !row->n || seq >= row->seq ? row : NULL;
	from = order->trouble > CT_ORDER_BEFORE ? order->trouble - CT_ORDER_BEFORE : 0;
	return seq >= from && seq - from < CT_ORDER_ROWS ? row : NULL;
}

static int same_as(const struct ct_order_call *call, const struct ct_member *m)
{
	return call->op == m->op &&
	       (call->bytes == m->bytes || !(ct_op_equal(m->op) & CT_EQUAL_SIZE)) &&
	       call->dtype == m->dtype && call->redop == m->redop && call->root == m->root &&
	       call->varying == m->varying && call->site == m->site;
}

/* A size that no other member confirms may come from a damaged file: no row is allocated for it. */
static int is_believable(const struct ct_comm *comm)
{
	return comm->nranks <= 64 * (uint64_t)comm->n_known + 1024;
}

/* If there are too many: one that differs only in its site, whose site is then unknown; or none. */
static uint32_t slot_without_site(struct ct_order_more *more, const struct ct_member *m)
{
	for (uint32_t c = 0; c < CT_ORDER_CALLS; c++) {
		struct ct_order_call call = more->calls[c];

		call.site = m->site;
		if (same_as(&call, m)) {
			more->calls[c].site = NULL;
			return c;
		}
	}
	return CT_ORDER_CALLS;
}

static int fill_mixed(struct ct_order_row *row, const struct ct_instance *i)
{
	uint32_t nranks = i->comm->nranks;
	struct ct_order_more *more = row->more;

	if (!is_believable(i->comm)) {
		row->n = 0;
		return CT_OK;
	}
	if (!more)
		more = row->more = malloc(sizeof(*more) + nranks);
	if (!more)
		return CT_NOMEM;
	more->n_calls = 0;
	memset(more->who, 0, nranks);
	for (uint32_t m = 0; m < i->n; m++) {
		const struct ct_member *member = &i->members[m];
		uint32_t c = 0;

		while (c < more->n_calls && !same_as(&more->calls[c], member))
			c++;
		if (c == CT_ORDER_CALLS)
			c = slot_without_site(more, member);
		else if (c == more->n_calls)
			more->calls[more->n_calls++] = ct_order_call_of(member);
		more->who[member->index] = (uint8_t)(c + 1);
	}
	row->is_mixed = 1;
	return CT_OK;
}

/* The first operation that not all members called: the progress of this member. */
static int note_states(struct ct_order *order, const struct ct_instance *i)
{
	if (!is_believable(i->comm))
		return CT_OK;
	if (!order->states)
		order->states = malloc(i->comm->nranks);
	if (!order->states)
		return CT_NOMEM;
	memset(order->states, 0, i->comm->nranks);
	for (uint32_t m = 0; m < i->n; m++)
		order->states[i->members[m].index] = i->members[m].state;
	return CT_OK;
}

int ct_order_note(struct ct_order *order, const struct ct_instance *i)
{
	struct ct_order_row *row = row_of_seq(order, i->seq);
	int whole = i->n == i->comm->nranks, same = 1, one_site = 1;

	for (uint32_t m = 1; m < i->n && same; m++) {
		same = same_call(&i->members[0], &i->members[m]);
		one_site &= i->members[0].site == i->members[m].site;
	}
	order->complete += (uint64_t)(whole && same);
	if (!whole && i->seq == order->trouble && note_states(order, i) != CT_OK)
		return CT_NOMEM;
	if (row) {
		row->seq = i->seq;
		row->n = i->n;
		row->is_mixed = 0;
		row->call = ct_order_call_of(&i->members[0]);
		if (!(whole && same && one_site) && fill_mixed(row, i) != CT_OK)
			return CT_NOMEM;
	}
	return whole && same;
}

void ct_order_trouble(struct ct_order *order, uint64_t seq)
{
	if (seq < order->trouble)
		order->trouble = seq;
}

/* Numbers of collectives that members have entered: the first that some member lacks, UINT64_MAX if
 * none does. */
static uint64_t first_lacking(const struct ct_comm *comm)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t m = 0; m < comm->nranks; m++) {
		if (!comm->slots[m])
			continue;
		least = comm->reached[m] < least ? comm->reached[m] : least;
		most = comm->reached[m] > most ? comm->reached[m] : most;
	}
	return least < most ? least : UINT64_MAX;
}

void ct_orders_ended(struct ct_orders *orders)
{
	for (uint32_t i = 0; i < orders->n; i++) {
		struct ct_order *order = orders->all[i];

		if (order && order->trouble == UINT64_MAX)
			order->trouble = first_lacking(order->comm);
	}
}

const struct ct_order_call *ct_order_at(const struct ct_order *order, uint64_t seq, uint32_t member)
{
	const struct ct_order_row *row = &order->rows[seq % CT_ORDER_ROWS];
	unsigned who;

	if (!row->n || row->seq != seq)
		return NULL;
	if (!row->is_mixed)
		return &row->call;
	who = row->more->who[member];
	return who && who <= row->more->n_calls ? &row->more->calls[who - 1] : NULL;
}
