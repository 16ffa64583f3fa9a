/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h — which process this is, in terms that all processes of the job derive alike.
 *
 * Nothing process-local goes into the job's name and nothing job-local into the process's. Read
 * once, by the thread that starts the recording.
 */
#ifndef CT_INTERPOSE_IDENTITY_H
#define CT_INTERPOSE_IDENTITY_H

#include "trace/format.h"
#include "trace/settings.h"

/* Fill all of *process but the run directory, ring_kind, start_ns and start_unix_ns. `env` as the
 * process has it. */
void ct_identity_read(struct ct_process *process, const struct ct_settings *settings,
		      char *const *env);

/* Value of a variable in env, NULL if it is not there or empty. */
const char *ct_identity_env(char *const *env, const char *name);

#endif
