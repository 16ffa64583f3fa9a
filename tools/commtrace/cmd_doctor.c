/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/doctor/doctor.h"
#include "tools/commtrace/doctor/program_file.h"

enum { FORMAT_TEXT, FORMAT_JSON };

static enum ct_doctor_answer worst(const struct ct_doctor *d)
{
	enum ct_doctor_answer answer = CT_DOCTOR_FINE;

	for (size_t i = 0; i < d->n_checks; i++)
		if (d->checks[i].answer > answer)
			answer = d->checks[i].answer;
	return answer;
}

/* `may_run`: the program was not started: then --run could report more. */
static void write_text(const struct ct_doctor *d, int has_program, int may_run)
{
	static const char *const answers[] = { "OK", "UNKNOWN", "WARN", "FAIL" };
	const char *const of_program[] = {
		"traced: yes",
		may_run ? "traced: yes, as far as can be checked without running it"
			: "traced: yes, as far as could be checked",
		"traced: in part", "traced: no"
	};
	static const char *const of_machine[] = {
		"this machine: ready; to check a program, add: -- PROGRAM",
		"this machine: ready, as far as could be checked", "this machine: ready in part",
		"this machine: not ready, nothing would be recorded"
	};

	puts((has_program ? of_program : of_machine)[worst(d)]);
	for (size_t i = 0; i < d->n_checks; i++) {
		const struct ct_doctor_check *check = &d->checks[i];

		printf("%-8s %-16s %s\n", answers[check->answer], ct_doctor_name(check->id),
		       check->what);
		if (check->answer != CT_DOCTOR_FINE)
			printf("%-8s %-16s do: %s\n", "", "", ct_doctor_remedy(check->id));
	}
}

/* Paths may hold any bytes, and JSON only UTF-8. */
static json_t *text_of(const char *text)
{
	json_t *string = json_string(text);
	char plain[sizeof(((struct ct_doctor_check *)0)->what)];

	if (string)
		return string;
	snprintf(plain, sizeof(plain), "%s", text);
	for (char *c = plain; *c; c++)
		if ((unsigned char)*c > 126)
			*c = '?';
	return json_string(plain);
}

static json_t *check_json(const struct ct_doctor_check *check)
{
	int is_fine = check->answer == CT_DOCTOR_FINE;

	return json_pack("{s:s, s:o, s:b, s:o, s:o}", "id", ct_doctor_name(check->id), "ok",
			 check->answer == CT_DOCTOR_UNKNOWN ? json_null() : json_boolean(is_fine),
			 "blocks", check->answer == CT_DOCTOR_NOTHING, "what", text_of(check->what),
			 "advice",
			 is_fine ? json_null() : json_string(ct_doctor_remedy(check->id)));
}

static int write_json(const struct ct_doctor *d, int has_program)
{
	json_t *checks = json_array(), *object;
	int failed = !checks;

	for (size_t i = 0; i < d->n_checks && !failed; i++)
		failed = json_array_append_new(checks, check_json(&d->checks[i])) != 0;
	/* a machine alone shows only that nothing would be */
	object = json_pack("{s:s, s:o, s:o}", "schema", "commtrace.doctor/1", "traced",
			   worst(d) == CT_DOCTOR_NOTHING ? json_false()
			   : has_program		 ? json_true()
							 : json_null(),
			   "checks", checks);
	failed |= !object || json_dumpf(object, stdout, JSON_INDENT(1)) != 0;
	json_decref(object);
	if (!failed)
		return putchar('\n') == '\n' ? 0 : CT_CODE_FAILED;
	ct_say("cannot write the result: %s", ct_status_text(CT_NOMEM));
	return CT_CODE_FAILED;
}

/* `program` NULL: none; start: it may be started. */
static int examine(char **program, int start, int format)
{
	char library[PATH_MAX] = "";
	struct ct_run_env env = {
		.preload = library,
		.has_asan = program && ct_program_has_asan((const char *const *)program),
	};
	struct ct_doctor d = { .env = &env, .library = library };
	int code = 0, written;

	ct_doctor_machine(&d, library);
	if (program)
		ct_doctor_program(&d, program);
	if (program)
		ct_doctor_objects_done(&d);
	if (program && start)
		ct_doctor_run(&d, program);
	if (d.failed)
		code = CT_CODE_FAILED;
	else if (format == FORMAT_JSON)
		code = write_json(&d, program != NULL);
	else
		write_text(&d, program != NULL, program && !start);
	written = ct_stdout_close();
	if (!code)
		code = written;
	if (!code && worst(&d) == CT_DOCTOR_NOTHING)
		code = CT_CODE_FINDING;
	free(d.checks);
	return code;
}

int ct_cmd_doctor(int argc, char **argv)
{
	struct ct_cli args;
	int code = ct_cli_parse(&args, CT_COMMAND_doctor, argc, argv), start, format;

	if (code >= 0)
		goto out;
	start = ct_cli_has(&args, CT_OPTION_TRY);
	format = ct_cli_format(&args);
	if (format < 0)
		code = CT_CODE_USAGE;
	else if (start && !args.program)
		code = ct_usage("doctor",
				"'--run' needs a program: doctor --run -- PROGRAM [ARG]...");
	else
		code = examine(args.program, start, format);
out:
	ct_cli_fini(&args);
	return code;
}
