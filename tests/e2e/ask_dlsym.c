/* SPDX-License-Identifier: Apache-2.0 */
/* Under the preload: who asks dlsym for a function of NCCL gets the wrapper, and all else is as the
 * loader says. With COMMTRACE_NO_DLSYM=1 or COMMTRACE=0 everything is.
 *
 * ask_dlsym LIBRARY SYMBOL...: only prints in which file each answer lies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/abi/nccl.h"

#define SYMBOL "ncclGetUniqueId"
#define MISSING "ncclAlltoAll" /* wrapped, and not in the copies */

typedef void *(*look_fn)(void *handle, const char *symbol);
typedef ncclResult_t (*id_fn)(ncclUniqueId *id);

static look_fn loaders_own; /* not through the hook */
static int is_on;

static void *open_lib(const char *name, int mode)
{
	void *handle = dlopen(name, RTLD_NOW | mode);

	if (!handle)
		fail_msg("%s", dlerror());
	return handle;
}

static int is_ours(void *function)
{
	Dl_info info = { .dli_fname = "" };

	assert_non_null(function);
	assert_int_not_equal(dladdr(function, &info), 0);
	return strstr(info.dli_fname, "libcommtrace.so") != NULL;
}

/* The copy that a call from here reaches. */
static int copy_of(void *function)
{
	ncclUniqueId id = { { 0 } };

	assert_int_equal(((id_fn)function)(&id), ncclSuccess);
	for (int i = 0; i < NCCL_UNIQUE_ID_BYTES; i++)
		assert_int_equal((unsigned char)id.internal[i],
				 (unsigned char)(id.internal[0] + i));
	return id.internal[0];
}

/* Nothing of NCCL is in the global scope yet. */
static void what_is_missing_looks_missing(void **state)
{
	void *copy1 = open_lib("libcopy_nccl1.so", RTLD_LOCAL);
	char said[256];

	(void)state;
	assert_null(loaders_own(copy1, MISSING));
	strncpy(said, dlerror(), sizeof(said) - 1);
	said[sizeof(said) - 1] = '\0';
	assert_null(dlsym(copy1, MISSING));
	assert_string_equal(dlerror(), said);
	if (is_on) {
		look_fn look = (look_fn)dlsym(open_lib("libasker0.so", RTLD_LOCAL), "asker_look");

		assert_null(look(RTLD_DEFAULT, SYMBOL));
		assert_non_null(strstr(dlerror(), "undefined symbol: " SYMBOL));
		assert_null(dlsym(RTLD_DEFAULT, SYMBOL));
		assert_non_null(strstr(dlerror(), "undefined symbol: " SYMBOL));
		assert_null(dlsym(open_lib(NULL, 0), SYMBOL));
		assert_non_null(strstr(dlerror(), "undefined symbol: " SYMBOL));
	}
	assert_null(dlerror());
}

static void a_function_found_by_a_handle_is_wrapped(void **state)
{
	void *copy1 = open_lib("libcopy_nccl1.so", RTLD_LOCAL);
	void *function;

	(void)state;
	errno = 77;
	assert_null(dlsym(copy1, MISSING)); /* leaves a message behind */
	function = dlsym(copy1, SYMBOL);
	assert_null(dlerror());
	assert_int_equal(errno, 77);
	assert_int_equal(is_ours(function), is_on);
	assert_int_equal(copy_of(function), 1);
	assert_ptr_equal(dlsym(copy1, SYMBOL), function);
}

/* libffi calls what ctypes has looked up. */
static void a_library_without_nccl_calls_what_another_looked_up(void **state)
{
	void *copy1 = open_lib("libcopy_nccl1.so", RTLD_LOCAL);
	void *asker = open_lib("libasker0.so", RTLD_LOCAL);
	look_fn look = (look_fn)dlsym(asker, "asker_look");
	int (*call)(id_fn) = (int (*)(id_fn))dlsym(asker, "asker_call");
	void *function = look(copy1, SYMBOL);

	(void)state;
	assert_int_equal(is_ours(function), is_on);
	assert_int_equal(call((id_fn)function), 1);
	assert_int_equal(call((id_fn)dlsym(copy1, SYMBOL)), 1);
}

static void each_copy_has_a_wrapper_of_its_own(void **state)
{
	void *first = dlsym(open_lib("libcopy_nccl1.so", RTLD_LOCAL), SYMBOL);
	void *second = dlsym(open_lib("libcopy_nccl2.so", RTLD_LOCAL), SYMBOL);

	(void)state;
	assert_null(dlerror());
	assert_int_equal(is_ours(first), is_on);
	assert_int_equal(is_ours(second), is_on);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(copy_of(first), 1);
		assert_int_equal(copy_of(second), 2);
	}
}

/* There are four: the fifth one gives out its own functions. The last but one test: the others are
 * not to see these. */
static void a_copy_too_many_is_left_alone(void **state)
{
	char name[] = "libcopy_nccl?.so";
	void *functions[6];

	(void)state;
	for (int i = 1; i <= 5; i++) {
		void *handle;

		name[strlen("libcopy_nccl")] = (char)('0' + i);
		handle = open_lib(name, RTLD_LOCAL);
		functions[i] = dlsym(handle, SYMBOL);
		assert_int_equal(is_ours(functions[i]), is_on && i <= 4);
		assert_int_equal(functions[i] == loaders_own(handle, SYMBOL), !is_on || i == 5);
	}
	for (int i = 1; i <= 5; i++)
		assert_int_equal(copy_of(functions[i]), i);
}

