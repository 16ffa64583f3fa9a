/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h — the heatmaps of a run's traffic while they are made: of all, and of each backend, role
 * and communicator, by ranks and by hosts. One thread. All return 0 or CT_NOMEM. */
#ifndef CT_ANALYZER_LINK_TRAFFIC_LAYERS_H
#define CT_ANALYZER_LINK_TRAFFIC_LAYERS_H

#include "analyzer/link/traffic/edges.h"
#include "analyzer/link/traffic/traffic.h"
#include "analyzer/model/model.h"

/* size: pairs of a heatmap at most, and of all heatmaps by ranks, and of all by hosts: 512 of them,
 * each with each other. */
#define CT_LAYER_EDGES (1u << 18)
/* size: more ranks than this are shown by hosts only. */
#define CT_LAYER_RANKS 2048u
/* size: communicators that have heatmaps of their own at most: those with most bytes. */
#define CT_LAYER_COMMS 64u

struct ct_layer {
	const char *kind, *name, *backend, *role; /* as in struct ct_traffic_layer */
	const struct ct_comm *comm;		  /* NULL: of several */
	uint64_t exact_bytes, modelled_bytes;
	struct ct_edges ranks, hosts;
};

struct ct_layers {
	struct ct_layer *all; /* the first is that of all; those of a kind are in no order */
	uint32_t n, cap;
	uint32_t n_comms; /* that have any traffic */
	uint32_t comms_left_out;
	uint64_t unattributed_bytes; /* between ranks that are not known ... */
	int is_unattributed; /* ... and there are such, even if the number of bytes is unknown */
	int is_hidden;	     /* the backend should have counted and has not */
	int is_too_large;    /* some sum is */
	uint32_t *hosts;     /* that have ranks, in the order of these: indexes into the starts' */
	uint32_t n_hosts;
	/* private */
	const struct ct_model *model;
	const struct ct_traffic *traffic;
	const struct ct_report *report;
	struct ct_traffic_rank {
		int rank; /* -1 not known */
		uint32_t host;
	} * ranks; /* by slot */
	struct ct_edge
		*times; /* of messages, between slots; of communicator c from times_of[c] on */
	uint32_t *times_of;
};

/* Exact and modelled. */
uint64_t ct_layer_bytes(const struct ct_layer *layer);

/* From what a closed pass has summed up; ct_layers_fini() in any case. */
int ct_layers_make(const struct ct_model *model, const struct ct_traffic *traffic,
		   const struct ct_transfers *transfers, const struct ct_report *report,
		   struct ct_layers *layers);
void ct_layers_fini(struct ct_layers *layers);

#endif
