/* SPDX-License-Identifier: Apache-2.0 */
/* topology.h — facts about the devices that communication goes through, out of /sys. Reading there
 * can hang with the driver behind it: the look-around's. `root` is used instead of "/". Numbers of
 * devices are bounded. */
#ifndef CT_TRACE_TOPOLOGY_H
#define CT_TRACE_TOPOLOGY_H

#include "trace/facts.h"

/* gpu.N.numa, .pcie_width, .pcie_width_max, .pcie_speed, .pcie_speed_max of the GPU with this PCI
 * bus id. */
void ct_topology_gpu(const char *root, unsigned n, const char *bus_id, struct ct_facts *facts);

/* nic.NAME.speed (Mb/s), .state, .mtu, .driver, .pci, .numa of network devices with hardware, or
 * that are up. */
void ct_topology_nics(const char *root, struct ct_facts *facts);

/* ib.NAME.rate, .state, .layer, .firmware, .pci, .numa, .pcie_width, of each device's first port. */
void ct_topology_infiniband(const char *root, struct ct_facts *facts);

#endif
