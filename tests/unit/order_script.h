/* SPDX-License-Identifier: Apache-2.0 */
/* order_script.h — jobs written as text, one line for what some ranks called, and what is found in
 * them.
 *
 *     ranks N [BACKEND]                                 first; gloo unless said
 *     absent RANK                                       leaves no trace
 *     comm NAME RANKS                                   beside `w`, that of all ranks
 *     RANKS COMM SEQS OP COUNT DTYPE REDOP ROOT SITE [STATE]
 *     call RANKS COMM NAME                              a call that moves no data, such as
 * ncclCommDestroy loses RANKS                                       records, by a full ring end
 * RANKS HOW                                     exit (what all do unless said), fail: exit code 1;
 * _exit; abort; lost: no one knows; killed: the same, 100 s later RANKS and SEQS: 3, 0-3 or 0,2;
 * "-" is no type, reduction, root or site. ROOT is the peer of a Send or a Recv. STATE: `in`, never
 * returned; `bad`, returned an error. Main thread; fails the test that calls it. */
#ifndef CT_TESTS_UNIT_ORDER_SCRIPT_H
#define CT_TESTS_UNIT_ORDER_SCRIPT_H

#include "tests/unit/job.h"

/* Write and analyze it. The caller's to free. */
struct ct_report *order_script(const char *text);

/* Findings about order, one a line, as the text report has them: KIND and line. To be freed. */
char *order_found(const struct ct_report *report);

#endif
