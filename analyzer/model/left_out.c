/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/model/left_out.h"

void ct_left_out_untimed(struct ct_left_out *l, uint64_t at_ns, uint64_t n)
{
	l->all += n;
	/* read after the one that ended its row */
	if (at_ns < l->until_ns) {
		l->n += n;
		return;
	}
	if (!l->row)
		l->since_ns = l->last_ns = at_ns;
	l->row += n;
	l->last_ns = at_ns > l->last_ns ? at_ns : l->last_ns;
}

static void end_row(struct ct_left_out *l, uint64_t at_ns, int is_outer)
{
	if (l->row && (is_outer || l->last_ns - l->since_ns >= CT_LEFT_OUT_NS)) {
		l->n += l->row;
		l->ns += at_ns - l->since_ns;
		l->until_ns = at_ns;
	}
	l->row = 0;
}

void ct_left_out_timed(struct ct_left_out *l, uint64_t at_ns)
{
	/* begun before the row, and read late since its times came late */
	if (l->row && at_ns < l->since_ns)
		return;
	end_row(l, at_ns, !l->is_timed);
	l->is_timed = 1;
}

void ct_left_out_close(struct ct_left_out *l)
{
	end_row(l, l->last_ns, 1);
}
