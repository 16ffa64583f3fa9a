/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h — how long a transfer takes by its size: X = alpha + beta * bytes, from many transfers of
 * which some were disturbed.
 *
 * Transfers can only be too slow, so the 25th percentile of its times represents each class of
 * sizes. A class is a quarter of an octave wide or, where there are few transfers, up to an octave.
 * Through the classes goes the line of least relative squares, in which classes that lie off count
 * less (Huber 1964, k = 1.345). Where a library changes its protocol with the size there may be two
 * lines. Source: docs/dev/algorithms/links.md. Pure functions. */
#ifndef CT_ANALYZER_LINK_FIT_H
#define CT_ANALYZER_LINK_FIT_H

#include <stddef.h>
#include <stdint.h>

/* Bytes as they count on the wire: of the operation times its bus factor. */
struct ct_transfer {
	double bytes, ns;
};

struct ct_line {
	double alpha_ns, ns_per_byte;
	/* two standard errors; NAN: fewer than three classes, unknown */
	double alpha_err_ns, ns_per_byte_err;
};

struct ct_fit {
	uint32_t samples, classes; /* that it rests on */
	uint32_t regimes;	   /* 0: too few samples, nothing is known; 1; 2 */
	int has_alpha;		   /* 0: one size only, all of its time is in ns_per_byte */
	double largest_bytes;	   /* of the classes */
	double split_bytes;	   /* from here on the second line holds */
	struct ct_line lines[2];
	double scatter; /* of the classes about the line, relative; NAN: fewer than three */
};

/* Does the line give a bandwidth? Not where all transfers are small: their time is latency, and its
 * slope is noise. */
int ct_fit_shows_bandwidth(const struct ct_fit *fit);

/* Sorts the transfers by size. Those without bytes or time must not be there. 0 or CT_NOMEM. */
int ct_fit(struct ct_transfer *transfers, size_t n, struct ct_fit *fit);

/* What a transfer of this size is to take, ns; NAN: nothing is known. */
double ct_fit_expect(const struct ct_fit *fit, double bytes);

#endif
