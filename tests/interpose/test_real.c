/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "tests/interpose/fake_gloo.h"

/* Two users, each linked with its own copy of the library, both in scopes of their own: what Python
 * does. */
typedef void (*call_fn)(struct fake_options *options);

static call_fn user(const char *name)
{
	void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		fail_msg("%s", dlerror());
	return (call_fn)dlsym(handle, "fake_user_call");
}

static void each_copy_of_a_library_gets_its_own_calls(void **state)
{
	struct fake_context context = { .rank = 0, .size = 2 };
	struct fake_options o = { .context = &context };
	call_fn one = user("libfake_user1.so"), two = user("libfake_user2.so");

	(void)state;
	errno = 77;
	for (int i = 0; i < 10; i++) {
		o.tag = (uint32_t)i;
		one(&o);
		assert_int_equal(o.called_id, 1);
		two(&o);
		assert_int_equal(o.called_id, 2);
	}
	assert_int_equal(errno, 77);
}

/* A weak reference sees the wrapper although no library is there: it does nothing, as its library
 * would not. */
static void without_a_real_function_nothing_happens(void **state)
{
	struct fake_context context = { .rank = 0, .size = 2 };
	struct fake_options o = { .context = &context, .called_id = -1 };
	void (*scatter)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT,
							  "_ZN4gloo7scatterERNS_14ScatterOptionsE");

	(void)state;
	assert_non_null(scatter);
	scatter(&o);
	assert_int_equal(o.called_id, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_copy_of_a_library_gets_its_own_calls),
		cmocka_unit_test(without_a_real_function_nothing_happens),
	};

	return cmocka_run_group_tests_name("real", tests, NULL, NULL);
}
