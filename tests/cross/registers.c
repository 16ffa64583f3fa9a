/* SPDX-License-Identifier: Apache-2.0 */
/* Under the preload: the next dlsym is called with every register that may carry an argument, the
 * stack and the link register as the program had them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <string.h>

#include "tests/cross/registers.h"

static void check(void *handle, const char *name, int is_there)
{
	const struct registers *got = registers_caught();
	struct registers with, after;

	memset(&with, 0, sizeof(with));
	for (uint64_t i = 0; i < 9; i++)
		with.x[i] = 0x1111111111111111 * (i + 1);
	for (uint64_t i = 0; i < 16; i++)
		with.q[i / 2][i % 2] = 0x0f0e0d0c0b0a0908 * (i + 3);
	with.x[0] = (uint64_t)handle;
	with.x[1] = (uint64_t)name;
	assert_int_equal(registers_ask(&with, &after) != NULL, is_there);
	for (int i = 0; i < 9; i++)
		assert_int_equal(got->x[i], with.x[i]);
	assert_memory_equal(got->q, with.q, sizeof(with.q));
	assert_int_equal(got->lr, after.lr);
	assert_int_equal(got->sp, after.sp);
}

static void a_call_is_handed_on_as_it_came(void **state)
{
	(void)state;
	/* once to begin with: the first call looks for the next dlsym */
	dlsym(RTLD_DEFAULT, "getpid");
	check(RTLD_DEFAULT, "getpid", 1);
	check(RTLD_NEXT, "getpid", 1);
	check(RTLD_DEFAULT, "no_such_function", 0);
	check(RTLD_DEFAULT, "ncclCommCount", 0); /* not wrapped */
	/* nothing is behind the wrapper that is the program's next one */
	assert_null(dlsym(RTLD_NEXT, "ncclAllReduce"));
	assert_non_null(dlerror());
}

static void it_came_through_the_preload(void **state)
{
	Dl_info info = { .dli_fname = "" };

	(void)state;
	/* the address of the dlsym that this program is bound to */
	assert_int_not_equal(dladdr((void *)&dlsym, &info), 0);
	assert_non_null(strstr(info.dli_fname, "libcommtrace.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_came_through_the_preload),
		cmocka_unit_test(a_call_is_handed_on_as_it_came),
	};

	return cmocka_run_group_tests_name("registers", tests, NULL, NULL);
}
