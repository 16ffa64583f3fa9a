/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/sequence.h"

#include <stdlib.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/sort.h"
#include "analyzer/model/op_classes.h"
#include "trace/ops.h"
#include "trace/status.h"

void ct_sequence_init(struct ct_sequence *s, uint32_t slot, uint32_t most)
{
	*s = (struct ct_sequence){ .slot = slot, .most = most ? most : CT_SEQUENCE_OPS };
}

void ct_sequence_fini(struct ct_sequence *s)
{
	free(s->ops);
	free(s->symbols);
	free(s->kinds);
	ct_table_fini(&s->by_key);
	*s = (struct ct_sequence){ 0 };
}

static struct ct_sequence_kind kind_of(const struct ct_sequence *s, const struct ct_call_seen *call)
{
	int is_message = ct_op_class(call->op) == CT_CLASS_P2P;
	struct ct_sequence_kind kind = {
		.comm = call->comm,
		.op = (uint8_t)call->op,
		.dtype = (uint8_t)call->dtype,
		.peer = is_message ? call->peer : -1,
		.is_sized = !is_message && !call->varies && call->bytes != UINT64_MAX,
	};

	if (kind.is_sized)
		kind.bytes = s->n_symbols < CT_SEQUENCE_SYMBOLS ? call->bytes
								: ct_size_range(call->bytes);
	return kind;
}

static uint64_t key_of(const struct ct_sequence_kind *kind)
{
	uint64_t what = (uint64_t)kind->op << 16 | (uint64_t)kind->dtype << 8 | kind->is_sized;

	return ct_mix(ct_mix(ct_mix((uint64_t)kind->comm->index << 32 | (uint32_t)kind->peer) ^
			     kind->bytes) ^
		      what);
}

/* A new symbol; indices in the table count from 1. */
static int add_symbol(struct ct_sequence *s, const struct ct_sequence_kind *kind, uint64_t key)
{
	uint32_t cap = s->cap_symbols;

	if (ct_grow(&s->symbols, &cap, s->n_symbols + 1, sizeof(*s->symbols)) ||
	    ct_grow(&s->kinds, &s->cap_symbols, s->n_symbols + 1, sizeof(*s->kinds)))
		return CT_NOMEM;
	s->symbols[s->n_symbols] = (struct ct_anchor_symbol){ 0 };
	s->kinds[s->n_symbols] = *kind;
	if (ct_table_put(&s->by_key, key, (void *)(uintptr_t)(s->n_symbols + 1)) != CT_OK)
		return CT_NOMEM;
	s->n_symbols++;
	s->listed++;
	return CT_OK;
}

/* Two kinds with one key are taken for one: there are few, and keys have 64 bits. */
static int symbol_of(struct ct_sequence *s, const struct ct_call_seen *call, uint32_t *symbol)
{
	struct ct_sequence_kind kind = kind_of(s, call);
	uint64_t key = key_of(&kind);
	void *known = ct_table_get(&s->by_key, key);

	if (!known && add_symbol(s, &kind, key) != CT_OK)
		return CT_NOMEM;
	*symbol = known ? (uint32_t)((uintptr_t)known - 1) : s->n_symbols - 1;
	return CT_OK;
}

/* Forget the entries of the commonest symbol, and list it no more; of one symbol alone nothing more
 * is taken in. */
static void make_room(struct ct_sequence *s)
{
	uint32_t most = 0, n = 0;

	if (s->listed <= 1) {
		s->cut_short = 1;
		return;
	}
	for (uint32_t k = 1; k < s->n_symbols; k++) {
		if (s->symbols[most].partial ||
		    (!s->symbols[k].partial && s->symbols[k].n > s->symbols[most].n))
			most = k;
	}
	s->symbols[most].partial = 1;
	s->listed--;
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->ops[i].symbol != most)
			s->ops[n++] = s->ops[i];
	}
	s->n = n;
}

static int grow(struct ct_sequence *s)
{
	uint32_t cap = s->cap ? 2 * s->cap : 1024;
	void *more;

	cap = cap < s->most ? cap : s->most;
	more = realloc(s->ops, cap * sizeof(*s->ops));
	if (!more)
		return CT_NOMEM;
	s->ops = more;
	s->cap = cap;
	return CT_OK;
}

int ct_sequence_add(struct ct_sequence *s, const struct ct_call_seen *call)
{
	uint32_t symbol;

	if (s->cut_short || s->n_ops == UINT32_MAX)
		return CT_OK;
	if (symbol_of(s, call, &symbol) != CT_OK)
		return CT_NOMEM;
	while (s->n == s->most && !s->cut_short && !s->symbols[symbol].partial)
		make_room(s);
	if (s->cut_short)
		return CT_OK;
	s->symbols[symbol].n++;
	if (call->bytes != UINT64_MAX)
		s->symbols[symbol].bytes += call->bytes < UINT32_MAX ? call->bytes : UINT32_MAX;
	s->err_ns = call->end_ns && call->err_ns > s->err_ns ? call->err_ns : s->err_ns;
	s->n_ops++;
	if (s->symbols[symbol].partial)
		return CT_OK;
	if (s->n == s->cap && grow(s) != CT_OK)
		return CT_NOMEM;
	s->ops[s->n++] = (struct ct_anchor_op){
		.at_ns = call->at_ns,
		.end_ns = call->end_ns,
		.symbol = symbol,
		.index = (uint32_t)(s->n_ops - 1),
	};
	return CT_OK;
}

CT_SORT_BY(by_entry, struct ct_anchor_op, CT_UP(at_ns) ?: CT_UP(index))

/* Where all are listed their numbers are their indices; where some are not, they came about in
 * order. */
void ct_sequence_close(struct ct_sequence *s)
{
	if (!s->n)
		return;
	ct_sort(s->ops, s->n, sizeof(*s->ops), by_entry);
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->n == s->n_ops)
			s->ops[i].index = i;
		else if (i && s->ops[i].index < s->ops[i - 1].index)
			s->ops[i].index = s->ops[i - 1].index;
		s->ops[i].idle_ns = i ? s->ops[i].at_ns - s->ops[i - 1].at_ns : 0;
	}
}
