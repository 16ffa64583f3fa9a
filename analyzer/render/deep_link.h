/* SPDX-License-Identifier: Apache-2.0 */
/* deep_link.h — the address at which ui.perfetto.dev opens a timeline that this machine serves, at
 * a time in it.
 *
 * What such an address may say is in Perfetto's documentation, "Deep linking to the Perfetto UI"
 * and "Commands Automation Reference" (commands that are promised to stay). Not there but in its
 * source: the page may read from no port of this machine but 9001 (Content Security Policy,
 * ui/src/frontend/index.ts), and a range that is not entirely inside the trace is ignored
 * (ui/src/plugins/dev.perfetto.DeeplinkQuerystring); so ranges here end where the drawn calls do.
 * No name from a run gets into an address: tracks are meant by number and key. Pure. */
#ifndef CT_ANALYZER_RENDER_DEEP_LINK_H
#define CT_ANALYZER_RENDER_DEEP_LINK_H

#include "analyzer/base/arena.h"
#include "analyzer/model/report.h"

#define CT_DEEP_LINK_ORIGIN "https://ui.perfetto.dev"
#define CT_DEEP_LINK_PORT 9001u
#define CT_DEEP_LINK_FILE                                                                          \
	"run.pftrace" /* what `commtrace open` serves, whatever its file is called */

/* Part of a timeline, ns since the run began; from_ns CT_UNKNOWN: none in particular. */
struct ct_deep_range {
	uint64_t from_ns, to_ns;
};

/* The best range to view a finding: its own, with a tenth before and after; if it lasts many steps,
 * the one in which the others waited longest for its ranks, and its neighbors. None if it has no
 * time. */
struct ct_deep_range ct_deep_range(const struct ct_report *report,
				   const struct ct_finding *finding);

/* The part of `range` within `bounds`, the content of the file; possibly none. */
struct ct_deep_range ct_deep_range_within(struct ct_deep_range range, struct ct_deep_range bounds);

/* The address of the timeline served at `port`, in `memory`; NULL: out of memory. Shows `range`,
 * with the findings, the finding's ranks (the first eight) and its communicator pinned to the top;
 * `finding` NULL: the findings only. */
const char *ct_deep_link(struct ct_arena *memory, unsigned port, struct ct_deep_range range,
			 const struct ct_finding *finding);

#endif
