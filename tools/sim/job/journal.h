/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h — what a rank has called, as it calls it: the truth for tests that kill ranks.
 *
 * The file is mapped shared: what was stored is in the page cache and stays there when the process
 * is killed. It is one struct simjob_journal after the other, one per rank. Each is, byte for byte,
 * a journal as tests/interpose/ journal.h describes it (and stored in the same order), so that one
 * reader reads both; only the meaning of `op` and `bytes` is NCCL's: op      1 to 11 as in
 * trace/ops.def: a data-moving call; else a multiple of 100, enum simjob_call bytes   of a
 * data-moving call: its count times the size of its type, as passed; else 0 `rank` and `size` are
 * the job's. Lane 0 is the rank's own thread, lane 1 that of its process which aborts. A call of
 * ncclGroupEnd is entered before what it launches, like any other; queries are not written down.
 */
#ifndef CT_TOOLS_SIM_JOB_JOURNAL_H
#define CT_TOOLS_SIM_JOB_JOURNAL_H

#include <stdint.h>

enum { SIMJOB_LANES = 16, SIMJOB_LANE_ENTRIES = 1 << 16, SIMJOB_LANE_FULL = 1 };

enum simjob_call {
	SIMJOB_INIT = 200,
	SIMJOB_SPLIT = 300,
	SIMJOB_GROUP_START = 400,
	SIMJOB_GROUP_END = 500,
	SIMJOB_FINALIZE = 600,
	SIMJOB_DESTROY = 700,
	SIMJOB_ABORT = 800,
	SIMJOB_UNIQUE_ID = 900,
};

struct simjob_lane {
	uint64_t entered, returned;
	uint32_t tid, flags;
	uint64_t reserved[5];
};

struct simjob_entry {
	uint32_t op, reserved;
	uint64_t bytes;
};

struct simjob_journal {
	char magic[8];
	uint32_t lanes, capacity;
	int32_t rank, size, pid;
	uint32_t reserved[9];
	struct simjob_lane lane[SIMJOB_LANES];
	uint8_t pad[4096 - 64 - 64 * SIMJOB_LANES];
	struct simjob_entry entry[SIMJOB_LANES][SIMJOB_LANE_ENTRIES];
};

/* Map this rank's part of the file. NULL with errno set. */
struct simjob_journal *simjob_journal_open(const char *path, int rank, int n_ranks);

/* The calling thread is about to enter a call; has come back. A NULL journal does nothing. */
void simjob_journal_enter(struct simjob_journal *journal, int lane, uint32_t op, uint64_t bytes);
void simjob_journal_leave(struct simjob_journal *journal, int lane);

#endif
