/* SPDX-License-Identifier: Apache-2.0 */
/* peaks.h — the bandwidth that a communicator's members can be expected to reach among each other,
 * from the GPUs and network ports in their start records. A bound, not a promise: nominal for
 * NVLink and networks, practical for PCIe (peaks.def); in one direction, which is what bus
 * bandwidths are held against. Unknown if not recorded. */
#ifndef CT_ANALYZER_LINK_PEAKS_H
#define CT_ANALYZER_LINK_PEAKS_H

#include "analyzer/link/expect.h"
#include "analyzer/model/model.h"

/* Between GPUs of one host: by their make, else by PCIe (current width; the highest speed, since
 * the current one falls when a GPU idles); of several GPUs the least. 0 or CT_NOMEM. */
int ct_peak_gpu(const struct ct_environment_facts *facts, struct ct_arena *memory,
		struct ct_peak *peak);

/* From a host with so many members: the fastest active InfiniBand ports, one for each member;
 * without any, or where nothing but sockets is used, the fastest Ethernet device that is up. 0 or
 * CT_NOMEM. */
int ct_peak_network(const struct ct_environment_facts *facts, uint32_t members, int sockets,
		    struct ct_arena *memory, struct ct_peak *peak);

/* comms[].n_hosts and .peak: what `expect` (may be NULL) declares, else the least of all members'
 * GPUs, and across hosts the least network, where all of them are known. What has no GPU is only as
 * slow as its network, and within a host unknown. After ranks and comms. 0 or CT_NOMEM. */
int ct_peaks_fill(const struct ct_model *model, const struct ct_expect *expect,
		  struct ct_report *report);

#endif
