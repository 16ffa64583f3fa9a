/* SPDX-License-Identifier: Apache-2.0 */
/* last_report NS RUN... — the report of the last so many nanoseconds of a run, as JSON: `commtrace
 * report --last` takes whole seconds, and the report of thinned parts begins in between. */
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/render/render.h"
#include "analyzer/report/analyze.h"
#include "trace/reader.h"

int main(int argc, char **argv)
{
	struct ct_analyze_options options = CT_ANALYZE_DEFAULTS;
	const struct ct_run_options none = { 0 };
	struct ct_report *report = NULL;
	struct ct_err err = { .text = "" };
	struct ct_run *run = NULL;
	json_t *json = NULL;
	int failed = 1;

	options.last_ns = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
	if (argc < 3 ||
	    ct_run_open((const char *const *)argv + 2, (size_t)argc - 2, &none, &run, &err) ||
	    ct_analyze(run, &options, &report, &err))
		fprintf(stderr, "last_report: %s\n", err.text);
	else
		json = ct_report_json(report);
	if (json)
		failed = json_dumpf(json, stdout, 0);
	json_decref(json);
	ct_report_free(report);
	ct_run_close(run);
	return failed;
}
