/* SPDX-License-Identifier: Apache-2.0 */
/* ports.h — a job (job.h) whose hosts have network ports: the test says what they count, and when
 * that is written down. Everything fails the test that calls it; the main thread only. */
#ifndef CT_TESTS_UNIT_PORTS_H
#define CT_TESTS_UNIT_PORTS_H

#include "tests/unit/job.h"
#include "trace/port_counters.h"

#define SECOND_NS 1000000000ull
#define HOUR_NS (3600 * SECOND_NS)
#define COUNTER(name) CT_PORT_COUNTER_##name

extern struct job job;

/* What the ports of each rank's host count now, and the latest whole sample. */
extern struct ct_port_sample now[JOB_MAX_RANKS], whole[JOB_MAX_RANKS];

/* Two ranks a host; nothing is counted yet. */
void open_job(int ranks, unsigned backend);
/* The rank's host has this port, from now on. */
void port_is(int rank, struct ct_port_rec rec, const char *name);
void nic(int rank, uint32_t id, const char *name, uint64_t rate_Bps);
void infiniband(int rank, uint32_t id, const char *name, enum ct_port_state state);
/* The counter of a port now stands at `value`. */
void count(int rank, uint32_t port, unsigned counter, uint64_t value);
/* What its ports count now, as sample `number`; whole, or what differs from the latest whole one. */
void sample_as(int rank, uint32_t number, uint64_t at_ns, int is_complete);
/* The first one whole, the others as differences. */
void sample(int rank, uint64_t at_ns);
/* End the job at this time and analyze it. */
struct ct_report *report(uint64_t end_ns);
/* NULL: the port has no such counter. */
const struct ct_report_counter *counter_of(const struct ct_report_port *port, const char *name);

#endif
