/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h — do the limits of this process (ulimit) leave room for a tracer in it?
 *
 * What the program will need of a limit is not known when its recording starts. So a limit is tight unless what is left of it
 * is several times what the tracer takes: under a tight one nothing is recorded, and the program runs as without the library.
 * Stateless; any thread. Reads one file of /proc, and only where the address space or the data is limited.
 */
#ifndef CT_LIMITS_H
#define CT_LIMITS_H

#include <stddef.h>

enum ct_limit {
	CT_LIMIT_ADDRESS_SPACE, /* ulimit -v */
	CT_LIMIT_DATA,		/* ulimit -d */
	CT_LIMIT_FILES,		/* ulimit -n */
	CT_LIMIT_THREADS,	/* ulimit -u */
	CT_LIMITS,
};

/* Is this limit tight? If so, 1 and a part of a sentence in `why`, which names the ulimit. */
int ct_limit_is_tight(enum ct_limit limit, char *why, size_t size);

/* The first one that is. 0: none. */
int ct_limits_are_tight(char *why, size_t size);

#endif
