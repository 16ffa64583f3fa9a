/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h — a traced job's own account of its calls: the truth that the trace is held against.
 *
 * One file per process, FILE or DIR/rank-R.journal, mapped shared: what was stored is in the page
 * cache and stays there when the process is killed with SIGKILL. A lane belongs to one thread at a
 * time, which alone writes it. Before a call the thread fills entry[entered] and then raises
 * `entered`; when the call has returned it raises `returned`. So in a file left by a dead process
 *     i < returned             the call was over: the trace must have it, whole
 *     returned <= i < entered  the call was begun: the trace may have it or not, but not half of
 * it. At most one such entry per lane. Here stays also a call that threw, for the journal cannot
 * know how far that one came. i >= entered             never called: the trace must not have it,
 * unless the lane is marked full A lane that is full marks itself CT_JOURNAL_FULL and stops; what
 * its thread does later is in no entry.
 *
 * Writers: tests/interpose/gloo_job.cc (through the functions below) and
 * examples/torch_ddp/journal.py (the same bytes). Everything is little-endian and naturally
 * aligned; a counter is stored whole, in one move.
 *
 *     offset            size     what
 *     0                 8        magic "CTJRNL01", stored last: without it the file is not ready
 *     8                 4        lanes (16)
 *     12                4        capacity, entries per lane (65536)
 *     16                4        rank
 *     20                4        size, number of ranks
 *     24                4        pid
 *     64 + 64 * lane    8        entered
 *     72 + 64 * lane    8        returned
 *     80 + 64 * lane    4        tid of the thread that used the lane last (0: unused)
 *     84 + 64 * lane    4        flags (CT_JOURNAL_FULL)
 *     4096 + 16 * (65536 * lane + i)     entry i of the lane: u32 op, u32 reserved (0), u64 bytes
 *
 * `op` modulo 100 is the id in trace/ops.def; the hundreds show calls apart that are one operation
 * there. `bytes` is the size of the buffer that the call is about on this rank, and nothing is
 * multiplied by ranks: allreduce, broadcast, reduce, send, recv   the buffer allgather, gather the
 * one input this rank gives scatter                                    the one output this rank
 * gets alltoall, alltoallv                        the whole input, all destinations together
 * barrier 0 gloo_job writes send and recv (begin a transfer) and their waits as calls of their own.
 * journal.py has one entry for torch's send or recv, which are both: there `returned` means that
 * the wait is over too. */
#ifndef CT_TESTS_INTERPOSE_JOURNAL_H
#define CT_TESTS_INTERPOSE_JOURNAL_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CT_JOURNAL_MAGIC "CTJRNL01"

enum {
	CT_JOURNAL_LANES = 16,
	CT_JOURNAL_CAPACITY = 1 << 16,
	CT_JOURNAL_FULL = 1,
};

enum ct_journal_op {
	CT_JOURNAL_ALLREDUCE = 1,
	CT_JOURNAL_BROADCAST = 2,
	CT_JOURNAL_REDUCE = 3,
	CT_JOURNAL_ALLGATHER = 4,
	CT_JOURNAL_ALLTOALL = 6,
	CT_JOURNAL_GATHER = 7,
	CT_JOURNAL_SCATTER = 8,
	CT_JOURNAL_BARRIER = 9,
	CT_JOURNAL_SEND = 10,
	CT_JOURNAL_RECV = 11,
	CT_JOURNAL_ALLTOALLV = 106,
	CT_JOURNAL_WAIT_SEND = 110,
	CT_JOURNAL_WAIT_RECV = 111,
	/* commtrace-simjob, tools/sim/job/journal.h: multiples of 100 move no data */
	CT_JOURNAL_GROUP_START = 400,
	CT_JOURNAL_GROUP_END = 500,
};

struct ct_journal_lane {
	uint64_t entered; /* owner: store release; a reader of a live file: load acquire */
	uint64_t returned;
	uint32_t tid;
	uint32_t flags;
	uint64_t reserved[5];
};

struct ct_journal_entry {
	uint32_t op;
	uint32_t reserved;
	uint64_t bytes;
};

struct ct_journal {
	char magic[8];
	uint32_t lanes;
	uint32_t capacity;
	int32_t rank;
	int32_t size;
	int32_t pid;
	uint32_t reserved[9];
	struct ct_journal_lane lane[CT_JOURNAL_LANES];
	uint8_t pad[4096 - 64 - 64 * CT_JOURNAL_LANES];
	struct ct_journal_entry entry[CT_JOURNAL_LANES][CT_JOURNAL_CAPACITY];
};

