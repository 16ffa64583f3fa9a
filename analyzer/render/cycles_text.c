/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/cycles_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/base/units.h"

#define MOST_PCT 75.0 /* of the run; cycles that are less say how much */

/* " 26.2MB", or nothing where its size is another one each time. */
static void size_text(char *to, size_t cap, uint64_t bytes)
{
	snprintf(to, cap, "%s%s", bytes == CT_UNKNOWN ? "" : " ",
		 bytes == CT_UNKNOWN ? "" : ct_text_bytes(bytes).s);
}

void ct_cycles_line(struct ct_text *text, const struct ct_report *report)
{
	const struct ct_report_cycles *c = &report->cycles;
	char size[32], err[32] = "", again[96] = "", by[96], part[48] = "";

	if (!c->anchor_comm_key && !c->marker) {
		if (c->why)
			ct_text_line(text, CT_COLOR_NONE, "cycles    n/a: %s", c->why);
		return;
	}
	if (c->err_ns != CT_UNKNOWN)
		snprintf(err, sizeof(err), "±%s", ct_text_ns(c->err_ns).s);
	if (c->n_recurring) {
		size_text(size, sizeof(size), c->recurring[0].bytes);
		snprintf(again, sizeof(again), "; %.32s%s every %" PRIu64, c->recurring[0].op_name,
			 size, c->recurring[0].every);
	}
	size_text(size, sizeof(size), c->anchor_bytes);
	if (c->marker)
		snprintf(by, sizeof(by), "NVTX range %.24s", c->marker);
	else
		snprintf(by, sizeof(by), "%.32s%s on %08" PRIx64, c->anchor_op, size,
			 c->anchor_comm_key >> 32);
	if (c->covered_pct < MOST_PCT)
		snprintf(part, sizeof(part), ", %s of the run", ct_text_pct(c->covered_pct).s);
	ct_text_wrap(text, CT_COLOR_NONE, CT_TEXT_LABEL,
		     "cycles    %s of %s%s, p99 %s%s, by %s%s%s", ct_text_count(c->count).s,
		     ct_text_ns(c->time_p50_ns).s, err, ct_text_ns(c->time_p99_ns).s, part, by,
		     again, c->note ? "; a step may have several" : "");
}