/* asker2 is linked with the second copy: its own calls go there, whatever others have looked up. */
static void a_program_that_is_linked_with_a_copy_keeps_it(void **state)
{
	void *copy1 = open_lib("libcopy_nccl1.so", RTLD_LOCAL);
	void *asker = open_lib("libasker2.so", RTLD_LOCAL);
	look_fn look = (look_fn)dlsym(asker, "asker_look");
	int (*call)(id_fn) = (int (*)(id_fn))dlsym(asker, "asker_call");
	int (*bound)(void) = (int (*)(void))dlsym(asker, "asker_bound");
	void *first = look(copy1, SYMBOL);

	(void)state;
	assert_int_equal(copy_of(dlsym(copy1, SYMBOL)), 1);
	assert_int_equal(bound(), 2);
	assert_int_equal(is_ours(first), is_on);
	assert_int_equal(call((id_fn)first), 1);
	assert_int_equal(bound(), 2);
}

static void other_names_are_as_the_loader_says(void **state)
{
	void *copy1 = open_lib("libcopy_nccl1.so", RTLD_LOCAL);
	static const char *const names[] = { "pncclGetUniqueId", "ncclCommCount", "nccl", "n",
					     "ncclGetUniqueI",	 "printf",	  "",	  "malloc" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_ptr_equal(dlsym(copy1, names[i]), loaders_own(copy1, names[i]));
		assert_ptr_equal(dlsym(RTLD_DEFAULT, names[i]),
				 loaders_own(RTLD_DEFAULT, names[i]));
		assert_ptr_equal(dlsym(RTLD_NEXT, names[i]), loaders_own(RTLD_NEXT, names[i]));
	}
	/* behind the wrapper there is none that all could see */
	assert_ptr_equal(dlsym(RTLD_NEXT, SYMBOL), is_on ? NULL : loaders_own(RTLD_NEXT, SYMBOL));
}

/* asker0 comes behind asker2, and each asks for the next one's function. */
static void the_real_dlsym_sees_who_asks(void **state)
{
	void *first = open_lib("libasker2.so", RTLD_LOCAL);

	(void)state;
	assert_int_equal(((int (*)(void))dlsym(first, "asker_depth"))(), 2);
}

/* The last test: it makes copy 2 globally visible (asker2 brings it along). */
static void what_is_visible_to_all_is_found_without_a_handle(void **state)
{
	void *copy1 = open_lib("libcopy_nccl1.so", RTLD_LOCAL);
	void *before = dlsym(copy1, SYMBOL);
	void *asker = open_lib("libasker2.so", RTLD_GLOBAL);
	void *late = open_lib("libasker1.so", RTLD_LOCAL);
	int (*call)(id_fn) = (int (*)(id_fn))dlsym(late, "asker_call");
	void *function = dlsym(RTLD_DEFAULT, SYMBOL);

	(void)state;
	assert_non_null(function);
	assert_int_equal(((int (*)(id_fn))dlsym(asker, "asker_call"))((id_fn)function), 2);
	if (is_on)
		assert_true(is_ours(function));
	assert_int_equal(is_ours(before), is_on);
	/* for any caller: a pointer means the copy that was looked up */
	assert_int_equal(call((id_fn)before), 1);
	assert_int_equal(call((id_fn)function), 2);
	assert_ptr_equal(dlsym(copy1, SYMBOL), before);
	assert_int_equal(copy_of(function), 2);
}

static const char *where(void *function)
{
	Dl_info info = { .dli_fname = "nowhere" };
	const char *slash;

	if (function)
		dladdr(function, &info);
	slash = strrchr(info.dli_fname, '/');
	return slash ? slash + 1 : info.dli_fname;
}

/* By its handle; and, if there was none, as a program does that is linked with it. */
static int print_where(const char *library, char **symbols)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);

	for (; *symbols; symbols++) {
		void *function = dlsym(handle, *symbols);

		puts(where(function ? function : dlsym(RTLD_DEFAULT, *symbols)));
	}
	return handle ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_missing_looks_missing),
		cmocka_unit_test(a_function_found_by_a_handle_is_wrapped),
		cmocka_unit_test(a_library_without_nccl_calls_what_another_looked_up),
		cmocka_unit_test(each_copy_has_a_wrapper_of_its_own),
		cmocka_unit_test(a_program_that_is_linked_with_a_copy_keeps_it),
		cmocka_unit_test(other_names_are_as_the_loader_says),
		cmocka_unit_test(the_real_dlsym_sees_who_asks),
		cmocka_unit_test(a_copy_too_many_is_left_alone),
		cmocka_unit_test(what_is_visible_to_all_is_found_without_a_handle),
	};
	const char *all = getenv("COMMTRACE"), *no = getenv("COMMTRACE_NO_DLSYM");

	if (argc >= 3)
		return print_where(argv[1], argv + 2);
	is_on = !(all && strcmp(all, "0") == 0) && !(no && strcmp(no, "1") == 0);
	for (void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD); libc && !loaders_own;)
		loaders_own = (look_fn)dlsym(libc, "dlsym");
	return cmocka_run_group_tests_name("dlsym", tests, NULL, NULL);
}
