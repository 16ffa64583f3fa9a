/* SPDX-License-Identifier: Apache-2.0 */
/* Commands to paste name a host as a resolver takes it, and no shell reads more into the name. */
#include <string.h>

#include "analyzer/model/command.h"
#include "tests/unit/fixture.h"

static struct ct_arena *memory;

static const char *on(const char *host)
{
	const struct ct_command_at at = { .host = host, .gpu = "" };

	return ct_command_text(memory, "{ssh}nvidia-smi {gpu}-q", &at);
}

static void a_host_is_named_whole(void **state)
{
	(void)state;
	assert_string_equal(on("ip-10-112-134-201.us-west-2.compute.internal"),
			    "ssh ip-10-112-134-201.us-west-2.compute.internal nvidia-smi -q");
	assert_string_equal(on("fe80::1"), "ssh fe80::1 nvidia-smi -q");
	assert_string_equal(on(NULL), "nvidia-smi -q");
}

static void what_is_not_a_host_name_gives_no_command(void **state)
{
	static const char *const names[] = {
		"",    "-oProxyCommand=id", "x;id>pwned", "a$(id)",
		"a'b", "two words",	    "line\n",	  "caf\xc3\xa9"
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(on(names[i]));
}

static void a_command_for_several_hosts_names_each_of_them(void **state)
{
	const struct ct_command_at at[] = {
		{ .host = "node1", .pid = 12 },
		{ .host = "two words", .pid = 13 },
		{ .host = "node2", .pid = 14 },
	};

	(void)state;
	assert_string_equal(ct_command_each(memory, "{ssh}commtrace stacks {pid}", at, 3),
			    "ssh node1 commtrace stacks 12; ssh node2 commtrace stacks 14");
	assert_string_equal(ct_command_each(memory, "commtrace info run", at, 3),
			    "commtrace info run");
	assert_null(ct_command_each(memory, "{run}", at, 3));
}

static int make_memory(void **state)
{
	(void)state;
	memory = ct_arena_new();
	return !memory;
}

static int free_memory(void **state)
{
	(void)state;
	ct_arena_free(memory);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_named_whole),
		cmocka_unit_test(what_is_not_a_host_name_gives_no_command),
		cmocka_unit_test(a_command_for_several_hosts_names_each_of_them),
	};

	return cmocka_run_group_tests(tests, make_memory, free_memory);
}
