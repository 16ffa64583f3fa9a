/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/base/selection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/say.h"
#include "trace/status.h"

/* size: more ranks than any communicator has. */
#define MOST_RANKS (1L << 20)

/* "12.5s" up to `end`; -1 if it is not a time. */
static int read_time(const char *text, const char *end, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 },  { "us", 1e3 }, { "ms", 1e6 },
		      { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 } };
	char number[32];
	size_t len = strspn(text, "0123456789.");
	char *rest;
	double value;

	if (len == 0 || len >= sizeof(number) || text + len > end)
		return -1;
	memcpy(number, text, len);
	number[len] = '\0';
	value = strtod(number, &rest);
	if (*rest)
		return -1;
	for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
		size_t n = strlen(units[u].name);

		if ((size_t)(end - text) - len != n || memcmp(text + len, units[u].name, n) != 0)
			continue;
		if (value * units[u].ns > 9e18)
			return -1;
		*ns = (uint64_t)llround(value * units[u].ns);
		return 0;
	}
	*ns = 0;
	return text + len == end && value == 0 ? 0 : -1;
}

static int read_window(struct ct_selection *selection, const struct ct_cli *args, const char *text)
{
	const char *dots = strstr(text, ".."), *to = dots ? dots + 2 : NULL;

	selection->has_window = 1;
	if (!dots || (dots > text && read_time(text, dots, &selection->from_ns) < 0) ||
	    (*to && read_time(to, to + strlen(to), &selection->to_ns) < 0))
		return ct_cli_bad_value(args, CT_OPTION_WINDOW, text,
					"it is FROM..TO, times since the run began with their "
					"unit: 10s..12.5s, ..500ms, 1m..");
	if (selection->from_ns >= selection->to_ns)
		return ct_cli_bad_value(args, CT_OPTION_WINDOW, text, "it ends before it begins");
	return 0;
}

static int add_rank(struct ct_selection *selection, long rank)
{
	if (selection->n_ranks == selection->cap_ranks) {
		size_t cap = selection->cap_ranks ? 2 * selection->cap_ranks : 64;
		int *ranks = reallocarray(selection->ranks, cap, sizeof(*ranks));

		if (!ranks) {
			ct_say("cannot read the options: %s", ct_status_text(CT_NOMEM));
			return CT_CODE_FAILED;
		}
		selection->ranks = ranks;
		selection->cap_ranks = cap;
	}
	selection->ranks[selection->n_ranks++] = (int)rank;
	return 0;
}

static int compare_ints(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* And each once. */
static void sort_ranks(struct ct_selection *selection)
{
	size_t n = 0;

	qsort(selection->ranks, selection->n_ranks, sizeof(*selection->ranks), compare_ints);
	for (size_t i = 0; i < selection->n_ranks; i++) {
		if (!n || selection->ranks[n - 1] != selection->ranks[i])
			selection->ranks[n++] = selection->ranks[i];
	}
	selection->n_ranks = n;
}

static int read_ranks(struct ct_selection *selection, const struct ct_cli *args, const char *text)
{
	const char *hint = "it is a list such as 0-7,12";

	for (const char *at = text; *at || at == text;) {
		char *end;
		long from, to;

		if (*at < '0' || *at > '9')
			return ct_cli_bad_value(args, CT_OPTION_RANKS, text, hint);
		from = to = strtol(at, &end, 10);
		if (*end == '-') {
			if (end[1] < '0' || end[1] > '9')
				return ct_cli_bad_value(args, CT_OPTION_RANKS, text, hint);
			to = strtol(end + 1, &end, 10);
		}
		if (from > to || to >= MOST_RANKS || (*end && (*end != ',' || !end[1])))
			return ct_cli_bad_value(args, CT_OPTION_RANKS, text, hint);
		for (; from <= to; from++) {
			int code = add_rank(selection, from);

			if (code)
				return code;
		}
		at = end + (*end == ',');
	}
	sort_ranks(selection);
	return 0;
}

int ct_selection_read(struct ct_selection *selection, const struct ct_cli *args)
{
	const char *ranks = ct_cli_text(args, CT_OPTION_RANKS);
	const char *window = ct_cli_text(args, CT_OPTION_WINDOW);
	int code = 0;

	*selection = (struct ct_selection){ .to_ns = UINT64_MAX };
	if (ranks)
		code = read_ranks(selection, args, ranks);
	if (!code && window)
		code = read_window(selection, args, window);
	return code;
}

void ct_selection_fini(struct ct_selection *selection)
{
	free(selection->ranks);
	*selection = (struct ct_selection){ 0 };
}

ptrdiff_t ct_selection_find(const struct ct_selection *selection, int rank)
{
	const int *found;

	if (!selection->ranks)
		return 0;
	found = bsearch(&rank, selection->ranks, selection->n_ranks, sizeof(rank), compare_ints);
	return found ? found - selection->ranks : -1;
}
