/* SPDX-License-Identifier: Apache-2.0 */
/* A Python interpreter, with the preload: is the library in it, and which packages would it find?
 * They are found, not imported: nothing of them runs. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tools/commtrace/doctor/doctor.h"
#include "tools/commtrace/doctor/doctor_trial.h"

/* Prints "exe PATH", "mapped PATH", "package NAME FOLDER-OR-FILE". */
static const char
	probe[] = "import sys, importlib.util as u\n"
		  "print('exe', sys.executable)\n"
		  "for line in open('/proc/self/maps'):\n"
		  "    if 'libcommtrace.so' in line:\n"
		  "        print('mapped', line.split(None, 5)[5].strip())\n"
		  "        break\n"
		  "for name in sys.argv[1:]:\n"
		  "    try:\n"
		  "        spec = u.find_spec(name)\n"
		  "    except Exception:\n"
		  "        continue\n"
		  "    if spec is None:\n"
		  "        continue\n"
		  "    paths = spec.submodule_search_locations\n"
		  "    for path in (list(paths) if paths is not None else [spec.origin]):\n"
		  "        print('package', name, path)\n";

static const struct package {
	const char *module, *glob;
} packages[] = {
#define PACKAGE(module, glob) { #module, glob },
#include "tools/commtrace/doctor/doctor_packages.def"
};
#define N_PACKAGES (sizeof(packages) / sizeof(packages[0]))

static int prepare(void *arg)
{
	const struct ct_doctor *d = arg;
	struct ct_run_env env = *d->env;

	unsetenv("LD_DEBUG");
	/* a torch.py here is not used */
	if (setenv("PYTHONSAFEPATH", "1", 1) != 0 || setenv("COMMTRACE_QUIET", "1", 1) != 0)
		return -1;
	return d->is_preloaded ? 0 : ct_run_env_apply(&env);
}

static void look_at_package(struct ct_doctor *d, const char *exe, const char *module,
			    const char *path)
{
	for (size_t i = 0; i < N_PACKAGES; i++) {
		char pattern[2 * PATH_MAX];
		glob_t found;

		if (strcmp(packages[i].module, module) != 0)
			continue;
		snprintf(pattern, sizeof(pattern), "%s%s%s", path, packages[i].glob[0] ? "/" : "",
			 packages[i].glob);
		if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			if (ct_doctor_object(d, found.gl_pathv[k], CT_DOCTOR_INSTALLED))
				ct_doctor_needed(d, exe, found.gl_pathv[k]);
		globfree(&found);
	}
}

/* Returns whether the library is in it. */
static int look_at_answers(struct ct_doctor *d, const char *exe, char *said)
{
	char *rest = NULL, module[64], path[PATH_MAX];
	int is_mapped = 0;

	for (char *line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, "mapped /", 8) == 0)
			is_mapped = 1;
		else if (sscanf(line, "package %63s %4095[^\n]", module, path) == 2)
			look_at_package(d, exe, module, path);
	}
	return is_mapped;
}

void ct_doctor_python(struct ct_doctor *d, const char *python)
{
	const char *argv[N_PACKAGES + 4] = { python, "-c", probe };
	struct ct_trial trial = { .argv = argv, .prepare = prepare, .arg = d, .seconds = 60 };
	const char *exe;

	d->is_python = 1;
	for (size_t i = 0; i < N_PACKAGES; i++)
		argv[3 + i] = packages[i].module;
	if (ct_trial(&trial) != 0) {
		ct_doctor_add(d, CT_DOCTOR_INTERPRETER, CT_DOCTOR_UNKNOWN, "%s: %s", python,
			      strerror(errno));
		return;
	}
	exe = strstr(trial.said, "exe /");
	if (trial.is_late || !exe) {
		ct_doctor_add(d, CT_DOCTOR_INTERPRETER, CT_DOCTOR_UNKNOWN,
			      "%s -c gave no answer: %.*s", python, (int)strcspn(trial.said, "\n"),
			      trial.said);
	} else {
		char path[300];

		snprintf(path, sizeof(path), "%.*s", (int)strcspn(exe + 4, "\n"), exe + 4);
		ct_doctor_object(d, path, CT_DOCTOR_THE_PROGRAM);
		if (look_at_answers(d, path, trial.said))
			ct_doctor_add(d, CT_DOCTOR_INTERPRETER, CT_DOCTOR_FINE,
				      "%s started with the library loaded", path);
		else
			ct_doctor_add(d, CT_DOCTOR_INTERPRETER, CT_DOCTOR_NOTHING,
				      "%s starts %s without the library", python, path);
	}
	free(trial.said);
}
