/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/cycle/wanted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trace/ops.h"

#define LEAST_DIGITS 4u
#define MOST_NAMED 6u

struct wanted {
	char comm[192], op[32];
	uint64_t bytes;
	int is_sized;
};

/* The field before `end`, which becomes its beginning; NULL: there is no colon before it. */
static const char *last_field(const char *text, const char *end)
{
	while (end > text && end[-1] != ':')
		end--;
	return end > text ? end : NULL;
}

static int parse(const char *text, struct wanted *w)
{
	const char *end = text + strlen(text), *field = last_field(text, end);
	char *rest;

	*w = (struct wanted){ 0 };
	if (!field || field == end)
		return 0;
	if (*field >= '0' && *field <= '9') {
		w->bytes = strtoull(field, &rest, 10);
		if (rest != end)
			return 0;
		w->is_sized = 1;
		end = field - 1;
		field = last_field(text, end);
		if (!field)
			return 0;
	}
	snprintf(w->op, sizeof(w->op), "%.*s", (int)(end - field), field);
	snprintf(w->comm, sizeof(w->comm), "%.*s", (int)(field - 1 - text), text);
	return w->op[0] != '\0';
}

static int is_comm(const struct ct_comm *comm, const char *wanted)
{
	char key[20];

	if (strcmp(wanted, "*") == 0 || (comm->name && strcmp(wanted, comm->name) == 0))
		return 1;
	snprintf(key, sizeof(key), "%016" PRIx64, comm->key);
	return strlen(wanted) >= LEAST_DIGITS && strncasecmp(key, wanted, strlen(wanted)) == 0;
}

static int is_op(const struct ct_sequence_kind *kind, const char *wanted)
{
	const char *name = ct_op_name(kind->op);

	return name && strcasecmp(name, wanted) == 0;
}

uint32_t ct_wanted_choose(const struct ct_sequence *s, const char *wanted, uint8_t *chosen)
{
	struct wanted w;
	uint32_t n = 0;

	memset(chosen, 0, s->n_symbols);
	if (!parse(wanted, &w))
		return 0;
	for (uint32_t k = 0; k < s->n_symbols; k++) {
		const struct ct_sequence_kind *kind = &s->kinds[k];

		chosen[k] = is_comm(kind->comm, w.comm) && is_op(kind, w.op) &&
			    (!w.is_sized || (kind->is_sized && kind->bytes == w.bytes));
		n += chosen[k];
	}
	return n;
}

/* How much of what was wanted a symbol is. */
static unsigned likeness(const struct ct_sequence_kind *kind, const struct wanted *w)
{
	return 4u * (w->op[0] && is_op(kind, w->op)) + 2u * is_comm(kind->comm, w->comm) +
	       (w->is_sized && kind->is_sized && kind->bytes == w->bytes);
}

static const char *spell(const struct ct_sequence_kind *kind, struct ct_arena *memory)
{
	const char *op = ct_op_name(kind->op), *comm = kind->comm->name;

	if (!comm)
		comm = ct_arena_printf(memory, "%016" PRIx64, kind->comm->key);
	if (!comm || !kind->is_sized)
		return comm ? ct_arena_printf(memory, "%s:%s", comm, op ? op : "?") : NULL;
	return ct_arena_printf(memory, "%s:%s:%" PRIu64, comm, op ? op : "?", kind->bytes);
}

/* The next likeliest of those not named yet, the weightier first. */
static uint32_t next_likely(const struct ct_sequence *s, const struct wanted *w,
			    const uint8_t *named)
{
	uint32_t best = s->n_symbols;

	for (uint32_t k = 0; k < s->n_symbols; k++) {
		unsigned like, most;

		if (named[k] || !ct_op_name(s->kinds[k].op))
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

const char *ct_wanted_others(const struct ct_sequence *s, const char *wanted,
			     struct ct_arena *memory)
{
	uint8_t *named = calloc(s->n_symbols + 1u, 1);
	const char *text = "";
	struct wanted w;
	uint32_t k;

	parse(wanted, &w);
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
	return text && !*text ? "no operations on record" : text;
}
