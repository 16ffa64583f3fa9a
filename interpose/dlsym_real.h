/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym_real.h — the loader's own dlsym.
 *
 * The library defines a dlsym itself (dlsym_hook.h), so a plain call would come back to it, and the
 * name bound with a symbol version too: an unversioned definition answers for every version. The
 * loader finds the next one after this library. Before glibc 2.34 this works only through libdl. In
 * a process that loads libdl later than us, it is looked up in the objects' own tables. All code of
 * the library calls ct_dlsym(). Any thread, also in a signal handler and in a vfork'ed child.
 */
#ifndef CT_INTERPOSE_DLSYM_REAL_H
#define CT_INTERPOSE_DLSYM_REAL_H

typedef void *ct_dlsym_fn(void *handle, const char *symbol);

/* NULL where the process has none (before glibc 2.34, as long as nothing in it needs libdl). */
ct_dlsym_fn *ct_dlsym_real(void);

/* The one that programs would call without us: the loader's, or that of another preload after this
 * library, which wraps dlsym too. (With a version, as above, only the loader's own is found.) NULL
 * as above. */
ct_dlsym_fn *ct_dlsym_next(void);

/* As dlsym(), called from this library: RTLD_NEXT is what comes after it. NULL also if there is no
 * dlsym. */
void *ct_dlsym(void *handle, const char *symbol);

/* The search through the objects' tables by itself, for tests. */
void *ct_dlsym_search(void);

#endif
