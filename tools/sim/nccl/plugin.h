/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.h — the profiler plugin of this process, if there is one: found as NCCL finds it, by
 * NCCL_PROFILER_PLUGIN (a path or name, the middle of libnccl-profiler-NAME.so, STATIC_PLUGIN for
 * the program's own symbols, none) or as libnccl-profiler.so, in the newest version that both know.
 * Events are reported as version 5 has them; for an older plugin they are translated. What a plugin
 * must not do, and events that are not stopped, are blamed. Any thread. */
#ifndef CT_TOOLS_SIM_NCCL_PLUGIN_H
#define CT_TOOLS_SIM_NCCL_PLUGIN_H

#include "tools/sim/nccl/profiler.h"

/* Loads the plugin if need be. *context is NULL if there is none, or it does not want this
 * communicator. */
void sim_plugin_init(void **context, uint64_t comm, const char *name, int n_nodes, int n_ranks,
		     int rank);
void sim_plugin_finalize(void *context);

/* Does the plugin want events of any of these types now? */
bool sim_plugin_wants(int types);

int sim_plugin_version(void); /* 0: there is none */

/* comm_name may be NULL above. Returns the handle, NULL without. The communicator's name and hash
 * are for version 3. */
void *sim_plugin_start(void *context, const struct sim_event_v5 *event, const char *comm_name,
		       uint64_t comm);
void sim_plugin_state(void *handle, int state, uint64_t timer);
void sim_plugin_group_state(void *handle, int state); /* one that has no arguments */
void sim_plugin_stop(void *handle);		      /* NULL is nothing */

/* As the real library may do with the event of a collective's call, which it does not forget. */
void sim_plugin_stop_again(void *handle);

#endif
