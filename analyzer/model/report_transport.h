/* SPDX-License-Identifier: Apache-2.0 */
/* report_transport.h — what the hosts' network ports carried, and what a link can be expected to
 * carry: parts of the report (report.h, whose rules hold here too). */
#ifndef CT_ANALYZER_MODEL_REPORT_TRANSPORT_H
#define CT_ANALYZER_MODEL_REPORT_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

/* A counter that grew, or may have. */
struct ct_report_counter {
	const char *name;
	uint64_t grew;	/* CT_UNKNOWN: not known in any interval */
	int at_least;	/* part of the time it is not known */
	unsigned class; /* enum ct_port_counter_class */
};

struct ct_report_port {
	const char *name;
	const char *kind;  /* nic, ib */
	const char *layer; /* ethernet, infiniband, unknown */
	const char *state; /* up, down, unknown: as found last */
	int is_ib, is_ipoib, is_software;
	int was_up, was_down; /* at some time while it was sampled */
	uint64_t rate_Bps;
	uint64_t rx_bytes, tx_bytes;
	uint64_t known_ns;		    /* in which they are known */
	struct ct_report_counter *counters; /* of errors and congestion, those that grew */
	size_t n_counters;
};

struct ct_report_port_rate {
	uint64_t begin_at_ns, end_at_ns;
	uint64_t nic_Bps, ib_Bps;
};

/* One process of the host recorded them. */
struct ct_report_transport {
	const char *host;
	uint32_t host_index; /* private: struct ct_starts */
	uint32_t process;    /* private: index in the run */
	int rank;
	uint64_t samples, sampled_ns; /* from the first to the last one */
	uint64_t begin_at_ns, end_at_ns;
	uint64_t nic_bytes,
		ib_bytes; /* received and sent, in the part of that time in which it is known: */
	uint64_t nic_known_ns, ib_known_ns;
	uint64_t ib_errors; /* of links: went down, damaged what they carried */
	struct ct_report_port *ports;
	size_t n_ports;
	struct ct_report_port_rate *rates;
	size_t n_rates;
};

/* The expected bandwidth, in one direction, as bus bandwidth; and its source. */
struct ct_peak {
	double Bps; /* NAN: neither recorded nor declared */
	const char *from;
	const char *via; /* nvlink, pcie, infiniband, ethernet; NULL: unknown */
	int is_declared; /* by the user */
};

#endif
