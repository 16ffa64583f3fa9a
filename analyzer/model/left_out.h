/* SPDX-License-Identifier: Apache-2.0 */
/* left_out.h — seconds in which no launch was timed, and the time in which they were.
 *
 * The recorder leaves seconds out to measure itself, and before it goes over to events
 * (interpose/gpu/decide.h). They do not affect other data, which is complete, unlike samples. So a
 * row of launches without times counts as left out if it is long, or if nothing was timed before it
 * or after it. A zeroed struct has seen nothing. Times are ns of one clock. Pure functions. */
#ifndef CT_ANALYZER_MODEL_LEFT_OUT_H
#define CT_ANALYZER_MODEL_LEFT_OUT_H

#include "analyzer/base/limits.h"

#include <stdint.h>

/* fact: half of what COMMTRACE_GUARD leaves out at once */
#define CT_LEFT_OUT_NS 5000000000u

struct ct_left_out {
	uint64_t all;	   /* launches without times ... */
	uint64_t n, ns;	   /* ... and those of rows that count, and how long these rows are */
	uint64_t until_ns; /* of the latest one */
	/* private: the row under way */
	uint64_t row, since_ns, last_ns;
	int is_timed; /* something was */
};

/* n launches at at_ns have no times. */
void ct_left_out_untimed(struct ct_left_out *l, uint64_t at_ns, uint64_t n);
/* One at at_ns has: the row under way, if it began before, ends there. */
void ct_left_out_timed(struct ct_left_out *l, uint64_t at_ns);
/* No more follow: the current row ends with its last launch. */
void ct_left_out_close(struct ct_left_out *l);

/* Are the rows that count few enough, of so many launches? */
static inline int ct_left_out_is_small(const struct ct_left_out *l, uint64_t launches)
{
	return (double)l->n <= (1 - CT_MOSTLY) * (double)launches;
}

#endif
