/* SPDX-License-Identifier: Apache-2.0 */
/* import_model.h — put the content of lines into a struct ct_import. Each function prints on stderr
 * why it failed (out of memory, or a table of the trace format that is full). */
#ifndef CT_TOOLS_COMMTRACE_JSONL_IMPORT_MODEL_H
#define CT_TOOLS_COMMTRACE_JSONL_IMPORT_MODEL_H

#include "tools/commtrace/jsonl/import.h"

/* The process with id->host, rank and pid; made from *id when it is new. NULL on failure. */
struct ct_import_process *ct_import_process(struct ct_import *import,
					    const struct ct_import_process *id);

/* Index + 1 of the communicator with comm->hash, of which this process is a member, in it with
 * `rank` (-1 not given). 0 on failure. */
uint32_t ct_import_comm(struct ct_import *import, struct ct_import_process *process,
			const struct ct_import_comm *comm, const char *name, int32_t rank);

/* String ids of a call and of a call site. 0 on failure. */
uint32_t ct_import_call(struct ct_import *import, const char *name);
uint32_t ct_import_site(struct ct_import *import, const char *text);

/* Append. 0 or -1. */
int ct_import_add(struct ct_import *import, struct ct_import_process *process,
		  const struct ct_import_op *op);
int ct_import_add_call(struct ct_import *import, struct ct_import_process *process,
		       const struct ct_import_call *call);

/* After the last line: sort what looks are done in. */
void ct_import_settle(struct ct_import *import);

#endif
