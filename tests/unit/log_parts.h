/* SPDX-License-Identifier: Apache-2.0 */
/* log_parts.h — operations and stalls written by hand onto a log. Times in ns of one host, whose
 * clock is the run's. */
#ifndef CT_TESTS_UNIT_LOG_PARTS_H
#define CT_TESTS_UNIT_LOG_PARTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/overlap/exposures.h"
#include "analyzer/stream/instance_log.h"
#include "trace/ops.h"
#include "trace/status.h"

#define US 1000ull
#define MS (1000 * US)
enum { SLOTS = 8 };

static const uint32_t host_of[SLOTS];
static const uint64_t shift[1];
static struct ct_comm world = { .index = 0, .nranks = 2 }, other = { .index = 1, .nranks = 2 };

/* One member as the tests write it. */
struct part {
	uint32_t slot;
	uint64_t enter, start, end, wait;
	uint32_t stream, err;
	struct ct_group *group;
	int by_host;
};

/* An operation on `n` members. src < 0: a collective. */
static inline void put(struct ct_instance_log *log, struct ct_comm *comm, unsigned op, uint64_t seq,
		       uint64_t bytes, int src, int dst, const struct part *parts, uint32_t n)
{
	struct ct_member members[SLOTS] = { 0 };
	uint64_t waits[SLOTS], shortest = UINT64_MAX;
	struct ct_instance i = {
		.comm = comm, .seq = seq, .src = src, .dst = dst, .n = n, .members = members
	};
	struct ct_waits w = { .judged = CT_JUDGED_WAITS, .wait_ns = waits };

	for (uint32_t m = 0; m < n; m++) {
		const struct part *p = &parts[m];

		members[m] = (struct ct_member){
			.enter_ns = p->enter,
			.start_ns = p->start,
			.end_ns = p->end,
			.bytes = bytes,
			.slot = p->slot,
			.index = src < 0 ? m : (int)p->slot == dst,
			.op = (uint8_t)op,
			.dtype = CT_DTYPE_float32,
			.stream = p->stream,
			.on_gpu = (uint8_t)!p->by_host,
			.start_err_ns = p->err,
			.end_err_ns = p->err,
			.group = p->group,
			.free_ns = UINT64_MAX,
		};
		waits[m] = p->wait;
		shortest = p->end - p->start < shortest ? p->end - p->start : shortest;
	}
	w.transfer_ns = shortest;
	assert_int_equal(ct_instance_log_add(log, &i, &w, host_of, shift), CT_OK);
}

/* Both members alike, slot 1 all the same. */
static inline void both(struct ct_instance_log *log, struct ct_comm *comm, uint64_t seq,
			uint32_t stream, uint64_t enter, uint64_t start, uint64_t end)
{
	const struct part parts[2] = {
		{ .slot = 0,
		  .enter = enter,
		  .start = start,
		  .end = end,
		  .stream = stream,
		  .err = 500 },
		{ .slot = 1,
		  .enter = enter,
		  .start = start,
		  .end = end,
		  .stream = stream,
		  .err = 500 },
	};

	put(log, comm, CT_OP_AllReduce, seq, 1 << 20, -1, -1, parts, 2);
}

static inline void stall(struct ct_exposures *s, uint32_t slot, uint32_t comm, uint64_t start,
			 uint64_t begin, uint64_t end, int known)
{
	assert_int_equal(ct_exposures_add(s, &(struct ct_exposure){ .slot = slot,
								    .comm = comm,
								    .start_ns = start,
								    .begin_ns = begin,
								    .end_ns = end,
								    .err_ns = 100,
								    .is_known = (uint32_t)known }),
			 CT_OK);
}

#endif
