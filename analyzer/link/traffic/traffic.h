/* SPDX-License-Identifier: Apache-2.0 */
/* traffic.h — how many bytes each rank sent to each other one: an observer of the stream.
 *
 * The program's own messages are ops. Transfers inside collectives are counted by the backends that
 * can see them (TRAFFIC records). Otherwise they follow from the operation, or from a model. What
 * is not known at all is a gap. The work of an op depends on nothing else; memory follows
 * communicators' members and pairs that exchange messages, which are bounded. One thread; memory is
 * the caller's arena, but for what ct_traffic_fini() frees. */
#ifndef CT_ANALYZER_LINK_TRAFFIC_TRAFFIC_H
#define CT_ANALYZER_LINK_TRAFFIC_TRAFFIC_H

#include "analyzer/base/table.h"
#include "analyzer/link/traffic/flow.h"
#include "analyzer/load/load.h"
#include "analyzer/model/comms.h"
#include "analyzer/model/model.h"
#include "analyzer/model/report.h"
#include "analyzer/stream/stream.h"

struct ct_model;
struct ct_observer;
struct ct_transfers;

/* Why bytes are missing, or may be. */
#define CT_TRAFFIC_GAP_MAP(XX)                                                                     \
	XX(NO_COMM, "the creation of some communicators was not recorded")                         \
	XX(NO_PEER, "bytes were sent to an unknown peer")                                          \
	XX(NO_SIZE, "the size of some operations is unknown")                                      \
	XX(NO_MODEL, "the source or target of some operations is unknown")                         \
	XX(HIDDEN, "bytes inside Gloo's collectives were not recorded")                            \
	XX(FETCHED, "bytes that accumulate operations fetched were not recorded")                  \
	XX(ABORTED, "bytes of aborted operations are unknown")                                     \
	XX(NO_GRAPH, "the contents of some CUDA graphs were not recorded completely")              \
	XX(TOO_MANY, "more pairs of ranks than there is room for")                                 \
	XX(TOO_LARGE, "more bytes than can be added up")                                           \
	XX(INCOMPLETE, "ranks or records are missing")                                             \
	XX(LOST, "operations or transfers were not recorded")                                      \
	XX(UNSEEN, "some communication is not intercepted")                                        \
	XX(UNATTRIBUTED, "some bytes belong to ranks that no trace names")

enum ct_traffic_gap {
#define CT_TRAFFIC_GAP_ENUM(name, text) CT_TRAFFIC_GAP_##name,
	CT_TRAFFIC_GAP_MAP(CT_TRAFFIC_GAP_ENUM)
#undef CT_TRAFFIC_GAP_ENUM
};

/* size: pairs that are kept at most: 2048 ranks, each with each other, in 500 MB. */
#define CT_TRAFFIC_PAIRS (1u << 22)

/* Bytes from one member of a communicator to another that are known as such. */
enum ct_traffic_kind {
	CT_TRAFFIC_SENT,   /* messages, one-sided transfers, transfers counted inside operations */
	CT_TRAFFIC_ROOTED, /* gathered and scattered: only without counted transfers */
	CT_TRAFFIC_KINDS
};
struct ct_traffic_pair {
	struct ct_traffic_pair *next;	  /* of the communicator */
	struct ct_traffic_pair *same_key; /* another one under the same key of the table */
	const struct ct_comm *comm;
	uint32_t from, to; /* ranks in it */
	struct ct_flow_sum sums[CT_TRAFFIC_KINDS];
};

/* What a process did as a member of a communicator. */
struct ct_traffic_flow {
	struct ct_traffic_flow *next; /* of the communicator */
	const struct ct_comm *comm;
	uint32_t member;
	int counts;	   /* it did what its backend counts inside, ... */
	int has_counts;	   /* ... and has counted something: the sums below are of no meaning */
	const char *call;  /* the latest, the process's ... */
	int splits_evenly; /* ... and ct_call_splits_evenly() of it */
	struct ct_flow flow;
};

/* By index of the communicator. */
struct ct_traffic_comm {
	struct ct_traffic_flow *flows;
	struct ct_traffic_pair *pairs;
};

struct ct_traffic {
	struct ct_table by_pair;
	struct ct_table by_graph;   /* launches of a graph of a process being read */
	struct ct_table by_process; /* the same, the latest of a process */
	struct ct_traffic_comm *by_comm;
	uint32_t n_comms; /* space in by_comm */
	uint32_t n_pairs;
	unsigned gaps; /* bits of enum ct_traffic_gap */
	struct ct_arena *memory;
};

/* One op of `process`, on the communicator that it was registered as (NULL: on none); `varying`:
 * counts differ from member to member. 0 or CT_NOMEM, as all here. */
int ct_traffic_op(struct ct_traffic *traffic, uint32_t process, const struct ct_load_op *op,
		  const struct ct_comm *comm, int varying);

/* All of a process has been read: its TRAFFIC records, and what its graphs moved. */
int ct_traffic_process(struct ct_traffic *traffic, uint32_t process, const struct ct_load *load);

/* Takes in all that a stream reads; its memory is then the stream's. */
void ct_traffic_observe(struct ct_traffic *traffic, struct ct_observer *observer);
void ct_traffic_fini(struct ct_traffic *traffic);

/* The report's part; once its ranks, dropped records, roles and what could not be seen are in it.
 * `transfers` of the same pass. */
int ct_traffic_fill(const struct ct_model *model, const struct ct_traffic *traffic,
		    const struct ct_transfers *transfers, struct ct_report *report);

#endif
