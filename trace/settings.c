/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/settings.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ring.h"

#define PREFIX "COMMTRACE_"
#define PREFIX_LEN (sizeof(PREFIX) - 1)

enum setting_type { TYPE_STR, TYPE_LIST, TYPE_BOOL, TYPE_INT, TYPE_DURATION, TYPE_BYTES, TYPE_MB };

static const struct setting {
	const char *name;
	enum setting_type type;
	const char *value; /* default */
	size_t at;	   /* in struct ct_settings */
} settings_table[] = {
#define X(NAME, type_, value_, text)                                                               \
	{ #NAME, TYPE_##type_, value_, offsetof(struct ct_settings, NAME) },
#include "trace/settings.def"
#undef X
};
#define N_SETTINGS (sizeof(settings_table) / sizeof(settings_table[0]))

/* Bounds of the numbers. A name without a row accepts any nonnegative number. */
static const struct bounds {
	const char *name;
	int64_t low, high;
} bounds_table[] = {
	{ "RANK", -1, 1 << 30 },
	{ "RING_MB", CT_RING_MIN_BYTES, 1ll << 30 },
	{ "FLUSH", 50 * 1000000ll, 3600 * 1000000000ll },
	{ "HANG_AFTER", 1000000000ll, 86400 * 1000000000ll },
	{ "MAX_BYTES", 1 << 20, INT64_MAX },
	{ "SEGMENT_BYTES", 1 << 16, 1ll << 40 },
	{ "COUNTERS", 0, 3600 * 1000000000ll },
};

/* The factor of the unit after a number; 0 for an unknown unit. */
static int64_t unit_of(enum setting_type type, const char *text)
{
	static const struct {
		enum setting_type type;
		const char *text;
		int64_t factor;
	} units[] = {
		{ TYPE_DURATION, "ms", 1000000 },
		{ TYPE_DURATION, "s", 1000000000 },
		{ TYPE_DURATION, "m", 60ll * 1000000000 },
		{ TYPE_BYTES, "", 1 },
		{ TYPE_BYTES, "K", 1 << 10 },
		{ TYPE_BYTES, "M", 1 << 20 },
		{ TYPE_BYTES, "G", 1 << 30 },
		{ TYPE_MB, "", 1 << 20 },
		{ TYPE_INT, "", 1 },
		{ TYPE_BOOL, "", 1 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].type == type && strcmp(units[i].text, text) == 0)
			return units[i].factor;
	return 0;
}

/* ".25" of a MB in bytes, in any locale of the program; six digits count. */
static int64_t parse_part(char **at)
{
	int64_t part = 0, whole = 1;

	if (**at != '.')
		return 0;
	for (++*at; **at >= '0' && **at <= '9'; ++*at) {
		if (whole == 1000000)
			continue;
		part = 10 * part + (**at - '0');
		whole *= 10;
	}
	return (part << 20) / whole;
}

/* NULL and *number, or what is wrong with the text. */
static const char *parse_number(const struct setting *s, const char *text, int64_t *number)
{
	static const char *const shapes[] = {
		[TYPE_BOOL] = "is not 0 or 1",
		[TYPE_INT] = "is not a number",
		[TYPE_DURATION] = "is not a duration such as 500ms, 10s or 2m",
		[TYPE_BYTES] = "is not a size such as 64M or 2G",
		[TYPE_MB] = "is not a number of MB such as 4 or 0.5",
	};
	int64_t low = 0, high = s->type == TYPE_BOOL ? 1 : INT64_MAX;
	int64_t factor, part = 0;
	char *end;

	errno = 0;
	*number = strtoll(text, &end, 10);
	if (s->type == TYPE_MB && end != text)
		part = parse_part(&end);
	factor = unit_of(s->type, end);
	if (end == text || errno || !factor || __builtin_mul_overflow(*number, factor, number))
		return shapes[s->type];
	*number += part;
	for (size_t i = 0; i < sizeof(bounds_table) / sizeof(bounds_table[0]); i++) {
		if (strcmp(bounds_table[i].name, s->name) == 0) {
			low = bounds_table[i].low;
			high = bounds_table[i].high;
		}
	}
	if (*number < low || *number > high)
		return s->type == TYPE_BOOL ? shapes[TYPE_BOOL] : "is out of range";
	return NULL;
}

/* NULL, or what is wrong with the text; then nothing is set. */
static const char *set(struct ct_settings *settings, const struct setting *s, const char *text)
{
	char *field = (char *)settings + s->at;
	const char *wrong;
	int64_t number;

	if (s->type == TYPE_STR || s->type == TYPE_LIST) {
		if (strlen(text) >= CT_SETTING_STR_BYTES)
			return "is too long";
		memcpy(field, text, strlen(text) + 1);
		return NULL;
	}
	wrong = parse_number(s, text, &number);
	if (!wrong)
		memcpy(field, &number, sizeof(number));
	return wrong;
}

/* Edits (insert, delete, replace, swap neighbours) between two names; both at most 31 long. */
static unsigned distance(const char *a, const char *b)
{
	unsigned d[33][33];
	unsigned la = (unsigned)strnlen(a, 31), lb = (unsigned)strnlen(b, 31);

	for (unsigned i = 0; i <= la; i++) {
		for (unsigned k = 0; k <= lb; k++) {
			unsigned best;

			if (!i || !k) {
				d[i][k] = i + k;
				continue;
			}
			best = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]);
			best = d[i - 1][k] + 1 < best ? d[i - 1][k] + 1 : best;
			best = d[i][k - 1] + 1 < best ? d[i][k - 1] + 1 : best;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
			    d[i - 2][k - 2] + 1 < best)
				best = d[i - 2][k - 2] + 1;
			d[i][k] = best;
		}
	}
	return d[la][lb];
}

