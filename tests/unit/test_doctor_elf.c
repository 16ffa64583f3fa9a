/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of ELF files before damaged ones: whatever bytes are wrong, it answers and ends. And
 * before a whole one: what it says of this program is so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/doctor/doctor_elf.h"

enum { ROUNDS = 3000 };

static char self[] = "/proc/self/exe";

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 20;
}

static void what_it_says_is_so(void **state)
{
	struct ct_doctor_elf file;
	const char *why, *needed;
	char absent[64];
	int has_libc = 0;

	(void)state;
	assert_int_equal(ct_elf_open(&file, self, &why), 0);
	assert_int_equal(file.bits, sizeof(void *) * 8);
	assert_string_not_equal(ct_elf_machine(file.machine), "?");
	assert_true(file.is_dynamic);
	assert_non_null(strstr(file.interpreter, "/ld-linux"));
	for (size_t i = 0; (needed = ct_elf_needed(&file, i)); i++)
		has_libc |= strncmp(needed, "libc.so.", 8) == 0;
	assert_true(has_libc);
	assert_int_equal(ct_elf_has(&file, "memfd_create"), CT_ELF_IMPORTS);
	assert_true(ct_elf_relocates(&file, "memfd_create"));
	assert_int_equal(ct_elf_has(&file, "no_such_symbol"), CT_ELF_HAS_NOT);
	assert_true(ct_elf_contains(&file, "a text that is only here"));
	snprintf(absent, sizeof(absent), "no text like this: %d", getpid());
	assert_false(ct_elf_contains(&file, absent));
	ct_elf_close(&file);
}

static void what_is_no_file_is_refused(void **state)
{
	static const char *const paths[] = { "/", "/dev/null", "/no/such/file", "/dev/zero", "" };
	struct ct_doctor_elf file;
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		why = NULL;
		assert_int_equal(ct_elf_open(&file, paths[i], &why), -1);
		assert_non_null(why);
	}
}

/* All that the doctor asks. */
static void ask_all(const char *path)
{
	struct ct_doctor_elf file;
	const char *why;

	if (ct_elf_open(&file, path, &why) != 0)
		return;
	for (size_t i = 0; i < 10000 && ct_elf_needed(&file, i); i++)
		;
	ct_elf_has(&file, "ncclAllReduce");
	ct_elf_relocates(&file, "ncclAllReduce");
	ct_elf_contains(&file, "NCCL version 2.");
	ct_elf_close(&file);
}

static void damage(uint8_t *bytes, size_t size, uint64_t *seed)
{
	static const uint64_t values[] = { 0,	       1,	   0xff,       0xffff,
					   0xffffffff, UINT64_MAX, 1ull << 63, 0x7fffffff };
	size_t n = 1 + next(seed) % 4;

	for (size_t i = 0; i < n; i++) {
		/* headers at the front, sections' headers at the end, or anywhere */
		size_t range = next(seed) % 3, at;
		uint64_t value = next(seed) % 2 ? next(seed) : values[next(seed) % 8];
		size_t width = 1u << next(seed) % 4;

		at = range == 0	  ? next(seed) % 1024
		     : range == 1 ? size - 1 - next(seed) % 4096
				  : next(seed) % size;
		memcpy(bytes + at, &value, at + width <= size ? width : size - at);
	}
}

static void damaged_files_are_survived(void **state)
{
	const char *given = getenv("CT_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
	int in = open(self, O_RDONLY), out = memfd_create("damaged", 0);
	char path[64];
	uint8_t *whole, *bytes;
	struct stat st;

	(void)state;
	assert_int_equal(fstat(in, &st), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	whole = malloc((size_t)st.st_size);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(read(in, whole, (size_t)st.st_size), st.st_size);
	for (int i = 0; i < ROUNDS; i++) {
		size_t size = (size_t)st.st_size;

		memcpy(bytes, whole, size);
		if (i % 8 == 0)
			size = next(&seed) % size;
		else
			damage(bytes, size, &seed);
		assert_int_equal(ftruncate(out, 0), 0);
		assert_int_equal(pwrite(out, bytes, size, 0), (ssize_t)size);
		ask_all(path);
	}
	free(whole);
	free(bytes);
	close(in);
	close(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_says_is_so),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(damaged_files_are_survived),
	};

	return cmocka_run_group_tests_name("doctor_elf", tests, NULL, NULL);
}
