/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_cxx.c — the few counts that test_unwind.cc asks for, without C11 headers. */
#include <string.h>

#include "tests/interpose/recorded.h"

struct unwound {
	uint64_t ops, unreturned, exceptions, launches, launches_thrown, hosts, hosts_thrown,
		errors;
	char words[64];
};

int unwound_run(void (*body)(void));
struct unwound unwound_read(void);
void unwound_remove(void);

int unwound_run(void (*body)(void))
{
	return recorded_run(body, NULL);
}

struct unwound unwound_read(void)
{
	struct recorded r = recorded_read();
	struct unwound u = {
		.ops = r.ops,
		.unreturned = r.unreturned,
		.exceptions = r.exceptions,
		.launches = r.launches,
		.launches_thrown = r.launches && r.last_launch.result == CT_RESULT_EXCEPTION,
		.hosts = r.hosts_ended,
		.hosts_thrown = r.hosts_thrown,
		.errors = r.errors,
	};

	if (r.errors)
		memcpy(u.words, r.strings[r.error_string % RECORDED_STRINGS], sizeof(u.words));

	recorded_free(&r);
	return u;
}

void unwound_remove(void)
{
	recorded_remove();
}
