/* SPDX-License-Identifier: Apache-2.0 */
/* transfers.h — the transfers on the log whose time is known, in tracks: those of one operation on
 * one communicator, or of the messages from one rank to another. Memory follows the log, which is
 * bounded. One thread. */
#ifndef CT_ANALYZER_LINK_TRANSFERS_H
#define CT_ANALYZER_LINK_TRANSFERS_H

#include "analyzer/link/fit.h"
#include "analyzer/stream/instance_log.h"

struct ct_moved {
	double bytes; /* on the wire: of the operation times its bus factor */
	double ns;    /* X; of a message in a group: at most so long */
	uint64_t end_ns;
	const struct ct_comm *comm;
	uint32_t track;
	uint32_t err_ns : 31; /* of ns */
	/* Another member of its launches came after both its ends: ns counts from then on, and the
	 * bytes moved before are unknown. Not a measure of this path's speed. */
	uint32_t had_begun : 1;
};

struct ct_track {
	const struct ct_comm *comm; /* of an edge: of the first message */
	uint32_t src, dst;	    /* slots of an edge */
	uint8_t is_edge;
	uint8_t op;
	uint8_t is_swap; /* of two ranks that only send each other something */
	uint8_t on_gpu;
	uint8_t shared;	   /* some messages had company in their launches: their times are bounds */
	uint64_t shape;	   /* equal for those that are to be equally fast; 0: not comparable */
	uint32_t first, n; /* of moved */
	uint32_t n_hosts;
	double bytes, ns; /* sums */
};

struct ct_transfers {
	struct ct_moved *moved; /* by track, then in order of the log */
	struct ct_track *tracks;
	uint32_t n, n_tracks;
};

/* host_of and n_slots: of the slots on the log. clock_err: by host, that of its clock against the
 * run's, UINT64_MAX where the log's times are by time of day; NULL: so of all. 0 or CT_NOMEM;
 * ct_transfers_fini() in any case. */
int ct_transfers_gather(const struct ct_instance_log *log, const uint32_t *host_of,
			uint32_t n_slots, const uint64_t *clock_err, struct ct_transfers *out);
void ct_transfers_fini(struct ct_transfers *transfers);

#endif
