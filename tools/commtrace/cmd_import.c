/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/new_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/jsonl/import.h"
#include "trace/path.h"

struct import_request {
	const char *file, *run;
	int force;
};

static int write_run(struct ct_import *import, const struct import_request *request)
{
	struct ct_new_run run;
	int code = ct_new_run_open(&run, request->run, request->force);
	char *where;

	if (code)
		return code;
	where = realpath(run.temp, NULL);
	if (where) /* as it will be called, which is shorter */
		memccpy(strrchr(where, '/') + 1, ct_path_name(run.path), '\0', PATH_MAX);
	code = ct_import_write(import, run.dirfd, where ? where : run.path);
	free(where);
	return ct_new_run_close(&run, code);
}

static int import_file(struct ct_import *import, const struct import_request *request)
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
	return write_run(import, request);
}

/* FORMAT FILE. */
static int read_arguments(const struct ct_cli *args, struct import_request *request)
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
	struct import_request request = { 0 };
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
		printf("imported %zu operations of %zu processes into %s\n", import.n_ops,
		       import.n_processes, request.run);
		code = ct_stdout_close();
	}
	ct_import_fini(&import);
out:
	ct_cli_fini(&args);
	return code;
}
