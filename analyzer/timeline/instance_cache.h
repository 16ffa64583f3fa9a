/* SPDX-License-Identifier: Apache-2.0 */
/* instance_cache.h — what the analysis found out about instances, kept until their ranks are drawn.
 *
 * Bounded: once `limit` members are kept, the older generation of them is forgotten, so that the
 * latest `limit` members are always there and memory never holds more than twice that. One thread. */
#ifndef CT_ANALYZER_TIMELINE_INSTANCE_CACHE_H
#define CT_ANALYZER_TIMELINE_INSTANCE_CACHE_H

#include "analyzer/match/waits.h"
#include "analyzer/model/report.h"

struct ct_cached_instance {
	uint64_t seq;
	uint64_t begin_ns, end_ns; /* first arrival, last end; since the run began */
	uint64_t transfer_ns;
	uint64_t skew_ns,
		skew_err_ns; /* latest arrival; CT_UNKNOWN where the waits are not known */
	uint64_t bytes;
	uint32_t comm;	       /* index */
	uint32_t slowest_slot; /* UINT32_MAX: no clear one */
	uint8_t op, dtype, redop;
	uint8_t message;  /* point-to-point */
	uint8_t is_swap;  /* ct_group_is_swap(): not to be called an all-to-all */
	uint8_t exchange; /* groups of messages that come to an all-to-all; seq counts them */
	uint8_t waits;	  /* they are known and exceed their error: worth showing */
};

struct ct_instance_cache;

/* NULL: out of memory. `limit` at least 1. */
struct ct_instance_cache *ct_instance_cache_new(uint64_t limit);
void ct_instance_cache_free(struct ct_instance_cache *kept);
void ct_instance_cache_forget(struct ct_instance_cache *kept); /* all that is kept */

struct ct_cached_extent {
	uint64_t begin_ns, end_ns, bytes; /* as in struct ct_cached_instance */
};

/* Are the waits of a judged instance worth showing? */
int ct_instance_cache_shows(const struct ct_instance *i, const struct ct_waits *waits);

/* A judged instance; keep those of its members for which `wanted[slot]`. *shown: what is kept of
 * it, valid until the next one; NULL: nothing. 0 or CT_NOMEM. */
int ct_instance_cache_add(struct ct_instance_cache *kept, const struct ct_instance *i,
			  const struct ct_waits *waits, const struct ct_cached_extent *extent,
			  const uint8_t *wanted, const struct ct_cached_instance **shown);

/* Which member; as struct ct_instance and struct ct_member name it. */
struct ct_cached_key {
	uint64_t comm; /* ct_cached_comm() */
	uint64_t seq;
	int32_t src, dst; /* collective: -1; exchange: CT_SRC_EXCHANGE, -1 */
	uint32_t tag;
	uint32_t index;
};

/* Of the instance: equal for all its members. Never 0. */
uint64_t ct_cached_instance_hash(const struct ct_cached_key *key);

/* What identifies a communicator in all processes. */
uint64_t ct_cached_comm(uint64_t key, uint32_t nranks);

/* The instance and what the member waited in it; NULL if it is not known, or known more than once. */
const struct ct_cached_instance *ct_instance_cache_find(const struct ct_instance_cache *kept,
							const struct ct_cached_key *key,
							uint64_t *wait_ns);

/* All that are kept, one call each, older generation first. Nonzero stops. */
int ct_instance_cache_each(const struct ct_instance_cache *kept,
			   int (*each)(void *arg, const struct ct_cached_instance *instance),
			   void *arg);

#endif
