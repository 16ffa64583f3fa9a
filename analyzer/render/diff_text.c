/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "analyzer/base/limits.h"
#include "analyzer/base/units.h"
#include "analyzer/diff/diff.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/render.h"

static const char columns[] = "op comm size_range base_n base_ns ns change";

static int differs(const struct ct_diff_row *row)
{
	return row->result == CT_DIFF_SLOWER || row->result == CT_DIFF_FASTER;
}

static enum ct_color color_of(const struct ct_diff_row *row)
{
	return row->result == CT_DIFF_SLOWER   ? CT_COLOR_YELLOW
	       : row->result == CT_DIFF_FASTER ? CT_COLOR_GREEN
					       : CT_COLOR_NONE;
}

static void write_summary(struct ct_text *text, const struct ct_diff *diff)
{
	if (!diff->tested)
		ct_text_line(text, CT_COLOR_NONE,
			     "nothing could be compared: the runs have too little in common");
	else if (!diff->slower && !diff->faster)
		ct_text_line(text, CT_COLOR_NONE, "no significant difference in %u comparison%s",
			     diff->tested, diff->tested == 1 ? "" : "s");
	else
		ct_text_line(text, CT_COLOR_NONE,
			     "%u slower, %u faster of %u; expected false positives: at most %.0f "
			     "%% of these",
			     diff->slower, diff->faster, diff->tested, 100 * CT_DIFF_RATE);
}

/* "samples/s 1024 to 1980, 4 to 8 ranks; scaling efficiency 96.7 % (95.9 to 97.4)" */
static void write_scaling(struct ct_text *text, const struct ct_diff_scaling *s)
{
	if (isnan(s->per_s))
		return;
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL, "throughput %s, before %s",
		     ct_prose_rate_err(s->per_s, NAN).s, ct_prose_rate_err(s->base_per_s, NAN).s);
	if (!isnan(s->efficiency_pct))
		ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
			     "efficiency %s of the base's samples per second and rank (95 %%: "
			     "%s to %s), %s ranks after %s",
			     ct_prose_pct(s->efficiency_pct).s, ct_prose_pct(s->low_pct).s,
			     ct_prose_pct(s->high_pct).s, ct_text_count(s->ranks).s,
			     ct_text_count(s->base_ranks).s);
}

void ct_diff_text(const struct ct_diff *diff, const char *base, size_t bases, const char *run,
		  const struct ct_text_style *style, FILE *out)
{
	struct ct_text text = ct_text_to(out, style);
	const int scales = !isnan(diff->scaling.efficiency_pct) &&
			   diff->scaling.ranks != diff->scaling.base_ranks;
	size_t hidden = 0, shown = 0;

	if (bases > 1)
		ct_text_wrap(&text, CT_COLOR_BOLD, CT_TEXT_LABEL, "%s against %s and %zu more", run,
			     base, bases - 1);
	else
		ct_text_wrap(&text, CT_COLOR_BOLD, CT_TEXT_LABEL, "%s against %s", run, base);
	if (!scales)
		write_summary(&text, diff);
	write_scaling(&text, &diff->scaling);
	for (size_t i = 0; i < diff->n_rows; i++) {
		const struct ct_diff_row *row = &diff->rows[i];

		/* operations and steps of other numbers of ranks differ by design: the efficiency
		 * is the answer */
		if (!style->verbose && (scales || (row->comm && !differs(row)))) {
			hidden++;
			continue;
		}
		if (!shown++) {
			ct_text_empty(&text);
			ct_columns_head(&text, ct_columns_diff_row(), columns);
		}
		ct_columns_row(&text, color_of(row), ct_columns_diff_row(), columns, row);
	}
	if (bases == 1 && (diff->slower || diff->faster) && !scales)
		ct_text_wrap(&text, CT_COLOR_NONE, CT_TEXT_LABEL,
			     "note      equal runs may differ as much: repeat the base and give "
			     "--bases=3");
	if (hidden)
		ct_text_line(&text, CT_COLOR_DIM, "%zu more with --verbose", hidden);
}
