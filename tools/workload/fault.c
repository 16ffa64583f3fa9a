/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/workload/fault.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum key_type { INDEX, COUNT, REAL, PAIR, FIELD, CALL };

static const struct {
	const char *name;
	enum key_type type;
	double least, most; /* most 0: no limit */
	const char *text;
	size_t offset;
} keys[] = {
#define FAULT_KEY(name, type, least, most, text)                                                   \
	{ #name, type, least, most, text, offsetof(struct ct_fault, name) },
#include "tools/workload/faults.def"
};

static const struct {
	const char *name;
	enum ct_fault_where where;
	uint32_t needs, one_of, may;
	const char *text;
} kinds[] = {
#define FAULT(name, id, where, needs, one_of, may, text)                                           \
	{ name, CT_FAULT_##where, needs, one_of, may, text },
#include "tools/workload/faults.def"
};

static const char *const fields[] = { "op", "count", "dtype", "redop", "root" };
static const char *const calls[] = { "groupend", "init", "split", "finalize" };

static int __attribute__((format(printf, 3, 4)))
wrong(char *why, size_t size, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, size, format, args);
	va_end(args);
	return -1;
}

/* The keys of a mask, as a list of words. */
static const char *list_keys(uint32_t mask, const char *between, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < CT_FAULT_KEYS; i++) {
		if ((mask >> i) & 1 && len < size)
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? between : "",
						keys[i].name);
	}
	return text;
}

static int find_word(const char *const *words, int n, const char *word)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(words[i], word) == 0)
			return i;
	}
	return -1;
}

static int whole_number(const char *text, const char **end, uint64_t *number)
{
	char *stop;

	if (!isdigit((unsigned char)text[0]))
		return -1;
	errno = 0;
	*number = strtoull(text, &stop, 10);
	*end = stop;
	return errno ? -1 : 0;
}

static int real_number(const char *text, double *number)
{
	char *stop;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -1;
	*number = strtod(text, &stop);
	return *stop || !isfinite(*number) ? -1 : 0;
}

static int pair_of_ranks(const char *text, int ranks[2])
{
	for (int i = 0; i < 2; i++) {
		uint64_t number;
		const char *end;

		if (whole_number(text, &end, &number) || number > INT_MAX ||
		    *end != (i == 0 ? '+' : '\0'))
			return -1;
		ranks[i] = (int)number;
		text = end + 1;
	}
	return ranks[0] == ranks[1] ? -1 : 0;
}

/* Put the value where the key's member is. -1: it is none. */
static int take_value(struct ct_fault *fault, unsigned key, const char *value)
{
	void *member = (char *)fault + keys[key].offset;
	uint64_t number = 0;
	const char *end = "";
	double real;
	int word;

	switch (keys[key].type) {
	case INDEX:
	case COUNT:
		if (whole_number(value, &end, &number) || *end ||
		    (double)number < keys[key].least ||
		    (keys[key].most > 0 && (double)number > keys[key].most))
			return -1;
		if (keys[key].type == COUNT)
			*(uint64_t *)member = number;
		else
			*(int *)member = (int)number;
		return 0;
	case REAL:
		if (real_number(value, &real) || real < keys[key].least || real > keys[key].most)
			return -1;
		*(double *)member = real;
		return 0;
	case PAIR:
		return pair_of_ranks(value, fault->ranks);
	case FIELD:
		word = find_word(fields, sizeof(fields) / sizeof(fields[0]), value);
		fault->field = (enum ct_fault_field)word;
		return word < 0 ? -1 : 0;
	case CALL:
		word = find_word(calls, sizeof(calls) / sizeof(calls[0]), value);
		fault->call = (enum ct_fault_call)word;
		return word < 0 ? -1 : 0;
	}
	return -1;
}

/* One key=value of the list, whose text may be written to. */
static int take_pair(struct ct_fault *fault, char *pair, char *why, size_t size)
{
	const char *kind = kinds[fault->kind].name;
	uint32_t known = kinds[fault->kind].needs | kinds[fault->kind].one_of |
			 kinds[fault->kind].may;
	char *value = strchr(pair, '='), list[160];
	unsigned key = 0;

	if (!value)
		return wrong(why, size, "fault %s: '%s' is not key=value", kind, pair);
	*value++ = '\0';
	while (key < CT_FAULT_KEYS && strcmp(keys[key].name, pair) != 0)
		key++;
	if (key == CT_FAULT_KEYS || !((known >> key) & 1))
		return wrong(why, size, "fault %s has no '%s', it has %s", kind, pair,
			     list_keys(known, ", ", list, sizeof(list)));
	if (ct_fault_has(fault, key))
		return wrong(why, size, "fault %s: '%s' is there twice", kind, pair);
	if (take_value(fault, key, value))
		return wrong(why, size, "fault %s: '%s' is not valid for %s: %s", kind, value, pair,
			     keys[key].text);
	fault->given |= 1u << key;
	return 0;
}

