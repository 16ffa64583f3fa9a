/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on hangs: the cases of hang/ as text, and what must hold of every one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/hang_text.h"

static const char *const files[] = { "scenarios.txt", "calls.txt", "more.txt", "edges.txt" };
#define FILES (sizeof(files) / sizeof(files[0]))

static struct ct_text_case *cases_of(const char *file, struct ct_arena *a)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/unit/hang/%s", getenv("CT_ROOT"), file);
	return ct_text_cases(ct_arena_printf(a, "%s", path), a);
}

/* A list in one spelling. */
static const char *spelled(const char *list, struct ct_arena *a)
{
	int numbers[4096];
	uint32_t n = 0;

	while (*list && *list != '-') {
		char *end;
		long from = strtol(list, &end, 10),
		     to = *end == '-' ? strtol(end + 1, &end, 10) : from;

		for (; from <= to; from++)
			numbers[n++] = (int)from;
		list = *end == ',' ? end + 1 : end;
	}
	return ct_text_list(numbers, n, a);
}

static const char *wanted(const struct ct_text_case *t, int timing, struct ct_arena *a)
{
	const char *text = "";

	for (uint32_t i = 0; i < t->n_expected[timing]; i++) {
		const struct ct_text_expected *e = &t->expected[timing][i];

		text = ct_arena_printf(a, "%s%s %s %s %s\n", text, e->code, spelled(e->ranks, a),
				       spelled(e->victims, a), e->confidence);
	}
	return text;
}

static struct ct_hang_result *judge(const struct ct_hang_case *c, struct ct_arena *a)
{
	struct ct_hang_result *result = NULL;

	assert_int_equal(ct_hang_diagnose(c, a, &result), 0);
	return result;
}

static void show(const char *name, int timing, const struct ct_hang_verdict *v)
{
	fprintf(stderr, "%s [%d]: %s: %s\n\t%s\n", name, timing, ct_hang_title(v), v->headline,
		v->cause);
	for (uint32_t i = 0; i < v->n_notes; i++)
		fprintf(stderr, "\t- %s\n", v->notes[i]);
	fprintf(stderr, "\tdo %s\n\trun %s\n", v->advice, v->command ? v->command : "-");
}

/* In its headline, cause, notes or facts. */
static int says(const struct ct_hang_result *result, const char *what)
{
	const struct ct_hang_verdict *v = result->verdicts;
	int found = 0;

	if (!result->n_verdicts)
		return 0;
	found = strstr(v->headline, what) || strstr(v->cause, what);
	for (uint32_t i = 0; i < v->n_notes; i++)
		found |= strstr(v->notes[i], what) != NULL;
	for (uint32_t i = 0; i < v->n_facts; i++)
		found |= v->facts[i].text && strstr(v->facts[i].text, what);
	return found;
}

static int advises(const struct ct_hang_verdict *v, const char *what)
{
	return strstr(v->advice, what) || (v->command && strstr(v->command, what));
}

/* Does its headline fit a line, behind "Hang: "? */
static unsigned too_long(const struct ct_text_case *t, const struct ct_hang_result *result)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < result->n_verdicts; i++) {
		const struct ct_hang_verdict *v = &result->verdicts[i];

		if (strlen(ct_hang_title(v)) + 2 + strlen(v->headline) <= 80)
			continue;
		fprintf(stderr, "%s:%u: %s: more than a line: %s\n", t->file, t->line, t->name,
			v->headline);
		n++;
	}
	return n;
}

static unsigned wrong(const struct ct_text_case *t, int timing, const struct ct_hang_case *c,
		      struct ct_arena *a)
{
	struct ct_hang_result *result = judge(c, a);
	const char *got = ct_text_verdicts(result, a), *want = wanted(t, timing, a);
	unsigned n = 0;

	if (!t->n_expected[timing] && !t->says_nothing[timing]) {
		fprintf(stderr, "%s:%u: nothing expected\n", t->file, t->line);
		return 1;
	}
	if (strcmp(got, want)) {
		fprintf(stderr, "%s:%u: %s, in %s timing:\ngot\n%swanted\n%s", t->file, t->line,
			t->name, timing ? "host" : "events", got, want);
		n++;
	}
	for (uint32_t i = 0; i < t->n_says; i++) {
		if (says(result, t->says[i]))
			continue;
		fprintf(stderr, "%s:%u: %s, in %s timing: \"%s\" does not say \"%s\"\n", t->file,
			t->line, t->name, timing ? "host" : "events",
			result->n_verdicts ? result->verdicts[0].headline : "", t->says[i]);
		n++;
	}
	n += too_long(t, result);
	if (t->advises && !(result->n_verdicts && advises(&result->verdicts[0], t->advises))) {
		fprintf(stderr, "%s:%u: %s: no advice of \"%s\"\n", t->file, t->line, t->name,
			t->advises);
		n++;
	}
	if (t->runs && !timing &&
	    !(result->n_verdicts && result->verdicts[0].command &&
	      !strcmp(result->verdicts[0].command, t->runs))) {
		fprintf(stderr, "%s:%u: %s: no command \"%s\"\n", t->file, t->line, t->name,
			t->runs);
		n++;
	}
	if (getenv("CT_SHOW"))
		for (uint32_t i = 0; i < result->n_verdicts; i++)
			show(t->name, timing, &result->verdicts[i]);
	return n;
}

static void every_case_is_judged_as_it_says(void **state)
{
	unsigned n = 0, cases = 0;

	(void)state;
	for (size_t f = 0; f < FILES; f++) {
		struct ct_arena *a = ct_arena_new();

		for (struct ct_text_case *t = cases_of(files[f], a); t; t = t->next) {
			n += wrong(t, 0, &t->c, a);
			n += wrong(t, 1, ct_text_host_timing(&t->c, a), a);
			cases++;
		}
		ct_arena_free(a);
	}
	fprintf(stderr, "%u cases, %u wrong\n", cases, n);
	assert_int_equal(n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_is_judged_as_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
