/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h — ranks that do the same one after the other, and what is usual for them at each place.
 *
 * Peers have the same sequence of launches: kinds, not communicators, so that all ranks of a stage of a pipeline are peers,
 * whatever tensor group they are in. Places of the sequence with the same launches before them are one position: it comes
 * again and again. One thread. */
#ifndef CT_WHATIF_PEERS_H
#define CT_WHATIF_PEERS_H

#include "analyzer/lateness/replay/schedule.h"

/* With fewer nothing is known of who is slow: then a rank is held against itself. */
#define CT_PEERS_LEAST 3u

/* Positions of a sequence that are told apart; the rest counts as one. */
#define CT_PEERS_POSITIONS 4096u

struct ct_peer_group {
	uint32_t first, n;	 /* seats[first] .. seats[first + n - 1] */
	uint32_t len;		 /* launches of each */
	uint32_t first_position; /* position of the k-th launch: positions[first_position + k] */
	uint32_t n_positions;
};

struct ct_peers {
	struct ct_peer_group *groups;
	uint32_t *seats;
	uint32_t *positions;
	uint32_t *group_of; /* by seat; UINT32_MAX: has no launches */
	uint32_t n_groups;
};

/* 0 or CT_NOMEM; ct_peers_fini() in any case. */
int ct_peers_find(struct ct_peers *peers, const struct ct_schedule *schedule);
void ct_peers_fini(struct ct_peers *peers);

/* By position of the group (room for all): the one that comes most often among those with the same launches before them, whatever
 * pauses there were; times[p]: how often a position comes. 0 or CT_NOMEM. */
int ct_peers_alike(const struct ct_peers *peers, const struct ct_peer_group *group,
		   const struct ct_schedule *schedule, uint32_t *alike, uint32_t *times);

/* Where computing does not wait for a launch to end (gradient buckets), the gap to the next one counts from what it did wait
 * for. Told, for each position of three peers at least, by what happens when a launch took longer than it usually does: the
 * gap stays, or is shorter by as much (anchors.c). Before ct_schedule_order(). 0 or CT_NOMEM. */
int ct_peers_anchor(const struct ct_peers *peers, struct ct_schedule *schedule);

#endif
