/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/commtrace/cmd.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/import.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/recording.h"
#include "tools/commtrace/say.h"
#include "tools/commtrace/signals.h"

struct request {
	const char *file, *run;
	int force;
};

static int remove_file(const char *dir, const char *name, enum ct_recording_kind kind, void *arg)
{
	char *path = ct_recording_path(dir, name);

	(void)kind;
	(void)arg;
	if (path)
		unlink(path);
	free(path);
	return 0;
}

/* A directory of ours and the recording in it. Anything else in it stays, and then it stays as well. */
static void remove_run(const char *dir)
{
	ct_recording_each(dir, remove_file, NULL);
	rmdir(dir);
}

struct content {
	int recordings, others;
};

static int look_into(const char *dir, struct content *content)
{
	DIR *entries = opendir(dir);
	const struct dirent *entry;

	if (!entries)
		return -1;
	while ((entry = readdir(entries))) {
		if (ct_recording_kind(entry->d_name) != CT_RECORDING_NONE)
			content->recordings++;
		else if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			content->others++;
	}
	closedir(entries);
	return 0;
}

static int cannot_write(const char *run, const char *why)
{
	ct_say("cannot write the run: %s: %s", run, why);
	return CT_CODE_FAILED;
}

/* May RUN be made, or replaced? Only what is nothing but a recording is ever replaced. */
static int check_place(const struct request *request)
{
	struct content content = { 0 };
	struct stat st;
	int code;

	if (lstat(request->run, &st) != 0)
		return 0;
	if (!S_ISDIR(st.st_mode))
		return cannot_write(request->run, "it is already there, and no directory");
	if (look_into(request->run, &content) < 0)
		return cannot_write(request->run, strerror(errno));
	if (content.others) {
		code = cannot_write(request->run, "it is already there and holds other files");
		ct_hint("name a directory that is not there yet");
		return code;
	}
	if (!content.recordings || request->force)
		return 0;
	code = cannot_write(request->run, "it holds a recording already");
	ct_hint("--force replaces it");
	return code;
}

/* Give the finished directory its name: rename(2) itself refuses to replace anything but an empty directory. */
static int put_in_place(const struct request *request, const char *temp)
{
	if (rename(temp, request->run) == 0)
		return 0;
	if (request->force && (errno == EEXIST || errno == ENOTEMPTY)) {
		remove_run(request->run);
		if (rename(temp, request->run) == 0)
			return 0;
	}
	return cannot_write(request->run, strerror(errno));
}

static int write_run(struct ct_import *import, const struct request *request)
{
	char *temp = NULL, *where = NULL;
	int code = CT_CODE_FAILED, dirfd = -1;

	if (asprintf(&temp, "%s.tmp.%d", request->run, (int)getpid()) < 0)
		temp = NULL;
	if (!temp || mkdir(temp, 0700) != 0) {
		code = cannot_write(request->run, strerror(temp ? errno : ENOMEM));
		free(temp);
		return code;
	}
	where = realpath(temp, NULL);
	if (where) /* as it will be called: without ".tmp.PID" */
		where[strlen(where) - (strlen(temp) - strlen(request->run))] = '\0';
	dirfd = open(temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dirfd < 0)
		cannot_write(temp, strerror(errno));
	else
		code = ct_import_write(import, dirfd, where ? where : request->run);
	if (!code)
		code = put_in_place(request, temp);
	if (code)
		remove_run(temp);
	if (dirfd >= 0)
		close(dirfd);
	free(where);
	free(temp);
	return code;
}

static int import_file(struct ct_import *import, const struct request *request)
{
	FILE *in = strcmp(request->file, "-") == 0 ? stdin : fopen(request->file, "re");
	int code;

	if (!in) {
		ct_say("cannot import: %s: %s", request->file, strerror(errno));
		return CT_CODE_FAILED;
	}
	code = ct_import_read(import, in);
	if (in != stdin)
		fclose(in);
	if (import->n_unknown_keys)
		ct_warn("%s: %zu values of unknown keys ignored; the first is '%s' in line %lu",
			import->file, import->n_unknown_keys, import->unknown_key,
			import->unknown_line);
	if (code)
		return code;
	if (!import->n_ops) {
		ct_say("cannot import: %s: it holds no line", import->file);
		return CT_CODE_FAILED;
	}
	code = check_place(request);
	return code ? code : write_run(import, request);
}

/* FORMAT FILE. */
static int read_arguments(const struct ct_cli *args, struct request *request)
{
	const struct ct_paths *given = &args->paths;

	if (given->n && strcmp(given->path[0], "jsonl") != 0)
		return ct_usage(
			"import",
			"'import' reads the format jsonl, not '%s': import jsonl FILE -o RUN",
			given->path[0]);
	if (given->n < 2)
		return ct_usage("import",
				"'import' needs a format and a FILE: import jsonl FILE -o RUN");
	if (given->n > 2)
		return ct_usage("import", "'import' reads one FILE, but got '%s' and '%s'",
				given->path[1], given->path[2]);
	request->file = given->path[1];
	request->run = ct_cli_text(args, CT_OPTION_NEW_RUN);
	request->force = ct_cli_has(args, CT_OPTION_NEW_RUN_FORCE);
	if (!request->run || !request->run[0])
		return ct_usage("import", "'import' needs -o RUN: the directory to make");
	return 0;
}

int ct_cmd_import(int argc, char **argv)
{
	struct request request = { 0 };
	struct ct_import import = { 0 };
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_import, argc, argv);

	if (code < 0)
		code = read_arguments(&args, &request);
	if (!request.run || code)
		goto out;
	import.file = strcmp(request.file, "-") == 0 ? "standard input" : request.file;
	ct_signals_defer();
	code = import_file(&import, &request);
	if (!code) {
		printf("imported %zu ops of %zu processes into %s\n", import.n_ops,
		       import.n_processes, request.run);
		code = ct_stdout_close();
	}
	ct_import_fini(&import);
out:
	ct_cli_fini(&args);
	return code;
}
