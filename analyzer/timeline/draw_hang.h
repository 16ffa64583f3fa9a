/* SPDX-License-Identifier: Apache-2.0 */
/* draw_hang.h — a job that hangs: the result of `hang`, on a track of its own and on those of the
 * ranks, and each rank's last heartbeat. Without it the timeline would end with the last operation,
 * long before the job was stopped. One thread. */
#ifndef CT_ANALYZER_TIMELINE_DRAW_HANG_H
#define CT_ANALYZER_TIMELINE_DRAW_HANG_H

#include "analyzer/timeline/draw.h"

/* When ranks were last seen alive, as `hang` knows beside records and heartbeats: looks at threads,
 * other ranks' words. After a reading. */
void ct_hangs_signs(struct ct_timeline_index *tl_index, const struct ct_report *report);

/* What there is to draw in pen->view, into pen->hangs; after ct_pen_findings(). */
void ct_hangs_init(struct ct_pen *pen, const struct ct_report *report);

/* The last moment that anything is drawn at. */
uint64_t ct_hangs_last_ns(const struct ct_timeline_index *tl_index, const struct ct_report *report);

/* How many slices that takes at most. */
uint64_t ct_hangs_slices(const struct ct_report *report);

/* "Hang": each verdict from when the first rank began to wait. 0 or what the sink returned. */
int ct_draw_hangs(struct ct_pen *pen);

/* What of that is a rank's: it is waited for, or it waits. begin_ns UINT64_MAX: nothing. */
struct ct_hang_part {
	const struct ct_hang_verdict *verdict;
	uint64_t begin_ns;
	int is_victim;
};
struct ct_hang_part ct_hangs_part(const struct ct_pen *pen, uint32_t slot);

/* On a track that is under way. 0, CT_NOMEM, or what the sink returned. */
int ct_draw_hang_part(struct ct_pen *pen, const struct ct_hang_part *part, uint32_t slot,
		      uint32_t track);

/* When a rank was heard of last; UINT64_MAX: that is not drawn. Then the instant, which may come a
 * little later. */
uint64_t ct_hangs_sign_ns(const struct ct_pen *pen, uint32_t slot);
int ct_draw_sign(struct ct_pen *pen, uint32_t slot, uint32_t track, uint64_t at_ns, unsigned depth);

#endif
