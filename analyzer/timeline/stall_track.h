/* SPDX-License-Identifier: Apache-2.0 */
/* stall_track.h — when ranks waited for communication: the content of their own tracks.
 *
 * Bounded: when there are more than a limit, stalls of a rank that begin in the same cell of time
 * are put together, in cells whose width doubles until there is space. Their lengths are kept, what
 * lay between them is not. One thread. */
#ifndef CT_ANALYZER_TIMELINE_STALL_TRACK_H
#define CT_ANALYZER_TIMELINE_STALL_TRACK_H

#include <stdint.h>

struct ct_tracked_stall {
	uint64_t begin_ns,
		end_ns; /* since the run began; of several: begin of the first, end of the last */
	uint64_t length_ns; /* that it was blocked; end - begin without gaps */
	uint64_t err_ns;    /* of length_ns */
	uint32_t slot;
	uint32_t n; /* stalls */
	uint32_t backend;
};

struct ct_stall_track {
	struct ct_tracked_stall *all; /* once closed: by slot, then by begin */
	uint64_t n, limit;
	uint32_t cap;
	uint64_t *first;   /* once closed: of slot s are all[first[s]] .. all[first[s + 1] - 1] */
	uint64_t width_ns; /* of the cells; 0: nothing was put together */
};

void ct_stall_track_init(struct ct_stall_track *stalls, uint64_t limit);
void ct_stall_track_fini(struct ct_stall_track *stalls);

/* In any order. 0 or CT_NOMEM. */
int ct_stall_track_add(struct ct_stall_track *stalls, const struct ct_tracked_stall *stall);

/* All are there: each moment of a rank counts once, touching ones become one. Only those remain
 * whose backend's waits are known on their slot (bit by enum ct_backend). 0 or CT_NOMEM. */
int ct_stall_track_close(struct ct_stall_track *stalls, const uint32_t *recorded, uint32_t n_slots);

#endif
