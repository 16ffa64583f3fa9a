/* SPDX-License-Identifier: Apache-2.0 */
/* port_sums.h — sums of the network port counters of one process's host during recording, from PORT
 * and COUNTERS records. The increase between consecutive samples counts. It is unknown if a counter
 * was missing in one of them, had stopped at its maximum (some drivers have wider ones, which
 * continue), went back (it was reset, or wrapped), or grew faster than the link's rate. That
 * interval is excluded and counted. Records may be hostile; numbers are bounded. One thread. */
#ifndef CT_ANALYZER_LOAD_PORT_SUMS_H
#define CT_ANALYZER_LOAD_PORT_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/port_counters.h"

#define CT_PORT_SUM_NAME 96u /* size: characters of a port's name */
/* size: intervals that are listed one by one; in longer runs neighbours are joined. */
#define CT_PORT_RATES 128u

struct ct_counter_sum {
	uint64_t grew;	  /* in all intervals in which that is known, the kernel's units */
	uint32_t known;	  /* intervals */
	uint8_t at_least; /* it reached its largest value, or some interval is not known */
};

struct ct_port_sum {
	struct ct_port_rec rec; /* as found last */
	char name[CT_PORT_SUM_NAME];
	int was_up, was_down; /* found so at some time */
	uint64_t known_ns;    /* in which its bytes are known ... */
	uint64_t rx_bytes, tx_bytes;
	struct ct_counter_sum counters[CT_PORT_COUNTER_IDS];
};

/* Bytes in both directions through all network devices (without those of IP over InfiniBand, which
 * the next has), and through all InfiniBand ports; UINT64_MAX: not known. */
struct ct_port_rate {
	uint64_t begin_ns, end_ns;
	uint64_t nic_bytes, ib_bytes;
};

struct ct_port_sums {
	struct ct_port_sum *ports[CT_PORTS_MOST]; /* id - 1; NULL: not reported */
	uint32_t n_samples;
	uint64_t first_ns, last_ns; /* of the samples; the host's CLOCK_MONOTONIC */
	uint64_t nic_bytes, ib_bytes;
	uint64_t nic_known_ns, ib_known_ns; /* intervals in which the sum of all is known */
	struct ct_port_rate rates[CT_PORT_RATES];
	uint32_t n_rates;
	uint32_t of_last;		      /* intervals in the last one ... */
	uint32_t of_each;		      /* ... and in every other one */
	struct ct_port_sample *base, *latest; /* private, until ct_port_sums_end() */
	struct ct_port_sample *next;
};

/* The payload of a record. 0 or CT_NOMEM; what cannot be read is left out. */
int ct_port_sums_port(struct ct_port_sums **sums, const uint8_t *bytes, size_t len);
int ct_port_sums_sample(struct ct_port_sums **sums, const uint8_t *bytes, size_t len);

/* No more comes: give back what only taking in needs. NULL is fine, as below. */
void ct_port_sums_end(struct ct_port_sums *sums);
void ct_port_sums_free(struct ct_port_sums *sums);

/* Is it a network device that counts as such: no IP over InfiniBand? */
static inline int ct_port_is_nic(const struct ct_port_rec *rec)
{
	return rec->kind == CT_PORT_NET && rec->layer != CT_LAYER_INFINIBAND;
}

#endif
