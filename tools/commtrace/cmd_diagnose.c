/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/diagnosis/diagnosis.h"
#include "analyzer/diagnosis/nccl_log.h"
#include "analyzer/environment/topology.h"
#include "analyzer/render/columns.h"
#include "analyzer/render/json_value.h"
#include "analyzer/render/render.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/doctor/doctor.h"
#include "tools/commtrace/doctor/machine.h"
#include "tools/commtrace/doctor/nvlink.h"
#include "tools/commtrace/expect_file.h"
#include "tools/commtrace/run/preload_path.h"

#define LINE_BYTES 65536 /* size: no log has longer lines */

enum { TEXT, JSON };

struct diagnose_request {
	struct ct_cli args;
	int format;
	struct ct_arena *memory;
	struct ct_diagnosis diagnosis;
	const struct ct_diagnosis_node *failed;
	struct ct_expect *expect;
	struct ct_run *run;
	struct ct_report *report;
};

static int say_no_memory(void)
{
	ct_say("cannot diagnose: %s", ct_status_text(CT_NOMEM));
	return CT_CODE_FAILED;
}

/* What doctor says of this machine, the checks that are in order in one node. */
static int ask_doctor(struct diagnose_request *request)
{
	static const enum ct_diagnosis_answer answers[] = {
		[CT_DOCTOR_FINE] = CT_DIAGNOSIS_PASS,
		[CT_DOCTOR_UNKNOWN] = CT_DIAGNOSIS_UNKNOWN,
		[CT_DOCTOR_PART] = CT_DIAGNOSIS_FAIL,
		[CT_DOCTOR_NOTHING] = CT_DIAGNOSIS_FAIL,
	};
	char library[PATH_MAX] = "";
	struct ct_run_env env = { .preload = library };
	struct ct_doctor d = { .env = &env, .library = library };
	struct ct_arena *memory = request->memory;
	size_t fine = 0;
	int failed;

	ct_doctor_machine(&d, library);
	for (size_t i = 0; i < d.n_checks; i++) {
		const struct ct_doctor_check *check = &d.checks[i];

		fine += check->answer == CT_DOCTOR_FINE;
		if (check->answer == CT_DOCTOR_FINE)
			continue;
		ct_diagnosis_add(&request->diagnosis, CT_DIAGNOSIS_ERROR,
				 (struct ct_diagnosis_node){
					 .name = "doctor",
					 .answer = answers[check->answer],
					 .evidence = ct_arena_printf(memory, "%s: %s",
								     ct_doctor_name(check->id),
								     check->what),
					 .advice = ct_doctor_remedy(check->id),
				 });
	}
	if (fine)
		ct_diagnosis_add(
			&request->diagnosis, CT_DIAGNOSIS_ERROR,
			(struct ct_diagnosis_node){
				.name = "doctor",
				.answer = CT_DIAGNOSIS_PASS,
				.evidence = ct_arena_printf(
					memory, "%zu checks of this machine are in order", fine),
			});
	failed = d.failed;
	free(d.checks);
	return failed ? say_no_memory() : 0;
}

static int ask_machine(struct diagnose_request *request)
{
	struct ct_report_topology checks[CT_TOPOLOGY_CHECKS] = { 0 };
	struct ct_environment_facts facts = { 0 };
	int st = ct_machine_read("", request->memory, &facts);

	if (st == CT_OK) {
		ct_topology_add(&facts, "this machine", 1, request->memory, checks);
		ct_nvlink_read(request->memory, &checks[CT_TOPOLOGY_NVLINK]);
		ct_diagnosis_topology(&request->diagnosis, checks);
	}
	ct_facts_fini(&facts);
	return st == CT_OK ? ask_doctor(request) : say_no_memory();
}

/* What the benchmark reached is expected of the run. */
static int read_bench(struct diagnose_request *request)
{
	const char *path = ct_cli_text(&request->args, CT_OPTION_BENCH);
	const struct ct_paths paths = { .path = &path, .n = 1 };
	struct ct_run *run = NULL;
	struct ct_report *report = NULL;
	int code = ct_open_run("diagnose", &paths, &run);

	if (!code)
		code = ct_open_report(&paths, run, &report);
	if (!code && ct_expect_add_bench(request->expect, report) != CT_OK)
		code = say_no_memory();
	ct_report_free(report);
	ct_run_close(run);
	return code;
}

