/* SPDX-License-Identifier: Apache-2.0 */
/* format_process.h — what ring and segment files have in common: the version, the kinds of records
 * and of losses, and the identity of a process. See format.h.
 */
#ifndef CT_TRACE_FORMAT_PROCESS_H
#define CT_TRACE_FORMAT_PROCESS_H

#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

#define CT_FORMAT_VERSION 1u
#define CT_FORMAT_OLDEST 1u /* that can be read */

static inline int ct_format_is_read(uint32_t version)
{
	return version >= CT_FORMAT_OLDEST && version <= CT_FORMAT_VERSION;
}

enum ct_kind {
#define X(NAME, id, where, about, text) CT_KIND_##NAME = (id),
#include "trace/kinds.def"
#undef X
};

enum ct_kind_about { CT_ABOUT_PROCESS, CT_ABOUT_OPERATION, CT_ABOUT_UNFINISHED, CT_ABOUT_LATEST };

/* What a record is about (kinds.def); one of an unknown kind may be about anything. */
static inline enum ct_kind_about ct_kind_about(unsigned kind)
{
	switch (kind) {
#define X(NAME, id, where, about, text)                                                            \
	case id:                                                                                   \
		return CT_ABOUT_##about;
#include "trace/kinds.def"
#undef X
	default:
		return CT_ABOUT_PROCESS;
	}
}

enum ct_loss {
#define X(NAME, id, text) CT_LOSS_##NAME = (id),
#include "trace/losses.def"
#undef X
	CT_LOSS_MAX = 32 /* counters in the ring header, space to grow */
};

/* The directory of a run; all 0: none. See run_id.h. */
struct ct_run_id {
	uint64_t dev;
	uint64_t ino;
	uint64_t born_ns; /* CLOCK_REALTIME, 0 where the file system does not report it */
};
_Static_assert(sizeof(struct ct_run_id) == 24, "no padding");

/* The identity of a process. The same 1024 bytes are in its ring header and in each of its segment
 * headers, so that each file alone names the process and its run. Strings end in NUL. */
struct ct_process {
	uint64_t hostkey;	/* equal for processes that share CLOCK_MONOTONIC; never 0 */
	uint64_t start_ns;	/* when recording started ... */
	uint64_t start_unix_ns; /* ... and the same moment in CLOCK_REALTIME */
	uint64_t start_ticks;	/* /proc/PID/stat field 22: distinguishes a reused pid */
	struct ct_run_id run;	/* the run directory */
	uint64_t hang_after_ns;
	uint64_t clock_res_ns; /* error of every host time below */
	uint32_t pid;
	uint32_t ppid;
	uint32_t uid;
	uint32_t pidns;	    /* inode of /proc/self/ns/pid */
	int32_t rank;	    /* global, -1 unknown */
	int32_t world_size; /* ranks expected, -1 unknown */
	int32_t local_rank; /* -1 unknown */
	uint32_t restart;   /* attempt of an elastic launcher, from 0 */
	uint32_t nth;	    /* 0 first start of recording in this process, 1 after a fork, ... */
	uint32_t ring_kind; /* enum ct_ring_kind */
	uint32_t reserved[4];
	char host[64];
	char job[96];
	char boot_id[40];
	char version[24]; /* of libcommtrace.so */
	char exe[192];
	char run_dir[480];
};
_Static_assert(sizeof(struct ct_process) == 1024, "identity is 1024 bytes");

enum ct_ring_kind {
	CT_RING_SHARED = 0,
	CT_RING_DISK = 1,
	CT_RING_PRIVATE = 2,
	CT_RING_NONE = 3, /* imported: no recorder ran in the process, so no heartbeat and no exit
			     were recorded */
};

static inline int ct_process_is_imported(const struct ct_process *process)
{
	return process->ring_kind == CT_RING_NONE;
}

#endif
