/* SPDX-License-Identifier: Apache-2.0 */
/* links.c — which links slow down which ranks, and how much of that is visible from outside. */
#include <string.h>

#include "tools/synth/truth.h"

int ct_synth_link_is_identifiable(const struct ct_workload *w, int comm)
{
	const struct ct_workload_comm *about = ct_workload_comm(w, comm);

	return about->n == 2 || strcmp(about->role, "pp") == 0 || strcmp(about->role, "ep") == 0;
}

/* Messages go straight to their receiver, collectives around the ring. */
int ct_synth_link_crosses(const struct ct_synth_outcome *out, int comm,
			  const struct ct_fault *fault)
{
	const struct ct_workload *w = out->workload;
	const struct ct_workload_comm *about = ct_workload_comm(w, comm);
	const int src = ct_workload_peer(w, comm, fault->src);
	const int dst = ct_workload_peer(w, comm, fault->dst);

	if (src < 0 || dst < 0 || !out->sums.comm_bytes[comm])
		return 0;
	if (strcmp(about->role, "ep") == 0)
		return 1;
	if (strcmp(about->role, "pp") == 0)
		return src - dst == 1 || dst - src == 1;
	return dst == (src + 1) % about->n;
}

/* It is compared with members that take as long as before. */
static int has_peers(const struct ct_workload *w, int comm)
{
	const struct ct_workload_comm *about = ct_workload_comm(w, comm);
	int alike = 0;

	for (int i = 0; i < ct_workload_n_comms(w); i++) {
		const struct ct_workload_comm *other = ct_workload_comm(w, i);

		alike += other->n == about->n && strcmp(other->role, about->role) == 0;
	}
	return alike > 1;
}

int ct_synth_link_shows(const struct ct_synth_outcome *out, const struct ct_fault *fault)
{
	const struct ct_workload *w = out->workload;

	for (int i = 0; i < ct_workload_n_comms(w); i++) {
		if (ct_synth_link_crosses(out, i, fault) &&
		    (ct_synth_link_is_identifiable(w, i) || has_peers(w, i)))
			return 1;
	}
	return 0;
}
