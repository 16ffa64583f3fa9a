/* SPDX-License-Identifier: Apache-2.0 */
/* libc_old.h — functions whose symbol version is younger than GLIBC_2.28 where the library is
 * built.
 *
 * Functions that moved from libpthread and libdl into libc in 2.34 got a new version there. On an
 * older system, a preload that needs that version ends every process of the job before main().
 * libc_old.c defines each such function anew, hidden, so that the whole library (zstd too) calls
 * that definition, which passes on to the old version, bound weakly: where a process has no
 * libpthread or libdl it is absent, and recording stays off.
 */
#ifndef CT_INTERPOSE_LIBC_OLD_H
#define CT_INTERPOSE_LIBC_OLD_H

/* Is everything there that recording needs? */
int ct_libc_is_complete(void);

/* libc's own dlsym, as the loader finds it after this library. NULL: no libdl. Calls nothing else:
 * sanitizers call it before their own functions work. */
void *ct_libc_dlsym(void);

#endif