static void note_unknown(const char *name, struct ct_notes *notes)
{
	const char *nearest = NULL;
	unsigned least = (unsigned)strlen(name) / 3 + 1;

	for (size_t i = 0; i < N_SETTINGS; i++) {
		unsigned d = distance(name, settings_table[i].name);

		if (d < least) {
			least = d;
			nearest = settings_table[i].name;
		}
	}
	if (nearest)
		ct_notes_add(notes, "unknown " PREFIX "%.40s, did you mean " PREFIX "%s?", name,
			     nearest);
	else
		ct_notes_add(notes, "unknown " PREFIX "%.40s", name);
}

static void read_variable(struct ct_settings *settings, const char *variable,
			  struct ct_notes *notes)
{
	const char *equals = strchr(variable, '=');
	size_t len = equals ? (size_t)(equals - variable) : 0;
	const char *wrong;
	char name[64];

	if (len == 0 || len >= sizeof(name))
		return;
	memcpy(name, variable, len);
	name[len] = '\0';
	for (size_t i = 0; i < N_SETTINGS; i++) {
		const struct setting *s = &settings_table[i];

		if (strcmp(s->name, name) != 0)
			continue;
		wrong = equals[1] ? set(settings, s, equals + 1) : NULL; /* empty: as if not set */
		if (wrong)
			ct_notes_add(notes, PREFIX "%s=%.40s %s: using %s", name, equals + 1, wrong,
				     s->value[0] ? s->value : "none");
		return;
	}
	note_unknown(name, notes);
}

static void check_backends(const char *list, struct ct_notes *notes)
{
	static const char *const known[] = { "nccl", "mpi", "gloo" };

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");
		int found = len == 0;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			found |= strlen(known[i]) == len && strncmp(known[i], p, len) == 0;
		if (!found)
			ct_notes_add(notes, PREFIX "BACKENDS: there is no backend %.*s", (int)len,
				     p);
		p += len + (p[len] == ',');
	}
}

static void check_timing(char *timing, struct ct_notes *notes)
{
	static const char *const known[] = { "auto", "events", "plugin", "host", "off" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(timing, known[i]) == 0)
			return;
	ct_notes_add(notes,
		     PREFIX "TIMING=%.40s is not auto, events, plugin, host or off: using auto",
		     timing);
	memcpy(timing, "auto", sizeof("auto"));
}

static void check_graph(char *graph, struct ct_notes *notes)
{
	if (strcmp(graph, "list") == 0 || strcmp(graph, "off") == 0)
		return;
	ct_notes_add(notes, PREFIX "GRAPH=%.40s is not list or off: using list", graph);
	memcpy(graph, "list", sizeof("list"));
}

void ct_settings_read(struct ct_settings *settings, char *const *env, struct ct_notes *notes)
{
	memset(settings, 0, sizeof(*settings));
	for (size_t i = 0; i < N_SETTINGS; i++)
		set(settings, &settings_table[i], settings_table[i].value);
	for (; env && *env; env++)
		if (strncmp(*env, PREFIX, PREFIX_LEN) == 0)
			read_variable(settings, *env + PREFIX_LEN, notes);
	check_backends(settings->BACKENDS, notes);
	check_timing(settings->TIMING, notes);
	check_graph(settings->GRAPH, notes);
	if (settings->SEGMENT_BYTES > settings->MAX_BYTES)
		settings->SEGMENT_BYTES = settings->MAX_BYTES;
}

int ct_settings_lists(const char *list, const char *word)
{
	size_t want = strlen(word);

	for (const char *p = list; *p;) {
		size_t len = strcspn(p, ",");

		if (len == want && strncmp(p, word, len) == 0)
			return 1;
		p += len + (p[len] == ',');
	}
	return 0;
}
