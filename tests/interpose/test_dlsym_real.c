/* SPDX-License-Identifier: Apache-2.0 */
/* The pieces of the dlsym hook by themselves; under the preload it is tested in tests/e2e/dlsym.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>

#include "interpose/dlsym_hook.h"

/* How the loader is found where libdl came after us. */
static void the_search_finds_what_the_loader_says(void **state)
{
	void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);

	(void)state;
	assert_non_null(dlsym(libc, "dlsym"));
	assert_ptr_equal(ct_dlsym_search(), dlsym(libc, "dlsym"));
	assert_ptr_equal(ct_dlsym_real(), dlsym(libc, "dlsym"));
}

static void the_hook_hands_on(void **state)
{
	static const char *const names[] = { "getpid", "sin", "nccl", "ncclNoSuchFunction", "" };
	void *libm = dlopen("libm.so.6", RTLD_NOW);
	char said[256];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_ptr_equal(ct_dlsym_hook(libm, names[i]), dlsym(libm, names[i]));
		assert_ptr_equal(ct_dlsym_hook(RTLD_DEFAULT, names[i]),
				 dlsym(RTLD_DEFAULT, names[i]));
		assert_ptr_equal(ct_dlsym_hook(RTLD_NEXT, names[i]), dlsym(RTLD_NEXT, names[i]));
	}
	assert_null(dlsym(libm, "ncclAllReduce"));
	strncpy(said, dlerror(), sizeof(said) - 1);
	said[sizeof(said) - 1] = '\0';
	assert_null(ct_dlsym_hook(libm, "ncclAllReduce"));
	assert_string_equal(dlerror(), said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_search_finds_what_the_loader_says),
		cmocka_unit_test(the_hook_hands_on),
	};

	return cmocka_run_group_tests_name("dlsym_real", tests, NULL, NULL);
}
