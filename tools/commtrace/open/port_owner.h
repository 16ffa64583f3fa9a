/* SPDX-License-Identifier: Apache-2.0 */
/* port_owner.h — which process listens on a port of this machine, as far as this user may read
 * /proc. Main thread only. */
#ifndef CT_TOOLS_COMMTRACE_OPEN_PORT_OWNER_H
#define CT_TOOLS_COMMTRACE_OPEN_PORT_OWNER_H

#include <sys/types.h>

/* The process that listens on this TCP port, and its name; 0: not known. */
pid_t ct_port_owner(unsigned port, char name[64]);

#endif
