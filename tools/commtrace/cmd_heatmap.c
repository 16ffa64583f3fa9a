/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyzer/render/heatmap.h"
#include "tools/commtrace/cmd.h"
#include "tools/commtrace/codes.h"
#include "tools/commtrace/nearest.h"
#include "tools/commtrace/open_run.h"
#include "tools/commtrace/options.h"
#include "tools/commtrace/out.h"
#include "tools/commtrace/png.h"
#include "tools/commtrace/say.h"

#define FORMATS "svg csv png"
enum { SVG, CSV, PNG };
#define MODELS "ring uniform tree" /* enum ct_traffic_model */

struct request {
	struct ct_paths paths;
	const char *out_path, *format_word, *layer;
	int force, format, has_model;
	struct ct_picture_request picture;
	struct ct_report_wishes wishes;
};

static const struct argp_option table[] = {
	{ "output", 'o', "FILE", 0,
	  "Write to FILE, in the format of its extension (.svg, .csv, .png); - is standard output",
	  0 },
	{ "format", CT_KEY_FORMAT, "FORMAT", 0, "svg, csv or png", 0 },
	{ "force", CT_KEY_FORCE, 0, 0, "Replace FILE if it is already there", 0 },
	{ "of", CT_KEY_OF, "PICTURE", 0,
	  "traffic (default): who sent how much to whom; waits: which rank waited when; cycles: "
	  "how long it was in no communication, cycle by cycle; histogram: operations by size; "
	  "slowdown: how much longer a step takes by each rank than in an even job (S_w), by stage "
	  "and data-parallel worker, or by host",
	  0 },
	{ "layer", CT_KEY_LAYER, "LAYER", 0,
	  "Of traffic: bytes (default), count, bandwidth; of waits: wait (default), lateness; of "
	  "cycles: gap; of the histogram: count (default), bytes, transfer, wait, bandwidth; of "
	  "slowdown: s_w",
	  0 },
	{ "by", CT_KEY_BY, "WHAT", 0, "Rows are ranks, or hosts (rank, host)", 0 },
	{ "comm", CT_KEY_COMM, "COMM", 0,
	  "Only traffic of this communicator: its name, or first digits of its key", 0 },
	{ "backend", CT_KEY_BACKEND, "BACKEND", 0, "Only traffic or operations of this backend",
	  0 },
	{ "role", CT_KEY_ROLE, "ROLE", 0,
	  "Only traffic of communicators of this role (dp, tp, pp, ep, world)", 0 },
	{ "traffic-model", CT_KEY_TRAFFIC_MODEL, "MODEL", 0,
	  "How bytes of collectives that nobody counted are laid on pairs of ranks: ring "
	  "(default), uniform or tree",
	  0 },
	{ "cycle-anchor", CT_KEY_CYCLE_ANCHOR, "COMM:OP[:BYTES]", 0,
	  "A cycle begins with this operation (COMM: name, first digits of its key, or *); by "
	  "default, with the one that comes once a cycle",
	  0 },
	{ 0 }
};

static int take_word(const char *option, const char *words, const char *arg, int *place)
{
	*place = ct_option_word("heatmap", option, words, arg);
	return *place < 0 ? CT_CODE_USAGE : 0;
}

