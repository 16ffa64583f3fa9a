/* SPDX-License-Identifier: Apache-2.0 */
/* tails.h — where decoding of each process begins for a verdict on a hang. A hang is at the end of
 * the files. Each heartbeat has the calls on each communicator so far, as a number of collectives
 * and a sum of hashes (struct ct_comm_status_rec). So a reading may begin at one of these marks:
 * sums represent the earlier part. A first pass, which decodes no operations, finds the marks. For
 * each process it chooses the latest one that has all data for a diagnosis behind it, as far as
 * that is known by then. enough.h checks afterwards.
 *
 * That pass looks at the last segments of a process alone, as if the earlier ones had been removed,
 * and of these at little more than the headers of blocks. So what is read does not follow the
 * length of a run. It looks at all of a process of which that is too little.
 *
 * Owns its memory. One thread. */
#ifndef CT_ANALYZER_HANG_TAILS_H
#define CT_ANALYZER_HANG_TAILS_H

#include "analyzer/base/arena.h"
#include "analyzer/base/table.h"
#include "analyzer/hang/sums.h"
#include "analyzer/model/starts.h"
#include "trace/reader.h"

struct ct_hang_tails {
	uint32_t *from;	    /* by process of the run: number of the first block to decode; 0: all */
	uint32_t *segments; /* by process of the run: its first segment that is read, if from[] is
			       not 0 */
	uint8_t *no_messages; /* by process: its earlier operations were all collectives */
	struct ct_table
		before; /* process << 32 | its id of a communicator -> struct ct_hang_before */
	struct ct_table shared; /* by hash and size of a communicator: private */
	struct ct_arena *memory;
	int any_skipped; /* segment is not read */
	int any;	 /* process of which not all is decoded */
	int lacks; /* a process has no mark behind the operations that were left out of its files:
		      nothing can be said */
};

/* size: at least this many operations of the process follow a mark: they show usual durations. */
#define CT_HANG_TAIL_LEAST 1024u

/* size: the last segments of a process that have at least so many bytes are looked at first: some
 * minutes of a busy rank. */
#define CT_HANG_TAIL_BYTES (1u << 20)

/* Find them for one start of the job. `least`: instead of CT_HANG_TAIL_LEAST, 0: that. `bytes`:
 * instead of CT_HANG_TAIL_BYTES, 0: that, UINT64_MAX: all segments are looked at. 0, CT_NOMEM or
 * CT_IO; *tails is to be freed, also if it is of no use (any = 0). */
int ct_hang_tails_find(const struct ct_run *run, const struct ct_starts *starts, int restart,
		       uint64_t least, uint64_t bytes, struct ct_hang_tails **tails,
		       struct ct_err *err);

/* The process's calls before its tail on its communicator `id`, which has this key and size. */
struct ct_hang_before ct_hang_tails_before(const struct ct_hang_tails *tails, uint32_t process,
					   uint32_t id, uint64_t key, uint32_t nranks);

void ct_hang_tails_free(struct ct_hang_tails *tails);

#endif
