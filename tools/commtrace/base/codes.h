/* SPDX-License-Identifier: Apache-2.0 */
/* codes.h — the meaning of commtrace's exit status. Part of the outside contract
 * (docs/reference/INTERFACES.md). */
#ifndef CT_TOOLS_COMMTRACE_BASE_CODES_H
#define CT_TOOLS_COMMTRACE_BASE_CODES_H

enum ct_code {
	CT_CODE_DONE = 0,
	CT_CODE_FAILED = 1, /* also: nothing recorded */
	CT_CODE_USAGE = 2,
	CT_CODE_FINDING = 3,
	CT_CODE_RUN_FAILED = 125, /* `run` itself; else it gives the status of its program */
	CT_CODE_CANNOT_RUN = 126, /* the program is there but cannot be executed */
	CT_CODE_NO_PROGRAM = 127,
	CT_CODE_INTERRUPTED = 130,
	CT_CODE_PIPE = 141, /* the reader of a pipe closed it: what shells show for SIGPIPE */
};

#endif
