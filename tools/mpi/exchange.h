/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.h — which process of an MPI job takes which processes of a run, and the way of their
 * files to process 0. Collective: all processes of MPI_COMM_WORLD call each function. What fails
 * ends the job, so that no result lacks a part. */
#ifndef CT_TOOLS_MPI_EXCHANGE_H
#define CT_TOOLS_MPI_EXCHANGE_H

#include <stdint.h>

#include "trace/reader.h"

enum ct_owned {
	CT_OWNED_NOT = 0,
	CT_OWNED = 1,
	CT_OWNED_RING = 2, /* and process 0 sees its segments just as well */
};

/* Each process of the run (NULL: sees none) gets one owner: the one that found its ring, which only
 * its own node has, else the one that sees most of its segments. Of several the first, so process 0
 * where it is one. owned[p], enum ct_owned: whether it is this process. */
void ct_exchange_share(const struct ct_run *run, uint8_t *owned);

/* What came to process 0. */
struct ct_exchanged {
	uint64_t files;
	uint64_t bytes; /* of messages: of the files, and what is sent ahead of each */
};

/* Sends the files of the directory `dir` to process 0, which writes those of the others into its
 * own. */
struct ct_exchanged ct_exchange_files(const char *dir);

/* Process 0 says what the processes warn of, each text once, with the host. Its own it says only
 * with `with_own`; of what others warn of just the same it says nothing. */
void ct_exchange_warnings(const char *const *texts, size_t n, int with_own);

/* Reports the failure and ends all processes of the job. */
void ct_exchange_fail(const char *what, const char *why) __attribute__((noreturn));

#endif
