/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/diagnosis/nccl_log.h"

#include <string.h>

static int has(const char *line, size_t len, const char *word)
{
	return memmem(line, len, word, strlen(word)) != NULL;
}

void ct_nccl_log_line(struct ct_nccl_log *log, const char *line, size_t len)
{
	static const char via[] = " via ";
	const char *at = has(line, len, "Channel ") ? memmem(line, len, via, strlen(via)) : NULL;
	size_t left;

	if (!at)
		return;
	at += strlen(via);
	left = len - (size_t)(at - line);
	if (left >= 4 && memcmp(at, "P2P/", 4) == 0)
		log->p2p++;
	else if (left >= 3 && memcmp(at, "SHM", 3) == 0)
		log->shm++;
	else if (left >= 7 && memcmp(at, "NET/IB/", 7) == 0) {
		log->rdma++;
		log->gdr += has(at, left, "/GDRDMA");
	} else if (left >= 11 && memcmp(at, "NET/Socket/", 11) == 0)
		log->sockets++;
	else if (left >= 4 && memcmp(at, "NET/", 4) == 0)
		log->others++;
}
