/* SPDX-License-Identifier: Apache-2.0 */
/* The program of a command line: what the kernel would execute for it, whether the loader would
 * heed LD_PRELOAD there, and what it would load. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "analyzer/base/nearest.h"
#include "tools/commtrace/doctor/doctor.h"
#include "tools/commtrace/doctor/doctor_elf.h"
#include "tools/commtrace/doctor/doctor_launch.h"
#include "tools/commtrace/doctor/doctor_trial.h"
#include "tools/commtrace/doctor/program_file.h"
#include "trace/path.h"

#define MOST_LINKS 8 /* size: of links and interpreters; more go round in circles */

/* A script is executed by its interpreter, that perhaps by another. */
struct program {
	char links[MOST_LINKS][PATH_MAX]; /* from the command to the ELF file, the last one */
	int n;
	char description[600]; /* the same for people */
};

/* `#!/usr/bin/env [-S] [NAME=VALUE...] WORD`: the word; else the interpreter itself. */
static const char *interpreter_word(char *line)
{
	char *rest = NULL, *word = strtok_r(line + 2, " \t\r\n", &rest);
	const char *slash = word ? strrchr(word, '/') : NULL;
	char *first = word;

	if (!slash || strcmp(slash, "/env") != 0)
		return word;
	while ((word = strtok_r(NULL, " \t\r\n", &rest)))
		if (word[0] != '-' && !strchr(word, '='))
			return word;
	return first;
}

/* Why this cannot be executed; NULL: it is an ELF file, or `next` is the word that is executed for
 * it. */
static const char *look_into(const char *path, char next[PATH_MAX])
{
	char head[512] = "";
	struct stat st;
	const char *word;
	ssize_t got;
	int fd;

	next[0] = '\0';
	if (stat(path, &st) != 0)
		return strerror(errno);
	if (S_ISDIR(st.st_mode))
		return "it is a directory";
	if (!S_ISREG(st.st_mode))
		return "it is not a file";
	if (access(path, X_OK) != 0)
		return strerror(errno);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, head, sizeof(head) - 1) : 0;
	if (fd >= 0)
		close(fd);
	if (fd < 0)
		return NULL; /* a file that may be executed but not read is not a script */
	if (got >= 4 && memcmp(head, ELFMAG, SELFMAG) == 0)
		return NULL;
	head[strcspn(head, "\n")] = '\0';
	word = got >= 2 && head[0] == '#' && head[1] == '!' ? interpreter_word(head) : "/bin/sh";
	snprintf(next, PATH_MAX, "%s", word ? word : "");
	return word ? NULL : "its first line names no interpreter";
}

/* From a word of a command line to an ELF file. Says what is wrong and returns -1. */
static int resolve(struct ct_doctor *d, const char *word, struct program *p)
{
	char next[PATH_MAX], last[PATH_MAX];

	memset(p, 0, sizeof(*p));
	snprintf(next, sizeof(next), "%s", word);
	do {
		char *path = p->links[p->n];
		const char *wrong = NULL;
		size_t description = strlen(p->description);

		snprintf(p->description + description, sizeof(p->description) - description,
			 "%s%.400s", p->n ? " runs " : "", next);
		memcpy(last, next, sizeof(last));
		if (ct_program_find(next, path) != 0)
			wrong = strerror(errno);
		else
			wrong = look_into(path, next);
		if (wrong) {
			ct_doctor_add(d, CT_DOCTOR_PROGRAM, CT_DOCTOR_NOTHING,
				      "%s cannot be executed: %s", p->description, wrong);
			return -1;
		}
		p->n++;
	} while (next[0] && p->n < MOST_LINKS);
	if (next[0]) {
		ct_doctor_add(d, CT_DOCTOR_PROGRAM, CT_DOCTOR_NOTHING, "%s: too many interpreters",
			      p->description);
		return -1;
	}
	/* "torchrun runs /usr/bin/python3": the path is shown already where the last word is one */
	if (strcmp(last, p->links[p->n - 1]) == 0)
		ct_doctor_add(d, CT_DOCTOR_PROGRAM, CT_DOCTOR_FINE, "%s", p->description);
	else
		ct_doctor_add(d, CT_DOCTOR_PROGRAM, CT_DOCTOR_FINE, "%s: %s", p->description,
			      p->links[p->n - 1]);
	return 0;
}

/* The rights that a file gives its process beyond the user's; NULL: none. */
static const char *rights_of(const char *path)
{
	struct statvfs fs;
	struct stat st;

	if (stat(path, &st) != 0 || (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOSUID))
		return NULL;
	if (st.st_mode & S_ISUID && st.st_uid != getuid())
		return "setuid";
	if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getgid())
		return "setgid";
	if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return "of file capabilities";
	return NULL;
}

/* With the preload, as the program would be. */
static int prepare(void *arg)
{
	const struct ct_doctor *d = arg;
	struct ct_run_env env = *d->env;

	unsetenv("LD_DEBUG");
	if (setenv("COMMTRACE_QUIET", "1", 1) != 0)
		return -1;
	return d->is_preloaded ? 0 : ct_run_env_apply(&env);
}

