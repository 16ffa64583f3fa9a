/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h — how fast each track is against those that ought to be as fast: same operation, same
 * number of members and hosts, same indices on them; messages between ranks as far apart.
 *
 * Of all transfers of such a class together there is one line (fit.h), which is that of the fast
 * ones as long as less than three quarters are slow. A track is what its transfers take against it:
 * the median, the longer ones weighing more; of messages the median of the largest quarter. Source:
 * docs/dev/algorithms/links.md. Pure functions. */
#ifndef CT_ANALYZER_LINK_COMPARE_H
#define CT_ANALYZER_LINK_COMPARE_H

#include "analyzer/link/tomography.h"
#include "analyzer/link/transfers.h"

/* Of one track, by its number. */
struct ct_track_rating {
	struct ct_fit fit; /* of its own transfers */
	double err;	   /* of its times, relative */
	double Bps; /* on the wire, of its large transfers; NAN unknown, as where times are bounds */
	double Bps_err; /* NAN: unknown */
	/* against the class; NAN: it is not compared */
	double ratio;	  /* 1: as the line says, less: slower */
	double best;	  /* the same of its fastest tenth; where the host times, its fastest one */
	double reference; /* what those alike reach */
	double spread;	  /* of those that are not slow, relative */
	double line_err;  /* of what a transfer is expected to take, relative */
	uint32_t class;	  /* whose tracks are alike; UINT32_MAX: none */
	uint32_t peers;	  /* the others in it */
	enum ct_tomo_state state;
};

struct ct_comparison {
	struct ct_track_rating *of; /* by track */
	struct ct_fit *lines;	    /* by class */
	uint32_t n_classes;
};

/* 0 or CT_NOMEM; ct_comparison_fini() in any case. */
int ct_compare(const struct ct_transfers *transfers, struct ct_comparison *out);
void ct_comparison_fini(struct ct_comparison *comparison);

/* What this transfer takes where nothing is slow, ns; NAN unknown. */
double ct_compare_expect(const struct ct_transfers *transfers,
			 const struct ct_comparison *comparison, uint32_t track, double bytes);

#endif