static int has_all_keys(const struct ct_fault *fault, char *why, size_t size)
{
	uint32_t lacks = kinds[fault->kind].needs & ~fault->given;
	uint32_t one_of = kinds[fault->kind].one_of, chosen = one_of & fault->given;
	const char *name = kinds[fault->kind].name;
	char list[160];

	if (lacks)
		return wrong(why, size, "fault %s needs %s", name,
			     list_keys(lacks, ", ", list, sizeof(list)));
	if (one_of && __builtin_popcount(chosen) != 1)
		return wrong(why, size, "fault %s needs one of %s", name,
			     list_keys(one_of, ", ", list, sizeof(list)));
	if (fault->kind == CT_FAULT_HOST_STALL &&
	    (fault->call == CT_CALL_groupend) != ct_fault_has(fault, CT_KEY_op))
		return wrong(why, size, "fault %s: op goes with call=groupend, and with no other",
			     name);
	if (fault->from > fault->to)
		return wrong(why, size, "fault %s: from is behind to", name);
	return 0;
}

static int no_such_kind(const char *kind, char *why, size_t size)
{
	size_t len = (size_t)snprintf(why, size, "no fault '%s'; there are", kind);

	for (unsigned i = 0; i < CT_FAULT_KINDS && len < size; i++)
		len += (size_t)snprintf(why + len, size - len, "%s%s", i ? ", " : " ",
					kinds[i].name);
	return -1;
}

int ct_fault_parse(const char *text, struct ct_fault *fault, char *why, size_t size)
{
	char copy[256], *rest = NULL;
	unsigned kind = 0;

	if (strlen(text) >= sizeof(copy))
		return wrong(why, size, "fault '%.40s...' is too long", text);
	strncpy(copy, text, sizeof(copy) - 1);
	copy[sizeof(copy) - 1] = '\0';
	rest = strchr(copy, ':');
	if (rest)
		*rest++ = '\0';
	while (kind < CT_FAULT_KINDS && strcmp(kinds[kind].name, copy) != 0)
		kind++;
	if (kind == CT_FAULT_KINDS)
		return no_such_kind(copy, why, size);

	*fault = (struct ct_fault){ .kind = kind, .to = UINT64_MAX, .factor = 1, .keep = 1 };
	while (rest) {
		char *pair = rest;

		rest = strchr(rest, ',');
		if (rest)
			*rest++ = '\0';
		if (take_pair(fault, pair, why, size))
			return -1;
	}
	return has_all_keys(fault, why, size);
}

int ct_fault_fits(const struct ct_fault *fault, int ranks, int nodes, uint64_t steps, char *why,
		  size_t size)
{
	const struct {
		enum ct_fault_key key;
		int value;
	} named[] = {
		{ CT_KEY_rank, fault->rank },	   { CT_KEY_peer, fault->peer },
		{ CT_KEY_src, fault->src },	   { CT_KEY_dst, fault->dst },
		{ CT_KEY_ranks, fault->ranks[0] }, { CT_KEY_ranks, fault->ranks[1] },
	};
	const char *name = kinds[fault->kind].name;

	for (unsigned i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (ct_fault_has(fault, named[i].key) && named[i].value >= ranks)
			return wrong(why, size, "fault %s: there is no rank %d, only 0 to %d", name,
				     named[i].value, ranks - 1);
	}
	if (ct_fault_has(fault, CT_KEY_host) && fault->host >= nodes)
		return wrong(why, size, "fault %s: there is no node %d, only 0 to %d", name,
			     fault->host, nodes - 1);
	if (fault->from >= steps)
		return wrong(why, size, "fault %s: step %llu does not come, there are %llu steps",
			     name, (unsigned long long)fault->from, (unsigned long long)steps);
	return 0;
}

const char *ct_fault_name(enum ct_fault_kind kind)
{
	return kinds[kind].name;
}

enum ct_fault_where ct_fault_where(enum ct_fault_kind kind)
{
	return kinds[kind].where;
}

const char *ct_fault_help(unsigned i, char *spelling, size_t size)
{
	char needs[160], one_of[160], may[160];

	if (i >= CT_FAULT_KINDS)
		return NULL;
	list_keys(kinds[i].needs, "=,", needs, sizeof(needs));
	list_keys(kinds[i].one_of, "=|", one_of, sizeof(one_of));
	list_keys(kinds[i].may, "=,", may, sizeof(may));
	snprintf(spelling, size, "%s:%s%s%s%s%s%s%s", kinds[i].name, needs, needs[0] ? "=" : "",
		 needs[0] && one_of[0] ? "," : "", one_of, one_of[0] ? "=" : "", may[0] ? "[," : "",
		 may);
	if (may[0])
		strncat(spelling, "=]", size - strlen(spelling) - 1);
	return kinds[i].text;
}
