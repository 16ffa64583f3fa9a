/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/anchor_spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/base/limits.h"
#include "analyzer/model/comm_spec.h"
#include "trace/ops.h"
#include "trace/status.h"

#define HALF                                                                                       \
	0.501 /* fact: texts are rounded to half of their last digit; and the sum is rounded too */
#define MOST_NAMED 6u /* size: anchors in a message */

struct anchor_wanted {
	char comm[192], op[32];
	double bytes, within_bytes; /* from bytes - within to bytes + within */
	int is_sized;
};

/* ---- what was written ---- */

/* The field before `end`, which becomes its beginning; NULL: there is no colon before it. */
static const char *last_field(const char *text, const char *end)
{
	while (end > text && end[-1] != ':')
		end--;
	return end > text ? end : NULL;
}

static int is_op_name(const char *name, size_t len)
{
	for (unsigned op = 0; op <= UINT8_MAX; op++) {
		const char *known = ct_op_name(op);

		if (known && strlen(known) == len && strncasecmp(known, name, len) == 0)
			return 1;
	}
	return 0;
}

/* "4000000", exactly, or with a unit as the report prints it: "26.8 MiB", or "26.8MiB", is all
 * from 26.75 to 26.85 MiB. */
static int parse_size(const char *text, struct anchor_wanted *w)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
	double value = 0, digit = 0, unit = 1;
	const char *c = text;

	for (; (*c >= '0' && *c <= '9') || (*c == '.' && digit == 0 && c > text); c++) {
		if (*c == '.') {
			digit = 1;
			continue;
		}
		value = 10 * value + (*c - '0');
		digit /= 10;
	}
	if (c == text || c[-1] == '.' || c - text > 18)
		return 0;
	value *= digit > 0 ? digit : 1;
	w->bytes = value;
	w->within_bytes = 0;
	if (!*c)
		return digit == 0;
	c += *c == ' ';
	for (unsigned u = 0; u < sizeof(units) / sizeof(units[0]); u++, unit *= 1024) {
		if (strcasecmp(c, units[u]) != 0)
			continue;
		w->bytes = value * unit;
		w->within_bytes = HALF * unit * (digit > 0 ? digit : 1);
		return 1;
	}
	return 0;
}

static int fails(struct ct_anchor_spec_fault *fault, const char *part, const char *end,
		 const char *why)
{
	*fault = (struct ct_anchor_spec_fault){ part, (int)(end - part), why };
	return CT_RANGE;
}

/* Takes it apart. 0 or CT_RANGE, then with *fault. */
static int parse(const char *text, struct anchor_wanted *w, struct ct_anchor_spec_fault *fault)
{
	const char *end = text + strlen(text), *op = last_field(text, end), *op_end = end;

	*w = (struct anchor_wanted){ 0 };
	if (!op)
		return fails(fault, text, end, "has no colon: communicator and operation");
	if (!is_op_name(op, (size_t)(end - op))) {
		const char *size = op;

		op = last_field(text, size - 1);
		op_end = size - 1;
		w->is_sized = parse_size(size, w);
		if (!op || !is_op_name(op, (size_t)(op_end - op)))
			return op && w->is_sized ? fails(fault, op, op_end, "is not an operation")
						 : fails(fault, size, end, "is not an operation");
		if (!w->is_sized)
			return fails(fault, size, end,
				     "is not a size: bytes, or as the report prints it (26.8MiB)");
	}
	if (op - 1 == text)
		return fails(fault, text, op - 1, "is not a communicator; * is any");
	snprintf(w->op, sizeof(w->op), "%.*s", (int)(op_end - op), op);
	snprintf(w->comm, sizeof(w->comm), "%.*s", (int)(op - 1 - text), text);
	return CT_OK;
}

int ct_anchor_spec_check(const char *wanted, struct ct_anchor_spec_fault *fault)
{
	struct anchor_wanted w;

	return parse(wanted, &w, fault);
}

/* ---- what there is ---- */