static int ask_run(struct diagnose_request *request)
{
	const struct ct_cli *args = &request->args;
	const char *expect = ct_cli_text(args, CT_OPTION_EXPECT);
	struct ct_report_wishes wishes = {
		.anchor = ct_cli_text(args, CT_OPTION_STEP_ANCHOR),
		.skip_steps = (uint32_t)ct_cli_number(args, CT_OPTION_SKIP_STEPS, 0),
		.threads = ct_open_threads(args),
	};
	int code = ct_expect_open(expect ? expect : CT_EXPECT_DEFAULT, &request->expect);

	wishes.expect = request->expect;
	if (!code && ct_cli_has(args, CT_OPTION_BENCH))
		code = read_bench(request);
	if (!code)
		code = ct_open_run("diagnose", &args->paths, &request->run);
	if (!code)
		code = ct_open_report_as("diagnose", &args->paths, request->run, &wishes,
					 &request->report);
	if (!code && ct_expect_check(request->expect, request->report) != CT_OK)
		code = say_no_memory();
	if (!code)
		ct_diagnosis_of_run(&request->diagnosis, request->report);
	return code;
}

/* --nccl-log */
static int ask_nccl_log(struct diagnose_request *request)
{
	const char *path = ct_cli_text(&request->args, CT_OPTION_NCCL_LOG);
	FILE *file = path ? fopen(path, "re") : NULL;
	struct ct_nccl_log log = { 0 };
	char line[LINE_BYTES];
	int failed, is_text = 1;

	if (!path)
		return 0;
	while (file && is_text && fgets(line, sizeof(line), file)) {
		is_text = strchr(line, '\n') || feof(file);
		ct_nccl_log_line(&log, line, strlen(line));
	}
	failed = !file || ferror(file) || !is_text;
	if (failed)
		ct_say("cannot read the log: %s: %s", path,
		       is_text ? strerror(errno) : "a line of more than 64 KiB: not a log");
	if (file)
		fclose(file);
	if (failed)
		return CT_CODE_FAILED;
	if (ct_nccl_log_is_empty(&log)) /* the tree may end before the node that says so */
		ct_warn("%s has no lines of NCCL about channels", path);
	ct_diagnosis_nccl_log(&request->diagnosis, &log);
	return 0;
}

static json_t *to_json(const struct diagnose_request *request)
{
	const struct ct_report *report = request->report;
	json_t *failed = request->failed ? ct_columns_json(ct_columns_diagnosis_node(),
							   request->failed, NULL)
					 : json_null();

	return CT_JSON({ "schema", json_string("commtrace.diagnosis/1") },
		       { "run", ct_json_text(report ? request->args.paths.path[0] : NULL) },
		       { "failed", failed },
		       { "score", ct_json_double(report ? report->score.total : NAN) },
		       { "levels", ct_columns_json_all(ct_columns_diagnosis_level(),
						       request->diagnosis.levels,
						       CT_DIAGNOSIS_LEVELS, NULL) });
}

static int write_result(const struct diagnose_request *request)
{
	struct ct_out out;
	int code = ct_out_open(&out, ct_cli_text(&request->args, CT_OPTION_OUTPUT),
			       ct_cli_has(&request->args, CT_OPTION_FORCE));

	if (code)
		return code;
	if (request->format == JSON) {
		code = ct_out_json(&out, to_json(request));
	} else {
		const struct ct_text_style style = {
			.color = ct_color_wanted(out.file),
			.unwrapped = !isatty(fileno(out.file)),
			.verbose = ct_cli_has(&request->args, CT_OPTION_ALL_CHECKS),
		};

		ct_diagnosis_text(&request->diagnosis, request->failed, &style, out.file);
	}
	if (!code)
		return ct_out_close(&out);
	ct_out_drop(&out);
	return code;
}

/* Without a run it is about this machine; with one, only with --full-scan about both. */
static int diagnose(struct diagnose_request *request)
{
	int whole = ct_cli_has(&request->args, CT_OPTION_FULL_SCAN), code = 0;

	request->format = ct_cli_format(&request->args);
	if (request->format < 0)
		return CT_CODE_USAGE;
	request->memory = ct_arena_new();
	if (!request->memory)
		return say_no_memory();
	ct_diagnosis_init(&request->diagnosis, request->memory);
	if (whole || !request->args.paths.n)
		code = ask_machine(request);
	if (!code && request->args.paths.n)
		code = ask_run(request);
	if (!code)
		code = ask_nccl_log(request);
	if (code)
		return code;
	request->failed = ct_diagnosis_conclude(&request->diagnosis, whole);
	if (ct_arena_failed(request->memory))
		return say_no_memory();
	code = write_result(request);
	return !code && request->failed ? CT_CODE_FINDING : code;
}

int ct_cmd_diagnose(int argc, char **argv)
{
	struct diagnose_request request = { .format = -1 };
	int code = ct_cli_parse(&request.args, CT_COMMAND_diagnose, argc, argv);

	if (code < 0)
		code = diagnose(&request);
	ct_expect_free(request.expect);
	ct_report_free(request.report);
	ct_run_close(request.run);
	ct_arena_free(request.memory);
	ct_cli_fini(&request.args);
	return code;
}
