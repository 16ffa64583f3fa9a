/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/timeline/timeline_options.h"

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/open_run.h"

int ct_timeline_request_read(struct ct_timeline_request *request, int argc, char **argv)
{
	const struct ct_cli *args = &request->args;
	int code;

	*request = (struct ct_timeline_request){ 0 };
	code = ct_cli_parse(&request->args, CT_COMMAND_timeline, argc, argv);
	if (code >= 0)
		return code;
	request->out_path = ct_cli_text(args, CT_OPTION_OUTPUT);
	request->force = ct_cli_has(args, CT_OPTION_FORCE);
	request->format = ct_cli_format(args);
	code = request->format < 0 ? CT_CODE_USAGE : ct_selection_read(&request->selection, args);
	if (code)
		return code;
	if (!request->out_path && request->format == CT_TIMELINE_PFTRACE)
		return ct_usage("timeline", "'timeline' needs -o FILE: the timeline to write");
	request->options = (struct ct_timeline_options){
		.restart = -1,
		.from_ns = request->selection.from_ns,
		.to_ns = request->selection.to_ns,
		.ranks = request->selection.ranks,
		.n_ranks = request->selection.n_ranks,
		.threads = ct_open_threads(args),
		.max_slices = (uint64_t)ct_cli_number(args, CT_OPTION_MAX_SLICES, 0),
		.flows = (enum ct_timeline_flows)ct_cli_word(args, CT_OPTION_FLOWS),
		.keeps_end = request->selection.has_window || request->selection.ranks,
		.color = (enum ct_timeline_color)ct_cli_word(args, CT_OPTION_COLOR_BY),
	};
	return -1;
}

void ct_timeline_request_fini(struct ct_timeline_request *request)
{
	ct_selection_fini(&request->selection);
	ct_cli_fini(&request->args);
}
