/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/doctor/program_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/doctor/doctor_elf.h"

int ct_program_find(const char *word, char path[PATH_MAX])
{
	const char *dirs = getenv("PATH");
	int error = ENOENT;

	if (strchr(word, '/')) {
		snprintf(path, PATH_MAX, "%s", word);
		return access(path, F_OK);
	}
	for (dirs = dirs ? dirs : "/bin:/usr/bin"; word[0]; dirs += strcspn(dirs, ":") + 1) {
		size_t len = strcspn(dirs, ":");
		struct stat st;

		snprintf(path, PATH_MAX, "%.*s%s%s", (int)len, dirs, len ? "/" : "", word);
		if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
			if (access(path, X_OK) == 0)
				return 0;
			error = EACCES;
		}
		if (!dirs[len])
			break;
	}
	errno = error;
	return -1;
}

int ct_program_has_asan(const char *const *words)
{
	char path[PATH_MAX];
	struct ct_doctor_elf file;
	const char *why;
	int has = 0;

	for (; *words && !has; words++) {
		if (ct_program_find(*words, path) != 0 || ct_elf_open(&file, path, &why) != 0)
			continue;
		has = ct_elf_has(&file, "__asan_init") == CT_ELF_IMPORTS;
		ct_elf_close(&file);
	}
	return has;
}
