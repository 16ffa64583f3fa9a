/* SPDX-License-Identifier: Apache-2.0 */
/* report_traffic.h — how much each rank sent to each other: a part of the report (report.h, whose
 * rules hold here too). What the numbers are and what is left out: docs/dev/algorithms/traffic.md. */
#ifndef CT_ANALYZER_MODEL_REPORT_TRAFFIC_H
#define CT_ANALYZER_MODEL_REPORT_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

/* One heatmap: the pairs with traffic, by sender, then receiver. */
struct ct_traffic_layer {
	const char *scope; /* rank: ends are global ranks; host: indexes into hosts */
	const char *kind;  /* all, backend, role, comm */
	const char *name;  /* of the backend, the role or the communicator, as people know it; NULL:
			      has none */
	const char *backend, *role; /* NULL: of several, or not known */
	uint64_t comm_hash;	    /* 0: of several */
	const char *model;	    /* exact where every byte is known, else ring, the model */
	uint64_t exact_bytes, modelled_bytes;
	size_t n; /* pairs; length of all that follow */
	int *src, *dst;
	uint64_t *bytes;
	uint64_t *count; /* messages, and collectives in which the pair takes part */
	/* Of messages whose transfer is known, else CT_UNKNOWN: the sum of these times and its
	 * error, and their bytes over that time. */
	uint64_t *time_ns, *time_err_ns;
	uint64_t *bandwidth_Bps, *bandwidth_err_Bps;
	uint64_t max_bytes, max_count,
		max_bandwidth_Bps; /* for scales; CT_UNKNOWN: there is none */
};

struct ct_report_traffic {
	const char *why;  /* there is no matrix; NULL: there is one */
	const char *note; /* what to know about the numbers; NULL: nothing */
	int at_least;	  /* bytes are missing, or may be: layers show what is on record */
	uint64_t exact_bytes, modelled_bytes;
	uint64_t unattributed_bytes; /* of those, between unknown ranks: in no layer */
	const char **hosts;
	size_t n_hosts;
	int *ranks; /* of the matrix; n_ranks 0: there is none */
	size_t n_ranks;
	uint64_t *matrix; /* n_ranks x n_ranks, row = sender: all that is known of small runs */
	struct ct_traffic_layer *layers; /* by scope and kind, then most bytes first */
	size_t n_layers;
	uint64_t comms_left_out; /* those with least bytes have no layer of their own */
};

#endif