#ifdef __cplusplus
#define CT_JOURNAL_ASSERT static_assert
#else
#define CT_JOURNAL_ASSERT _Static_assert
#endif
CT_JOURNAL_ASSERT(sizeof(struct ct_journal_lane) == 64, "one cache line per lane");
CT_JOURNAL_ASSERT(sizeof(struct ct_journal_entry) == 16, "as in journal.py");
CT_JOURNAL_ASSERT(offsetof(struct ct_journal, lane) == 64, "as in journal.py");
CT_JOURNAL_ASSERT(offsetof(struct ct_journal, entry) == 4096, "as in journal.py");

/* Make the file anew (16 MB, sparse) and map it. NULL with errno set when that fails. */
static inline struct ct_journal *ct_journal_create(const char *path, int rank, int size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	void *map = MAP_FAILED;
	if (ftruncate(fd, sizeof(struct ct_journal)) == 0)
		map = mmap(NULL, sizeof(struct ct_journal), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			   0);
	int saved = errno;
	close(fd);
	errno = saved;
	if (map == MAP_FAILED)
		return NULL;

	struct ct_journal *journal = (struct ct_journal *)map;
	journal->lanes = CT_JOURNAL_LANES;
	journal->capacity = CT_JOURNAL_CAPACITY;
	journal->rank = rank;
	journal->size = size;
	journal->pid = getpid();
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(journal->magic, CT_JOURNAL_MAGIC, sizeof(journal->magic));
	return journal;
}

/* Is there an n-th journal, from 0, in a file that holds one after the other? */
static inline int ct_journal_is_there(const char *path, unsigned n)
{
	struct stat st;

	return stat(path, &st) == 0 &&
	       st.st_size >= (off_t)(sizeof(struct ct_journal) * ((uint64_t)n + 1));
}

/* Map the n-th journal of an existing file for reading. NULL with errno set; EINVAL: no journal, or
 * one not ready yet. */
static inline const struct ct_journal *ct_journal_open_nth(const char *path, unsigned n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	void *map = MAP_FAILED;
	errno = EINVAL;
	if (ct_journal_is_there(path, n))
		map = mmap(NULL, sizeof(struct ct_journal), PROT_READ, MAP_SHARED, fd,
			   (off_t)(sizeof(struct ct_journal) * n));
	int saved = errno;
	close(fd);
	errno = saved;
	if (map == MAP_FAILED)
		return NULL;

	const struct ct_journal *journal = (const struct ct_journal *)map;
	if (memcmp(journal->magic, CT_JOURNAL_MAGIC, sizeof(journal->magic)) != 0 ||
	    journal->lanes != CT_JOURNAL_LANES || journal->capacity != CT_JOURNAL_CAPACITY) {
		munmap(map, sizeof(struct ct_journal));
		errno = EINVAL;
		return NULL;
	}
	return journal;
}

static inline void ct_journal_close(const struct ct_journal *journal)
{
	if (journal)
		munmap((void *)(uintptr_t)journal, sizeof(*journal));
}

/* Announce the lane's next call. A NULL journal does nothing. 1: noted, end it with
 * ct_journal_leave(). 0: no journal, or the lane is full. -1: the lane has become full just now;
 * say so. */
static inline int ct_journal_enter(struct ct_journal *journal, unsigned lane, uint32_t op,
				   uint64_t bytes)
{
	if (!journal)
		return 0;
	struct ct_journal_lane *mine = &journal->lane[lane];
	uint64_t i = mine->entered;
	if (i >= CT_JOURNAL_CAPACITY) {
		int news = !(mine->flags & CT_JOURNAL_FULL);
		mine->flags |= CT_JOURNAL_FULL;
		return news ? -1 : 0;
	}
	struct ct_journal_entry *entry = &journal->entry[lane][i];
	entry->op = op;
	entry->bytes = bytes;
	/* The counter after the entry, and both before the call. */
	__atomic_store_n(&mine->entered, i + 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return 1;
}

/* The call that ct_journal_enter() answered with 1 has returned. */
static inline void ct_journal_leave(struct ct_journal *journal, unsigned lane)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&journal->lane[lane].returned, journal->lane[lane].entered,
			 __ATOMIC_RELEASE);
}

/* The calling thread takes the lane over. The caller sees to it that the one before is done with
 * it. */
static inline void ct_journal_take(struct ct_journal *journal, unsigned lane)
{
	if (journal)
		journal->lane[lane].tid = (uint32_t)syscall(SYS_gettid);
}

#ifdef __cplusplus
}
#endif

#endif
