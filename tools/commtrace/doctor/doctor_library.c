/* SPDX-License-Identifier: Apache-2.0 */
/* The library itself, and what LD_PRELOAD says: would the loader take it? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/commtrace/doctor/doctor.h"
#include "tools/commtrace/doctor/doctor_elf.h"
#include "tools/commtrace/doctor/doctor_trial.h"
#include "trace/path.h"

#define LIBRARY "libcommtrace.so"

/* The loader that programs of this architecture name. */
static const char *loader_of(const struct ct_doctor_elf *library)
{
	return strcmp(ct_elf_machine(library->machine), "aarch64") == 0
		       ? "/lib/ld-linux-aarch64.so.1"
		       : "/lib64/ld-linux-x86-64.so.2";
}

/* The first line that says what is wrong. */
static const char *first_complaint(char *said)
{
	char *line = strstr(said, "version `"), *end;

	if (!line)
		line = strstr(said, "error");
	if (!line)
		line = said;
	while (line > said && line[-1] != '\n')
		line--;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	return line;
}

/* Its loader lists what it would load, and complains of versions that it does not have. */
static void try_to_load(struct ct_doctor *d, const struct ct_doctor_elf *library)
{
	const char *loader = loader_of(library);
	const char *const argv[] = { loader, "--list", d->library, NULL };
	struct ct_trial trial = { .argv = argv, .seconds = 20 };

	if (access(loader, X_OK) != 0) {
		ct_doctor_add(d, CT_DOCTOR_LIBRARY_LOADS, CT_DOCTOR_NOTHING,
			      "there is no %s here: this is not a glibc system", loader);
		return;
	}
	if (ct_trial(&trial) != 0) {
		ct_doctor_add(d, CT_DOCTOR_LIBRARY_LOADS, CT_DOCTOR_UNKNOWN, "%s: %s", loader,
			      strerror(errno));
		return;
	}
	if (trial.is_late || !WIFEXITED(trial.status) || WEXITSTATUS(trial.status) != 0 ||
	    strstr(trial.said, "not found"))
		ct_doctor_add(d, CT_DOCTOR_LIBRARY_LOADS, CT_DOCTOR_NOTHING, "%s",
			      first_complaint(trial.said));
	else
		ct_doctor_add(d, CT_DOCTOR_LIBRARY_LOADS, CT_DOCTOR_FINE,
			      "its dependencies are installed");
	free(trial.said);
}

void ct_doctor_library(struct ct_doctor *d)
{
	struct utsname here;
	struct ct_doctor_elf library;
	const char *why;
	const char *machine;

	if (!d->library[0]) {
		ct_doctor_add(d, CT_DOCTOR_LIBRARY, CT_DOCTOR_NOTHING, LIBRARY " was not found");
		return;
	}
	if (ct_elf_open(&library, d->library, &why) != 0) {
		ct_doctor_add(d, CT_DOCTOR_LIBRARY, CT_DOCTOR_NOTHING, "%s: %s", d->library, why);
		return;
	}
	machine = ct_elf_machine(library.machine);
	uname(&here);
	/* (uname writes x86_64) */
	if (strncmp(machine, here.machine, 3) != 0) {
		ct_doctor_add(d, CT_DOCTOR_LIBRARY, CT_DOCTOR_NOTHING,
			      "%s is for %s, this machine is %s", d->library, machine,
			      here.machine);
	} else {
		ct_doctor_add(d, CT_DOCTOR_LIBRARY, CT_DOCTOR_FINE, "%s, %d-bit %s", d->library,
			      library.bits, machine);
		try_to_load(d, &library);
	}
	ct_elf_close(&library);
}

static int is_ours(const char *entry)
{
	return strcmp(ct_path_name(entry), LIBRARY) == 0;
}

static void look_at_ours(struct ct_doctor *d, const char *entry)
{
	struct ct_doctor_elf file;
	const char *why;

	d->is_preloaded = 1;
	if (!strchr(entry, '/')) {
		ct_doctor_add(d, CT_DOCTOR_PRELOAD, CT_DOCTOR_PART,
			      "LD_PRELOAD=%s has no path: it is found only where the loader looks "
			      "for libraries, elsewhere it is ignored",
			      entry);
	} else if (ct_elf_open(&file, entry, &why) != 0) {
		ct_doctor_add(d, CT_DOCTOR_PRELOAD, CT_DOCTOR_NOTHING,
			      "LD_PRELOAD names %s: %s; the loader ignores it", entry, why);
	} else {
		ct_elf_close(&file);
		if (entry[0] != '/')
			ct_doctor_add(d, CT_DOCTOR_PRELOAD, CT_DOCTOR_PART,
				      "LD_PRELOAD=%s is relative: a program that is started from "
				      "another directory is not recorded",
				      entry);
		else if (!ct_path_is_same(entry, d->library))
			ct_doctor_add(d, CT_DOCTOR_PRELOAD, CT_DOCTOR_UNKNOWN,
				      "LD_PRELOAD names %s, which is another file than that of "
				      "this commtrace",
				      entry);
		else
			ct_doctor_add(d, CT_DOCTOR_PRELOAD, CT_DOCTOR_FINE,
				      "LD_PRELOAD names the library by its absolute path");
	}
}

static void look_at_other(struct ct_doctor *d, const char *entry)
{
	struct ct_doctor_elf file;
	const char *why;

	if (!strchr(entry, '/'))
		return; /* wherever the loader finds it */
	if (ct_elf_open(&file, entry, &why) != 0) {
		ct_doctor_add(d, CT_DOCTOR_OTHER_PRELOADS, CT_DOCTOR_UNKNOWN,
			      "LD_PRELOAD names %s: %s", entry, why);
		return;
	}
	ct_elf_close(&file);
	ct_doctor_object(d, entry, CT_DOCTOR_PRELOADED);
}

void ct_doctor_preload(struct ct_doctor *d)
{
	const char *preload = getenv("LD_PRELOAD");
	char *copy = strdup(preload ? preload : ""), *rest = NULL;

	for (char *entry = copy ? strtok_r(copy, ": \t\n", &rest) : NULL; entry;
	     entry = strtok_r(NULL, ": \t\n", &rest)) {
		if (is_ours(entry))
			look_at_ours(d, entry);
		else
			look_at_other(d, entry);
	}
	if (!d->is_preloaded)
		ct_doctor_add(
			d, CT_DOCTOR_PRELOAD, CT_DOCTOR_FINE,
			"commtrace run will set LD_PRELOAD; it does not name the library here");
	free(copy);
}
