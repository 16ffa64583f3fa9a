/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/base/nearest.h"
#include "analyzer/render/heatmap.h"
#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"
#include "tools/commtrace/base/options.h"
#include "tools/commtrace/base/out.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/png.h"

enum { SVG, CSV, PNG };

struct heatmap_request {
	struct ct_cli args;
	int format;
	struct ct_heatmap_request heatmap;
	struct ct_report_wishes wishes;
};

/* What the options ask for, and whether they go together. */
static int read_options(struct heatmap_request *request)
{
	const struct ct_cli *args = &request->args;
	struct ct_heatmap_request *p = &request->heatmap;
	int is_traffic, layer = ct_cli_word(args, CT_OPTION_LAYER);

	p->of = (enum ct_heatmap_of)ct_cli_word(args, CT_OPTION_TYPE);
	p->show = (enum ct_heatmap_show)(layer + 1);
	p->by = (enum ct_heatmap_by)(ct_cli_word(args, CT_OPTION_BY) + 1);
	p->comm = ct_cli_text(args, CT_OPTION_COMM);
	p->backend = ct_cli_text(args, CT_OPTION_BACKEND);
	p->role = ct_cli_text(args, CT_OPTION_ROLE);
	request->wishes.anchor = ct_cli_text(args, CT_OPTION_STEP_ANCHOR);
	request->wishes.skip_steps = (uint32_t)ct_cli_number(args, CT_OPTION_SKIP_STEPS, 0);
	request->wishes.threads = ct_open_threads(args);
	is_traffic = p->of == CT_OF_TRAFFIC;
	if ((p->comm != NULL) + (p->backend != NULL) + (p->role != NULL) > 1)
		return ct_usage("heatmap", "'--comm', '--backend' and '--role' exclude each other");
	if ((p->comm || p->role || p->backend) && !is_traffic)
		return ct_usage("heatmap", "'--%s' belongs to --type=traffic",
				p->comm	  ? "comm"
				: p->role ? "role"
					  : "backend");
	if (request->wishes.anchor && p->of != CT_OF_STEPS && !request->wishes.skip_steps)
		return ct_usage("heatmap", "'--step-anchor' belongs to --type=steps");
	if (p->by != CT_BY_DEFAULT && p->of == CT_OF_SLOWDOWN)
		return ct_usage("heatmap", "'--by' does not belong to --type=slowdown");
	if (layer >= 0 &&
	    ct_word_find(ct_heatmap_layers(p->of), ct_cli_text(args, CT_OPTION_LAYER)) < 0)
		return ct_usage("heatmap",
				"'--layer=%s' does not belong to --type=%s, which has: %s",
				ct_cli_text(args, CT_OPTION_LAYER),
				ct_cli_text(args, CT_OPTION_TYPE), ct_heatmap_layers(p->of));
	if (!ct_cli_text(args, CT_OPTION_OUTPUT) && !ct_cli_text(args, CT_OPTION_FORMAT))
		return ct_usage("heatmap",
				"'heatmap' needs -o FILE.svg, .csv or .png, or --format");
	request->format = ct_cli_format(args);
	return request->format < 0 ? CT_CODE_USAGE : 0;
}

/* A PNG is that of the SVG, so that both look the same. */
static int write_png(const struct ct_heatmap *heatmap, FILE *out)
{
	int fd = memfd_create("svg", MFD_CLOEXEC), code = CT_CODE_FAILED;
	FILE *svg = fd < 0 ? NULL : fdopen(fd, "w+");

	if (svg && ct_heatmap_svg(heatmap, svg) == CT_OK)
		code = ct_png_of_svg(svg, out);
	else
		ct_say("cannot write the result: %s", ct_status_text(CT_NOMEM));
	if (svg)
		fclose(svg);
	else if (fd >= 0)
		close(fd);
	return code;
}

static int write_as(int format, const struct ct_heatmap *heatmap, FILE *out)
{
	int status;

	if (format == PNG)
		return write_png(heatmap, out);
	status = format == SVG ? ct_heatmap_svg(heatmap, out) : ct_heatmap_csv(heatmap, out);
	if (status == CT_OK)
		return 0;
	ct_say("cannot write the result: %s", ct_status_text(status));
	return CT_CODE_FAILED;
}

static int write_heatmap(const struct heatmap_request *request, const struct ct_heatmap *heatmap)
{
	struct ct_out out;
	int code = ct_out_open(&out, ct_cli_text(&request->args, CT_OPTION_OUTPUT),
			       ct_cli_has(&request->args, CT_OPTION_FORCE));

	if (code)
		return code;
	errno = 0;
	code = write_as(request->format, heatmap, out.file);
	if (code) {
		ct_out_drop(&out);
		return code;
	}
	out.error = ferror(out.file) ? errno : 0;
	return ct_out_close(&out);
}

static int draw(const struct heatmap_request *request, const struct ct_report *report)
{
	struct ct_arena *memory = ct_arena_new();
	struct ct_heatmap heatmap;
	struct ct_err err = { 0 };
	int status = memory ? ct_heatmap_make(report, &request->heatmap, memory, &heatmap, &err)
			    : CT_NOMEM;
	int code = CT_CODE_FAILED;

	if (status == CT_OK)
		code = write_heatmap(request, &heatmap);
	else
		ct_say("cannot draw the heatmap of %s: %s", request->args.paths.path[0],
		       err.text[0] ? err.text : ct_status_text(status));
	ct_arena_free(memory);
	return code;
}

int ct_cmd_heatmap(int argc, char **argv)
{
	struct heatmap_request request = { .format = -1 };
	struct ct_report *report = NULL;
	struct ct_run *run = NULL;
	int code = ct_cli_parse(&request.args, CT_COMMAND_heatmap, argc, argv);

	if (code >= 0)
		goto out;
	code = read_options(&request);
	if (!code)
		code = ct_open_run("heatmap", &request.args.paths, &run);
	if (!code)
		code = ct_open_report_as("heatmap", &request.args.paths, run, &request.wishes,
					 &report);
	if (!code)
		code = draw(&request, report);
out:
	ct_report_free(report);
	ct_run_close(run);
	ct_cli_fini(&request.args);
	return code;
}
