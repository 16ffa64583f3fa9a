/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin is opened late, when other libraries have taken most of the static TLS that the loader
 * keeps for such: the library still opens where one of 64 bytes would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 256 };
static char dir[] = "/tmp/ct-plugin-tls-XXXXXX";

static void name_of(char *path, size_t size, int i)
{
	snprintf(path, size, "%s/filler%d.so", dir, i);
}

/* The same file under another name would be the same library. */
static void make_fillers(void)
{
	char path[64];
	FILE *from = fopen(FILLER, "r");
	char *bytes = malloc(1 << 20);
	size_t n = from ? fread(bytes, 1, 1 << 20, from) : 0;

	assert_true(n > 0 && n < 1 << 20);
	fclose(from);
	for (int i = 0; i < MOST; i++) {
		FILE *to;

		name_of(path, sizeof(path), i);
		to = fopen(path, "w");
		assert_non_null(to);
		assert_int_equal(fwrite(bytes, 1, n, to), n);
		fclose(to);
	}
	free(bytes);
}

/* How many fillers a fresh process can open, up to `most`, and then `last` (NULL none): 1 if that
 * as well. */
static int opens(int most, const char *last, int *n_opened)
{
	int status, ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		char path[64];
		int n = 0;

		for (; n < most; n++) {
			name_of(path, sizeof(path), n);
			if (!dlopen(path, RTLD_NOW | RTLD_LOCAL))
				break;
		}
		status = write(ends[1], &n, sizeof(n)) != sizeof(n);
		_exit(status || (last && !dlopen(last, RTLD_NOW | RTLD_LOCAL)));
	}
	assert_int_equal(read(ends[0], n_opened, sizeof(*n_opened)), sizeof(*n_opened));
	close(ends[0]);
	close(ends[1]);
	waitpid(pid, &status, 0);
	return status == 0;
}

static void it_opens_where_one_of_64_bytes_would(void **state)
{
	int most, n;

	(void)state;
	assert_true(opens(MOST, NULL, &most));
	assert_in_range(most, 1, MOST - 1); /* or they take none */
	assert_true(opens(most - 1, PLUGIN, &n));
	assert_int_equal(n, most - 1);
	/* and it is not surprising: there was no more space than that */
	assert_false(opens(most, PLUGIN, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_opens_where_one_of_64_bytes_would),
	};
	char path[64];
	int failed;

	if (!mkdtemp(dir))
		return 1;
	make_fillers();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (int i = 0; i < MOST; i++) {
		name_of(path, sizeof(path), i);
		unlink(path);
	}
	rmdir(dir);
	return failed;
}
