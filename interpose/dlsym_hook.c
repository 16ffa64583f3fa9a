/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/dlsym_hook.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/entries.h"
#include "interpose/gpu/runtime/cudart.h"
#include "interpose/mpi/mpi.h"
#include "interpose/nccl/nccl.h"
#include "interpose/real.h"

static int is_switched_off(void)
{
	static _Atomic int known; /* 1 on, 2 off */
	int state = atomic_load_explicit(&known, memory_order_relaxed);

	if (!state) {
		const char *no = getenv("COMMTRACE_NO_DLSYM");
		const char *all = getenv("COMMTRACE");

		state = (no && strcmp(no, "1") == 0) || (all && strcmp(all, "0") == 0) ? 2 : 1;
		atomic_store_explicit(&known, state, memory_order_relaxed);
	}
	return state == 2;
}

static struct ct_real *real_of(const char *symbol)
{
	switch (symbol[0]) {
	case 'n':
		return ct_nccl_real(symbol);
	case 'c':
		return ct_cudart_real(symbol);
	default:
		return ct_mpi_real(symbol);
	}
}

static __attribute__((noinline)) struct ct_dlsym_way look_wrapped(struct ct_dlsym_way way,
								  void *handle, const char *symbol,
								  const void *caller)
{
	struct ct_real *real = real_of(symbol);
	void *function, *entry;

	if (!real || is_switched_off())
		return way;
	if (handle == RTLD_NEXT) {
		if (!ct_real_ends_here(real, caller))
			return way;
		way.go_on(handle, symbol); /* for its dlerror() */
		way.go_on = NULL;
		return way;
	}
	/* CUDA and NCCL look functions up for their own calls */
	if (symbol[0] == 'c' && ct_cudart_is_theirs(caller))
		return way;
	function = way.go_on(handle, symbol);
	if (!function)
		return way;
	if (function == real->self) {
		/* That scope begins with the global one, which has this library: what comes after
		 * it? */
		function = ct_real_visible(real, handle == RTLD_DEFAULT ? caller : NULL);
		if (!function) {
			way.go_on(RTLD_NEXT, symbol); /* for its dlerror() */
			way.go_on = NULL;
			return way;
		}
	}
	entry = symbol[0] == 'n' || symbol[0] == 'c' ? ct_entry_for(real, function)
						     : ct_mpi_entry(real, function);
	way.answer = entry ? entry : function;
	/* so that dlerror() says nothing of what we looked for */
	way.go_on(handle, symbol);
	way.go_on = NULL;
	return way;
}

/* Byte by byte: a sanitizer's strncmp() does not work yet when it looks up the real one. */
static inline int is_of_a_table(const char *symbol)
{
	if (!symbol)
		return 0;
	if (symbol[0] == 'P') /* PMPI_ */
		symbol++;
	return (symbol[0] == 'n' && symbol[1] == 'c' && symbol[2] == 'c' && symbol[3] == 'l') ||
	       (symbol[0] == 'c' && symbol[1] == 'u') ||
	       (symbol[0] == 'M' && symbol[1] == 'P' && symbol[2] == 'I' && symbol[3] == '_');
}

struct ct_dlsym_way ct_dlsym_look(void *handle, const char *symbol, const void *caller)
{
	struct ct_dlsym_way way = { NULL, ct_dlsym_next() };

	if (__builtin_expect(!is_of_a_table(symbol), 1) || !way.go_on)
		return way;
	return look_wrapped(way, handle, symbol, caller);
}
