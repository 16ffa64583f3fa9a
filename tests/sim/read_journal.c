/* SPDX-License-Identifier: Apache-2.0 */
/* read_journal.c — print the journal of a commtrace-simjob, a line per rank. It is one journal of
 * tests/interpose/ journal.h after the other, and read as that. */
#include <inttypes.h>
#include <stdio.h>

#include "tests/interpose/journal.h"

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_size % (off_t)sizeof(struct ct_journal))
		return 1;
	for (off_t at = 0; at < st.st_size; at += (off_t)sizeof(struct ct_journal)) {
		const struct ct_journal *j = mmap(NULL, sizeof(*j), PROT_READ, MAP_PRIVATE, fd, at);
		const struct ct_journal_lane *lane;
		uint64_t ops = 0;

		if (j == MAP_FAILED || memcmp(j->magic, CT_JOURNAL_MAGIC, sizeof(j->magic)) != 0 ||
		    j->lanes != CT_JOURNAL_LANES || j->capacity != CT_JOURNAL_CAPACITY)
			return 1;
		lane = &j->lane[0];
		for (uint64_t i = 0; i < lane->entered; i++)
			ops += j->entry[0][i].op < 100 && j->entry[0][i].bytes > 0;
		printf("%d entered=%" PRIu64 " returned=%" PRIu64 " ops=%" PRIu64 " last=%u\n",
		       j->rank, lane->entered, lane->returned, ops,
		       lane->entered ? j->entry[0][lane->entered - 1].op : 0);
		munmap((void *)(uintptr_t)j, sizeof(*j));
	}
	return 0;
}
