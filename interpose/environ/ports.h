/* SPDX-License-Identifier: Apache-2.0 */
/* ports.h — the host's network ports and their counters (trace/port_counters.def), out of /sys.
 * Reading there can hang with the driver: done by a thread that no other thread waits for
 * (counters.h). Numbers of ports are bounded.
 *
 * Which ports: of /sys/class/net those with a device behind them that are up, if there are any,
 * else what is up and not the loopback (a container's only port is software; a bridge or bond on
 * top of a device would count twice); all of /sys/class/infiniband. A port that is known stays,
 * whatever becomes of it. */
#ifndef CT_INTERPOSE_ENVIRON_PORTS_H
#define CT_INTERPOSE_ENVIRON_PORTS_H

#include <stdatomic.h>

#include "trace/port_counters.h"

#define CT_PORT_NAME 48u /* size: a device of 31 characters, a slash and its port */

struct ct_port {
	struct ct_port_rec rec;
	char name[CT_PORT_NAME]; /* "eth0", "mlx5_0/1" */
	char dir[96];		 /* below the root */
	uint32_t change;	 /* ct_ports.changes, when `rec` last changed */
	uint32_t slow_at;	 /* sample in which counters that query the driver were read */
};

/* Owned by the thread that reads or takes them, one after the other. */
struct ct_ports {
	struct ct_port ports[CT_PORTS_MOST]; /* id - 1 */
	uint32_t n;
	uint32_t changes;
	uint32_t left_out; /* at the latest look: for which there was no space */
	uint32_t looks;
	_Atomic(const char *) doing; /* any thread: name of the port being read; NULL: none */
};

/* Look for ports, and read what is there: sample->ports and ->values. What is not a number is left
 * out. */
void ct_ports_read(struct ct_ports *ports, const char *root, struct ct_port_sample *sample);

#endif