static int take(void *into, int key, const char *arg)
{
	struct request *request = into;
	int place, code;

	switch (key) {
	case CT_KEY_OF:
		code = take_word("--of", CT_PICTURE_OF, arg, &place);
		request->picture.of = code ? CT_OF_TRAFFIC : (enum ct_picture_of)place;
		return code;
	case CT_KEY_BY:
		code = take_word("--by", CT_PICTURE_BY, arg, &place);
		request->picture.by = (enum ct_picture_by)(place + 1);
		return code;
	case CT_KEY_TRAFFIC_MODEL:
		request->has_model = 1;
		code = take_word("--traffic-model", MODELS, arg, &place);
		request->wishes.traffic_model = code ? CT_TRAFFIC_RING
						     : (enum ct_traffic_model)place;
		return code;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* What does not go together. */
static int check(struct request *request)
{
	struct ct_picture_request *p = &request->picture;
	const char *layers = ct_picture_layers(p->of);
	int is_traffic = p->of == CT_OF_TRAFFIC, is_sizes = p->of == CT_OF_HISTOGRAM;

	if ((p->comm != NULL) + (p->backend != NULL) + (p->role != NULL) > 1)
		return ct_usage("heatmap", "'--comm', '--backend' and '--role' exclude each other");
	if ((p->comm || p->role) && !is_traffic)
		return ct_usage("heatmap", "'--%s' belongs to --of=traffic",
				p->comm ? "comm" : "role");
	if (request->has_model && !is_traffic)
		return ct_usage("heatmap", "'--traffic-model' belongs to --of=traffic");
	if (request->wishes.anchor && p->of != CT_OF_CYCLES)
		return ct_usage("heatmap", "'--cycle-anchor' belongs to --of=cycles");
	if (p->backend && !is_traffic && !is_sizes)
		return ct_usage("heatmap",
				"'--backend' belongs to --of=traffic and --of=histogram");
	if (p->by != CT_BY_DEFAULT && (is_sizes || p->of == CT_OF_SLOWDOWN))
		return ct_usage("heatmap", "'--by' does not belong to --of=%s",
				is_sizes ? "histogram" : "slowdown");
	if (!request->layer)
		request->layer = "";
	else if (ct_option_word("heatmap", "--layer", layers, request->layer) < 0)
		return CT_CODE_USAGE;
	p->show = (enum ct_picture_show)(ct_word_find(CT_PICTURE_LAYERS, request->layer) + 1);
	if (request->out_path || request->format_word)
		return 0;
	return ct_usage("heatmap", "'heatmap' needs -o FILE.svg, .csv or .png, or --format");
}

/* A PNG is that of the SVG, so that both look the same. */
static int write_png(const struct ct_picture *picture, FILE *out)
{
	int fd = memfd_create("svg", MFD_CLOEXEC), code = CT_CODE_FAILED;
	FILE *svg = fd < 0 ? NULL : fdopen(fd, "w+");

	if (svg && ct_heatmap_svg(picture, svg) == CT_OK)
		code = ct_png_of_svg(svg, out);
	else
		ct_say("cannot write the result: %s", ct_status_text(CT_NOMEM));
	if (svg)
		fclose(svg);
	else if (fd >= 0)
		close(fd);
	return code;
}

static int write_as(int format, const struct ct_picture *picture, FILE *out)
{
	int status;

	if (format == PNG)
		return write_png(picture, out);
	status = format == SVG ? ct_heatmap_svg(picture, out) : ct_heatmap_csv(picture, out);
	if (status == CT_OK)
		return 0;
	ct_say("cannot write the result: %s", ct_status_text(status));
	return CT_CODE_FAILED;
}

static int write_picture(const struct request *request, const struct ct_picture *picture)
{
	struct ct_out out;
	int code = ct_out_open(&out, request->out_path, request->force);

	if (code)
		return code;
	errno = 0;
	code = write_as(request->format, picture, out.file);
	if (code) {
		ct_out_drop(&out);
		return code;
	}
	out.error = ferror(out.file) ? errno : 0;
	return ct_out_close(&out);
}

static int draw(const struct request *request, const struct ct_report *report)
{
	struct ct_arena *memory = ct_arena_new();
	struct ct_picture picture;
	struct ct_err err = { 0 };
	int status = memory ? ct_picture_make(report, &request->picture, memory, &picture, &err)
			    : CT_NOMEM;
	int code = CT_CODE_FAILED;

	if (status == CT_OK)
		code = write_picture(request, &picture);
	else
		ct_say("cannot draw the heatmap of %s: %s", request->paths.path[0],
		       err.text[0] ? err.text : ct_status_text(status));
	ct_arena_free(memory);
	return code;
}

int ct_cmd_heatmap(int argc, char **argv)
{
	struct request request = { .format = -1 };
	const struct ct_option_put puts[] = {
		{ 'o', .text = &request.out_path },
		{ CT_KEY_FORMAT, .text = &request.format_word },
		{ CT_KEY_FORCE, .flag = &request.force },
		{ CT_KEY_LAYER, .text = &request.layer },
		{ CT_KEY_COMM, .text = &request.picture.comm },
		{ CT_KEY_BACKEND, .text = &request.picture.backend },
		{ CT_KEY_ROLE, .text = &request.picture.role },
		{ CT_KEY_CYCLE_ANCHOR, .text = &request.wishes.anchor },
		{ 0 },
	};
	const struct ct_options options = {
		.command = "heatmap",
		.table = table,
		.puts = puts,
		.paths = &request.paths,
		.take = take,
		.into = &request,
		.example = "  commtrace heatmap run1 -o traffic.svg\n"
			   "  commtrace heatmap run1 -o waits.png --of waits --by host\n"
			   "  commtrace heatmap run1 -o tp.csv --role tp --layer count",
	};
	struct ct_report *report = NULL;
	struct ct_run *run = NULL;
	int code = ct_options_parse(&options, argc, argv);

	if (code >= 0)
		goto out;
	code = check(&request);
	if (code)
		goto out;
	code = CT_CODE_USAGE;
	request.format = ct_out_format("heatmap", FORMATS, "svg csv png", request.format_word,
				       request.out_path);
	if (request.format < 0)
		goto out;
	code = ct_open_run("heatmap", &request.paths, &run);
	if (!code)
		code = ct_open_report_as("heatmap", &request.paths, run, &request.wishes, &report);
	if (!code)
		code = draw(&request, report);
out:
	ct_report_free(report);
	ct_run_close(run);
	ct_paths_fini(&request.paths);
	return code;
}
