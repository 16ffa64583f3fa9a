/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_journal.h — where the notes of matrix.h go: DIRECTORY/RANK.journal, fields separated by
 * tabulators:
 *
 *   comm NAME RANK MEMBERS REMOTE   a communicator: the own rank in it, world ranks; of an
 * intercommunicator both groups op LANE CALL OP COMM COUNT BYTES DTYPE REDOP ROOT PEER TAG ARRIVED
 * END end NUMBER                      how many ops; a journal without this line is none
 *
 * ROOT, PEER and TAG: -1 none; ROOT -4: this rank, as the root of an intercommunicator. ARRIVED:
 * bytes, -1: as many as were asked for. Ops stand in the order of the calls of a lane, which is a
 * thread's; the first is 0. */
#ifndef CT_TESTS_MPI_MATRIX_JOURNAL_H
#define CT_TESTS_MPI_MATRIX_JOURNAL_H

extern _Thread_local int lane;

void journal_open(const char *directory);
void journal_close(void);

#endif