static int prepare_listing(void *arg)
{
	return setenv("LD_TRACE_LOADED_OBJECTS", "1", 1) == 0 ? prepare(arg) : -1;
}

/* The loader's list has lines `NAME => PATH (ADDRESS)` and `PATH (ADDRESS)`. */
static void look_at_loaded(struct ct_doctor *d, char *said, enum ct_doctor_role role)
{
	char *rest = NULL, path[PATH_MAX];

	for (char *line = strtok_r(said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *at = strstr(line, " => ");

		at = at ? at + 4 : line;
		if (sscanf(at, " %4095s (0x", path) == 1 && strchr(path, '/'))
			ct_doctor_object(d, path, role);
	}
}

static void look_at_binding(struct ct_doctor *d, const char *path)
{
	const char *const argv[] = { path, NULL };
	struct ct_trial trial = {
		.argv = argv, .prepare = prepare_listing, .arg = d, .seconds = 30
	};
	char *complaint;

	if (ct_trial(&trial) != 0) {
		ct_doctor_add(d, CT_DOCTOR_BOUND, CT_DOCTOR_UNKNOWN, "%s: %s", path,
			      strerror(errno));
		return;
	}
	complaint = strstr(trial.said, "cannot be preloaded");
	if (strstr(trial.said, "libcommtrace.so (0x") ||
	    strstr(trial.said, "libcommtrace.so => /")) {
		ct_doctor_add(d, CT_DOCTOR_BOUND, CT_DOCTOR_FINE, "%s can load the library", path);
	} else if (trial.is_late) {
		ct_doctor_add(d, CT_DOCTOR_BOUND, CT_DOCTOR_UNKNOWN,
			      "the loader has not said in %d s what it loads into %s",
			      trial.seconds, path);
	} else {
		complaint = complaint ? complaint : trial.said;
		while (complaint > trial.said && complaint[-1] != '\n')
			complaint--;
		ct_doctor_add(d, CT_DOCTOR_BOUND, CT_DOCTOR_NOTHING,
			      "%s cannot load the library: %.*s", path,
			      (int)strcspn(complaint, "\n"), complaint);
	}
	look_at_loaded(d, trial.said, CT_DOCTOR_LOADED);
	free(trial.said);
}

void ct_doctor_needed(struct ct_doctor *d, const char *exe, const char *library)
{
	const char *argv[] = { NULL, "--list", library, NULL }, *why;
	struct ct_trial trial = { .argv = argv, .prepare = prepare, .arg = d, .seconds = 30 };
	struct ct_doctor_elf file;

	if (ct_elf_open(&file, exe, &why) != 0)
		return;
	argv[0] = file.interpreter;
	if (file.interpreter[0] && ct_trial(&trial) == 0) {
		look_at_loaded(d, trial.said, CT_DOCTOR_INSTALLED);
		free(trial.said);
	}
	ct_elf_close(&file);
}

/* Would a loader that heeds LD_PRELOAD start this file? */
static int look_at_loader(struct ct_doctor *d, const char *path, const struct ct_doctor_elf *file)
{
	struct ct_doctor_elf library;
	const char *why;
	int fits = 1;

	if (!file->is_dynamic || !file->interpreter[0]) {
		ct_doctor_add(d, CT_DOCTOR_STATIC, CT_DOCTOR_NOTHING,
			      "%s is linked statically: no loader starts it, and nothing can be "
			      "preloaded",
			      path);
		return 0;
	}
	if (d->library[0] && ct_elf_open(&library, d->library, &why) == 0) {
		fits = library.machine == file->machine && library.bits == file->bits;
		ct_elf_close(&library);
	}
	if (!fits) {
		ct_doctor_add(d, CT_DOCTOR_ARCHITECTURE, CT_DOCTOR_NOTHING,
			      "%s is a %d-bit %s program, which the library is not for", path,
			      file->bits, ct_elf_machine(file->machine));
		return 0;
	}
	if (!strstr(file->interpreter, "/ld-linux")) {
		ct_doctor_add(d, CT_DOCTOR_LOADER, CT_DOCTOR_NOTHING,
			      "%s is started by %s, which is not glibc's", path, file->interpreter);
		return 0;
	}
	return 1;
}

static int is_python(const char *name)
{
	return strncmp(name, "python", 6) == 0 || strncmp(name, "pypy", 4) == 0;
}

static void look_at_elf(struct ct_doctor *d, const struct program *p)
{
	const char *path = p->links[p->n - 1], *why;
	struct ct_doctor_elf file;
	int goes;

	if (ct_elf_open(&file, path, &why) != 0) {
		ct_doctor_add(d, CT_DOCTOR_BOUND, CT_DOCTOR_UNKNOWN, "%s cannot be read: %s", path,
			      why);
		return;
	}
	goes = look_at_loader(d, path, &file);
	ct_elf_close(&file);
	if (!goes)
		return;
	ct_doctor_object(d, path, CT_DOCTOR_THE_PROGRAM);
	look_at_binding(d, path);
	if (is_python(ct_path_name(path)))
		ct_doctor_python(d, path);
	else if (is_python(ct_path_name(p->links[0]))) /* a script of that name: pyenv's */
		ct_doctor_python(d, p->links[0]);
}

/* 0, or 1 after it was said why LD_PRELOAD does not come through. */
static int look_at_rights(struct ct_doctor *d, const struct program *p)
{
	for (int i = 0; i < p->n; i++) {
		/* the kernel gives a script no rights */
		const char *rights = i == p->n - 1 ? rights_of(p->links[i]) : NULL;

		if (!rights)
			continue;
		ct_doctor_add(d, CT_DOCTOR_SECURE_EXEC, CT_DOCTOR_NOTHING,
			      "%s gets more rights than the user has (%s): the loader ignores "
			      "LD_PRELOAD",
			      p->links[i], rights);
		return 1;
	}
	return 0;
}

/* Could this word be executed from here? */
static int is_program(const char *word)
{
	char path[PATH_MAX], next[PATH_MAX];

	return ct_program_find(word, path) == 0 && !look_into(path, next);
}

static int is_shell(const char *name)
{
	return ct_word_find("sh dash bash zsh ksh mksh csh tcsh fish busybox", name) >= 0;
}

static enum ct_launch_kind kind_of(const char *name)
{
	char *none[] = { NULL, NULL };

	return ct_launch_look(name, none, is_program).kind;
}

static void look_at_words(struct ct_doctor *d, const char *name, char **argv);

/* What a launcher starts, by its words. */
static void look_at_started(struct ct_doctor *d, const char *name,
			    const struct ct_launch_command *launch)
{
	char **argv = launch->program;

	if (launch->is_text || (launch->is_module && argv)) {
		if (launch->is_module && kind_of(*argv) == CT_LAUNCH_PYTHON)
			look_at_words(d, *argv, argv);
	} else if (!argv) {
		ct_doctor_add(
			d, CT_DOCTOR_STARTED, CT_DOCTOR_UNKNOWN,
			"what %s starts was not looked at: it does not follow from its arguments",
			name);
	} else if (launch->lies_elsewhere &&
		   (launch->is_python_file ? access(*argv, R_OK) != 0 : !is_program(*argv))) {
		ct_doctor_add(d, CT_DOCTOR_STARTED, CT_DOCTOR_UNKNOWN,
			      "what %s starts was not looked at: %s is not found from here, and an "
			      "option names another directory",
			      name, *argv);
	} else if (!launch->is_python_file) {
		ct_doctor_program(d, argv);
	} else if (access(*argv, R_OK) != 0) {
		ct_doctor_add(d, CT_DOCTOR_PROGRAM, CT_DOCTOR_NOTHING, "%s cannot be read: %s",
			      *argv, strerror(errno));
	} else {
		ct_doctor_add(d, CT_DOCTOR_PROGRAM, CT_DOCTOR_FINE, "%s: read by %s", *argv, name);
	}
}

/* mpirun -n 1 ./one : -n 1 ./other: the first ':' in a launcher's words, or their end. */
static char **end_of_part(enum ct_launch_kind kind, char **argv)
{
	while (*argv && (kind != CT_LAUNCH_HOSTS || strcmp(*argv, ":") != 0))
		argv++;
	return argv;
}

/* A launcher, a Python or one of its modules; nothing is said of any other. */
static void look_at_words(struct ct_doctor *d, const char *name, char **argv)
{
	enum ct_launch_kind kind = kind_of(name);

	if (kind == CT_LAUNCH_NONE || (kind == CT_LAUNCH_PYTHON && !argv[1]))
		return;
	do {
		char **end = end_of_part(kind, argv + 1);
		char *colon = *end;
		struct ct_launch_command launch;

		*end = NULL;
		launch = ct_launch_look(name, argv, is_program);
		look_at_started(d, name, &launch);
		*end = colon;
		argv = end;
	} while (*argv);
}

void ct_doctor_program(struct ct_doctor *d, char **argv)
{
	enum ct_launch_kind kind;
	const char *name = ct_path_name(argv[0]);
	struct program p;

	if (resolve(d, argv[0], &p) != 0 || look_at_rights(d, &p))
		return;
	kind = kind_of(name);
	if (kind == CT_LAUNCH_CONTAINER) {
		ct_doctor_add(
			d, CT_DOCTOR_CONTAINER, CT_DOCTOR_NOTHING,
			"%s starts its program in a container, where neither this environment "
			"nor the library is",
			name);
		return;
	}
	if (kind == CT_LAUNCH_HOSTS)
		ct_doctor_add(d, CT_DOCTOR_LAUNCHER, CT_DOCTOR_UNKNOWN,
			      "%s starts programs on other hosts: whether LD_PRELOAD arrives there "
			      "is not known from here",
			      name);
	if (kind == CT_LAUNCH_NONE || kind == CT_LAUNCH_PYTHON)
		look_at_elf(d, &p);
	if (kind == CT_LAUNCH_NONE && is_shell(ct_path_name(p.links[p.n - 1])))
		ct_doctor_add(d, CT_DOCTOR_STARTED, CT_DOCTOR_UNKNOWN,
			      "what the commands of %s start was not looked at", argv[0]);
	look_at_words(d, name, argv);
}
