/* SPDX-License-Identifier: Apache-2.0 */
/* order.h — the calls of a communicator's members in order, as far as needed to find how they
 * diverged.
 *
 * For each communicator the latest CT_ORDER_ROWS sequence numbers are kept, each with the calls of
 * all members; from the first trouble on, those around it. Trouble is an operation on which the
 * members contradict each other, or the first one that some did not enter. Members mostly make the
 * same call, which is stored once; so memory is that of the rows, and one byte a member in rows
 * with differences. One thread. */
#ifndef CT_ANALYZER_ORDER_ORDER_H
#define CT_ANALYZER_ORDER_ORDER_H

#include "analyzer/order/mismatch.h"
#include "analyzer/order/order_hash.h"
#include "analyzer/order/sites.h"

#define CT_ORDER_ROWS 32u   /* size: a power of two */
#define CT_ORDER_BEFORE 16u /* size: of them before the trouble */
#define CT_ORDER_CALLS 7u   /* size: different ones in one row; more are not distinguished */

/* A row in which members made different calls, or some are missing. */
struct ct_order_more {
	uint32_t n_calls;
	struct ct_order_call calls[CT_ORDER_CALLS];
	uint8_t who[]; /* by member: number of its call + 1; 0 no record; CT_ORDER_CALLS + 1:
			  another */
};

struct ct_order_row {
	uint64_t seq;
	uint32_t n;   /* members with a record; 0: nothing is kept here */
	int is_mixed; /* see `more`; else all members made `call` */
	struct ct_order_call call;
	struct ct_order_more *more; /* kept for the next such row; NULL: there was none */
};

struct ct_order {
	struct ct_comm *comm;
	struct ct_order_row rows[CT_ORDER_ROWS]; /* by sequence number modulo their number */
	uint64_t trouble;			 /* sequence number; UINT64_MAX: none */
	uint64_t complete;			 /* instances on which all members agreed */
	struct ct_order_hash hash;
	uint8_t *states; /* by member: enum ct_op_state of its part of `trouble`, 0 it has none;
			    NULL: all took part */
	uint8_t *left;	 /* by member: it has begun to leave the communicator; NULL: none has */
	int has_graphs;	 /* graph launches advance its numbers by more than one: different progress
			    proves nothing */
};

struct ct_orders {
	struct ct_order **all; /* by index of the communicator; NULL: no call on it */
	uint32_t n;
	int with_hash;
};

void ct_orders_init(struct ct_orders *orders, int with_hash);
void ct_orders_fini(struct ct_orders *orders);

/* The order of a communicator, created if it is new; NULL: out of memory. */
struct ct_order *ct_orders_get(struct ct_orders *orders, struct ct_comm *comm);
/* NULL: nothing was called on it. */
const struct ct_order *ct_orders_find(const struct ct_orders *orders, const struct ct_comm *comm);

/* A member's call as a number, without what members may legitimately differ in: op, dtype, redop,
 * root, bytes and varying count. */
uint64_t ct_order_what(const struct ct_member *member);

/* Some fields that must agree are not recorded, or members may record them differently. */
int ct_order_is_vague(const struct ct_member *member);

/* A member called an operation of the communicator, for the hash. 0 or CT_NOMEM. */
int ct_orders_called(struct ct_orders *orders, struct ct_comm *comm, uint64_t seq,
		     const struct ct_member *member);

/* A graph was launched that may hold operations of it. 0 or CT_NOMEM. */
int ct_orders_graph(struct ct_orders *orders, struct ct_comm *comm);

/* A member is leaving, or has left. 0 or CT_NOMEM. */
int ct_orders_left(struct ct_orders *orders, struct ct_comm *comm, uint32_t member);

/* An instance was delivered. 1: all its members made exactly the same call, except for sites; 0:
 * they did not, or members are missing; CT_NOMEM. */
int ct_order_note(struct ct_order *order, const struct ct_instance *instance);

/* Trouble begins at this number: keep the calls around it. The earliest counts. */
void ct_order_trouble(struct ct_order *order, uint64_t seq);

/* Everything was read; incomplete instances are delivered next. Trouble is where the first recorded
 * member stopped and others did not. */
void ct_orders_ended(struct ct_orders *orders);

/* A member's call; NULL: unknown. */
const struct ct_order_call *ct_order_at(const struct ct_order *order, uint64_t seq,
					uint32_t member);

#endif
