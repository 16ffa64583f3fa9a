/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/python/python.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/dlsym_real.h"
#include "interpose/environ/peek.h"

#define PTHREAD_BYTES 2304u /* fact: of glibc, a struct pthread is not smaller */

int ct_python_read_safely(uintptr_t from, void *to, size_t len)
{
	int saved = errno;
	int whole = ct_peek(from, to, len) == len;

	errno = saved;
	return whole ? 0 : -1;
}

/* An interpreter that was loaded for its loader alone is a library of this name. */
static int take_name(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name = info->dlpi_name, *file = strrchr(name, '/');
	char *out = arg;

	(void)size;
	if (strncmp(file ? file + 1 : name, "libpython3.", 11) != 0 || strlen(name) >= 512)
		return 0;
	memcpy(out, name, strlen(name) + 1);
	return 1;
}

/* Where to ask for its symbols. The handle stays open: what is read stays there. */
static void *where(void)
{
	char name[512] = "";

	if (ct_dlsym(RTLD_DEFAULT, "_PyRuntime"))
		return RTLD_DEFAULT;
	dl_iterate_phdr(take_name, name);
	return *name ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : RTLD_DEFAULT;
}

/* "3.10.13 (main, ..." */
static uint32_t version_in(const char *text)
{
	uint32_t part[3] = { 0, 0, 0 };

	for (int i = 0; i < 3 && *text >= '0' && *text <= '9'; i++) {
		while (*text >= '0' && *text <= '9' && part[i] < 256)
			part[i] = part[i] * 10 + (uint32_t)(*text++ - '0');
		text += *text == '.';
	}
	return part[0] << 24 | (part[1] & 255) << 16 | (part[2] & 255) << 8;
}

static uint32_t version_of(void *handle)
{
	const unsigned long *version = ct_dlsym(handle, "Py_Version"); /* from 3.11 on */
	const char *(*ask)(void);

	if (version)
		return (uint32_t)*version;
	*(void **)&ask = ct_dlsym(handle, "Py_GetVersion");
	return ask ? version_in(ask()) : 0;
}

/* Offset of this thread's number from its pthread_t: the C library keeps it at the same offset in
 * all threads. */
static uint32_t find_tid_at(void)
{
	uint32_t words[PTHREAD_BYTES / 4], tid = (uint32_t)syscall(SYS_gettid);

	if (ct_python_read_safely((uintptr_t)pthread_self(), words, sizeof(words)) != 0)
		return 0;
	for (uint32_t i = 0; i < PTHREAD_BYTES / 4; i++)
		if (words[i] == tid)
			return i * 4;
	return 0;
}

int ct_python_find(struct ct_python *py)
{
	void *handle = where();
	int status;

	memset(py, 0, sizeof(*py));
	if (sizeof(void *) != 8)
		return -1;
	py->runtime = (uintptr_t)ct_dlsym(handle, "_PyRuntime");
	if (!py->runtime)
		return -1;
	*(void **)&py->own_state = ct_dlsym(handle, "PyGILState_GetThisThreadState");
	*(void **)&py->is_finalizing = ct_dlsym(handle, "Py_IsFinalizing");
	if (!py->is_finalizing)
		*(void **)&py->is_finalizing = ct_dlsym(handle, "_Py_IsFinalizing");
	py->code_type = (uintptr_t)ct_dlsym(handle, "PyCode_Type");
	py->text_type = (uintptr_t)ct_dlsym(handle, "PyUnicode_Type");
	status = ct_python_lay_out(py, ct_python_read_safely, version_of(handle));
	py->tid_at = find_tid_at();
	return status == 0 && py->own_state && py->is_finalizing ? 0 : -1;
}

static struct ct_python here;
static int is_here;

void ct_python_here_init(void)
{
	int saved = errno;

	is_here = ct_python_find(&here) == 0;
	errno = saved;
}

const struct ct_python *ct_python_here(void)
{
	return is_here ? &here : NULL;
}