static int is_size(const struct ct_sequence_kind *kind, const struct anchor_wanted *w)
{
	return kind->is_sized && (double)kind->bytes >= w->bytes - w->within_bytes &&
	       (double)kind->bytes <= w->bytes + w->within_bytes;
}

static int is_comm(const struct ct_comm *comm, const char *wanted)
{
	return strcmp(wanted, "*") == 0 || ct_comm_spec_fits(wanted, comm->name, comm->hash);
}

static int is_op(const struct ct_sequence_kind *kind, const char *wanted)
{
	const char *name = ct_op_name(kind->op);

	return name && strcasecmp(name, wanted) == 0;
}

uint32_t ct_anchor_spec_choose(const struct ct_sequence *s, const char *wanted, uint8_t *chosen)
{
	struct ct_anchor_spec_fault fault;
	struct anchor_wanted w;
	uint32_t n = 0;

	memset(chosen, 0, s->n_symbols);
	if (parse(wanted, &w, &fault) != CT_OK)
		return 0;
	for (uint32_t k = 0; k < s->n_symbols; k++) {
		const struct ct_sequence_kind *kind = &s->kinds[k];

		chosen[k] = is_comm(kind->comm, w.comm) && is_op(kind, w.op) &&
			    (!w.is_sized || is_size(kind, &w));
		n += chosen[k];
	}
	return n;
}

/* How much of what was wanted a symbol is. */
static unsigned likeness(const struct ct_sequence_kind *kind, const struct anchor_wanted *w)
{
	return 4u * (w->op[0] && is_op(kind, w->op)) + 2u * is_comm(kind->comm, w->comm) +
	       (w->is_sized && is_size(kind, w));
}

static const char *spell(const struct ct_sequence_kind *kind, struct ct_arena *memory)
{
	const char *op = ct_op_name(kind->op), *comm = kind->comm->name;

	if (!comm)
		comm = ct_arena_printf(memory, "%016" PRIx64, kind->comm->hash);
	if (!comm || !kind->is_sized)
		return comm ? ct_arena_printf(memory, "%s:%s", comm, op ? op : "?") : NULL;
	return ct_arena_printf(memory, "%s:%s:%" PRIu64, comm, op ? op : "?", kind->bytes);
}

/* What comes too rarely, or is not kept as a whole, is refused as an anchor: it is not a hint. */
static int can_mark(const struct ct_anchor_symbol *symbol)
{
	return symbol->n >= CT_LEAST_OFTEN && !symbol->partial;
}

/* The next likeliest of those not named yet, the weightier first. */
static uint32_t next_likely(const struct ct_sequence *s, const struct anchor_wanted *w,
			    const uint8_t *named)
{
	uint32_t best = s->n_symbols;

	for (uint32_t k = 0; k < s->n_symbols; k++) {
		unsigned like, most;

		if (named[k] || !ct_op_name(s->kinds[k].op) || !can_mark(&s->symbols[k]))
			continue;
		if (best == s->n_symbols) {
			best = k;
			continue;
		}
		like = likeness(&s->kinds[k], w);
		most = likeness(&s->kinds[best], w);
		if (like > most || (like == most && s->symbols[k].bytes > s->symbols[best].bytes))
			best = k;
	}
	return best;
}

const char *ct_anchor_spec_others(const struct ct_sequence *s, const char *wanted,
				  struct ct_arena *memory)
{
	uint8_t *named = calloc(s->n_symbols + 1u, 1);
	struct ct_anchor_spec_fault fault;
	const char *text = "";
	struct anchor_wanted w;
	uint32_t k;

	parse(wanted, &w, &fault);
	for (unsigned n = 0; named && text && n < MOST_NAMED; n++) {
		const char *one;

		k = next_likely(s, &w, named);
		if (k == s->n_symbols)
			break;
		named[k] = 1;
		one = spell(&s->kinds[k], memory);
		text = one ? ct_arena_printf(memory, "%s%s%s", text, *text ? ", " : "", one) : NULL;
	}
	if (!named)
		text = NULL;
	free(named);
	return text && !*text ? "none" : text;
}
