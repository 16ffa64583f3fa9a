/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/libc_old.h"

#include <dlfcn.h>

/* The first version of glibc on the architecture. */
#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#else
#error "which was the first glibc of this architecture?"
#endif

#ifndef CT_LIBC_OLD

/* Tests and sanitizers link the functions as they are. */
int ct_libc_is_complete(void)
{
	return 1;
}

void *ct_libc_dlsym(void)
{
	return dlvsym(RTLD_NEXT, "dlsym", OLDEST);
}

#else

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/dlsym_real.h"

#if !defined(__clang__)
/* pthread.h declares that the value of pthread_setspecific() is not accessed, so gcc warns that it
 * is uninitialised */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define HIDDEN __attribute__((visibility("hidden")))

/* old_NAME: the function as it was called from the beginning, perhaps absent. */
#define OLD(ret, name, params)                                                                     \
	extern ret old_##name params __attribute__((weak));                                        \
	__asm__(".symver old_" #name "," #name "@" OLDEST)

#define FORWARD(ret, name, params, args, absent)                                                   \
	OLD(ret, name, params);                                                                    \
	HIDDEN ret name params                                                                     \
	{                                                                                          \
		return old_##name ? old_##name args : (absent);                                    \
	}

FORWARD(int, pthread_create,
	(pthread_t * thread, const pthread_attr_t *attr, void *(*body)(void *), void *arg),
	(thread, attr, body, arg), ENOSYS)
FORWARD(int, pthread_attr_setstacksize, (pthread_attr_t * attr, size_t bytes), (attr, bytes),
	ENOSYS)
FORWARD(int, pthread_join, (pthread_t thread, void **value), (thread, value), ENOSYS)
FORWARD(int, pthread_detach, (pthread_t thread), (thread), ENOSYS)
FORWARD(int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end), ENOSYS)
FORWARD(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value), ENOSYS)
FORWARD(void *, dlopen, (const char *name, int mode), (name, mode), NULL)
FORWARD(int, dlclose, (void *handle), (handle), -1)
OLD(void *, dlvsym, (void *handle, const char *symbol, const char *version));

/* From this library, to find the next one. */
void *ct_libc_dlsym(void)
{
	return old_dlvsym ? old_dlvsym(RTLD_NEXT, "dlsym", OLDEST) : NULL;
}

int ct_libc_is_complete(void)
{
	return old_pthread_create && old_pthread_detach && old_pthread_key_create &&
	       old_pthread_setspecific && old_dlopen && ct_dlsym_real();
}

/* In a process of several threads sigprocmask() is the calling thread's mask on Linux. */
HIDDEN int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	return sigprocmask(how, set, before) == 0 ? 0 : errno;
}

/* fact: before 2.33 the stat family were macros over functions with a version argument. */
#if defined(__aarch64__)
#define STAT_VERSION 0 /* fact: of struct stat there */
#else
#define STAT_VERSION 1 /* fact: of struct stat on x86-64 */
#endif
OLD(int, __xstat, (int version, const char *path, struct stat *st));
OLD(int, __fxstat, (int version, int fd, struct stat *st));

HIDDEN int stat(const char *restrict path, struct stat *restrict st)
{
	return old___xstat(STAT_VERSION, path, st);
}

HIDDEN int fstat(int fd, struct stat *st)
{
	return old___fxstat(STAT_VERSION, fd, st);
}

#endif
