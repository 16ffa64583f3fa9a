/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/blame/late_or_slow.h"

int ct_late_or_slow_add(struct ct_pass *pass, struct ct_class *class, const struct ct_instance *i,
			const struct ct_waits *w, uint64_t bytes)
{
	int one_size = bytes * class->instances == class->bytes;
	uint64_t usual = one_size ? class->usual_p50_ns : 2 * class->usual_p50_ns, from, shift;
	const struct ct_member *m;
	struct ct_last last;

	pass->slow_transfers++;
	class->slow_transfers++;
	ct_waits_last(i, w, &last);
	m = &i->members[last.last];
	if (m->end_ns - m->start_ns <= usual)
		return CT_OK;
	pass->late_or_slow_n++;
	shift = pass->shift[pass->host_of[m->seat]];
	from = last.clear && m->start_ns > last.solo_ns ? m->start_ns - last.solo_ns : m->start_ns;
	if (ct_union_add(&pass->late_or_slow, from + shift, m->start_ns + shift) != CT_OK)
		return CT_NOMEM;
	return ct_union_add(&pass->late_or_slow, m->start_ns + usual + shift, m->end_ns + shift);
}
