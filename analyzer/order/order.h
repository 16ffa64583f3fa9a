/* SPDX-License-Identifier: Apache-2.0 */
/* order.h — what the members of a communicator called, one after the other, as far as it takes to tell how they came
 * apart.
 *
 * Of each communicator the latest CT_ORDER_ROWS sequence numbers are kept, each with the calls of all members; from the
 * first trouble on, those around it. Trouble is an operation on which the members contradict each other, or the first one
 * to which some did not come. Members mostly call the same, which is one call; so memory is that of the rows, and one
 * byte a member in rows where they do not. One thread. */
#ifndef CT_ANALYZER_ORDER_ORDER_H
#define CT_ANALYZER_ORDER_ORDER_H

#include "analyzer/order/mismatch.h"
#include "analyzer/order/order_hash.h"
#include "analyzer/order/sites.h"

#define CT_ORDER_ROWS 32u   /* size: a power of two */
#define CT_ORDER_BEFORE 16u /* size: of them before the trouble */
#define CT_ORDER_CALLS 7u   /* size: different ones in one row; more are not told apart */

/* A row in which members made different calls, or some are missing. */
struct ct_order_more {
	uint32_t n_calls;
	struct ct_order_call calls[CT_ORDER_CALLS];
	uint8_t who[]; /* by member: number of its call + 1; 0 not seen; CT_ORDER_CALLS + 1: another */
};

struct ct_order_row {
	uint64_t seq;
	uint32_t n;   /* members seen; 0: nothing is kept here */
	int is_mixed; /* `more` tells; else all members made `call` */
	struct ct_order_call call;
	struct ct_order_more *more; /* kept for the next such row; NULL: there was none */
};

struct ct_order {
	struct ct_comm *comm;
	struct ct_order_row rows[CT_ORDER_ROWS]; /* by sequence number modulo their number */
	uint64_t trouble;			 /* sequence number; UINT64_MAX: none */
	uint64_t whole;				 /* instances on which all members agreed */
	struct ct_order_hash hash;
	uint8_t *states; /* by member: enum ct_op_state of its part of `trouble`, 0 it has none; NULL: all took part */
	uint8_t *left; /* by member: it said that it leaves the communicator; NULL: nobody did */
	int has_graphs; /* launches of graphs move its numbers on by more than one: its ends tell nothing */
};

struct ct_orders {
	struct ct_order **all; /* by index of the communicator; NULL: nothing was called on it */
	uint32_t n;
	int with_hash;
};

void ct_orders_init(struct ct_orders *orders, int with_hash);
void ct_orders_fini(struct ct_orders *orders);

/* That of a communicator, made if it is new; NULL: out of memory. */
struct ct_order *ct_orders_get(struct ct_orders *orders, struct ct_comm *comm);
/* NULL: nothing was called on it. */
const struct ct_order *ct_orders_find(const struct ct_orders *orders, const struct ct_comm *comm);

/* What a member called, as a number, without what may differ between members by right: op, dtype, redop, root, bytes and varying
 * count. */
uint64_t ct_order_what(const struct ct_member *member);

/* Not all that would have to agree is on record, or one member may say it otherwise than another. */
int ct_order_is_vague(const struct ct_member *member);

/* A member called an operation of the communicator, for the hash. 0 or CT_NOMEM. */
int ct_orders_called(struct ct_orders *orders, struct ct_comm *comm, uint64_t seq,
		     const struct ct_member *member);

/* A graph was launched that may hold operations of it. 0 or CT_NOMEM. */
int ct_orders_graph(struct ct_orders *orders, struct ct_comm *comm);

/* A member is about to leave, or has left. 0 or CT_NOMEM. */
int ct_orders_left(struct ct_orders *orders, struct ct_comm *comm, uint32_t member);

/* An instance was handed out. 1: all its members called the very same, but for where they did; 0: not all, or members
 * are missing; CT_NOMEM. */
int ct_order_note(struct ct_order *order, const struct ct_instance *instance);

/* From here on something is wrong: keep what lies around. The earliest counts. */
void ct_order_trouble(struct ct_order *order, uint64_t seq);

/* All was read: what is still incomplete is handed out next. Trouble is where the first member of those that left a
 * trace stopped and others did not. */
void ct_orders_ended(struct ct_orders *orders);

/* What a member called; NULL: not known. */
const struct ct_order_call *ct_order_at(const struct ct_order *order, uint64_t seq,
					uint32_t member);

#endif
