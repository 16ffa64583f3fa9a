/* SPDX-License-Identifier: Apache-2.0 */
/* causes.h — from slow tracks to their causes: a rank, a host, a link between two ranks, or one of
 * several that these times do not distinguish (tomography.h). Pure. */
#ifndef CT_ANALYZER_LINK_CAUSES_H
#define CT_ANALYZER_LINK_CAUSES_H

#include "analyzer/link/compare.h"

/* size: links between cleared members, each a cause of its own: at most so many are reported. */
#define CT_CAUSE_LINKS 64u

enum ct_cause_kind {
	CT_CAUSE_RANKS, /* one of the suspects, or its port, or (several) a link between two of them
			 */
	CT_CAUSE_HOSTS,
	CT_CAUSE_LINK, /* between the suspects, which are fast with others */
};

/* Whose transfers, of all operations together: a communicator, or the messages of one rank to
 * another. */
struct ct_path {
	uint32_t track; /* the one with most time */
	uint32_t n_hosts;
	uint32_t *slots; /* sorted */
	uint32_t n;
	enum ct_tomo_state state;
	double slow_ns, good_ns, all_ns;
};

struct ct_cause {
	enum ct_cause_kind kind;
	uint32_t *suspects; /* slots, or hosts */
	uint32_t n;
	int is_exact; /* it is this one: one suspect, or a link between two */
	uint32_t *paths;
	uint32_t n_paths; /* the slow ones that it explains */
};

struct ct_causes {
	struct ct_path *paths;
	uint32_t *path_of; /* by track */
	struct ct_cause *all;
	uint32_t n_paths, n;
};

/* 0 or CT_NOMEM; ct_causes_fini() in any case. */
int ct_causes_find(const struct ct_transfers *transfers, const struct ct_comparison *comparison,
		   const uint32_t *host_of, uint32_t n_slots, uint32_t n_hosts,
		   struct ct_causes *out);
void ct_causes_fini(struct ct_causes *causes);

#endif
