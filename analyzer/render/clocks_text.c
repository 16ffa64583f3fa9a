/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/clocks_text.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/base/units.h"
#include "analyzer/render/columns.h"

#define MOST_ODD 3

static int is_related(const struct ct_report_clock *c)
{
	return !strcmp(c->quality, "ACCURATE") || !strcmp(c->quality, "APPROXIMATE");
}

/* Those that are not related, by name; ABSENT but set by the same time is told with that time's error. */
static void list_odd(const struct ct_report *report, char *out, size_t size)
{
	size_t at = 0, n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < report->n_clocks; i++) {
		const struct ct_report_clock *c = &report->clocks[i];

		if (is_related(c) || n++ >= MOST_ODD || at >= size)
			continue;
		at += (size_t)snprintf(out + at, size - at, "%s%.40s %s",
				       at ? ", " : "; not: ", c->host, c->quality);
		if (c->err_ns != CT_UNKNOWN && at < size)
			at += (size_t)snprintf(out + at, size - at, " (NTP only, ±%s)",
					       ct_text_ns(c->err_ns).s);
	}
	if (n > MOST_ODD && at < size)
		snprintf(out + at, size - at, ", %zu more", n - MOST_ODD);
}

void ct_clocks_line(struct ct_text *text, const struct ct_report *report)
{
	const char *reference = NULL;
	uint64_t err = 0, self = CT_UNKNOWN;
	char odd[256], tested[64] = "";
	size_t related = 0;

	for (size_t i = 0; i < report->n_clocks; i++) {
		const struct ct_report_clock *c = &report->clocks[i];

		if (c->selftest_ns != CT_UNKNOWN && (self == CT_UNKNOWN || c->selftest_ns > self))
			self = c->selftest_ns;
		if (!is_related(c))
			continue;
		related++;
		reference = c->ref_host;
		err = c->err_ns > err ? c->err_ns : err;
	}
	if (!report->n_clocks)
		return;
	list_odd(report, odd, sizeof(odd));
	if (related < 2) {
		ct_text_line(text, CT_COLOR_YELLOW, "clocks    not related%s", odd);
		return;
	}
	if (self != CT_UNKNOWN)
		snprintf(tested, sizeof(tested), "; ends within one host %s apart",
			 ct_text_ns(self).s);
	ct_text_line(text, related < report->n_clocks ? CT_COLOR_YELLOW : CT_COLOR_NONE,
		     "clocks    %zu of %zu hosts related to %.40s, ±%s%s%s", related,
		     report->n_clocks, reference ? reference : "?", ct_text_ns(err).s, tested, odd);
}

void ct_clocks_rows(struct ct_text *text, const struct ct_report *report)
{
	for (size_t i = 0; i < report->n_clocks; i++) {
		char pairs[512];

		ct_columns_pairs(pairs, sizeof(pairs), ct_columns_clocks(),
				 "host ref_host offset_ns drift_ppb err_ns quality selftest_ns",
				 &report->clocks[i]);
		ct_text_line(text, CT_COLOR_NONE, "clock     %s", pairs);
	}
}
