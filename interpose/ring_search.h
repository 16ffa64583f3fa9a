/* SPDX-License-Identifier: Apache-2.0 */
/* ring_search.h — where rings of other processes may be, for processes that do not record
 * themselves. */
#ifndef CT_INTERPOSE_RING_SEARCH_H
#define CT_INTERPOSE_RING_SEARCH_H

/* NULL-terminated directories from the environment as it was at the first call, or NULL:
 * COMMTRACE=0, nothing is to be noted. Any thread, also in signal handlers. */
const char *const *ct_ring_search_dirs(void);

#endif
