/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/job/journal.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(offsetof(struct simjob_journal, lane) == 64, "as in tests/interpose/journal.h");
_Static_assert(sizeof(struct simjob_lane) == 64, "as in tests/interpose/journal.h");
_Static_assert(offsetof(struct simjob_journal, entry) == 4096, "as in tests/interpose/journal.h");
_Static_assert(sizeof(struct simjob_journal) % 4096 == 0, "parts can be mapped");

struct simjob_journal *simjob_journal_open(const char *path, int rank, int n_ranks)
{
	const size_t size = sizeof(struct simjob_journal);
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct simjob_journal *journal = MAP_FAILED;

	if (fd < 0)
		return NULL;
	/* The same for all ranks, whichever comes first. The file is sparse. */
	if (ftruncate(fd, (off_t)(size * (size_t)n_ranks)) == 0)
		journal = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			       (off_t)(size * (size_t)rank));
	close(fd);
	if (journal == MAP_FAILED)
		return NULL;
	journal->lanes = SIMJOB_LANES;
	journal->capacity = SIMJOB_LANE_ENTRIES;
	journal->rank = rank;
	journal->size = n_ranks;
	journal->pid = getpid();
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(journal->magic, "CTJRNL01", sizeof(journal->magic));
	return journal;
}

void simjob_journal_enter(struct simjob_journal *journal, int lane, uint32_t op, uint64_t bytes)
{
	struct simjob_lane *mine;
	uint64_t i;

	if (!journal)
		return;
	mine = &journal->lane[lane];
	if (!mine->tid)
		mine->tid = (uint32_t)syscall(SYS_gettid);
	i = mine->entered;
	if (i >= SIMJOB_LANE_ENTRIES) {
		mine->flags |= SIMJOB_LANE_FULL;
		return;
	}
	journal->entry[lane][i] = (struct simjob_entry){ .op = op, .bytes = bytes };
	/* The counter after the entry, and both before the call. */
	__atomic_store_n(&mine->entered, i + 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void simjob_journal_leave(struct simjob_journal *journal, int lane)
{
	if (!journal)
		return;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&journal->lane[lane].returned, journal->lane[lane].entered,
			 __ATOMIC_RELEASE);
}
